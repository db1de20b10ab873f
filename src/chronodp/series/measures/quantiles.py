"""Quantiles by a list of public edges: of people, as a histogram counts them, or of rows.

What one unit does to the bins is what it does to a histogram's; how the edge of each quantile is told apart stands in
``docs/explanation/proofs/quantiles.md``.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Any, ClassVar

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction, check_word, document, settle
from chronodp.series.measures.asking import Argument, Asking
from chronodp.series.measures.base import Each, Measure
from chronodp.series.measures.histograms import Histogram, RowHistogram

__all__ = ["MOST_QUANTILES", "QUANTILES", "Quantiles", "RowQuantiles", "check_quantiles", "quantiles_of"]

MOST_QUANTILES = 999

_COUNTED = ("people", "rows")


def check_quantiles(quantiles: object) -> tuple[float, ...]:
    """Return quantiles, if they are: ascending fractions between 0 and 1."""
    allowed = f"1 to {MOST_QUANTILES} ascending fractions above 0 and below 1, such as [0.1, 0.5, 0.9]"
    if not isinstance(quantiles, tuple | list) or not 1 <= len(quantiles) <= MOST_QUANTILES:
        raise InvalidArgument("fractions", quantiles, allowed)
    fractions = tuple(check_fraction("fractions", one) for one in quantiles)
    if any(low >= high for low, high in itertools.pairwise(fractions)):
        raise InvalidArgument("fractions", fractions, allowed)
    return fractions


@document("quantiles")
@dataclass(frozen=True, slots=True)
class Quantiles(Histogram):
    """Below which edge so many of all people lie; one person counts in at most ``at_most`` bins of a period."""

    quantiles: tuple[float, ...] = field(default=(0.5,))
    noun: ClassVar[str] = "quantile"
    size_name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super(Quantiles, self).__post_init__()  # slots make the class anew, which a bare super misses
        settle(self, quantiles=check_quantiles(self.quantiles))

    @property
    def asked_quantiles(self) -> tuple[float, ...]:
        """The quantiles."""
        return self.quantiles

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.column

    @property
    def each(self) -> Each:
        """A person, with the value of a row."""
        return "person"

    def label_for(self, called: str | None) -> str:
        """Return what the numbers are, in a word."""
        del called
        return self.column

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return _question(self, "people", self.at_most)

    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words."""
        who = called or "person"
        each = "people" if called is None else f"each {called}"
        return f"{_listed(self)} of {each}, one {who} in at most {self.at_most} of {self.bins} bins"


@document("row_quantiles")
@dataclass(frozen=True, slots=True)
class RowQuantiles(RowHistogram):
    """Below which edge so many of all rows lie; one person has the weight of at most ``at_most`` rows in a period."""

    quantiles: tuple[float, ...] = field(default=(0.5,))
    noun: ClassVar[str] = "quantile"
    size_name: ClassVar[str] = ""

    def __post_init__(self) -> None:
        super(RowQuantiles, self).__post_init__()  # as above
        settle(self, quantiles=check_quantiles(self.quantiles))

    @property
    def asked_quantiles(self) -> tuple[float, ...]:
        """The quantiles."""
        return self.quantiles

    @property
    def label(self) -> str:
        """What the numbers are, in a word."""
        return self.column

    @property
    def each(self) -> Each:
        """A row."""
        return "row"

    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""
        return _question(self, "rows", self.at_most)

    def words_alone(self) -> str:
        """Return what is released in plain words, where every row stands for itself."""
        return f"{_listed(self)} of rows, in {self.bins} bins"


def quantiles_of(
    column: str, fractions: tuple[float, ...], edges: tuple[float, ...], *, of: str = "people", at_most: int = 1
) -> Measure:
    """Return the quantiles of people, or of rows, by a list of edges.

    >>> print(quantiles_of("kwh", (0.1, 0.5, 0.9), (0.0, 1.0, 2.0, 5.0)))
    quantiles 0.1, 0.5, 0.9 of kwh, of people, one person in at most 1 of 3 bins
    """
    check_word("of", of, _COUNTED)
    made = Quantiles if of == "people" else RowQuantiles
    return made(column, edges, at_most, fractions)


def _listed(measure: Quantiles | RowQuantiles) -> str:
    asked = measure.quantiles
    if len(asked) > _SHOWN:
        return f"{len(asked)} quantiles from {asked[0]:g} to {asked[-1]:g} of {measure.column},"
    many = "s" if len(asked) > 1 else ""
    return f"quantile{many} {', '.join(f'{one:g}' for one in asked)} of {measure.column},"


def _question(measure: Quantiles | RowQuantiles, of: str, at_most: int) -> dict[str, Any]:
    return {
        "kind": "quantiles",
        "column": measure.column,
        "fractions": list(measure.quantiles),
        "edges": list(measure.edges),
        "of": of,
        "at_most": at_most,
    }


_SHOWN = 9

QUANTILES = Asking(
    "quantiles",
    "quantiles",
    "Below which edge so many of all people, or rows, lie; people where that is left out.",
    (
        Argument("column", "column"),
        Argument("fractions", "fractions", "Ascending fractions: 0.5 is the median."),
        Argument("edges", "edges"),
        Argument("of", "word", "Whose quantiles.", needed=False, words=_COUNTED),
        Argument(
            "at_most",
            "whole",
            "Most bins of one person in a period, or the weight of how many rows.",
            1,
            needed=False,
            on_page=False,
        ),
    ),
    quantiles_of,
)
