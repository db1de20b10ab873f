"""Every theorem side by side.

Each row is a bound of ``docs/explanation/proofs/accounting.md``; so the least of them is one too.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

from chronodp.accounting import advanced, basic, gaussian, optimal, pld, renyi, zcdp
from chronodp.accounting.spending import Costs, Spending, gather
from chronodp.errors import InvalidArgument, UnsupportedCost
from chronodp.privacy import Assumption, check_fraction

__all__ = ["Bound", "Comparison", "compare"]

_ORDER = "best order; a running budget must fix it at the start"


@dataclass(frozen=True, slots=True)
class Bound:
    """What one theorem says.

    Attributes:
        theorem: its name.
        epsilon: the epsilon it proves at ``delta``; None where it says nothing (``remark`` tells why).
        delta: the total delta.
        adaptive: whether a budget fixed at the start may be spent by it with each next cost chosen after seeing the
            answers so far. All of them hold when only the questions are chosen so.
        remark: what to know when reading the number.
    """

    theorem: str
    epsilon: float | None
    delta: float
    adaptive: bool
    remark: str


@dataclass(frozen=True, slots=True)
class Comparison:
    """One table with every theorem's epsilon; prints as such."""

    bounds: tuple[Bound, ...]
    releases: int
    assumptions: tuple[Assumption, ...]

    def __getitem__(self, theorem: str) -> Bound:
        for bound in self.bounds:
            if bound.theorem == theorem:
                return bound
        raise InvalidArgument("theorem", theorem, f"one of {', '.join(bound.theorem for bound in self.bounds)}")

    @property
    def best(self) -> Bound:
        """The smallest epsilon for a plan whose costs are fixed in advance."""
        return min(self.bounds, key=lambda bound: math.inf if bound.epsilon is None else bound.epsilon)

    @property
    def best_adaptive(self) -> Bound:
        """The smallest epsilon that also holds when costs are chosen on the way; what a ledger can grant."""
        usable = [bound for bound in self.bounds if bound.adaptive]
        return min(usable, key=lambda bound: math.inf if bound.epsilon is None else bound.epsilon)

    def to_dict(self) -> dict[str, object]:
        """Return plain dictionaries and lists, for JSON."""
        return {
            "releases": self.releases,
            "bounds": [asdict(bound) for bound in self.bounds],
            "best": self.best.theorem,
            "best_adaptive": self.best_adaptive.theorem,
            "assumptions": [asdict(assumption) for assumption in self.assumptions],
        }

    def __str__(self) -> str:
        lines = [f"{'theorem':<22}{'epsilon':>12}{'delta':>14}  {'adaptive':<9} remark"]
        for bound in self.bounds:
            number = "none" if bound.epsilon is None else f"{bound.epsilon:.4f}"
            adaptive = "yes" if bound.adaptive else "no"
            lines.append(f"{bound.theorem:<22}{number:>12}{bound.delta:>14.6g}  {adaptive:<9} {bound.remark}".rstrip())
        lines += [f"assuming {assumption}" for assumption in self.assumptions]
        return "\n".join(lines)


def compare(costs: Costs, delta: float | None = None, *, slack: float | None = None) -> Comparison:
    """Return what every theorem says about the same releases.

    Args:
        costs: a cost or several.
        delta: the total delta at which all theorems are read.
        slack: instead of ``delta``, what advanced and optimal composition may add to the deltas of the releases
            themselves, as textbooks state them; each row then shows its own total delta.

    >>> from chronodp.privacy import ApproximateCost, RepeatedCost
    >>> table = compare(RepeatedCost(ApproximateCost(0.05, 1e-8), 1440), slack=1e-7)
    >>> [round(table[name].epsilon, 4) for name in ("basic", "advanced", "optimal")]
    [72.0, 14.4642, 11.1603]
    """
    if (delta is None) == (slack is None):
        raise InvalidArgument("delta", delta, "given, or slack in its place, but not both")
    spending = gather(costs)
    summed = basic.deltas(spending)
    if slack is not None:
        check_fraction("slack", slack)
        joint = spending.failed - math.expm1(math.log1p(-spending.revealed) + math.log1p(-slack))
        basic_delta = summed + slack if spending.gaussian else summed
        advanced_delta = summed + slack
    else:
        joint = basic_delta = advanced_delta = check_fraction("delta", delta)
    rows = [
        ("basic", basic.epsilon, basic_delta, True, _basic_remark(spending)),
        ("advanced", advanced.epsilon, advanced_delta, False, "the textbook's; delta split at its best"),
        ("optimal", optimal.epsilon, joint, False, "best possible knowing only (ε, δ) of each release"),
        ("zCDP", zcdp.epsilon, joint, True, "ρ + 2√(ρ ln 1/δ)"),
        ("Rényi, textbook", renyi.epsilon_textbook, joint, False, _ORDER),
        ("Rényi, improved", renyi.epsilon, joint, False, _ORDER),
        ("Gaussian (GDP)", gaussian.epsilon, joint, True, _gaussian_remark(spending)),
        ("PLD", pld.epsilon, joint, False, "dp-accounting, rounded up; costs fixed in advance"),
    ]
    return Comparison(tuple(_bound(spending, *row) for row in rows), spending.count, spending.assumptions)


def _bound(
    spending: Spending,
    theorem: str,
    epsilon: Callable[[Costs, float], float],
    delta: float,
    adaptive: bool,
    remark: str,
) -> Bound:
    try:
        value = epsilon(spending, delta)
    except UnsupportedCost as error:
        return Bound(theorem, None, delta, adaptive, str(error))
    if math.isinf(value):
        covered = spending.left_of(delta) > 0
        why = "no finite epsilon" if covered else "delta does not cover the deltas of the releases"
        return Bound(theorem, None, delta, adaptive, why)
    return Bound(theorem, value, delta, adaptive, remark)


def _basic_remark(spending: Spending) -> str:
    return "delta split equally among Gaussian releases" if spending.gaussian else ""


def _gaussian_remark(spending: Spending) -> str:
    if spending.sampled:
        return "sampling is worth nothing here: samples count as everybody"
    if spending.bounded:
        return "bounded releases enter as the GDP that covers them"
    return "exact but for failures, whose probabilities are added" if spending.failures else "exact"
