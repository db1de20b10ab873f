"""Training across holders: one step walked, a holder's round by samples, a vote and a band; mistakes of training."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import sampled
from chronodp.audit.case import AuditCase
from chronodp.audit.statistical import Sampled
from chronodp.audit.walked import Enumerated
from chronodp.federated import choose_band, choose_model
from chronodp.federated.models import Column, Inputs, Linear, ModelDesign, Risk
from chronodp.federated.training import ARGUMENT, StepDesign, Trainer, TrainingPlan, private_sum, sample, whole_rows
from chronodp.ledger import Ledger
from chronodp.privacy import BoundedRangeCost, Claim, PureCost, User
from chronodp.randomness import Entropy
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial

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
        on_trial(
            "a private step on a secret sample",
            _take_step,
            (((1.0,), ()), ((1.0, -1.0), (1.0,)), ((0.25, 9.0), (0.25,))),
            _COARSE.claim,
            Enumerated(),
            epsilon=_EPSILON,
            delta=sampled.delta_of(_COARSE.cost, _EPSILON),
        ),
    )


def _take_step(people: People, *, entropy: Entropy) -> int:
    rows = np.array(people, dtype=np.float64).reshape(-1, 1)
    found = private_sum(_COARSE, len(people), lambda chosen: [rows[chosen]], size=1, entropy=entropy)
    return round(float(found[0]) * _COARSE.resolution / _COARSE.clip)


def _rounds() -> tuple[AuditCase, ...]:
    return (
        on_trial(
            "a holder's round of training",
            _train,
            (((1.0,), ()), ((1.0, -1.0), (1.0,))),
            _STEP.claim,
            Sampled(),
            many=_train_often,
            epsilon=1.0,
            delta=sampled.delta_of(_STEP.cost, 1.0),
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
        on_trial(
            "a vote on models",
            _vote,
            ((("a", "b", "b"), ("a", "b")), (("a",), ())),
            Claim(User(), PureCost(1.0), _SELECTION),
            Enumerated(),
        ),
        on_trial(
            "a band around forecasts",
            _band,
            (((0.5, 3.5, 3.5), (0.5, 3.5)), ((0.5,), ())),
            Claim(User(), BoundedRangeCost(1.0), _SELECTION),
            Sampled(),
            many=_bands,
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


_COARSEST = StepDesign(clip=1.0, sigma=1.0, rate=0.5, resolution=1)


def take_step(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Add up the clipped gradients of a secret sample of people, one number each, and noise."""
    return _noisy(_COARSE, people, entropy)


