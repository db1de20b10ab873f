"""What a release looks like to a reader: a chart, one self-contained page, and a bar while it is being made.

Nothing here sees a person's record: figures and pages are made of released numbers and their certificate only.
"""

from chronodp.report.figures import Line, series_figure
from chronodp.report.page import Page, house_style as house_style, render as render, write_page
from chronodp.report.progress import watched as watched, watching as watching
from chronodp.report.small_chart import small_chart as small_chart
from chronodp.report.tables import (
    arrow_of as arrow_of,
    comma_separated as comma_separated,
    covered as covered,
    frame_as_csv as frame_as_csv,
    number_format as number_format,
    number_text as number_text,
    with_covers as with_covers,
)

__all__ = ["Line", "Page", "series_figure", "write_page"]
