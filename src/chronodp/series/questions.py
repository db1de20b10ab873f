"""Every question about each period: in Python by a method, elsewhere by its kind.

A new one is a file in `measures`, its method and its line in `ASKABLE` here, and its option in ``cli``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, Generic, Literal, TypeVar

from chronodp.errors import InvalidArgument, MissingBound
from chronodp.series.found import Find
from chronodp.series.listed import listed
from chronodp.series.measures import Measure
from chronodp.series.measures.active import ACTIVE, Active
from chronodp.series.measures.asking import Asking
from chronodp.series.measures.choices import HISTOGRAM, MEAN, SUM, histogram_of, mean_of, sum_of
from chronodp.series.measures.counts import COUNT, Count
from chronodp.series.measures.quantiles import QUANTILES, quantiles_of
from chronodp.series.measures.scaled import ScaledSum
from chronodp.series.measures.sums import Sum
from chronodp.series.measures.variance import VARIANCE, Variance
from chronodp.series.norm import Norm, check_norm
from chronodp.series.to_find import CLIP_FOUND, EDGES_FOUND, ROWS_FOUND, check_given, clip_to_find, edges_to_find

__all__ = ["ASKABLE", "Questions", "ask_for"]

ASKABLE: dict[str, Asking] = {
    asking.kind: asking for asking in (COUNT, SUM, MEAN, VARIANCE, HISTOGRAM, QUANTILES, ACTIVE)
}
"""Every kind of question by its name, in the order in which they are offered."""

Asked_co = TypeVar("Asked_co", covariant=True)


class Questions(ABC, Generic[Asked_co]):
    """What can be asked of a series of which ``max_periods`` of one person count."""

    max_periods: int | Find | None

    @abstractmethod
    def _limited(self, measure: Measure, periods: int | Find | None, finds: Mapping[str, Find]) -> Asked_co:
        """Return the question for a measure; ``finds`` are bounds that are found, of which its own are references."""

    def count(self, *, at_most: int | Find = 1) -> Asked_co:
        """Count rows, of one person at most ``at_most`` in a period; by default, then, people.

        With ``at_most=Find()`` a private step finds how many rows of one person count.
        """
        if isinstance(at_most, Find):
            return self._finding(Count(), at_most=at_most)
        return self.ask(Count(at_most))

    def sum(
        self,
        column: str,
        *,
        clip: tuple[float, float | Find] | Mapping[Any, tuple[float, float]] | Find | None = None,
        bound: Norm | None = None,
    ) -> Asked_co:
        """Add up a column; a person's total in a period is clipped to ``clip``, or their whole series to ``bound``.

        Where groups are not alike, ``clip={"north": (0, 50), "south": (0, 400)}`` has a clip for each key of a column
        that splits the answer, and noise in each group goes with its clip.

        With ``clip=Find()`` a private step finds a size to which totals are clipped on both sides; with
        ``clip=(0, Find())`` totals below 0 count as 0, which errs less where people's lists are public.

        With ``bound=Norm(120.0)``, or ``bound=Norm(Find())``, a person counts in all periods and groups, whatever
        ``max_periods`` says, and a series whose root of the sum of squares is larger is scaled down to that. For `User`
        and budgets with a delta; it often errs less than the best clip and limit of periods.
        """
        if bound is not None:
            return self._scaled(column, clip, check_norm(bound))
        if clip is None:
            raise MissingBound("clip", "say between which ends a person's total in a period counts, or Find()")
        find, reference = clip_to_find(clip)
        if find is not None:
            return self._finding(Sum(column, reference), clip=find)
        return self.ask(sum_of(column, clip))  # type: ignore[arg-type]  # numbers, or refused

    def _scaled(self, column: str, clip: object, bound: Norm) -> Asked_co:
        if clip is not None:
            raise InvalidArgument("clip", clip, "left out with bound=Norm(...), which takes its place")
        if isinstance(bound.most, Find):
            return self._finding(ScaledSum(column, 1.0, bound.signed), bound=bound.most)
        return self.ask(ScaledSum(column, bound.most, bound.signed))

    def mean(
        self,
        column: str,
        *,
        clip: tuple[float, float | Find] | Mapping[Any, tuple[float, float]] | Find | None = None,
        of: Literal["people", "rows", "totals"] | None = None,
        at_most: int | None = None,
        people: int | None = None,
    ) -> Asked_co:
        """Average rows, people's own means or people's totals, over all that are present in a period.

        How many are present is not public: it is released with the rest, and paid for.

        Args:
            column: what is averaged.
            clip: least and most of a row; of totals, of a person's total in a period; or these for each key of a column
                that splits the answer, in one proportion: {"north": (0, 50), "south": (0, 400)}. With ``(0, Find())`` a
                private step finds the most, and values below 0 count as 0; where ``people`` is given also `Find()`,
                both sides.
            of: whose mean. 'people': each person once, with the mean of their rows in a period. 'rows': all rows, as
                far as ``at_most`` lets them weigh. 'totals': a person's rows in a period are added up first.
            at_most: of rows, the weight of how many one person has in a period and group. Who has more rows has them
                all, each with less weight. Larger is nearer to the mean of all rows, with more noise; 1 is the mean of
                people. Under `Event`, where it is 1, every row counts in full, also one that names no person.
            people: of totals, under a unit with ``relation="replace"``, where the list of people is public: how many
                they are. Then only the sum is paid for, and the mean is right where all of them are present in every
                period.
        """
        check_given("at_most", at_most, "a whole number, or left out for a mean", ROWS_FOUND)
        if of is None:
            allowed = (
                "say whose mean: 'people', each with the mean of their rows, 'rows', or people's 'totals' in a period"
            )
            raise MissingBound("of", allowed)
        if clip is None:
            which = "a person's total in a period" if of == "totals" else "a row"
            raise MissingBound("clip", f"say between which ends {which} counts, or (0, Find())")
        find, reference = clip_to_find(clip)
        if find is None:
            return self.ask(mean_of(column, clip, of=of, at_most=at_most, people=people))  # type: ignore[arg-type]  # numbers, or refused
        return self._finding(mean_of(column, reference, of=of, at_most=at_most, people=people), clip=find)

    def variance(self, column: str, *, clip: tuple[float, float] | None = None) -> Asked_co:
        """Tell how far people's totals, each clipped to ``clip``, lie apart in a period: their variance.

        It is that of the people present, divided by how many they are. A sum, a count and a sum of squares are released
        together and all are paid for. Its root is the standard deviation, and free.
        """
        if clip is None:
            raise MissingBound("clip", "say between which ends a person's total in a period counts")
        check_given("clip", clip, "a pair of numbers for a variance", CLIP_FOUND)
        return self.ask(Variance(column, clip))

    def histogram(
        self,
        column: str,
        *,
        edges: Sequence[float] | tuple[float, Find] | Find | None = None,
        of: Literal["people", "rows"] = "people",
        at_most: int = 1,
    ) -> Asked_co:
        """Count people, or rows, by the bin of their value.

        One person counts in at most ``at_most`` bins of a period; of rows, one person's have the weight of at most
        ``at_most`` in all bins together. A bin holds its lower edge, the last one its upper edge too; values outside
        are left out. Quantiles of the release are free: ``release.quantile(0.5)``.

        With ``edges=Find()`` a private step finds a typical size of a value, and the edges of 24 bins are a public
        shape about it, on both sides of 0; with ``edges=(0, Find())`` values below 0 are left out, and bins are finer.
        """
        check_given("at_most", at_most, "a whole number, or left out for a histogram", ROWS_FOUND)
        if edges is None:
            raise MissingBound("edges", "say where bins begin and end, such as [0, 1, 2, 5], or (0, Find())")
        find, reference = edges_to_find(edges)
        if find is not None:
            return self._finding(histogram_of(column, reference, of=of, at_most=at_most), edges=find)
        ascending = tuple(listed("edges", edges, "a list of finite ascending numbers"))
        return self.ask(histogram_of(column, ascending, of=of, at_most=at_most))

    def quantiles(
        self,
        column: str,
        fractions: Sequence[float],
        *,
        edges: Sequence[float],
        of: Literal["people", "rows"] = "people",
        at_most: int = 1,
    ) -> Asked_co:
        """Tell in which bin the value lies below which a fraction of people, or rows, is: 0.5 for the median.

        Few quantiles are bins that are drawn, likelier the nearer their rank, or "too few" where there are too few
        people to tell. Many are read from a histogram with noise shaped along values. The plan takes what errs least,
        and ``plan.alternatives`` shows the others. Finer edges cost little. People and rows are counted, and values
        outside the edges left out, as by `histogram`.
        """
        check_given("at_most", at_most, "a whole number, or left out for quantiles", ROWS_FOUND)
        check_given("edges", edges, "a list of ascending numbers for quantiles", EDGES_FOUND)
        ascending = tuple(listed("edges", edges, "a list of finite ascending numbers"))
        asked = tuple(listed("fractions", fractions, "a list of ascending fractions above 0 and below 1"))
        return self.ask(quantiles_of(column, asked, ascending, of=of, at_most=at_most))

    def active(self, window: str, *, max_stays: int | None = None, max_periods: int | None = None) -> Asked_co:
        """Count the people who have a row in the last ``window``, at every period: '1D', '7D' and '28D' of days.

        That is daily, weekly and monthly active people. Rows from one period less than ``window`` before the start are
        read too, and paid for.

        Args:
            window: how long a row makes its person present, its own period included; a whole number of periods.
            max_stays: for `User`, how many stays of one person count, the first ones. A stay is a run of periods in
                which the person is present without a gap: who is active every day has one.
            max_periods: for `User`, how many active periods of one person count; that of the series if neither is
                given, and if that is not given either nobody is cut. Where both are given, the plan takes the limit
                with the smaller error.
        """
        return self.ask(Active(window, max_stays), max_periods=max_periods)

    def ask(self, measure: Measure, *, max_periods: int | None = None) -> Asked_co:
        """Ask for any measure of rows: a count, a sum, a mean, a variance, a histogram or people who were active.

        Args:
            measure: what is released of each period.
            max_periods: of people who were active lately, in place of the series' own limit: how many active periods of
                one person count. Left out otherwise.
        """
        return self._limited(measure, self._periods(measure, max_periods), {})

    def _finding(self, measure: Measure, **finds: Find) -> Asked_co:
        return self._limited(measure, self._periods(measure, None), finds)

    def _periods(self, measure: Measure, given: int | None) -> int | Find | None:
        """Return how many periods of a person count, or that it is found; None where something else bounds them."""
        if not isinstance(measure, Measure):
            raise InvalidArgument("measure", measure, "a measure such as Count() or Sum('kwh', (0.0, 3.0))")
        if measure.finished or measure.block is not None:
            allowed = "a measure of rows; finished totals go to Aggregate, and .peak(every=...) makes blocks of a query"
            raise InvalidArgument("measure", str(measure), allowed)
        present = measure.presence
        if present is None:
            if given is not None:
                raise InvalidArgument("max_periods", given, "left out: the series says how many periods count")
            return None if measure.norm is not None else self.max_periods
        # A limit of stays takes the place of the series' own limit.
        return given if given is not None or present.max_stays is not None else self.max_periods


def ask_for(question: Mapping[str, Any]) -> Measure:
    """Return the measure that a question describes, as `Measure.to_question` writes it.

    >>> print(ask_for({"kind": "sum", "column": "kwh", "clip": [0.0, 3.0]}))
    sum of kwh, a person's total in a period clipped to 0 … 3
    """
    if not isinstance(question, Mapping):
        raise InvalidArgument("question", question, "a mapping with a kind, such as {'kind': 'count'}")
    asking = ASKABLE.get(str(question.get("kind")))
    if asking is None:
        raise InvalidArgument("measure", question.get("kind"), f"one of {', '.join(ASKABLE)}")
    known = {argument.name: argument for argument in asking.arguments}
    given = {name: _as_tuple(value) for name, value in question.items() if name != "kind"}
    for name in given.keys() - known.keys():
        raise InvalidArgument(name, None, f"left out for {asking.kind}, which takes {', '.join(known)}")
    for name, argument in known.items():
        if given.get(name) is None and argument.needed:
            raise InvalidArgument(name, None, f"given for {asking.kind}")
    return asking.make(**{name: value for name, value in given.items() if value is not None})


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value
