"""How people are bounded in a sum, and of what a mean or a histogram is: of rows, of people, or of people's totals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import check_positive, check_whole, check_word
from chronodp.series.measures.asking import Argument, Asking
from chronodp.series.measures.base import Clip, Measure
from chronodp.series.measures.group_clips import clip_by_group
from chronodp.series.measures.histograms import Histogram, RowHistogram
from chronodp.series.measures.rows import RowMean
from chronodp.series.measures.scaled import ScaledSum
from chronodp.series.measures.sums import CLIPS, Mean, PanelMean, Sum

__all__ = ["HISTOGRAM", "MEAN", "SUM", "histogram_of", "mean_of", "sum_of"]

_MEANS = ("people", "rows", "totals")
_HISTOGRAMS = ("people", "rows")


def sum_of(
    column: str, clip: Clip | Mapping[str, Clip] | None = None, *, norm: float | None = None, signed: bool | None = None
) -> Measure:
    """Return the sum of totals that are clipped, or of people's whole series scaled to a norm.

    >>> print(sum_of("kwh", norm=40.0))
    sum of kwh, a person's whole series scaled to a length of at most 40
    """
    if norm is not None:
        if clip is not None:
            raise InvalidArgument("clip", clip, "left out beside norm, which takes its place")
        return ScaledSum(column, check_positive("norm", norm), True if signed is None else signed)
    if signed is not None:
        raise InvalidArgument("signed", signed, "left out unless norm is given: a clip says itself where it begins")
    if clip is None:
        raise InvalidArgument("clip", None, "given for sum, or norm in its place")
    widest, clips = clip_by_group(clip)
    return Sum(column, widest, clips=clips)


def mean_of(
    column: str, clip: Clip | Mapping[str, Clip], *, of: str, at_most: int | None = None, people: int | None = None
) -> Measure:
    """Return the mean of rows, of people's own means, or of people's totals.

    >>> print(mean_of("delay", (-30.0, 120.0), of="people"))
    mean of delay over the people present, each with the mean of their rows in a period, a row clipped to -30 … 120
    """
    check_word("of", of, _MEANS)
    if people is not None and of != "totals":
        raise InvalidArgument("people", people, f"left out for a mean of {of}: only sums of totals are divided by it")
    if at_most is not None and check_whole("at_most", at_most) > 1 and of != "rows":
        raise InvalidArgument("at_most", at_most, f"left out for a mean of {of}; of='rows' takes it")
    widest, clips = clip_by_group(clip)
    if of == "totals":
        return Mean(column, widest, clips=clips) if people is None else PanelMean(column, widest, people, clips=clips)
    if of == "rows" and at_most is None:
        allowed = "say the weight of how many rows one person has in a period, 1 where every row stands for itself"
        raise MissingBound("at_most", f"{allowed}; of='people' takes none")
    # A person's mean is all of their rows with the weight of one.
    return RowMean(column, widest, 1 if at_most is None else at_most, clips=clips)


def histogram_of(column: str, edges: tuple[float, ...], *, of: str = "people", at_most: int = 1) -> Measure:
    """Return how many people, or how many rows, have a value in each bin."""
    check_word("of", of, _HISTOGRAMS)
    return Histogram(column, edges, at_most) if of == "people" else RowHistogram(column, edges, at_most)


SUM = Asking(
    "sum",
    "sum",
    "The sum of a column.",
    (
        Argument("column", "column"),
        replace(CLIPS, needed=False, found=True),
        Argument(
            "norm",
            "number",
            "In place of a clip: the largest l2 norm of one person's whole series.",
            needed=False,
            on_page=False,
            found=True,
        ),
        Argument("signed", "truth", "Beside norm: whether totals below 0 count.", needed=False, on_page=False),
    ),
    sum_of,
)
MEAN = Asking(
    "mean",
    "mean",
    "The mean of people's own means, of rows, or of people's totals in a period.",
    (
        Argument("column", "column"),
        replace(CLIPS, found=True),
        Argument("of", "word", "What is averaged.", words=_MEANS),
        Argument("at_most", "whole", "Of rows: the weight of how many one person has in a period.", needed=False),
        Argument("people", "whole", "How many people there are, where that is public.", needed=False, on_page=False),
    ),
    mean_of,
)
HISTOGRAM = Asking(
    "histogram",
    "histogram",
    "How many people, or rows, have a value in each bin; people where that is left out.",
    (
        Argument("column", "column"),
        Argument("edges", "edges", found=True),
        Argument("of", "word", "What is counted.", needed=False, words=_HISTOGRAMS),
        Argument(
            "at_most",
            "whole",
            "Most bins of one person in a period, or the weight of how many rows.",
            1,
            needed=False,
            on_page=False,
        ),
    ),
    histogram_of,
)
