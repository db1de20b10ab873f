"""Private states and spectra through their public calls; rehearsals; noise where a state remembers, another norm."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.audit.walked import Enumerated
from chronodp.privacy import Claim, Event, LaplaceCost, User
from chronodp.randomness import Entropy
from chronodp.series import Noise
from chronodp.series.windowed import rehearse
from chronodp.spectrum import (
    Lowest,
    OnlyHarmonics,
    Spectrum,
    SpectrumPlan,
    Strongest,
    Wanted,
    WholeSpectrum,
    choose_harmonics,
    draw_spectrum,
    exact_of,
)
from chronodp.state_space import (
    Belief,
    CausedChange,
    FilterDesign,
    PrivateFilter,
    StateSpace,
    design_filter,
    first_belief,
    perturb,
    rehearse_filter,
)
from tests.audit.cases.ledgers import stored_release, temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial

Values = tuple[float, ...]

_DELTA = 0.01
_STEPS = 6
_ROOM = StateSpace([[0.95]], [[1.0]], [[0.1]], [[0.5]], cause=[[1.0]], initial_covariance=[[1.0]])


def _filters() -> tuple[AuditCase, ...]:
    quiet = (0.0,) * _STEPS
    bumps = tuple((quiet, tuple(float(step == at) for step in range(_STEPS))) for at in range(_STEPS))
    stays = tuple((quiet, tuple(float(at <= step < at + 2) for step in range(_STEPS))) for at in range(_STEPS - 1))
    # A cause of 1 in one step decays by 0.95 a step in all later measurements.
    caused = tuple(
        (quiet, tuple(0.95 ** (step - at) if step >= at else 0.0 for step in range(_STEPS))) for at in range(_STEPS)
    )
    one = design_filter(_ROOM, change=1.0, unit=Event(), epsilon=1.0)
    two = design_filter(_ROOM, change=1.0, unit=User(), max_periods=2, epsilon=1.0, delta=_DELTA)
    cause = design_filter(_ROOM, change=CausedChange(1.0), unit=Event(), horizon=_STEPS, epsilon=1.0, delta=_DELTA)
    return (
        _filtered("measurements, Laplace noise", one, bumps),
        _filtered("measurements of a person in two steps, Gaussian noise", two, stays),
        _filtered("causes that stay in all later measurements", cause, caused),
        _closed_loop(None),
        _closed_loop(1.0),
    )


def _filtered(name: str, design: FilterDesign, neighbours: tuple[tuple[Values, Values], ...]) -> AuditCase:
    def run(values: Values, *, entropy: Entropy) -> Values:
        with temporary_ledger(design.unit, delta=0.1) as ledger:
            ledger.open("room", unit=design.unit, epsilon=1e6, delta=0.1, accepts=_accepted(design))
            live = PrivateFilter(design, ledger=ledger, dataset="room", name="a", entropy=entropy)
            live.steps(np.array(values)[:, None])
            return tuple(live.released().ravel().tolist())

    with temporary_ledger(design.unit, delta=0.1) as ledger:
        ledger.open("room", unit=design.unit, epsilon=1e6, delta=0.1, accepts=_accepted(design))
        claim = PrivateFilter(design, ledger=ledger, dataset="room", name="a").certificate.claim
    return on_trial(name, run, neighbours, claim, Linear(), delta=design.delta)


def _accepted(design: FilterDesign) -> tuple[str, ...]:
    return tuple(assumption.name for assumption in design.assumptions)


def _closed_loop(clip: float | None) -> AuditCase:
    """Two steps on a grid of whole numbers; with a clip neighbours may lie as far apart as they like."""
    design = design_filter(_ROOM, change=2.0, unit=Event(), clip=clip, epsilon=8.0)
    design = replace(design, noise=Noise("laplace", 2.0, 0.25, 1.0))

    def run(values: Values, *, entropy: Entropy) -> object:
        belief = first_belief(design.model, added=design.added)
        told = []
        for value in values:
            rows, _, belief = perturb(design, belief, np.array([[value]]), entropy)
            told += rows
        return told

    far = ((-50.0, 0.0), (50.0, 0.0)) if clip else ((-1.0, 0.0), (1.0, 0.0))
    return on_trial(
        f"a filter step by step, {'surprises clipped' if clip else 'measurements as they are'}",
        run,
        (far,),
        Claim(design.unit, design.cost, "docs/explanation/proofs/state-estimation.md"),
        Enumerated(),
    )


def _spectra() -> tuple[AuditCase, ...]:
    return (
        *(_spectrum(wanted, delta) for wanted in (OnlyHarmonics(1), Lowest(3)) for delta in (0.0, _DELTA)),
        _spectrum(WholeSpectrum(), 0.0),
        _strongest(),
    )


def _spectrum(wanted: Wanted, delta: float) -> AuditCase:
    """Eight periods, one of which an event changes."""
    quiet = (0.0,) * 8

    def plan_of(values: Values) -> SpectrumPlan:
        return Spectrum(values, change=1.0, unit=Event()).plan(wanted, epsilon=1.0, delta=delta)

    plan = plan_of(quiet)
    return on_trial(
        f"{wanted}, {plan.design.noise.law} noise",
        lambda values, *, entropy: _released(plan_of(values), entropy),
        tuple((quiet, tuple(float(at == place) for at in range(8))) for place in range(8)),
        plan.claim,
        Linear(),
        delta=plan.design.delta,
    )


def _strongest() -> AuditCase:
    """One of two harmonics and its numbers, on a grid so coarse that every outcome can be walked."""
    plan = Spectrum((0.0,) * 4, change=1.0, unit=Event()).plan(Strongest(1, 2), epsilon=160.0)
    fine = plan.design.noise
    # Rounding moves each of four numbers by one step more: the noise is made wider for that.
    step = 2.0 ** math.ceil(math.log2(fine.sensitivity))
    coarse = Noise("laplace", fine.sensitivity + 4 * step, fine.scale * (1 + 4 * step / fine.sensitivity), step)
    design = replace(plan.design, noise=coarse)

    def run(values: Values, *, entropy: Entropy) -> object:
        exact = exact_of(design, np.array(values), progress=lambda _: None)
        return draw_spectrum(design, exact, entropy)

    base = (3.0, 0.0, 1.0, 2.0)
    return on_trial(
        "the strongest harmonic, chosen and told",
        run,
        ((base, (2.0, 0.0, 1.0, 2.0)), (base, (3.0, 1.0, 1.0, 2.0))),
        Claim(design.unit, design.cost, plan.claim.argument),
        Enumerated(),
    )


def _released(plan: SpectrumPlan, entropy: Entropy) -> tuple[int, ...]:
    return tuple(stored_release(plan, entropy, unit=plan.design.unit, delta=0.1)["noisy"])


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


ENTRIES = (
    Entry("private filter", (PrivateFilter, perturb),
          "whole numbers on a grid; what rounding adds is in the sensitivity", _filters),
    Entry("private spectrum", (Spectrum, SpectrumPlan, draw_spectrum, choose_harmonics),
          "sums of whole numbers without rounding; what rounded cosines add is in the sensitivity", _spectra),
    Entry("rehearsal", (rehearse, rehearse_filter), "as the mechanisms they try",
          unclaimed="they run on examples that are public, and must not be given the private series"),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    Mutant("noise on the surprises of a filter that sees exact measurements", Claim(Event(), _COST, _FILTER),
           filter_noisy_measurements, add_noise_to_exact_surprises, (((2.0, 1.0), (0.0, 1.0)),)),
    Mutant("exact predictions plus noisy surprises", Claim(Event(), _COST, _FILTER), filter_noisy_measurements,
           add_noisy_surprises_to_exact_predictions, (((2.0, 1.0), (0.0, 1.0)),)),
    Mutant("a spectrum in numpy's norm with noise for the orthonormal one", Claim(Event(), _COST, _SPECTRUM),
           transform_to_scale, transform_without_norm, _SERIES),
    Mutant("a harmonic and its mirror image for one charge", Claim(Event(), _COST, _SPECTRUM), tell_a_harmonic,
           tell_a_harmonic_and_its_mirror, _SERIES),
)  # fmt: skip
