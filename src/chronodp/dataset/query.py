"""What can be asked of a table of people's records, whoever holds it."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, Protocol, TypeVar, Unpack, cast

from chronodp.dataset.groups import listed
from chronodp.dataset.lifetime import Lifetime, lifetime_of
from chronodp.dataset.records import Records
from chronodp.dataset.unknowns import (
    CLIP_FOUND,
    EDGES_FOUND,
    KNOWN,
    NOT_BOTH,
    ROWS_FOUND,
    bounds_of,
    check_given,
    clip_to_find,
    edges_to_find,
    grouping_of,
    the_one,
)
from chronodp.engines import Derived, check_columns, check_where, derived_as
from chronodp.engines.reading import Reading, check_reading
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.lifetime import LifetimePlan
from chronodp.privacy import Calendar, check_kind
from chronodp.privacy.units import RecordUnit
from chronodp.series import (
    Active,
    Count,
    Discover,
    EachPeriod,
    Find,
    Found,
    Measure,
    Missing,
    Norm,
    Pays,
    Places,
    ScaledSum,
    Sum,
    Table,
    Terms,
    Variance,
    Workload,
    check_norm,
    histogram_of,
    mean_of,
    quantiles_of,
)
from chronodp.series.finding import bounded_table
from chronodp.series.places import PlaceLevels

__all__ = ["Queries", "Query", "RecordSource"]

Planned_co = TypeVar("Planned_co", covariant=True)


class RecordSource(Protocol[Planned_co]):
    """Who holds the records, and so makes the plans about them: this machine, or a curator elsewhere."""

    @property
    def user(self) -> str | None:
        """The column with the person; None where every row stands for itself."""
        ...

    def plan(self, table: Table, **terms: Unpack[Terms]) -> Planned_co:
        """Return the plan with the least error within (epsilon, delta)."""
        ...

    def find_plan(self, table: Table, finds: Mapping[str, Find], **terms: Unpack[Terms]) -> object:
        """Return the plan that finds bounds first, within (epsilon, delta): `FindPlan`, or a curator's."""
        ...

    def discover_plan(self, table: Table, discover: Discover, **terms: Unpack[Terms]) -> object:
        """Return the plan that finds keys first, within (epsilon, delta): `DiscoverPlan`, or a curator's."""
        ...

    def quantile_plan(self, table: Table, **terms: Unpack[Terms]) -> object:
        """Return the plan of quantiles that errs least within (epsilon, delta): `QuantilePlan`, or a curator's."""
        ...

    def here(self) -> Records:
        """Return the records where lives can be booked, on this machine; a curator refuses."""
        ...


