"""A training plan: the model, the rounds and the noise, priced for a person before any data is read.

"All steps" of ``docs/explanation/proofs/private-training.md``.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

from chronodp.accounting import renyi
from chronodp.errors import InvalidArgument
from chronodp.federated.budgeting import check_people, epsilon_of, ledger_epsilon, noise_for
from chronodp.federated.holder import Task
from chronodp.federated.models import ModelDesign
from chronodp.federated.training.step import ARGUMENT, StepDesign
from chronodp.privacy import (
    Certificate,
    Claim,
    Guarantee,
    RepeatedCost,
    User,
    check_epsilon,
    check_fraction,
    check_number,
    check_positive,
    check_whole,
    document,
    dump,
)

if TYPE_CHECKING:
    from torch import nn

__all__ = ["TrainingPlan", "plan_training"]

_BITS = 32


@document("training_plan")
@dataclass(frozen=True)
class TrainingPlan:
    """Everything public about a run. All holders and the server share it.

    Attributes:
        model: what is trained.
        step: clip, noise and sampling rate of one step.
        rounds: how often updates are averaged.
        local_steps: private steps of each holder in a round.
        learning_rate: of each step.
        momentum: of the steps within a round; free, since it sees noisy sums only.
        update_clip: the bound on each coordinate of an update.
        people: the fewest people that a holder may have.
        holders_per_person: in how many holders' data one person may be.
        delta: at which the price is told.
    """

    model: ModelDesign
    step: StepDesign
    rounds: int
    local_steps: int
    learning_rate: float
    momentum: float
    update_clip: float
    people: int
    holders_per_person: int
    delta: float

    def __post_init__(self) -> None:
        if not isinstance(self.model, ModelDesign):
            raise InvalidArgument("model", self.model, "a ModelDesign")
        if not isinstance(self.step, StepDesign):
            raise InvalidArgument("step", self.step, "a StepDesign")
        for name in ("rounds", "local_steps", "people", "holders_per_person"):
            check_whole(name, getattr(self, name))
        for name in ("learning_rate", "update_clip"):
            check_positive(name, getattr(self, name))
        if not 0 <= check_number("momentum", self.momentum) < 1:
            raise InvalidArgument("momentum", self.momentum, "a number from 0 up to but below 1")
        check_fraction("delta", self.delta)

    @property
    def round_cost(self) -> RepeatedCost:
        """What one round of one holder costs a person: the entry in that holder's ledger."""
        return RepeatedCost(self.step.cost, self.local_steps)

    @property
    def cost(self) -> RepeatedCost:
        """What the whole run costs a person, in all holders' data together."""
        return RepeatedCost(self.step.cost, self.rounds * self.local_steps * self.holders_per_person)

    @cached_property
    def epsilon(self) -> float:
        """The run's price for a person at ``delta``, by privacy-loss distributions."""
        return epsilon_of(self.cost, self.delta)

    @cached_property
    def renyi_epsilon(self) -> float:
        """The same by Rényi divergences: a cross-check, always above."""
        return renyi.epsilon(self.cost, self.delta)

    @property
    def ledger_epsilon(self) -> float:
        """The least epsilon, at ``delta``, of a holder's budget by the Rényi rule that pays for all rounds."""
        return ledger_epsilon(self.round_cost, times=self.rounds, delta=self.delta)

    @property
    def fingerprint(self) -> str:
        """What tells this plan from every other."""
        return hashlib.sha256(dump(self).encode()).hexdigest()

    def task(self, network: nn.Module | None = None) -> Task:
        """Return what aggregation needs to know; for a network of your own, pass it."""
        built = self.model.build() if network is None else network
        shapes = "" if network is None else "".join(f"{name}{tuple(p.shape)}" for name, p in built.named_parameters())
        model = hashlib.sha256(f"{self.fingerprint}{shapes}".encode()).hexdigest()
        return Task(self.rounds, sum(part.numel() for part in built.parameters()), model, self.update_clip, _BITS)

    def certificate(self, *, seeded: bool) -> Certificate:
        """Return the statement that travels with a model trained by this plan."""
        return Certificate(
            mechanism=(
                f"{self.model.architecture} model trained in {self.rounds} rounds of {self.local_steps} steps, each "
                f"person one example, in at most {self.holders_per_person} holders' data"
            ),
            claim=Claim(User(), self.cost, ARGUMENT),
            guarantee=Guarantee(User(), self.epsilon, self.delta),
            theorem="privacy-loss distributions, rounded up; plan fixed in advance",
            precision=f"gradients in whole steps of clip / {self.step.resolution}; exact noise and exact coins",
            seeded=seeded,
        )

    def __str__(self) -> str:
        step = self.step
        return "\n".join(
            [
                f"A {self.model.architecture} model, {self.rounds} rounds of {self.local_steps} steps.",
                f"Each step samples a person with chance {step.rate:g}, cuts gradients at {step.clip:g} and adds noise "
                f"of {step.sigma:.4g} times that.",
                f"All rounds together: ε = {self.epsilon:.3f} at δ = {self.delta:g} for one person, in at most "
                f"{self.holders_per_person} holders' data (Rényi: {self.renyi_epsilon:.3f}).",
                f"A holder's budget by the Rényi rule needs ε = {self.ledger_epsilon:.4f} at δ = {self.delta:g}.",
            ]
        )


