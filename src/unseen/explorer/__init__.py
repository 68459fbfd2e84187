"""The explorer: one HTML file that shows the map of a graph, what its labels miss, and what to label next."""

from unseen.explorer.build import MAX_NODES, build_page
from unseen.explorer.html import render_page, write_explorer
from unseen.explorer.subject import Subject
from unseen.explorer.view import MapView, explore

__all__ = ["MAX_NODES", "MapView", "Subject", "build_page", "explore", "render_page", "write_explorer"]