class Queries(Generic[Planned_co]):
    """A public grid of periods, who is protected on it, and the questions that follow."""

    def __init__(
        self,
        calendar: Calendar,
        unit: RecordUnit,
        max_periods: int | Find | None,
        records: RecordSource[Planned_co],
        reading: Reading | None = None,
        *,
        where: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> None:
        self.calendar, self.unit, self.max_periods = calendar, unit, max_periods
        declared = check_reading(reading)
        self.reading = None if declared == Reading() else declared  # the default is nothing to tell
        self._columns = check_columns(columns)
        self._where = check_where(where, self._columns)
        self._records = records
        if not unit.limited or max_periods is not None:  # else a question may bring its own bound on a whole series
            self.count()  # refuses a unit or limit that fits no question here

    def count(self, *, at_most: int | Find = 1) -> Query[Planned_co]:
        """Count rows, of one person at most ``at_most`` in a period; by default, then, people.

        With ``at_most=Find()`` a private step finds how many rows of one person count.
        """
        if isinstance(at_most, Find):
            return self.ask(Count()).finding(at_most=at_most)
        return self.ask(Count(at_most))

    def sum(
        self, column: str, *, clip: tuple[float, float | Find] | Find | None = None, bound: Norm | None = None
    ) -> Query[Planned_co]:
        """Add up a column; a person's total in a period is clipped to ``clip``, or their whole series to ``bound``.

        With ``clip=Find()`` a private step finds a size to which totals are clipped on both sides; with
        ``clip=(0, Find())`` totals below 0 count as 0, which errs less where people's lists are public.

        With ``bound=Norm(120.0)``, or ``bound=Norm(Find())``, a person counts in all periods and groups, whatever
        ``max_periods`` says, and a series whose root of the sum of squares is larger is scaled down to that. For `User`
        and budgets with a delta; it often errs less than the best clip and limit of periods.
        """
        if bound is not None:
            return self._scaled(column, clip, check_norm(bound))
        if clip is None:
            raise MissingBound(
                "clip",
                "say between which ends a person's total in a period counts, or Find()",
            )
        find, reference = clip_to_find(clip)
        if find is not None:
            return self.ask(Sum(column, reference)).finding(clip=find)
        return self.ask(Sum(column, clip))  # type: ignore[arg-type]  # a pair of numbers, or refused

    def _scaled(self, column: str, clip: object, bound: Norm) -> Query[Planned_co]:
        if clip is not None:
            raise InvalidArgument("clip", clip, "left out with bound=Norm(...), which takes its place")
        if isinstance(bound.most, Find):
            return self.ask(ScaledSum(column, 1.0, bound.signed)).finding(bound=bound.most)
        return self.ask(ScaledSum(column, bound.most, bound.signed))

    def mean(
        self,
        column: str,
        *,
        clip: tuple[float, float | Find] | Find,
        of: Literal["rows", "people", "totals"] | None = None,
        at_most: int | None = None,
        people: int | None = None,
    ) -> Query[Planned_co]:
        """Average rows, people's own means or people's totals, over all that are present in a period.

        How many are present is not public: it is released with the rest, and paid for.

        Args:
            column: what is averaged.
            clip: least and most of a row; of totals, of a person's total in a period. With ``(0, Find())`` a private
                step finds the most, and values below 0 count as 0; where ``people`` is given also `Find()`, both sides.
            of: 'rows', which is the default: the mean of all rows. 'people': a person's rows count together as one,
                with their mean. 'totals': a person's rows are added up before people are averaged.
            at_most: of rows, the weight of how many one person has in a period and group, by default 1. Who has more
                rows has them all, each with less weight. Larger is nearer to the mean of all rows, with more noise.
                Under `Event` every row counts in full, also one that names no person.
            people: of totals, under a unit with ``relation="replace"``, where the list of people is public: how many
                they are. Then only the sum is paid for, and the mean is right where all of them are present in every
                period.
        """
        check_given("at_most", at_most, "a whole number, or left out for a mean", ROWS_FOUND)
        said = of if of is not None else "rows" if people is None else "totals"
        find, reference = clip_to_find(clip)
        if find is None:
            return self.ask(mean_of(column, clip, of=said, at_most=at_most, people=people))  # type: ignore[arg-type]  # a pair of numbers, or refused
        return self.ask(mean_of(column, reference, of=said, at_most=at_most, people=people)).finding(clip=find)

    def variance(self, column: str, *, clip: tuple[float, float]) -> Query[Planned_co]:
        """Tell how far people's totals, each clipped to ``clip``, lie apart in a period: their variance.

        It is that of the people present, divided by how many they are. A sum, a count and a sum of squares are released
        together and all are paid for. Its root is the standard deviation, and free.
        """
        check_given("clip", clip, "a pair of numbers for a variance", CLIP_FOUND)
        return self.ask(Variance(column, clip))

    def histogram(
        self,
        column: str,
        *,
        edges: Sequence[float] | tuple[float, Find] | Find,
        of: Literal["people", "rows"] = "people",
        at_most: int = 1,
    ) -> Query[Planned_co]:
        """Count people, or rows, by the bin of their value.

        One person counts in at most ``at_most`` bins of a period; of rows, one person's have the weight of at most
        ``at_most`` in all bins together. A bin holds its lower edge, the last one its upper edge too; values outside
        are left out. Quantiles of the release are free: ``release.quantile(0.5)``.

        With ``edges=Find()`` a private step finds a typical size of a value, and the edges of 24 bins are a public
        shape about it, on both sides of 0; with ``edges=(0, Find())`` values below 0 are left out, and bins are finer.
        """
        check_given("at_most", at_most, "a whole number, or left out for a histogram", ROWS_FOUND)
        find, reference = edges_to_find(edges)
        if find is not None:
            return self.ask(histogram_of(column, reference, of=of, at_most=at_most)).finding(edges=find)
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
    ) -> Query[Planned_co]:
        """Tell below which edge a fraction of people, or rows, lies: 0.5 for the median.

        Few quantiles are edges that are drawn, likelier the nearer their rank; many are read from a histogram with
        noise shaped along values. The plan takes what errs least, and ``plan.alternatives`` shows the others. Finer
        edges cost little. People and rows are counted, and values outside the edges left out, as by `histogram`.
        """
        check_given("at_most", at_most, "a whole number, or left out for quantiles", ROWS_FOUND)
        check_given("edges", edges, "a list of ascending numbers for quantiles", EDGES_FOUND)
        ascending = tuple(listed("edges", edges, "a list of finite ascending numbers"))
        asked = tuple(listed("fractions", fractions, "a list of ascending fractions above 0 and below 1"))
        return self.ask(quantiles_of(column, asked, ascending, of=of, at_most=at_most))

    def active(self, window: str, *, max_stays: int | None = None, max_periods: int | None = None) -> Query[Planned_co]:
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
        own = max_stays is None and max_periods is None
        return self._ask(Active(window, max_stays), self.max_periods if own else max_periods)

    def ask(self, measure: Measure) -> Query[Planned_co]:
        """Ask for any measure of rows: a count, a sum, a mean, a variance, a histogram or people who were active."""
        if not isinstance(measure, Measure):
            raise InvalidArgument("measure", measure, "a measure such as Count() or Sum('kwh', (0.0, 3.0))")
        if measure.finished or measure.block is not None:
            allowed = "a measure of rows; finished totals go to Aggregate, and .peak(every=...) makes blocks of a query"
            raise InvalidArgument("measure", str(measure), allowed)
        present = measure.presence
        given = present is not None and present.max_stays is not None  # takes the place of the series' own limit
        return self._ask(measure, None if measure.norm is not None or given else self.max_periods)

    def _ask(self, measure: Measure, periods: int | Find | None) -> Query[Planned_co]:
        if isinstance(periods, Find) and not self.unit.whole_person:
            try:
                self.unit.periods_touched(len(self.calendar), horizon=len(self.calendar), calendar=self.calendar)
            except InvalidArgument as refused:  # by its own reason, of what was written
                raise InvalidArgument("max_periods", "Find()", refused.allowed) from None
        # Of a single period there is nothing to choose: a limit need not be said.
        alone = periods is None and self.unit.whole_person and len(self.calendar) == 1 and measure.bounded_by_period
        table = Table(
            measure=measure,
            unit=self.unit,
            horizon=len(self.calendar),
            calendar=self.calendar,
            max_periods=len(self.calendar) if isinstance(periods, Find) or alone else periods,
            single_rows=self._records.user is None,
            reading=self.reading,
            where=self._where,
            columns=_named(self._columns, [measure.read_column]),
        )
        query = Query(table, self._records, self._columns)
        return query.finding(max_periods=periods) if isinstance(periods, Find) else query


