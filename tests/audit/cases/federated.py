"""Training across holders: one step walked, a holder's round by samples, a vote and a band."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import sampled
from chronodp.audit.case import AuditCase
from chronodp.audit.statistical import Sampled
from chronodp.audit.walked import Enumerated
from chronodp.federated import choose_band, choose_model
from chronodp.federated.models import Column, Inputs, Linear, ModelDesign, Risk
from chronodp.federated.training import StepDesign, Trainer, TrainingPlan, private_sum
from chronodp.ledger import Ledger
from chronodp.privacy import BoundedRangeCost, Claim, PureCost, User
from chronodp.randomness import Entropy
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

People = tuple[float, ...]

_EPSILON = 0.25
_COARSE = StepDesign(clip=1.0, sigma=1.0, rate=0.5, resolution=2)
_STEP = StepDesign(clip=1.0, sigma=1.0, rate=0.5)
_MODEL = ModelDesign(Inputs((Column("rate", -1.0, 1.0),), length=1), Risk(), Linear())
_DECLARED = 4
_ROUNDS = 10**6
_PLAN = TrainingPlan(_MODEL, _STEP, _ROUNDS, 1, 1.0, 0.0, 100.0, people=_DECLARED, holders_per_person=1, delta=0.2)
_SELECTION = "docs/explanation/proofs/selection.md"


def _steps() -> tuple[AuditCase, ...]:
    return (
        AuditCase(
            name="a private step on a secret sample",
            mechanism=_take_step,
            neighbours=(((1.0,), ()), ((1.0, -1.0), (1.0,)), ((0.25, 9.0), (0.25,))),
            claim=_COARSE.claim,
            epsilon=_EPSILON,
            delta=sampled.delta_of(_COARSE.cost, _EPSILON),
            checks=(Enumerated(),),
        ),
    )


def _take_step(people: People, *, entropy: Entropy) -> int:
    rows = np.array(people, dtype=np.float64).reshape(-1, 1)
    found = private_sum(_COARSE, len(people), lambda chosen: [rows[chosen]], size=1, entropy=entropy)
    return round(float(found[0]) * _COARSE.resolution / _COARSE.clip)


def _rounds() -> tuple[AuditCase, ...]:
    return (
        AuditCase(
            name="a holder's round of training",
            mechanism=_train,
            many=_train_often,
            neighbours=(((1.0,), ()), ((1.0, -1.0), (1.0,))),
            claim=_STEP.claim,
            epsilon=1.0,
            delta=sampled.delta_of(_STEP.cost, 1.0),
            checks=(Sampled(),),
        ),
    )


def _train(people: People, *, entropy: Entropy) -> NDArray[np.float64]:
    made: NDArray[np.float64] = _train_often(people, 1, entropy=entropy)[0]
    return made


def _train_often(people: People, count: int, *, entropy: Entropy) -> NDArray[np.float64]:
    """Return the updates of so many rounds, all from the same parameters: as many independent runs of one round."""
    values, targets = np.array(people).reshape(-1, 1, 1), np.ones(len(people))
    with temporary_ledger(User(), delta=0.5, rule="renyi") as ledger:
        holder = _holder(values, targets, ledger, entropy)
        start = _MODEL.first_parameters()
        return np.array([holder.update(number, start) for number in range(1, count + 1)])


def _holder(values: NDArray[np.float64], targets: NDArray[np.float64], ledger: Ledger, entropy: Entropy) -> Trainer:
    return Trainer(
        _PLAN,
        values,
        targets,
        people=_DECLARED,
        all_people=_DECLARED,
        ledger=ledger,
        dataset="audit",
        name="ward",
        run="audit",
        entropy=entropy,
    )


def _votes() -> tuple[AuditCase, ...]:
    return (
        AuditCase(
            name="a vote on models",
            mechanism=_vote,
            neighbours=((("a", "b", "b"), ("a", "b")), (("a",), ())),
            claim=Claim(User(), PureCost(1.0), _SELECTION),
            checks=(Enumerated(),),
        ),
        AuditCase(
            name="a band around forecasts",
            mechanism=_band,
            many=_bands,
            neighbours=(((0.5, 3.5, 3.5), (0.5, 3.5)), ((0.5,), ())),
            claim=Claim(User(), BoundedRangeCost(1.0), _SELECTION),
            checks=(Sampled(),),
        ),
    )


def _vote(best: tuple[str, ...], *, entropy: Entropy) -> str:
    losses = {name: np.array([0.0 if name == one else 1.0 for one in best]) for name in ("a", "b")}
    with temporary_ledger(User()) as ledger:
        made = choose_model(losses, epsilon=1.0, ledger=ledger, dataset="audit", request="vote", entropy=entropy)
        return made.winner


def _band(errors: People, *, entropy: Entropy) -> float:
    return float(_bands(errors, 1, entropy=entropy)[0])


def _bands(errors: People, count: int, *, entropy: Entropy) -> NDArray[np.float64]:
    with temporary_ledger(User()) as ledger:
        return np.array([_chosen(errors, ledger, str(number), entropy) for number in range(count)])


def _chosen(errors: People, ledger: Ledger, request: str, entropy: Entropy) -> float:
    made = choose_band(
        errors,
        largest=4.0,
        people=10_000,
        epsilon=1.0,
        ledger=ledger,
        dataset="audit",
        request=request,
        level=0.5,
        candidates=4,
        entropy=entropy,
    )
    return made.margin


ENTRIES: tuple[Entry, ...] = (
    Entry(
        name="private steps on a secret sample",
        covers=(private_sum,),
        precision="gradients are clipped as whole numbers; coins and noise are exact",
        cases=_steps,
    ),
    Entry(
        name="training at a holder",
        covers=(Trainer,),
        precision="as its steps; what follows them is post-processing",
        cases=_rounds,
    ),
    Entry(
        name="votes on models, and bands",
        covers=(choose_model, choose_band),
        precision="utilities are whole numbers; the draw is exact",
        cases=_votes,
    ),
)
