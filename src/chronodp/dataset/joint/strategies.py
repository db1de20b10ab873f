"""Ways to share a budget, each with its error: equal shares, best shares, and answering one query from another.

*Answers from another release* and "The best shares" of ``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from chronodp.dataset.joint.sharing import Following, Shareable
from chronodp.dataset.joint.split import best_shares, equal_shares, squared_error
from chronodp.errors import InvalidArgument
from chronodp.postprocess import Law

__all__ = ["Name", "Request", "Strategy", "strategies_for"]

Name: TypeAlias = Literal["equal", "optimal", "shared release"]

_MOST_WAYS = 50_000


@dataclass(frozen=True, slots=True)
class Request:
    """A query by its name, with the weight of the squared error of one of its numbers."""

    name: str
    query: Shareable
    weight: float


@dataclass(frozen=True, slots=True)
class Strategy:
    """One way to answer every query.

    Attributes:
        name: of the strategy.
        law: of the noise.
        shares: of the queries that are released: an epsilon each, or for Gaussian noise a mu.
        sources: of the other queries: which release answers each.
        error: the squared errors of all numbers, each with its weight, added up.
        rmse: the root mean squared error of one number of each query.
    """

    name: Name
    law: Law
    shares: Mapping[str, float]
    sources: Mapping[str, str]
    error: float
    rmse: Mapping[str, float]


def strategies_for(asked: Sequence[Request], *, law: Law, whole: float) -> Iterator[Strategy]:
    """Yield every strategy that answers all queries with noise of one law; none if some query has no such noise.

    Args:
        asked: the queries.
        law: of the noise.
        whole: what there is to share: an epsilon, or for Gaussian noise a mu.
    """
    single: dict[str, float] = {}
    for one in asked:
        part = one.query.at(law, 1.0)
        if part is None:
            return
        single[one.name] = part.rmse**2
    following = _following(asked)
    direct = _weighed(asked, single, {}, following)
    yield _strategy("equal", law, equal_shares(len(asked), law=law, whole=whole), asked, single, {}, following)
    if all(direct.values()):
        shares = best_shares(list(direct.values()), law=law, whole=whole)
        yield _strategy("optimal", law, shares, asked, single, {}, following)
    sources = _best_sources(asked, single, following, law, whole)
    if sources:
        errors = _weighed(asked, single, sources, following)
        shares = best_shares(list(errors.values()), law=law, whole=whole)
        yield _strategy("shared release", law, shares, asked, single, sources, following)


def _best_sources(
    asked: Sequence[Request],
    single: Mapping[str, float],
    following: Mapping[tuple[str, str], Following],
    law: Law,
    whole: float,
) -> dict[str, str]:
    """Which queries are best answered from which release, at least one of them; none if none can be."""
    best: dict[str, str] = {}
    least = math.inf
    for sources in _ways(asked, following):
        errors = list(_weighed(asked, single, sources, following).values())
        # A release on which no error hangs would get no share.
        if not sources or not all(errors):
            continue
        error = squared_error(errors, best_shares(errors, law=law, whole=whole))
        if error < least:
            best, least = sources, error
    return best


def _following(asked: Sequence[Request]) -> dict[tuple[str, str], Following]:
    """How each query follows from each other, where it does."""
    found = {}
    for one, other in itertools.permutations(asked, 2):
        how = one.query.follows_from(other.query)
        if how is not None:
            found[one.name, other.name] = how
    return found


def _ways(asked: Sequence[Request], following: Mapping[tuple[str, str], Following]) -> Iterator[dict[str, str]]:
    """Yield every choice of which query is answered from which release; a source is itself released."""
    options = [[None, *(other for name, other in following if name == one.name)] for one in asked]
    if math.prod(map(len, options)) > _MOST_WAYS:
        raise InvalidArgument("queries", f"{len(asked)} queries", "fewer that follow from one another")
    for choice in itertools.product(*options):
        sources = {one.name: other for one, other in zip(asked, choice, strict=True) if other is not None}
        if not any(other in sources for other in sources.values()):
            yield sources


def _weighed(
    asked: Sequence[Request],
    single: Mapping[str, float],
    sources: Mapping[str, str],
    following: Mapping[tuple[str, str], Following],
) -> dict[str, float]:
    """The weighed squared error that hangs on each release at share 1: its own, and that of what it answers."""
    errors = {one.name: 0.0 for one in asked if one.name not in sources}
    for one in asked:
        source = sources.get(one.name, one.name)
        factor = 1.0 if source == one.name else following[one.name, source].factor
        errors[source] += one.weight * one.query.numbers * factor * single[source]
    return errors


def _strategy(
    name: Name,
    law: Law,
    shares: Sequence[float],
    asked: Sequence[Request],
    single: Mapping[str, float],
    sources: Mapping[str, str],
    following: Mapping[tuple[str, str], Following],
) -> Strategy:
    errors = _weighed(asked, single, sources, following)
    by_name = dict(zip(errors, shares, strict=True))
    rmse = {}
    for one in asked:
        source = sources.get(one.name, one.name)
        factor = 1.0 if source == one.name else following[one.name, source].factor
        rmse[one.name] = math.sqrt(factor * single[source]) / by_name[source]
    return Strategy(name, law, by_name, dict(sources), squared_error(list(errors.values()), list(shares)), rmse)
