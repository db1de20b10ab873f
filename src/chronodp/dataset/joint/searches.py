"""Bounds that queries planned together are to find: each search is paid once, and serves all that look for the same.

"Bounds that are found" of ``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from chronodp.dataset.joint.series import FoundPart, SharedSeries, same_origin
from chronodp.dataset.joint.sharing import Part, Shareable, terms_of
from chronodp.dataset.joint.strategies import Strategy
from chronodp.dataset.records import Records
from chronodp.engines import Derived, Progress, Sizes, derived_as
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law
from chronodp.privacy import BoundedRangeCost, Cost, PureCost
from chronodp.randomness import Entropy
from chronodp.series import EachPeriod, FindDesign, FindingOrigin, Found, Split, Table, choice_prices
from chronodp.series.finding import checked_design, choices_of, design_find, found_by, parts_of

__all__ = ["PricedSearch", "Search", "all_choices", "found_of", "left_for_numbers", "searches_for"]

_MOST_FOR_FINDING = 0.5


@dataclass(frozen=True, slots=True)
class Search:
    """Bounds that one query finds, for itself and for others that are to find the same.

    Attributes:
        finder: the name of the query by whose numbers they are found.
        query: it.
        members: the names of all queries that take what is found.
    """

    finder: str
    query: SharedSeries
    members: tuple[str, ...]

    @property
    def share(self) -> float:
        """The part of the whole price that finds them."""
        return max(find.share for _, find in self.query.finds)

    def covers(self, other: SharedSeries) -> bool:
        """Return whether what is found here is what another query is to find, of the same rows."""
        mine, theirs, own = self.query.table, other.table.periods, dict(self.query.finds)
        if not same_origin(self.query.origin, other.origin) or _rows(mine) != _rows(theirs):
            return False
        same = {
            "max_periods": True,
            "max_groups": (mine.groupings, mine.levels) == (theirs.groupings, theirs.levels),
            theirs.measure.size_name: mine.measure == theirs.measure and _computed(mine) == _computed(theirs),
        }
        return all(own.get(name) == find and same[name] for name, find in other.finds)

    def priced(self, strategy: Strategy, parts: Mapping[str, Part], *, whole: float) -> PricedSearch:
        """Return the search at its part of the whole price, weighed against the noise that its query will have.

        What it may find is what all that take it can draw; ``parts`` are the queries at their shares.
        """
        # A query that another answers has the numbers of that one: the same table, or it would not be the finder.
        share = strategy.shares[strategy.sources.get(self.finder, self.finder)]
        names = tuple(name for name, _ in self.query.finds)
        choices = choice_prices(strategy.law, whole, [part * self.share for part in parts_of(names)])
        epsilon, delta = terms_of(strategy.law, share)
        sizes = (find for name, find in self.query.finds if name == self.query.table.measure.size_name)
        between = next((find.between for find in sizes), None)
        design = FindDesign(
            self.query.table,
            names,
            self.share,
            between,
            epsilon,
            delta,
            EachPeriod(),
            priced=Split(strategy.law, share, choices),
            others=tuple(
                FindDesign(
                    part.table,
                    tuple(part.finds),
                    self.share,
                    None,
                    part.epsilon,
                    part.delta,
                    EachPeriod(),
                    priced=part.split,
                )
                for name, part in parts.items()
                if name in self.members and name != self.finder and isinstance(part, FoundPart)
            ),
        )
        origin = self.query.origin
        if not isinstance(origin, Records):
            raise AssertionError("bounds are found for records only")
        return PricedSearch(checked_design(design), origin, self.members)


@dataclass(frozen=True, slots=True)
class PricedSearch:
    """A search for bounds, priced.

    Attributes:
        design: everything public about it.
        origin: whose records.
        members: the names of the queries that take what is found.
    """

    design: FindDesign
    origin: FindingOrigin
    members: tuple[str, ...]

    @property
    def costs(self) -> tuple[Cost, ...]:
        """What each of its choices costs."""
        split = self.design.split
        kind = BoundedRangeCost if split.law == "gaussian" else PureCost
        return tuple(kind(part) for part in split.choices)

    @property
    def names(self) -> str:
        """What is found for whom, in words."""
        return f"{' and '.join(self.design.finds)} of {', '.join(self.members)}"

    @property
    def words(self) -> str:
        """What is found, in a sentence of the plan."""
        design = self.design
        sizes = "; errors are in sizes found" if design.finds_size else ""
        among = len(design.edges.first if design.finds_edges else design.typical.candidates)
        told = "" if design.finds_edges else f"; errors are at most{sizes}"
        return (
            f"{100 * design.share:.3g} % of the price finds {self.names}, once, among {among:,} candidates; needs "
            f"about {design.votes.needed:,} of those protected or more{told}"
        )

    def sizes(self) -> Sizes:
        """Return how much voters hold, which nobody may see."""
        return self.origin.sizes(self.design.votes)


def searches_for(queries: Mapping[str, Shareable], *, epsilon: float, delta: float) -> tuple[Search, ...]:
    """Return the fewest searches that serve all queries with bounds to find; refuse what cannot be found."""
    finding = {name: one for name, one in queries.items() if isinstance(one, SharedSeries) and one.finds}
    searches: list[Search] = []
    # Who finds most comes first, so that others take what they need from it; blocks take from the series itself.
    ordered = sorted(finding.items(), key=lambda one: (one[1].table.measure.block is not None, -len(one[1].finds)))
    for name, query in ordered:
        place = next((place for place, search in enumerate(searches) if search.covers(query)), None)
        if place is not None:
            search = searches[place]
            searches[place] = Search(search.finder, search.query, (*search.members, name))
        elif query.table.measure.block is not None:
            allowed = "found for the series itself too: plan the query that the block is made of beside it"
            raise InvalidArgument(f"{query.finds[0][0]} of query {name!r}", "Find()", allowed)
        else:
            design_find(query.table, dict(query.finds), epsilon=epsilon, delta=delta, tuned_for=EachPeriod())
            searches.append(Search(name, query, (name,)))
    if (spent := math.fsum(search.share for search in searches)) > _MOST_FOR_FINDING:
        allowed = f"such that all bounds are found by at most {_MOST_FOR_FINDING:g} of the price; now {spent:g}"
        raise InvalidArgument("share of Find", searches[-1].share, allowed)
    return tuple(searches)


def left_for_numbers(searches: Sequence[Search], *, law: Law, whole: float) -> float:
    """Return what searches leave of a whole price, which is mu or an epsilon as the law is."""
    left = 1 - math.fsum(search.share for search in searches)
    return whole if not searches else whole * (math.sqrt(left) if law == "gaussian" else left)


def all_choices(
    searches: Sequence[PricedSearch], sizes: Sequence[Sizes], entropy: Entropy, *, progress: Progress | None
) -> tuple[Callable[[tuple[str, ...]], Callable[[], str]], ...]:
    """Return the private choices of all searches, one after another; each sees those of its own search."""
    return tuple(
        _after(choose, before)
        for before, search, counts in zip(_begins(searches), searches, sizes, strict=True)
        for choose in choices_of(search.design, search.origin, counts, entropy, progress=progress)
    )


def found_of(searches: Sequence[PricedSearch], chosen: Sequence[str]) -> tuple[Found, ...]:
    """Return the bounds that each search found."""
    return tuple(
        found_by(search.design, tuple(chosen[before : before + search.design.stages]))
        for before, search in zip(_begins(searches), searches, strict=True)
    )


def _begins(searches: Sequence[PricedSearch]) -> list[int]:
    """Return after how many choices of others each search begins."""
    return list(itertools.accumulate((search.design.stages for search in searches[:-1]), initial=0))


def _after(
    choose: Callable[[tuple[str, ...]], Callable[[], str]], before: int
) -> Callable[[tuple[str, ...]], Callable[[], str]]:
    return lambda chosen: choose(chosen[before:])


def _rows(table: Table) -> tuple[object, ...]:
    """Return which rows count, and whose."""
    return table.unit, table.calendar, table.reading, table.where, table.single_rows


def _computed(table: Table) -> Derived | None:
    name = table.measure.read_column
    return None if name is None else next((one for one in table.columns or () if derived_as([one], name)), None)
