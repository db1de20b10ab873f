"""How the budget of a window is shared among its steps: four ways, a closed family.

The four rows of the table in ``docs/explanation/proofs/w-event.md``; why every window keeps its sum: *Every window has
Σ s_t ≤ ε*.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from chronodp.privacy import document

__all__ = ["BudgetAbsorption", "BudgetDistribution", "Sample", "Uniform", "WindowedMechanism"]


@document("windowed_uniform")
@dataclass(frozen=True, slots=True)
class Uniform:
    """Every step is released with the same share: Laplace noise, or Gaussian noise if there is a delta."""

    def __str__(self) -> str:
        return "the same share at every step"


@document("windowed_sample")
@dataclass(frozen=True, slots=True)
class Sample:
    """One step of every window is released with the whole budget and repeated until the next."""

    def __str__(self) -> str:
        return "one release a window, repeated in between"


@document("windowed_budget_distribution")
@dataclass(frozen=True, slots=True)
class BudgetDistribution:
    """A step that differs enough from the last release is released with half of what the window has left.

    Half of the budget is for telling whether it differs. Good where changes are rare and values large.

    References:
        Kellaris, Papadopoulos, Xiao, Papadias (2014), Differentially private event sequences over infinite streams.
    """

    def __str__(self) -> str:
        return "half of what is left when values have moved (budget distribution)"


@document("windowed_budget_absorption")
@dataclass(frozen=True, slots=True)
class BudgetAbsorption:
    """A step that differs enough takes the shares of the quiet steps before it; as many steps after it give theirs up.

    Half of the budget is for telling whether it differs.

    References:
        Kellaris, Papadopoulos, Xiao, Papadias (2014), Differentially private event sequences over infinite streams.
    """

    def __str__(self) -> str:
        return "shares of quiet steps taken up when values have moved (budget absorption)"


WindowedMechanism: TypeAlias = Uniform | Sample | BudgetDistribution | BudgetAbsorption