def take_step_with_noise_for_a_mean(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Divide the noise by the square root of the batch, as if it were there for the mean's sake."""
    thin = StepDesign(clip=1.0, sigma=1.0 / 2**0.5, rate=0.5, resolution=2)
    return _noisy(thin, people, entropy)


def clip_the_sum(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Clip what the sampled people's gradients add up to: one person can turn it round."""
    chosen = sample(len(people), _COARSE.rate, entropy)
    summed = np.array([[sum(people[place] for place in chosen)]], dtype=np.float64)
    clipped = int(whole_rows(summed, clip=_COARSE.clip, resolution=_COARSE.resolution)[0, 0])
    return clipped + int(entropy.gaussian(_COARSE.scale, 1)[0])


def clip_by_the_longest(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Cut all gradients by the longest of the sample: one person moves the whole numbers of all others."""
    chosen = sample(len(people), _COARSE.rate, entropy)
    rows = np.array([people[place] for place in chosen], dtype=np.float64)
    longest = max(_COARSE.clip, np.abs(rows).max(initial=0.0))
    return int(np.rint(rows * (_COARSE.resolution / longest)).sum()) + int(entropy.gaussian(_COARSE.scale, 1)[0])


def take_step_on_pairs(people: tuple[tuple[float, float], ...], *, entropy: Entropy) -> tuple[int, int]:
    """Add up gradients of two numbers each."""
    rows = np.array(people, dtype=np.float64).reshape(-1, 2)
    found = private_sum(_COARSEST, len(people), lambda chosen: [rows[chosen]], size=2, entropy=entropy)
    return round(float(found[0])), round(float(found[1]))


def round_without_a_look(people: tuple[tuple[float, float], ...], *, entropy: Entropy) -> tuple[int, int]:
    """Cut gradients in floats, round them, and trust that they are as short as before."""
    chosen = sample(len(people), _COARSEST.rate, entropy)
    rows = np.array([people[place] for place in chosen], dtype=np.float64).reshape(-1, 2)
    cut = rows / np.maximum(1.0, np.hypot(rows[:, :1], rows[:, 1:]))
    noisy = np.rint(cut).sum(axis=0).astype(np.int64) + entropy.gaussian(_COARSEST.scale, 2)
    return int(noisy[0]), int(noisy[1])


def forget_a_round(people: tuple[float, ...], *, entropy: Entropy) -> tuple[int, int]:
    """Take a step in each of two rounds, with an accountant that starts anew in the second."""
    return _noisy(_COARSE, people, entropy), _noisy(_COARSE, people, entropy)


def divide_by_the_sample(people: tuple[float, ...], *, entropy: Entropy) -> Fraction:
    """Divide by how many people were in the sample: which fractions can come out tells how many there were."""
    chosen = sample(len(people), _COARSE.rate, entropy)
    rows = np.array([[people[place]] for place in chosen]).reshape(-1, 1)
    total = int(whole_rows(rows, clip=_COARSE.clip, resolution=_COARSE.resolution).sum())
    return Fraction(total + int(entropy.gaussian(_COARSE.scale, 1)[0]), max(1, len(chosen)))


def take_step_on_series(series: tuple[tuple[float, ...], ...], *, entropy: Entropy) -> int:
    """Let each person's whole series be one example."""
    return _noisy(_COARSE, tuple(float(sum(person)) for person in series), entropy)


def take_step_on_windows(series: tuple[tuple[float, ...], ...], *, entropy: Entropy) -> int:
    """Cut series into windows and let each be an example: a person is clipped once a window."""
    return _noisy(_COARSE, tuple(value for person in series for value in person), entropy)


def _noisy(step: StepDesign, people: tuple[float, ...], entropy: Entropy) -> int:
    rows = np.array(people, dtype=np.float64).reshape(-1, 1)
    found = private_sum(step, len(people), lambda chosen: [rows[chosen]], size=1, entropy=entropy)
    return round(float(found[0]) * step.resolution / step.clip)


_CLAIM = Claim(User(), _COARSE.cost, ARGUMENT)
_DELTA = sampled.delta_of(_COARSE.cost, _EPSILON)
_ONE_MORE = (((1.0,), ()), ((1.0, -1.0), (1.0,)))


ENTRIES = (
    Entry("private steps on a secret sample", (private_sum,),
          "gradients are clipped as whole numbers; coins and noise are exact", _steps),
    Entry("training at a holder", (Trainer,), "as its steps; what follows them is post-processing", _rounds),
    Entry("votes on models, and bands", (choose_model, choose_band), "utilities are whole numbers; the draw is exact",
          _votes),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    Mutant("training with noise divided by the root of the batch", _CLAIM, take_step, take_step_with_noise_for_a_mean,
           _ONE_MORE, epsilon=_EPSILON, delta=_DELTA),
    Mutant("gradients clipped after they were added up", _CLAIM, take_step, clip_the_sum,
           (((-5.0, -5.0, -5.0, 20.0), (-5.0, -5.0, -5.0)),), epsilon=_EPSILON, delta=_DELTA),
    Mutant("gradients clipped by the longest of the sample", _CLAIM, take_step, clip_by_the_longest,
           (((1.0, 1.0, 1.0, -9.0), (1.0, 1.0, 1.0)),), epsilon=_EPSILON, delta=_DELTA),
    Mutant("gradients rounded without a look at their length", _CLAIM, take_step_on_pairs, round_without_a_look,
           ((((0.7, 0.7),), ()),), epsilon=_EPSILON, delta=_DELTA),
    Mutant("an accountant that starts anew every round", _CLAIM, take_step, forget_a_round, _ONE_MORE[:1],
           epsilon=_EPSILON, delta=_DELTA),
    Mutant("a sum divided by the true size of the sample", _CLAIM, take_step, divide_by_the_sample,
           (((0.0, 0.0), (0.0,)),), epsilon=1.0, delta=sampled.delta_of(_COARSE.cost, 1.0)),
    Mutant("windows of one person as several examples", _CLAIM, take_step_on_series, take_step_on_windows,
           ((((1.0, 1.0, 1.0), (-1.0,)), ((-1.0,),)),), epsilon=_EPSILON, delta=_DELTA),
)  # fmt: skip
