"""The explorer: one HTML file that shows the map of a graph, what its labels miss, and what to label next."""

from unseen.explorer.build import MAX_NODES, Subject, build_page
from unseen.explorer.explore import explore
from unseen.explorer.html import render_page, write_explorer

__all__ = ["MAX_NODES", "Subject", "build_page", "explore", "render_page", "write_explorer"]
