"""Sphinx builds the pages for users: `make docs`. Notes for developers (adr, design) stay files."""

from __future__ import annotations

import sys
from pathlib import Path

_ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(_ROOT), str(_ROOT / "clients" / "python")]

project = "dpproxy"
author = "the authors of dpproxy"
extensions = ["myst_parser", "docs.site.page_sources"]
exclude_patterns = ["adr", "design", "site", "pictures"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "dpproxy"
html_static_path = ["_static"]
html_css_files = ["dpproxy.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_copyright = False
