"""Mutants of private training: noise and clipping for a batch, lengths of others or of none, a budget that forgets."""

from __future__ import annotations

from fractions import Fraction

import numpy as np

from chronodp.accounting import sampled
from chronodp.federated.training import ARGUMENT, StepDesign, private_sum, sample, whole_rows
from chronodp.privacy import Claim, User
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_STEP = StepDesign(clip=1.0, sigma=1.0, rate=0.5, resolution=2)
_COARSE = StepDesign(clip=1.0, sigma=1.0, rate=0.5, resolution=1)
_EPSILON = 0.25


def take_step(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Add up the clipped gradients of a secret sample of people, one number each, and noise."""
    return _noisy(_STEP, people, entropy)


def take_step_with_noise_for_a_mean(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Divide the noise by the square root of the batch, as if it were there for the mean's sake."""
    thin = StepDesign(clip=1.0, sigma=1.0 / 2**0.5, rate=0.5, resolution=2)
    return _noisy(thin, people, entropy)


def clip_the_sum(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Clip what the sampled people's gradients add up to: one person can turn it round."""
    chosen = sample(len(people), _STEP.rate, entropy)
    summed = np.array([[sum(people[place] for place in chosen)]], dtype=np.float64)
    clipped = int(whole_rows(summed, clip=_STEP.clip, resolution=_STEP.resolution)[0, 0])
    return clipped + int(entropy.gaussian(_STEP.scale, 1)[0])


def clip_by_the_longest(people: tuple[float, ...], *, entropy: Entropy) -> int:
    """Cut all gradients by the longest of the sample: one person moves the whole numbers of all others."""
    chosen = sample(len(people), _STEP.rate, entropy)
    rows = np.array([people[place] for place in chosen], dtype=np.float64)
    longest = max(_STEP.clip, np.abs(rows).max(initial=0.0))
    return int(np.rint(rows * (_STEP.resolution / longest)).sum()) + int(entropy.gaussian(_STEP.scale, 1)[0])


def take_step_on_pairs(people: tuple[tuple[float, float], ...], *, entropy: Entropy) -> tuple[int, int]:
    """Add up gradients of two numbers each."""
    rows = np.array(people, dtype=np.float64).reshape(-1, 2)
    found = private_sum(_COARSE, len(people), lambda chosen: [rows[chosen]], size=2, entropy=entropy)
    return round(float(found[0])), round(float(found[1]))


def round_without_a_look(people: tuple[tuple[float, float], ...], *, entropy: Entropy) -> tuple[int, int]:
    """Cut gradients in floats, round them, and trust that they are as short as before."""
    chosen = sample(len(people), _COARSE.rate, entropy)
    rows = np.array([people[place] for place in chosen], dtype=np.float64).reshape(-1, 2)
    cut = rows / np.maximum(1.0, np.hypot(rows[:, :1], rows[:, 1:]))
    noisy = np.rint(cut).sum(axis=0).astype(np.int64) + entropy.gaussian(_COARSE.scale, 2)
    return int(noisy[0]), int(noisy[1])


def forget_a_round(people: tuple[float, ...], *, entropy: Entropy) -> tuple[int, int]:
    """Take a step in each of two rounds, with an accountant that starts anew in the second."""
    return _noisy(_STEP, people, entropy), _noisy(_STEP, people, entropy)


def divide_by_the_sample(people: tuple[float, ...], *, entropy: Entropy) -> Fraction:
    """Divide by how many people were in the sample: which fractions can come out tells how many there were."""
    chosen = sample(len(people), _STEP.rate, entropy)
    rows = np.array([[people[place]] for place in chosen]).reshape(-1, 1)
    total = int(whole_rows(rows, clip=_STEP.clip, resolution=_STEP.resolution).sum())
    return Fraction(total + int(entropy.gaussian(_STEP.scale, 1)[0]), max(1, len(chosen)))


def take_step_on_series(series: tuple[tuple[float, ...], ...], *, entropy: Entropy) -> int:
    """Let each person's whole series be one example."""
    return _noisy(_STEP, tuple(float(sum(person)) for person in series), entropy)


def take_step_on_windows(series: tuple[tuple[float, ...], ...], *, entropy: Entropy) -> int:
    """Cut series into windows and let each be an example: a person is clipped once a window."""
    return _noisy(_STEP, tuple(value for person in series for value in person), entropy)


def _noisy(step: StepDesign, people: tuple[float, ...], entropy: Entropy) -> int:
    rows = np.array(people, dtype=np.float64).reshape(-1, 1)
    found = private_sum(step, len(people), lambda chosen: [rows[chosen]], size=1, entropy=entropy)
    return round(float(found[0]) * step.resolution / step.clip)


_CLAIM = Claim(User(), _STEP.cost, ARGUMENT)
_DELTA = sampled.delta_of(_STEP.cost, _EPSILON)
_ONE_MORE = (((1.0,), ()), ((1.0, -1.0), (1.0,)))

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="training with noise divided by the root of the batch",
        claim=_CLAIM,
        epsilon=_EPSILON,
        delta=_DELTA,
        sound=take_step,
        broken=take_step_with_noise_for_a_mean,
        neighbours=_ONE_MORE,
    ),
    Mutant(
        name="gradients clipped after they were added up",
        claim=_CLAIM,
        epsilon=_EPSILON,
        delta=_DELTA,
        sound=take_step,
        broken=clip_the_sum,
        neighbours=(((-5.0, -5.0, -5.0, 20.0), (-5.0, -5.0, -5.0)),),
    ),
    Mutant(
        name="gradients clipped by the longest of the sample",
        claim=_CLAIM,
        epsilon=_EPSILON,
        delta=_DELTA,
        sound=take_step,
        broken=clip_by_the_longest,
        neighbours=(((1.0, 1.0, 1.0, -9.0), (1.0, 1.0, 1.0)),),
    ),
    Mutant(
        name="gradients rounded without a look at their length",
        claim=_CLAIM,
        epsilon=_EPSILON,
        delta=_DELTA,
        sound=take_step_on_pairs,
        broken=round_without_a_look,
        neighbours=((((0.7, 0.7),), ()),),
    ),
    Mutant(
        name="an accountant that starts anew every round",
        claim=_CLAIM,
        epsilon=_EPSILON,
        delta=_DELTA,
        sound=take_step,
        broken=forget_a_round,
        neighbours=_ONE_MORE[:1],
    ),
    Mutant(
        name="a sum divided by the true size of the sample",
        claim=_CLAIM,
        epsilon=1.0,
        delta=sampled.delta_of(_STEP.cost, 1.0),
        sound=take_step,
        broken=divide_by_the_sample,
        neighbours=(((0.0, 0.0), (0.0,)),),
    ),
    Mutant(
        name="windows of one person as several examples",
        claim=_CLAIM,
        epsilon=_EPSILON,
        delta=_DELTA,
        sound=take_step_on_series,
        broken=take_step_on_windows,
        neighbours=((((1.0, 1.0, 1.0), (-1.0,)), ((-1.0,),)),),
    ),
)