@dataclass(frozen=True, slots=True)
class Query(Generic[Planned_co]):
    """A question about a series: what is released, split by which groups. `plan` prices it."""

    table: Table
    records: RecordSource[Planned_co]
    columns: tuple[Derived, ...] = ()
    finds: tuple[tuple[str, Find], ...] = ()
    discover: Discover | None = None

    def where(self, condition: str) -> Query[Planned_co]:
        """Count only rows of which a condition over their own columns holds; several conditions must all hold.

        What cannot be read or computed is NULL, and a row for which the condition is not TRUE is left out.
        """
        check_kind("where", condition, str, "a text such as \"origin = 'JFK'\"")
        joined = check_where(condition, self.columns, earlier=self.table.where)
        return replace(self, table=replace(self.table, where=joined))

    def finding(self, **finds: Find) -> Query[Planned_co]:
        """Return the question with bounds to be found: what its table holds there is the reference, not a bound."""
        return replace(self, finds=(*self.finds, *finds.items()))

    def bounded(self, found: Found) -> Query[Planned_co]:
        """Return the question with bounds that an earlier release found, ``release.found``: they are public by then.

        Only bounds that this question is to find are taken. One that the release did not find is still to be found.
        """
        check_kind("found", found, Found, "release.found of an earlier release")
        known = {name: value for name, value in bounds_of(self.table, found).items() if value is not None}
        taken = {name: known[name] for name, _ in self.finds if name in known}
        table = bounded_table(
            self.table,
            size=taken.get(self.table.periods.measure.size_name),
            max_periods=taken.get("max_periods"),
            max_groups=taken.get("max_groups"),
        )
        return replace(self, table=table, finds=tuple(one for one in self.finds if one[0] not in taken))

    def by(
        self,
        /,
        *places: Places | Mapping[str, Sequence[object] | Discover],
        max_groups: int | Find | None = None,
        focus: Mapping[str, float] | Literal["nodes", "largest"] | None = None,
        **columns: Sequence[object] | Discover,
    ) -> Query[Planned_co]:
        """Split by columns with public keys; a person counts in at most ``max_groups`` (1) groups of a period.

        Keys are declared, or found by a private step, `Discover`; they are never read from the data as they stand. Rows
        with another key are left out, and groups without rows are released like others. With ``bound=Norm(...)`` a
        person counts in all groups, and ``max_groups`` is left out.

        With `Places`, a public tree of keys, every level is released, and each place is the sum of those under it to
        the last digit. ``max_groups`` then bounds in how many leaves (by keys of other columns) a person counts.

        Args:
            places: a tree of public keys; at most one. Or a dictionary of columns with their public keys, for columns
                that are called as arguments are: ``by({"focus": ["near", "far"]})``.
            max_groups: in how many groups of a period one person counts; if not given 1, and ``max_keys`` of
                ``Discover(share=0)``.
            focus: which levels of places the error is made small for: weights of their mean squared errors by name,
                where 1 is what levels not named have; 'nodes' where every place counts alike; 'largest' where the
                largest error of a level is made least.
            columns: the public keys of each column.
        """
        columns = _merged([*(one for one in places if isinstance(one, Mapping)), columns])
        if trees := [one for one in places if not isinstance(one, Mapping)]:
            return self._by_places(trees, max_groups, focus, columns)
        if not columns:
            raise InvalidArgument("by", None, "at least one column with its keys, such as region=['north', 'south']")
        if focus is not None:
            raise InvalidArgument("focus", focus, "given with Places alone: it weighs levels of a tree")
        taken = {grouping.column for grouping in self.table.groupings} & set(columns)
        if taken:
            raise InvalidArgument("by", sorted(taken)[0], "a column that does not split the question already")
        discover = the_one([self.discover, *(keys for keys in columns.values() if isinstance(keys, Discover))])
        split = (*self.table.groupings, *(grouping_of(column, keys) for column, keys in columns.items()))
        named = _named(self.columns, [self.table.periods.measure.read_column, *(one.column for one in split)])
        everywhere = max(1, math.prod(len(grouping.keys) for grouping in split))
        whole_series = self.table.measure.norm is not None
        if whole_series and max_groups is not None:
            given = "Find()" if isinstance(max_groups, Find) else max_groups
            raise InvalidArgument("max_groups", given, "left out with bound=Norm(...): all of a person counts")
        most = everywhere if whole_series or isinstance(max_groups, Find) else max_groups
        if discover is not None and isinstance(max_groups, Find):
            raise InvalidArgument("max_groups", "Find()", NOT_BOTH)
        if most is None:
            # Where published counts decide, one choice of keys serves both to find and to count them.
            most = discover.max_keys if discover is not None and not discover.share else None
        table = replace(self.table, groupings=split, columns=named, max_groups=1 if most is None else most)
        query = replace(self, table=table, discover=discover)
        return query.finding(max_groups=max_groups) if isinstance(max_groups, Find) else query

    def _by_places(
        self,
        places: Sequence[object],
        max_groups: int | Find | None,
        focus: object,
        columns: Mapping[str, Sequence[object] | Discover],
    ) -> Query[Planned_co]:
        """Return the question split by the leaves of a tree, and by other columns."""
        given = places[0]
        if not isinstance(given, Places):
            raise InvalidArgument("by", type(given).__name__, "Places(table, ...), or columns by name with their keys")
        if len(places) > 1 or self.table.levels is not None:
            raise InvalidArgument("by", "Places twice", "one tree; other groups as columns with their keys")
        if isinstance(max_groups, Find) or self.finds or any(isinstance(keys, Discover) for keys in columns.values()):
            raise InvalidArgument("by", "Places with Find() or Discover()", KNOWN)
        if given.column in columns:
            raise InvalidArgument("by", given.column, "a column that Places does not split already")
        query = self.by({given.column: given.keys[-1], **columns}, max_groups=max_groups)
        return replace(query, table=query.table.with_places(given, focus))

    def with_levels(self, levels: PlaceLevels) -> Query[Planned_co]:
        """Return the question with a tree over the keys of one column that splits it already."""
        if self.finds or self.discover is not None:
            raise InvalidArgument("places", "beside what is found", KNOWN)
        return replace(self, table=replace(self.table, levels=levels))

    def total(self, *, every: str) -> Query[Planned_co]:
        """Add up each longer period, such as '1D' of hours; people are bounded in the shorter ones, as before.

        A release of the series itself gives the same for nothing: ``release.resample("1D")``. See `plan_together`.
        """
        return replace(self, table=self.table.in_blocks("total", every))

    def peak(self, *, every: str) -> Query[Planned_co]:
        """Take the largest count or sum within each longer period, such as the daily peak of an hourly load.

        One person moves a peak by no more than a single period of theirs: so it is cheap, and unlike the largest of
        noisy numbers it is not lifted by noise.
        """
        return replace(self, table=self.table.in_blocks("peak", every))

    def trough(self, *, every: str) -> Query[Planned_co]:
        """Take the least count or sum within each longer period; see `peak`."""
        return replace(self, table=self.table.in_blocks("trough", every))

    def plan(
        self,
        *,
        epsilon: float,
        delta: float = 0.0,
        tuned_for: Workload | None = None,
        missing: Missing | None = None,
    ) -> Planned_co:
        """Return the plan with the least error within (epsilon, delta). Free, and reads no data.

        Args:
            epsilon: of the guarantee, of everything together.
            delta: of the guarantee; 0 for a pure one.
            tuned_for: what the error is made small for; single periods if not given.
            missing: asks for a private figure of what bounds took away, `Missing()`.
        """
        terms: Terms = {
            "epsilon": epsilon,
            "delta": delta,
            "tuned_for": EachPeriod() if tuned_for is None else tuned_for,
            "missing": missing,
        }
        if self.table.measure.asked_quantiles:
            if self.finds:
                name, allowed = self.finds[0][0], "a number for quantiles: a private step finds it for counts and sums"
                raise InvalidArgument(name, "Find()", allowed)
            return cast("Planned_co", self.records.quantile_plan(self.table, **terms))
        if self.discover is not None:
            if self.finds:
                raise InvalidArgument(self.finds[0][0], "Find()", NOT_BOTH)
            return cast("Planned_co", self.records.discover_plan(self.table, self.discover, **terms))
        if self.finds:
            # It releases as a plan does, and says what it cannot know yet.
            return cast("Planned_co", self.records.find_plan(self.table, dict(self.finds), **terms))
        return self.records.plan(self.table, **terms)

    def lifetime(
        self,
        *,
        epsilon: float,
        delta: float = 0.0,
        max_periods: int,
        pays: Pays | None = None,
        reissues: int = 0,
        stagger: bool = False,
        tuned_for: Workload | None = None,
    ) -> LifetimePlan[Lifetime]:
        """Return the plan of a series that is bought once, for `User`, and issued for ever. Free, and reads no data.

        Args:
            epsilon: of the guarantee, of all issues together, past and future.
            delta: of that guarantee.
            max_periods: how many periods of one person count, ever: the longest stay to be covered. It takes the
                place of the series' own limit.
            pays: 'own' where each pays for what they add, 'share' where whoever counts pays as much as anybody; own
                if not given where it costs nothing more.
            reissues: how often each issue may be corrected, for nothing to those in it; paid for now.
            stagger: let those in the first issue begin with a part of their life used, by a secret key.
            tuned_for: what the error is made small for inside each issue, such as `RunningTotal`: noise may then be
                shaped over its periods, and everybody pays whole shares. Single periods if not given.
        """
        workload = EachPeriod() if tuned_for is None else tuned_for
        terms = {"epsilon": epsilon, "delta": delta, "max_periods": max_periods, "pays": pays, "tuned_for": workload}
        return lifetime_of(self.table, self.records.here(), self.unknown, reissues=reissues, stagger=stagger, **terms)

    @property
    def unknown(self) -> str:
        """What is still to be found, in a word; empty if nothing is."""
        return "Discover()" if self.discover is not None else "".join(name for name, _ in self.finds[:1])

    def __str__(self) -> str:
        measure = self.table.measure
        words = measure.open_words if measure.size_name in dict(self.finds) else measure.words
        return f"{words(self.table.unit.called)}; {self.table.calendar}"


def _named(columns: Sequence[Derived], names: Sequence[str | None]) -> tuple[Derived, ...] | None:
    """Return the derived columns that a question names; what it does not is no part of its plan."""
    return tuple(one for one in columns if any(derived_as([one], name) for name in names)) or None


def _merged(given: Sequence[Mapping[str, Sequence[object] | Discover]]) -> dict[str, Sequence[object] | Discover]:
    """Return columns with their keys, each column given once, under any name."""
    columns: dict[str, Sequence[object] | Discover] = {}
    for part in given:
        for column, keys in part.items():
            if not isinstance(column, str) or column in columns:
                raise InvalidArgument("by", column, "names of columns with their keys, each name once")
            columns[column] = keys
    return columns
