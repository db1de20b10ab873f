"""A question written in words, as commands, files and a curator's JSON do: one way to the query that it stands for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from chronodp.dataset.queries import Queries
from chronodp.dataset.query import Query
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_flag
from chronodp.series import ASKABLE, Discover, Find, Places, ask_for
from chronodp.series.finding import edges_shape

__all__ = ["BOUNDS", "FindBounds", "ask_question"]

BOUNDS = ("clip", "at_most", "norm", "edges", "max_periods", "max_groups")
"""The bounds that a private step can find."""

_SIZES = ("clip", "at_most", "norm", "edges")
_ARGUMENTS = {"norm": "bound"}  # where a bound has another name in Python, as in bound=Norm(Find())

Planned = TypeVar("Planned")
Given = TypeVar("Given")


@dataclass(frozen=True, slots=True)
class FindBounds:
    """Which bounds of a question are found, where `Find()` cannot be written in their place.

    Attributes:
        bounds: of `BOUNDS`; none if all are given.
        share: the part of the price that finds them.
        between: public ends of the largest size of a person in a period, of the norm of a whole series, or of edges.
        from_zero: whether totals below 0 count as 0, so that of a clip only the most is found; of edges, whether values
            below 0 are left out.
    """

    bounds: tuple[str, ...] = ()
    share: float = Find().share
    between: tuple[float, float] | None = None
    from_zero: bool = False

    def __post_init__(self) -> None:
        unknown = [name for name in self.bounds if name not in BOUNDS]
        if unknown or len(set(self.bounds)) < len(self.bounds):
            given = unknown[0] if unknown else list(self.bounds)
            raise InvalidArgument("find", given, f"made of {', '.join(BOUNDS)}, each once")
        if self.between is not None and not set(_SIZES) & set(self.bounds):
            raise InvalidArgument("between", self.between, f"left out unless {' or '.join(_SIZES)} is found")
        if check_flag("from_zero", self.from_zero) and not {"clip", "edges"} & set(self.bounds):
            raise InvalidArgument("from_zero", True, "left out unless clip or edges are found")
        self.find("clip")  # refuses shares and ends before any question is made

    def find(self, name: str) -> Find:
        """Return what stands in place of a bound."""
        return Find(self.share, self.between if name in _SIZES else None)

    def instead_of(self, name: str, given: Given) -> Given | Find:
        """Return what a question has for a bound: what is given, or that it is found; not both."""
        if name not in self.bounds:
            return given
        if given is not None:
            raise InvalidArgument(name, given, "given or found, not both")
        return self.find(name)


def ask_question(
    series: Queries[Planned],
    measure: Mapping[str, Any],
    *,
    by: Mapping[str, Sequence[object] | Discover] | None = None,
    places: Places | None = None,
    focus: Mapping[str, float] | Literal["nodes", "largest"] | None = None,
    max_groups: int | None = None,
    max_periods: int | None = None,
    block: tuple[str, str] | None = None,
    find: FindBounds | None = None,
) -> Query[Planned]:
    """Return the query that a question describes, about a series on the question's grid.

    Args:
        series: what is asked; where its periods are found, ``max_periods`` is a `Find` already.
        measure: its kind and its arguments, as `ask_for` reads them, without bounds that are found.
        by: columns that split it, with their public keys; of one, `Discover` may stand in their place.
        places: a public tree of keys, every level of which is released.
        focus: which of its levels errors are made small for.
        max_groups: in how many groups of a period a person counts; as `Query.by` has it if not given.
        max_periods: how many active periods of a person count, where it is asked who was active lately and this is
            said beside the question; that of the series otherwise.
        block: a statistic and a length, such as ``("peak", "1D")``.
        find: which bounds are found.
    """
    finding = FindBounds() if find is None else find
    query = _measured(series, measure, finding, max_periods)
    groups = finding.instead_of("max_groups", max_groups)
    if by or places is not None:
        trees = () if places is None else (places,)
        query = query.by(*trees, by or {}, max_groups=groups, focus=focus)
    elif isinstance(groups, Find) or groups not in (None, 1):
        given = "found" if isinstance(groups, Find) else groups
        raise InvalidArgument("max_groups", given, "left out where nothing splits the answer")
    if block is not None:
        statistic, every = block
        query = {"total": query.total, "peak": query.peak, "trough": query.trough}[statistic](every=every)
    return query


def _measured(
    series: Queries[Planned], said: Mapping[str, Any], finding: FindBounds, max_periods: int | None
) -> Query[Planned]:
    names = [name for name in _SIZES if isinstance(finding.instead_of(name, said.get(name)), Find)]
    if "clip" in names and (said.get("norm") is not None or "norm" in names):
        raise InvalidArgument("clip", "found", "left out of what is found beside norm, which takes its place")
    if not names:
        measure = ask_for(said)
        return series.ask(measure, max_periods=None if measure.presence is None else max_periods)
    # What stands where a size is found is the reference that it is a multiple of, as `Queries.sum` and `count` have it.
    reference: dict[str, Any] = {
        "clip": (0.0, 1.0) if finding.from_zero else (-1.0, 1.0),
        "edges": edges_shape(from_zero=finding.from_zero),
        "at_most": 1,
        "norm": 1.0,
    }
    asking = ASKABLE.get(str(said.get("kind")))
    takes = () if asking is None else tuple(argument.name for argument in asking.arguments)
    measure = ask_for({**said, **{name: reference[name] for name in names if name in takes}})
    for name in names:
        if measure.size_name != _ARGUMENTS.get(name, name):
            raise InvalidArgument(name, "found", f"left out of what is found: it cannot be found for {said['kind']}")
    return series.ask(measure).finding(**{_ARGUMENTS.get(name, name): finding.find(name) for name in names})
