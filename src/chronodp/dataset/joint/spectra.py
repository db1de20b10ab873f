"""Spectra among queries that are planned together.

*Spectra* under "Composition" of ``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.dataset.joint.sharing import Following, PlanPart, Shareable, terms_of
from chronodp.ledger import Dates
from chronodp.postprocess import Law
from chronodp.privacy import Unit
from chronodp.spectrum import SpectrumPlan, Strongest

__all__ = ["SharedSpectrum", "SpectrumPart"]


@dataclass(frozen=True, slots=True)
class SharedSpectrum:
    """A spectrum whose price is its share: what it was planned with is replaced."""

    plan: SpectrumPlan

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.plan.design.unit

    @property
    def numbers(self) -> int:
        """The periods of the series that it gives back, by which its error is counted."""
        return self.plan.design.horizon

    @property
    def scale(self) -> float:
        """The most that one unit changes a period."""
        return self.plan.design.change

    def at(self, law: Law, share: float) -> SpectrumPart | None:
        """Return it at a share. Choosing harmonics is paid by plain epsilons, and so with Laplace noise only."""
        if law == "gaussian" and isinstance(self.plan.design.wanted, Strongest):
            return None
        epsilon, delta = terms_of(law, share)
        plan = self.plan.within(epsilon=epsilon, delta=delta)
        return SpectrumPart(plan) if plan.design.noise.law == law else None

    def follows_from(self, other: Shareable) -> Following | None:  # noqa: ARG002  # of Shareable
        """Return None: its series was handed over by itself."""
        return None

    def __str__(self) -> str:
        return f"{self.plan.design.wanted} of {self.plan.design.horizon:,} periods"


@dataclass(frozen=True, slots=True)
class SpectrumPart(PlanPart):
    """A spectrum planned at its share."""

    plan: SpectrumPlan

    @property
    def rmse(self) -> float:
        """The root mean squared error of noise in one period of the series that it gives back."""
        return self.plan.rmse

    @property
    def dates(self) -> Dates | None:
        """None: its periods are only numbered."""
        return None
