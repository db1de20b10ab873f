"""Runs of training for experiments: through the library's own calls, with a ledger that is thrown away."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.federated import Federation
from chronodp.federated.training import Trainer, TrainingPlan
from chronodp.ledger import Ledger
from chronodp.privacy import User
from chronodp.randomness import Entropy, Shape, seeded


@dataclass(frozen=True, slots=True)
class NoNoise:
    """Coins of another entropy, and no noise: for the run that shows what noise costs."""

    coins_of: Entropy

    @property
    def seeded(self) -> bool:
        """Whether draws can be repeated; without noise there is nothing to hide behind anyway."""
        return True

    def integers(self, below: ArrayLike, size: Shape | None = None) -> NDArray[np.int64]:
        """Draw as the other one does."""
        return self.coins_of.integers(below, size)

    def coins(self, numerators: ArrayLike, denominator: int, size: Shape | None = None) -> NDArray[np.bool_]:
        """Draw as the other one does."""
        return self.coins_of.coins(numerators, denominator, size)

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        """Draw as the other one does."""
        return self.coins_of.exponential_coins(exponents)

    def permutations(self, count: int, rows: int = 1) -> NDArray[np.int64]:
        """Draw as the other one does."""
        return self.coins_of.permutations(count, rows)

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return zeros."""
        del scale
        return np.zeros(size, dtype=np.int64)

    gaussian = laplace
    exponential = laplace


def train(
    plan: TrainingPlan,
    parts: Sequence[tuple[NDArray[np.float64], NDArray[np.float64]]],
    *,
    seed: int,
    noise: bool = True,
    aggregation: Literal["plain", "secure"] = "plain",
    bits: int = 64,
) -> NDArray[np.float32]:
    """Return the parameters after a run; without noise it is clipped and sampled all the same.

    In a ring of 64 bits sums are as fine as floats.
    """
    with tempfile.TemporaryDirectory() as home, Ledger(Path(home) / "budget.db") as ledger:
        holders = []
        for number, (values, targets) in enumerate(parts):
            name = f"holder-{number + 1}"
            ledger.open(name, unit=User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
            source = seeded(f"{seed} {name}")
            holders.append(
                Trainer(
                    plan,
                    values,
                    targets,
                    people=plan.people,
                    all_people=plan.people * len(parts),
                    ledger=ledger,
                    dataset=name,
                    name=name,
                    run=f"seed-{seed}",
                    entropy=source if noise else NoNoise(source),
                )
            )
        task = replace(plan.task(), bits=bits)
        return Federation(holders, task, aggregation=aggregation, start=plan.model.first_parameters()).run()
