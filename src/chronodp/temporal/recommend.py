"""Which mechanism to take: the paper's strategy and ours, with what each is predicted to cost."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole
from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.damage import Damage, UnitCosts
from chronodp.temporal.probabilities import check_budget
from chronodp.temporal.published.backward import Backward
from chronodp.temporal.published.dispatch import derived_budget
from chronodp.temporal.published.forward import Forward
from chronodp.temporal.published.stirling import LONGEST
from chronodp.temporal.published.threshold import Threshold

__all__ = ["Candidate", "Recommendation", "recommend"]


@dataclass(frozen=True, slots=True)
class Candidate:
    """A mechanism with what is expected of it.

    Attributes:
        mechanism: ready to use.
        private: whether it is ε-TLDP; otherwise its epsilon is a marginal dispatch budget.
        damage: expected for a value.
        cost: of that damage, by the unit costs.
    """

    mechanism: BlockShuffle | Backward | Forward | Threshold
    private: bool
    damage: Damage
    cost: float


@dataclass(frozen=True, slots=True)
class Recommendation:
    """What to take.

    Attributes:
        ours: `BlockShuffle`, the only one that keeps the order of values private.
        papers: what the paper's strategy picks.
        candidates: all of them, cheapest first.
    """

    ours: Candidate
    papers: Candidate
    candidates: tuple[Candidate, ...]

    def __str__(self) -> str:
        lines = [f"Take {self.ours.mechanism}: ε-TLDP at a cost of {self.ours.cost:.4g} a value."]
        lines.append(
            f"The paper's strategy takes {self.papers.mechanism} at {self.papers.cost:.4g}, whose epsilon is a "
            "marginal dispatch budget and no differential privacy."
        )
        return "\n".join(lines)


def recommend(window: int, epsilon: float, *, unit_costs: UnitCosts | None = None) -> Recommendation:
    """Return what the paper's strategy picks for a window and a budget, and what we do, with predicted costs.

    The delay of `BlockShuffle` is the wait for the end of its block; where values are read by the time that they are
    released *for*, its delay is far smaller (`BlockShuffle.expected`). Unit costs default to the paper's: a missing,
    repeated or empty value is as bad as a delay of a whole window. See `frequency_counting` and `moving_average`.

    >>> found = recommend(20, 5.0)
    >>> found.ours.cost, round(found.papers.cost, 4), [round(part.cost, 4) for part in found.candidates]
    (9.5, 10.0, [9.5, 10.0, 15.6601, 15.6601])
    """
    check_whole("window", window, least=3, most=LONGEST)
    budget = check_budget("epsilon", epsilon)
    costs = UnitCosts.relative(window) if unit_costs is None else unit_costs
    if not isinstance(costs, UnitCosts):
        raise InvalidArgument("unit_costs", unit_costs, "UnitCosts, as frequency_counting and moving_average make")
    ours = _candidate(BlockShuffle(window, budget), costs)
    theirs = [_candidate(kind(window, budget), costs) for kind in (Threshold, Backward, Forward)]
    papers = theirs[_strategy(window, budget, costs)]
    return Recommendation(ours, papers, tuple(sorted([ours, *theirs], key=lambda part: part.cost)))


def _candidate(mechanism: BlockShuffle | Backward | Forward | Threshold, costs: UnitCosts) -> Candidate:
    damage = mechanism.expected_by_clock if isinstance(mechanism, BlockShuffle) else mechanism.expected
    return Candidate(mechanism, isinstance(mechanism, BlockShuffle), damage, damage.cost(costs))


def _strategy(window: int, epsilon: float, costs: UnitCosts) -> int:
    """Return 0 for Threshold, 1 for Backward, 2 for Forward: section V-B 4 of the paper."""
    lowest, highest = _derivable(window)
    if epsilon < lowest:
        takes_threshold = epsilon >= 1 and window <= 100
    elif epsilon > highest:
        takes_threshold = epsilon <= 20 and window >= 10
    else:
        takes_threshold = True
    if takes_threshold:
        return 0
    return 2 if costs.repeated > costs.empty else 1


@lru_cache(maxsize=64)
def _derivable(window: int) -> tuple[float, float]:
    """Return the lowest budget that any threshold derives, and that of the cheapest, k - 1."""
    budgets = [derived_budget(window, threshold) for threshold in range(2, window)]
    return min(budgets), budgets[-1]
