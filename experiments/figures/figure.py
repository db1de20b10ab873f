"""A figure as data: panels of curves with titled axes, the source's stated points, and a caption of what is seen."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

__all__ = ["Curve", "Figure", "Level", "Panel", "Stated"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """One line, or a row of marks or bars; its name says which reading it shows.

    Attributes:
        name: What the legend says: the parameter and the reading.
        x: Places.
        y: Heights; not a number leaves a gap.
        low: Lower ends, where heights are intervals (bars that float, or whiskers of marks).
        style: A line, dashes for a curve that lies under another or is not the source's, dots, marks (measured
            values) or bars (stacked in the order given).
        right: Whether heights belong to the axis on the right.
        hatched: Of bars, which ones are hatched.
    """

    name: str
    x: Sequence[float]
    y: Sequence[float]
    low: Sequence[float] = ()
    style: Literal["line", "dashed", "dotted", "marks", "bars"] = "line"
    right: bool = False
    hatched: Sequence[bool] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A point that the source states: drawn as an open marker with the claim's id."""

    claim: str
    x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """A value that the source states along an axis: a thin line with the claim's id and a word."""

    claim: str
    at: float
    axis: Literal["x", "y"] = "y"
    label: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """One pair of axes, in the gallery of what the paper shows or of what we find."""

    gallery: Literal["paper", "found"]
    title: str
    x_title: str
    y_title: str
    curves: Sequence[Curve]
    stated: Sequence[Stated] = ()
    levels: Sequence[Level] = ()
    right_title: str = ""
    log_x: bool = False
    log_y: bool = False
    log_right: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """A figure of a source with all its panels.

    Attributes:
        name: Its file's name, for example ``correlated-3a``.
        source: A key of ``SOURCES``.
        title: What it shows, with its place in the source.
        panels: In both galleries.
        paper_caption: What is seen in the panels that follow the paper's own reading.
        found_caption: What is seen in those of ours.
        data: As of a claim.
    """

    name: str
    source: str
    title: str
    panels: Sequence[Panel]
    paper_caption: str
    found_caption: str
    data: str = "none"
    files: tuple[str, ...] = field(default=())
