"""Settings of the site that `make docs` builds."""

from __future__ import annotations

import os
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
os.environ.setdefault("OMP_NUM_THREADS", "1")

import made
import mathml

import unseen

made.write_all(HERE)

project = "unseen"
author = "The unseen authors"
copyright = "the unseen authors, MIT licence"
release = version = unseen.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["examples/**", "run/**"]
templates_path = ["_templates"]
suppress_warnings = ["config.cache"]  # settings of the gallery hold functions

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 4
math_renderer = "mathml"

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's own sections have the types
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

html_theme = "pydata_sphinx_theme"
html_title = "unseen"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_copy_source = False
html_sidebars = {"index": []}
html_theme_options = {
    "navigation_depth": 2,
    "show_toc_level": 2,
    "show_prev_next": False,
    "navbar_align": "left",
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": {"**": ["page-toc"], "index": []},
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}


def fresh(_gallery: object, _script: str) -> None:
    """Begin each script of the gallery with the looks that all pictures share."""
    import matplotlib.pyplot as plt

    plt.rcParams.update({"figure.figsize": (6, 4), "figure.dpi": 110, "axes.spines.top": False})
    plt.rcParams.update({"axes.spines.right": False, "font.size": 10, "savefig.bbox": "tight"})


sphinx_gallery_conf = {
    "examples_dirs": ["run/tutorials", "run/gallery"],
    "gallery_dirs": ["tutorials", "gallery"],
    "filename_pattern": r".*\.py",
    "within_subsection_order": "made.InOrder",
    "reset_modules": (fresh, "matplotlib"),
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "download_all_examples": False,
    "plot_gallery": True,
    "abort_on_example_error": False,
    "only_warn_on_example_error": False,
    "min_reported_time": 10_000,
    "write_computation_times": False,
    "thumbnail_size": (400, 280),
    "image_scrapers": ("matplotlib",),
    "default_thumb_file": str(HERE / "images" / "explorer.png"),
}


def setup(app: object) -> None:
    """Draw formulas without a script, and send links into the repository to the pages made of its files."""
    mathml.setup(app)
    app.connect("source-read", made.mend_links)
