"""A holder that trains: each round is paid for before its noise is drawn, and stored before it is published."""

from __future__ import annotations

import base64
import hashlib
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.extras import check_extra
from chronodp.federated.aggregation.terms import check_name
from chronodp.federated.budgeting import check_budget, check_people
from chronodp.federated.training.plan import TrainingPlan
from chronodp.federated.training.step import private_sum
from chronodp.ledger import Ledger, StreamState
from chronodp.privacy import Certificate, User, check_whole
from chronodp.randomness import Entropy, check_entropy

if TYPE_CHECKING:
    from torch import nn

__all__ = ["Trainer"]

_SEEDED, _SECURE = b"seeded", b"secure"


class Trainer:
    """Holds people's series and answers each round with one private update. A `Holder`.

    Guarantee: the updates of all rounds together are as private for everything of one person, added or removed, as the
    plan says; every round is debited before its noise is drawn and stored before it is returned. A round that is asked
    again, also after a crash, returns what was stored; one that was paid for and never stored is computed anew, and not
    paid again: nobody saw it. The argument stands in ``docs/explanation/proofs/private-training.md``.

    Args:
        plan: what all holders share.
        values: (people, periods, columns), not a number where missing; one row is everything of one person.
        targets: what is predicted: (people,) for a risk, (people, horizon) for a forecast; not a number if not known.
        people: the public, declared number of people here. The data may have more or fewer: noise and scale know only
            the declared number.
        all_people: the same of all holders together, which gives this one its weight.
        ledger: what pays, from a budget by the Rényi rule.
        dataset: whose budget in it.
        name: of the holder.
        run: of the training; with name and round it identifies what is stored.
        network: a network of your own instead of the plan's architecture; its layers are checked.
        entropy: of samples and noise; secure unless a test says otherwise.
        accept_large_delta: take a delta above 1 / people.
        group_sizes: ``one``: people go through the network in groups of one size, so that the time of a step hardly
            tells how many were sampled, which is secret. ``several`` takes less time, and is for a holder whose steps
            nobody else can time.
        device: where gradients are computed: ``cpu``, or ``cuda``. Clipping, sums and noise stay on the processor.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> from chronodp.federated.models import Column, Inputs, Linear, ModelDesign, Risk
    >>> from chronodp.federated.training import StepDesign
    >>> model = ModelDesign(Inputs((Column("rate", 40.0, 160.0),), length=2), Risk(), Linear())
    >>> step = StepDesign(clip=1.0, sigma=1.0, rate=0.1)
    >>> plan = TrainingPlan(model, step, 5, 2, 0.5, 0.0, 4.0, people=100, holders_per_person=1, delta=1e-3)
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("ward", unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=1e-3, rule="renyi")
    >>> ward = Trainer(plan, np.full((100, 2, 1), 80.0), np.zeros(100), people=100, all_people=100, ledger=ledger,
    ...                dataset="ward", name="ward", run="spring", entropy=cdp.randomness.seeded(1))
    >>> start = model.first_parameters()
    >>> bool(np.all(ward.update(1, start) == ward.update(1, start))), len(ledger.history("ward"))
    (True, 1)
    >>> ledger.close_connection()
    """

    def __init__(
        self,
        plan: TrainingPlan,
        values: ArrayLike,
        targets: ArrayLike,
        *,
        people: int,
        all_people: int,
        ledger: Ledger,
        dataset: str,
        name: str,
        run: str,
        network: nn.Module | None = None,
        entropy: Entropy | None = None,
        accept_large_delta: bool = False,
        group_sizes: str = "one",
        device: str = "cpu",
    ) -> None:
        check_extra("federated", "torch")
        from chronodp.federated.training.gradients import PersonGradients

        if not isinstance(plan, TrainingPlan):
            raise InvalidArgument("plan", plan, "a TrainingPlan")
        check_name("name", name)
        check_name("run", run)
        declared = check_people(people, delta=plan.delta, fewest=plan.people, accept_large_delta=accept_large_delta)
        check_whole("all_people", all_people, least=declared)
        self._inputs = plan.model.inputs.prepare(values)
        self._targets = plan.model.outcome.prepare(targets)
        if len(self._inputs) != len(self._targets):
            raise InvalidArgument("targets", targets, "one row for each person of values", private=True)
        check_budget(ledger, dataset)
        self._ledger, self._dataset = ledger, dataset
        self.name, self.plan, self._run = name, plan, run
        self._declared = f"{declared}/{all_people}"
        self._weight, self._expected = declared / all_people, declared * plan.step.rate
        self.task = plan.task(network)
        built = plan.model.build() if network is None else network
        example = (plan.model.inputs.length, plan.model.inputs.channels)
        self._gradients = PersonGradients(
            built, plan.model.outcome, example, expected=self._expected, group_sizes=group_sizes, device=device
        )
        self._entropy = check_entropy(entropy)
        self._seeded = self._entropy.seeded
        self._lock = threading.Lock()

    @property
    def certificate(self) -> Certificate:
        """What is promised for all rounds together."""
        return self.plan.certificate(seeded=self._seeded)

    def update(self, round_number: int, parameters: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return this holder's weighted update of a round, from 1; paid, drawn and stored now, or stored before."""
        check_whole("round_number", round_number, most=self.plan.rounds)
        start = self._check_parameters(parameters)
        name = f"{self._run}/{self.name}/round {round_number}"
        digest = hashlib.sha256(start.tobytes()).hexdigest()
        identity = f"{self.task.model} {self._dataset} {self._declared} {round_number} {digest}"
        with self._lock:
            state = self._opened(name, identity)
            if not state.finished:
                update = self._train(start)
                try:
                    self._ledger.advance_stream(state, values=[_text(update)], state=state.state, finished=True)
                except StreamConflict:
                    # Another process was first: its update counts.
                    state = self._ledger.resume_stream(name, plan=identity)
                    if not state.finished:
                        raise
            self._seeded = self._seeded or state.state == _SEEDED
            return _update(self._ledger.released_steps(name)[0])

    def _opened(self, name: str, identity: str) -> StreamState:
        """Debit the round, or find it debited."""
        try:
            return self._ledger.open_stream(
                self._dataset,
                name,
                cost=self.plan.round_cost,
                unit=User(),
                plan=identity,
                state=_SEEDED if self._entropy.seeded else _SECURE,
            )
        except StreamConflict:
            return self._ledger.resume_stream(name, plan=identity)

    def _train(self, start: NDArray[np.float32]) -> NDArray[np.float32]:
        plan = self.plan
        at, speed = start.copy(), np.zeros(len(start))
        for _ in range(plan.local_steps):
            here = at

            def gradients_of(
                chosen: NDArray[np.intp], here: NDArray[np.float32] = here
            ) -> Iterator[NDArray[np.float32]]:
                return self._gradients.groups(here, self._inputs[chosen], self._targets[chosen])

            noisy = private_sum(plan.step, len(self._inputs), gradients_of, size=len(at), entropy=self._entropy)
            # The scale is the expected size of a sample, which is public; the true size is not.
            speed = plan.momentum * speed + noisy / self._expected
            at = (at - plan.learning_rate * speed).astype(np.float32)
        moved = np.clip(at.astype(np.float64) - start, -plan.update_clip, plan.update_clip)
        return (self._weight * moved).astype(np.float32)

    def _check_parameters(self, parameters: object) -> NDArray[np.float32]:
        allowed = f"{self.task.size} finite numbers, the parameters of this model"
        if not isinstance(parameters, np.ndarray) or parameters.shape != (self.task.size,):
            shape = getattr(parameters, "shape", type(parameters).__name__)
            raise InvalidArgument("parameters", str(shape), allowed)
        if parameters.dtype.kind != "f" or not np.all(np.isfinite(parameters)):
            raise InvalidArgument("parameters", "others", allowed)
        return parameters.astype(np.float32)

    def __repr__(self) -> str:
        return f"Trainer({self.name!r}, {self.plan.model.architecture})"


def _text(update: NDArray[np.float32]) -> str:
    return base64.b64encode(update.astype("<f4").tobytes()).decode()


def _update(text: str) -> NDArray[np.float64]:
    return np.frombuffer(base64.b64decode(text), dtype="<f4").astype(np.float64)