def plan_training(
    model: ModelDesign,
    *,
    epsilon: float,
    delta: float,
    people: int,
    batch: int,
    rounds: int,
    local_steps: int,
    clip: float = 1.0,
    learning_rate: float = 0.5,
    momentum: float = 0.0,
    update_clip: float = 4.0,
    holders_per_person: int = 1,
    accept_large_delta: bool = False,
) -> TrainingPlan:
    """Return a plan with the least noise that meets (epsilon, delta) for one person. Reads no data.

    Args:
        model: what is trained.
        epsilon: for everything of one person, over all rounds and holders.
        delta: likewise; at most 1 / people unless accepted.
        people: the public number of people of the smallest holder.
        batch: how many of them a step samples in the mean; the rate batch / people holds for all holders.
        rounds: how often updates are averaged.
        local_steps: private steps of each holder in a round.
        clip: the l2 length that a person's gradient is cut to.
        learning_rate: of each step.
        momentum: of the steps within a round.
        update_clip: the bound on each coordinate of an update.
        holders_per_person: in how many holders' data one person may be; each one costs.
        accept_large_delta: take a delta above 1 / people.

    >>> from chronodp.federated.models import Column, Inputs, Linear, Risk
    >>> model = ModelDesign(Inputs((Column("rate", 40.0, 160.0),), length=8), Risk(), Linear())
    >>> plan = plan_training(model, epsilon=1.0, delta=1e-5, people=1000, batch=100, rounds=5, local_steps=10)
    >>> round(plan.step.sigma, 2), plan.epsilon <= 1.0
    (2.93, True)
    """
    if not isinstance(model, ModelDesign):
        raise InvalidArgument("model", model, "a ModelDesign")
    check_epsilon(epsilon)
    check_fraction("delta", delta)
    check_people(people, delta=delta, accept_large_delta=accept_large_delta)
    if check_whole("batch", batch) >= people:
        raise InvalidArgument("batch", batch, f"fewer than the {people} people of the smallest holder")
    # All else is checked before the search for the noise, which takes a while.
    rough = TrainingPlan(
        model,
        StepDesign(clip=clip, sigma=1.0, rate=batch / people),
        rounds,
        local_steps,
        learning_rate,
        momentum,
        update_clip,
        people,
        holders_per_person,
        delta,
    )
    sigma = noise_for(epsilon=epsilon, delta=delta, rate=rough.step.rate, steps=rough.cost.times)
    return replace(rough, step=replace(rough.step, sigma=sigma))
