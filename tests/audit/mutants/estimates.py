"""Mutants of filters and spectra: noise where a state remembers, a transform of another norm, one number twice."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from chronodp.privacy import Claim, Event, LaplaceCost
from chronodp.randomness import Entropy
from chronodp.series import Noise
from chronodp.state_space import Belief, FilterDesign, StateSpace, design_filter, first_belief, perturb
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_FILTER, _SPECTRUM = "docs/explanation/proofs/state-estimation.md", "docs/explanation/proofs/spectrum.md"
_CHANGE, _SCALE = 2.0, 0.25  # in steps of a grid of 1, coarse enough to enumerate
_COST = LaplaceCost(sensitivity=_CHANGE, scale=_SCALE)
_GAIN = (0.5, 0.25)  # of level and slope


def filter_noisy_measurements(values: tuple[float, ...], *, entropy: Entropy) -> object:
    """Add noise to measurements, and filter what came out."""
    design, prior = _filter_design()
    return perturb(design, prior, np.array(values)[:, None], entropy)[0]


def add_noise_to_exact_surprises(values: tuple[float, ...], *, entropy: Entropy) -> object:
    """Add noise to the surprises of a filter that sees exact measurements: a later surprise tells of an earlier one."""
    state, released = 0.0, []
    for value in values:
        surprise = value - state
        released.append(round(surprise) + int(entropy.laplace(_SCALE, 1)[0]))
        state += _GAIN[0] * surprise
    return tuple(released)


def add_noisy_surprises_to_exact_predictions(values: tuple[float, ...], *, entropy: Entropy) -> object:
    """Tell level and slope as the exact prediction plus the gain times one noisy surprise: two numbers, one draw."""
    level, slope, released = 0.0, 0.0, []
    for value in values:
        level += slope
        surprise = value - level
        noisy = surprise + int(entropy.laplace(_SCALE, 1)[0])
        released.append((level + _GAIN[0] * noisy, slope + _GAIN[1] * noisy))
        level, slope = level + _GAIN[0] * surprise, slope + _GAIN[1] * surprise
    return tuple(released)


def transform_to_scale(values: tuple[float, ...], *, entropy: Entropy) -> int:
    """Tell the total by the orthonormal transform, which one period of four changes by half of its change."""
    return _told(np.fft.rfft(values, norm="ortho")[0], entropy)


def transform_without_norm(values: tuple[float, ...], *, entropy: Entropy) -> int:
    """Tell the total as numpy's transform has it unless told otherwise, √T times as large, with the same noise."""
    return _told(np.fft.rfft(values)[0], entropy)


def tell_a_harmonic(values: tuple[float, ...], *, entropy: Entropy) -> int:
    """Tell the real part of one harmonic; its mirror image is the same number."""
    return _told(np.fft.fft(values, norm="ortho")[1], entropy)


def tell_a_harmonic_and_its_mirror(values: tuple[float, ...], *, entropy: Entropy) -> tuple[int, int]:
    """Tell X_k and X_{T-k} with noise of their own for one charge: the same number twice."""
    whole = np.fft.fft(values, norm="ortho")
    return _told(whole[1], entropy), _told(whole[3], entropy)


def _told(coefficient: complex, entropy: Entropy) -> int:
    """The real part in steps of a half, as four whole numbers have it, with noise."""
    return round(2 * coefficient.real) + int(entropy.laplace(_SCALE, 1)[0])


@cache
def _filter_design() -> tuple[FilterDesign, Belief]:
    room = StateSpace([[1.0]], [[1.0]], [[1.0]], [[1.0]])
    design = design_filter(room, change=_CHANGE, unit=Event(), epsilon=_CHANGE / _SCALE)
    design = replace(design, noise=Noise("laplace", _CHANGE, _SCALE, 1.0))
    return design, first_belief(design.model, added=design.added)


_SERIES = (((1.0, 0.0, 3.0, 2.0), (3.0, 0.0, 3.0, 2.0)),)

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="noise on the surprises of a filter that sees exact measurements",
        claim=Claim(Event(), _COST, _FILTER),
        sound=filter_noisy_measurements,
        broken=add_noise_to_exact_surprises,
        neighbours=(((2.0, 1.0), (0.0, 1.0)),),
    ),
    Mutant(
        name="exact predictions plus noisy surprises",
        claim=Claim(Event(), _COST, _FILTER),
        sound=filter_noisy_measurements,
        broken=add_noisy_surprises_to_exact_predictions,
        neighbours=(((2.0, 1.0), (0.0, 1.0)),),
    ),
    Mutant(
        name="a spectrum in numpy's norm with noise for the orthonormal one",
        claim=Claim(Event(), _COST, _SPECTRUM),
        sound=transform_to_scale,
        broken=transform_without_norm,
        neighbours=_SERIES,
    ),
    Mutant(
        name="a harmonic and its mirror image for one charge",
        claim=Claim(Event(), _COST, _SPECTRUM),
        sound=tell_a_harmonic,
        broken=tell_a_harmonic_and_its_mirror,
        neighbours=_SERIES,
    ),
)
