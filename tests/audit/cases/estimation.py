"""Private states and spectra, attacked through their public calls; rehearsals, which have nothing to claim."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import Linear
from chronodp.audit.walked import Enumerated
from chronodp.privacy import Claim, Event, User
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
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

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
    return AuditCase(
        name=name, mechanism=run, neighbours=neighbours, claim=claim, delta=design.delta, checks=(Linear(),)
    )


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
    return AuditCase(
        name=f"a filter step by step, {'surprises clipped' if clip else 'measurements as they are'}",
        mechanism=run,
        neighbours=(far,),
        claim=Claim(design.unit, design.cost, "docs/explanation/proofs/state-estimation.md"),
        checks=(Enumerated(),),
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
    return AuditCase(
        name=f"{wanted}, {plan.design.noise.law} noise",
        mechanism=lambda values, *, entropy: _released(plan_of(values), entropy),
        neighbours=tuple((quiet, tuple(float(at == place) for at in range(8))) for place in range(8)),
        claim=plan.claim,
        delta=plan.design.delta,
        checks=(Linear(),),
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
    return AuditCase(
        name="the strongest harmonic, chosen and told",
        mechanism=run,
        neighbours=((base, (2.0, 0.0, 1.0, 2.0)), (base, (3.0, 1.0, 1.0, 2.0))),
        claim=Claim(design.unit, design.cost, plan.claim.argument),
        checks=(Enumerated(),),
    )


def _released(plan: SpectrumPlan, entropy: Entropy) -> tuple[int, ...]:
    return tuple(stored_release(plan, entropy, unit=plan.design.unit, delta=0.1)["noisy"])


ENTRIES = (
    Entry(
        name="private filter",
        covers=(PrivateFilter, perturb),
        precision="whole numbers on a grid; what rounding adds is in the sensitivity",
        cases=_filters,
    ),
    Entry(
        name="private spectrum",
        covers=(Spectrum, SpectrumPlan, draw_spectrum, choose_harmonics),
        precision="sums of whole numbers without rounding; what rounded cosines add is in the sensitivity",
        cases=_spectra,
    ),
    Entry(
        name="rehearsal",
        covers=(rehearse, rehearse_filter),
        precision="as the mechanisms they try",
        unclaimed="they run on examples that are public, and must not be given the private series",
    ),
)
