"""What training costs: all its steps counted together, one by one, or by an account that is begun anew."""

from __future__ import annotations

from functools import partial

from chronodp.accounting import pld, renyi
from chronodp.privacy import RepeatedCost, SampledGaussianCost
from experiments.claims import Claim, Pair, computation, order

__all__ = ["accounting_claims"]

STEPS, DELTA = 50, 1e-5
_STEP = SampledGaussianCost(sensitivity=1.0, sigma=1.0, rate=0.1)


@computation()
def renyi_epsilon(steps: int, delta: float) -> float:
    """Return ε of so many steps by Rényi divergences, at the best of all orders."""
    return renyi.epsilon(RepeatedCost(_STEP, steps), delta)


@computation()
def distribution_epsilon(steps: int) -> float:
    """Return ε of so many steps by the distribution of the privacy loss."""
    return pld.epsilon(RepeatedCost(_STEP, steps), DELTA)


def accounting_claims() -> list[Claim]:
    """Return the claims on the account of training."""
    claim = partial(Claim, source="applications", rule=order)
    return [
        claim(
            id="A21",
            place="Applications, Federated Learning",
            says="Clipped gradients with Gaussian noise, accounted by Rényi divergences, cost less than by basic "
            "composition.",
            stated="Rényi < basic",
            readings={
                "50 steps": lambda: [
                    Pair(renyi_epsilon(STEPS, DELTA), STEPS * renyi_epsilon(1, DELTA / STEPS), "50 steps, δ = 1e-5")
                ]
            },
            tokens=("provide tighter bounds than basic composition", "clip the per-example gradient norms"),
            parameters="ours: σ = 1, rate 0.1, 50 steps, δ = 1e-5",
            note="Clipping by example protects a patient only where a patient is one example.",
        ),
        claim(
            id="N07e",
            place="beside A21",
            says="The distribution of the loss counts the same steps lower still than Rényi divergences.",
            stated="distribution of the loss < Rényi",
            readings={"50 steps": lambda: [Pair(distribution_epsilon(STEPS), renyi_epsilon(STEPS, DELTA), "50 steps")]},
            origin="ours",
        ),
        claim(
            id="N07",
            place="beside A21",
            says="An engine made anew for each of five rounds of ten steps tells less than the run costs: the rounds "
            "add up.",
            stated="ten steps < fifty steps",
            readings={
                "ε at δ = 1e-5": lambda: [Pair(renyi_epsilon(10, DELTA), renyi_epsilon(STEPS, DELTA), "five rounds")]
            },
            origin="ours",
        ),
    ]
