"""What a release looks like to a reader: a chart, one self-contained page, and a bar while it is being made.

Nothing here sees a person's record: figures and pages are made of released numbers and their certificate only.
"""

from chronodp.report.figures import Line, series_figure
from chronodp.report.page import Page, house_style, render, write_page
from chronodp.report.progress import watched, watching

__all__ = ["Line", "Page", "house_style", "render", "series_figure", "watched", "watching", "write_page"]
