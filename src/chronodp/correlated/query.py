"""What is asked of a snapshot: a mean, a sum, a weighted sum, a maximum, or several of these at once."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias, assert_never

import numpy as np

from chronodp.correlated.chain import Floats, Integers
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_number, document, settle

__all__ = ["Maximum", "Mean", "Query", "QueryTable", "Several", "Sum", "WeightedSum", "check_query", "tabulate"]

_NAMES = "Mean(), Sum(), WeightedSum((…)), Maximum() or Several((…))"


@document("correlated_mean")
@dataclass(frozen=True, slots=True)
class Mean:
    """The mean of all sequences' scores; the score of state u is ``scores[u]``, or u itself."""

    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        settle(self, scores=_check_numbers("scores", self.scores))

    def __str__(self) -> str:
        return "the mean"


@document("correlated_sum")
@dataclass(frozen=True, slots=True)
class Sum:
    """The sum of all sequences' scores."""

    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        settle(self, scores=_check_numbers("scores", self.scores))

    def __str__(self) -> str:
        return "the sum"


@document("correlated_weighted_sum")
@dataclass(frozen=True, slots=True)
class WeightedSum:
    """Σ_j weight_j · score of sequence j; a weight of 0 leaves a sequence out."""

    weights: tuple[float, ...]
    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        settle(self, weights=_check_numbers("weights", self.weights), scores=_check_numbers("scores", self.scores))
        if not any(self.weights):
            raise InvalidArgument("weights", 0.0, "numbers, one a sequence, not all of them 0")

    def __str__(self) -> str:
        return "a weighted sum"


@document("correlated_maximum")
@dataclass(frozen=True, slots=True)
class Maximum:
    """The largest score of any sequence."""

    scores: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        settle(self, scores=_check_numbers("scores", self.scores))

    def __str__(self) -> str:
        return "the maximum"


@document("correlated_several")
@dataclass(frozen=True, slots=True)
class Several:
    """Several queries released together, each with noise of its own of one common scale."""

    queries: tuple[Mean | Sum | WeightedSum | Maximum, ...]

    def __post_init__(self) -> None:
        if not isinstance(self.queries, tuple) or not self.queries:
            raise InvalidArgument("queries", self.queries, "a tuple of at least one query")
        for query in self.queries:
            if not isinstance(query, Mean | Sum | WeightedSum | Maximum):
                raise InvalidArgument("queries", query, "a tuple of Mean, Sum, WeightedSum or Maximum")

    def __str__(self) -> str:
        return ", ".join(map(str, self.queries))


Query: TypeAlias = Mean | Sum | WeightedSum | Maximum | Several


@dataclass(frozen=True, eq=False)
class QueryTable:
    """A query on a given number of sequences, as what each sequence puts in and how that is put together.

    Attributes:
        parts: what a sequence in a state contributes, as outputs × sequences × states.
        largest: of each output, whether contributions are compared (True) or added (False).
    """

    parts: Floats
    largest: tuple[bool, ...]

    @cached_property
    def changes(self) -> Floats:
        """The most that one sequence changes all outputs together (Δ_j), in l1."""
        low, high = self.parts.min(axis=2), self.parts.max(axis=2)
        apart = high - low
        for output in np.flatnonzero(self.largest):
            # Whatever the others are, the maximum is at least the largest of their least scores.
            floor = _largest_of_others(low[output])
            apart[output] = np.maximum(0.0, high[output] - np.maximum(low[output], floor))
        total: Floats = apart.sum(axis=0)
        total.setflags(write=False)
        return total

    @property
    def sensitivity(self) -> float:
        """The most that any one sequence changes the outputs (Δ_f), in l1."""
        return float(self.changes.max())

    def values(self, snapshots: Integers) -> Floats:
        """Return the outputs for each snapshot, as snapshots × outputs."""
        columns = np.arange(self.parts.shape[1])
        made = []
        for part, compared in zip(self.parts, self.largest, strict=True):
            picked = part[columns, snapshots]
            made.append(picked.max(axis=1) if compared else picked.sum(axis=1))
        return np.stack(made, axis=1)

    def together(self, left: Floats, right: Floats) -> Floats:
        """Return outputs of two disjoint sets of sequences put together; rows are cases, columns outputs."""
        compared = np.asarray(self.largest)
        joined: Floats = np.where(compared, np.maximum(left, right), left + np.where(compared, 0.0, right))
        return joined

    def nothing(self) -> Floats:
        """Return the outputs of no sequence at all."""
        return np.where(self.largest, -np.inf, 0.0)


def tabulate(query: Query, sequences: int, states: int) -> QueryTable:
    """Return the query as contributions of so many sequences of so many states.

    >>> tabulate(Mean(), 4, 2).sensitivity, tabulate(Maximum(), 4, 3).sensitivity
    (0.25, 2.0)
    """
    singles = query.queries if isinstance(query, Several) else (query,)
    parts = np.stack([_parts(single, sequences, states) for single in singles])
    made = QueryTable(parts, tuple(isinstance(single, Maximum) for single in singles))
    if not made.sensitivity > 0:
        raise InvalidArgument("query", str(query), "a query that some sequence can change")
    return made


def check_query(value: object) -> Query:
    """Return ``value`` if it is a query."""
    if not isinstance(value, Query):
        raise InvalidArgument("query", value, _NAMES)
    return value


def _parts(query: Mean | Sum | WeightedSum | Maximum, sequences: int, states: int) -> Floats:
    scores = np.asarray(query.scores or np.arange(states), dtype=np.float64)
    if len(scores) != states:
        raise InvalidArgument("scores", len(scores), f"one a state, {states}")
    match query:
        case Mean():
            return np.broadcast_to(scores / sequences, (sequences, states))
        case Sum() | Maximum():
            return np.broadcast_to(scores, (sequences, states))
        case WeightedSum(weights=weights):
            if len(weights) != sequences:
                raise InvalidArgument("weights", len(weights), f"one a sequence, {sequences}")
            weighted: Floats = np.multiply.outer(np.asarray(weights, dtype=np.float64), scores)
            return weighted
        case never:
            assert_never(never)


def _largest_of_others(numbers: Floats) -> Floats:
    if len(numbers) == 1:
        return np.full(1, -np.inf)
    second, first = np.sort(numbers)[-2:]
    ties = np.count_nonzero(numbers == first) > 1
    others: Floats = np.where((numbers == first) & (not ties), second, first)
    return others


def _check_numbers(name: str, values: object) -> tuple[float, ...]:
    if not isinstance(values, tuple | list) and not (isinstance(values, np.ndarray) and values.ndim == 1):
        raise InvalidArgument(name, values, "a tuple of numbers")
    return tuple(check_number(name, value) for value in values)
