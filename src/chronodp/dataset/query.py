"""A question about a series: how it is split, bounded and put into longer periods, and its plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Generic, Literal, TypeVar, cast

from chronodp.dataset.lifetime import Lifetime, lifetime_of
from chronodp.dataset.record_source import RecordSource
from chronodp.dataset.unknowns import KNOWN, NOT_BOTH, bounds_of, grouping_of, the_one
from chronodp.display import facts_html
from chronodp.engines import Derived, check_where, derived_as
from chronodp.errors import InvalidArgument
from chronodp.lifetime import LifetimePlan
from chronodp.privacy import check_kind
from chronodp.series import Discover, EachPeriod, Find, Found, Missing, Places, Release, Table, Terms, View, Workload
from chronodp.series.finding import bounded_table
from chronodp.series.places import PlaceLevels

__all__ = ["Query", "named_columns"]

Planned_co = TypeVar("Planned_co", covariant=True)


@dataclass(frozen=True, slots=True, repr=False)
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
        named = named_columns(self.columns, [self.table.periods.measure.read_column, *(one.column for one in split)])
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
            keys = (
                "columns with their keys, such as by(region=['north', 'south']), or by(region=Discover()) to find them"
            )
            raise InvalidArgument("by", given, f"{keys} privately; or Places(table, ...)")
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
        expect: float | View | Release | None = None,
    ) -> Planned_co:
        """Return the plan with the least error within (epsilon, delta). Free, and reads no data.

        Args:
            epsilon: of the guarantee, of everything together.
            delta: of the guarantee; 0 for a pure one.
            tuned_for: what the error is made small for; single periods if not given.
            missing: asks for a private figure of what bounds took away, `Missing()`.
            expect: about how large a number will be, or an earlier release or its view, for the plan to say how far off
                such numbers are. It changes nothing else; a size that was looked up in the data is not private.
        """
        plan = self._plan(epsilon, delta, tuned_for, missing)
        if expect is None:
            return plan
        expecting = getattr(plan, "expecting", None)
        if expecting is None:
            raise InvalidArgument("expect", expect, "left out where something is found, for quantiles and at curators")
        return cast("Planned_co", expecting(expect))

    def _plan(self, epsilon: float, delta: float, tuned_for: Workload | None, missing: Missing | None) -> Planned_co:
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

    def lifetime(self, *, epsilon: float, delta: float = 0.0, max_periods: int) -> LifetimePlan[Lifetime]:
        """Return the plan of a series that is bought once, for `User`, and issued for ever. Free, and reads no data.

        Args:
            epsilon: of the guarantee, of all issues together, past and future.
            delta: of that guarantee.
            max_periods: how many periods of one person count, ever: the longest stay to be covered. It takes the
                place of the series' own limit.
        """
        terms = {"epsilon": epsilon, "delta": delta, "max_periods": max_periods}
        return lifetime_of(self.table, self.records.here(), self.unknown, **terms)

    @property
    def unknown(self) -> str:
        """What is still to be found, in a word; empty if nothing is."""
        return "Discover()" if self.discover is not None else "".join(name for name, _ in self.finds[:1])

    def __repr__(self) -> str:
        return f"Query({self})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what is asked, of whom, and what is still to be found."""
        table, finds = self.table, [name for name, _ in self.finds]
        groups = ", ".join(one.column for one in table.groupings)
        return (
            "<div>"
            + facts_html(
                [
                    ("Asks", str(self)),
                    *([("Groups", f"by {groups}; one counts in at most {table.max_groups:,}")] if groups else []),
                    ("Protects", f"{table.claimed}: {table.unit.protects}"),
                    *([("Finds", f"{' and '.join(finds)}, privately")] if finds else []),
                    *([] if self.discover is None else [("Finds", "which keys there are, privately")]),
                    *([] if table.where is None else [("Where", table.where)]),
                ]
            )
            + "</div>"
        )

    def __str__(self) -> str:
        table = self.table
        open_ = table.measure.size_name in dict(self.finds)
        return f"{table.measure.open_words(table.unit.called) if open_ else table.released}; {table.calendar}"


def named_columns(columns: Sequence[Derived], names: Sequence[str | None]) -> tuple[Derived, ...] | None:
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
