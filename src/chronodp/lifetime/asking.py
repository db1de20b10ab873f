"""Another question about the same people: how much noise it needs to take no more of a life than it may.

Noise is chosen upwards in floats; whether it is enough is then decided in fractions. "Other questions" of
``docs/explanation/proofs/lifetime.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from chronodp.errors import InvalidArgument
from chronodp.lifetime.shares import asked_price, folds_of, reach_in_steps, weight_of
from chronodp.privacy import Sensitivity, exact_sensitivity, most_change
from chronodp.series import Design, Noise, Pays, Table, calibrated

__all__ = ["Asked", "ask"]

_HAIR = 2.0**-46


@dataclass(frozen=True, slots=True)
class Asked:
    """The noise of another question, and the most that one counted period of it takes."""

    noises: tuple[Noise, ...]
    takes: int
    pays: Pays


def ask(base: Design, table: Table, *, most: int, worth: Fraction, life: int, pays: Pays) -> Asked:
    """Return the least noise with which one counted period takes at most so many quanta.

    Args:
        base: an issue of the series itself, whose law of noise is for life.
        table: what is asked.
        most: quanta that a counted period may take.
        worth: what one quantum stands for, of μ² or ε.
        life: the quanta of a life.
        pays: 'own' where each total pays for itself, 'share' where a counted period is paid in full.
    """
    found = _own(base, table, most, worth) if pays == "own" else _shared(base, table, most, worth)
    if found is None or not all(noise.drawable for noise in found.noises):
        allowed = "more, or less: noise for so little or so much of a life cannot be drawn on a grid"
        raise InvalidArgument("takes", f"{float(most * worth):.3g} of the budget a period", allowed)
    # What a life that is spent on this question alone may move, beside the noise that hides it.
    lives = Fraction(life, found.takes)
    sizes = _sizes(table, found)
    of_law = [part.l2 if base.law == "gaussian" else part.l1 for part in (_times(size, lives) for size in sizes)]
    noises = tuple(replace(noise, sensitivity=size) for noise, size in zip(found.noises, of_law, strict=True))
    return replace(found, noises=noises)


def _own(base: Design, table: Table, most: int, worth: Fraction) -> Asked | None:
    """Let a total at the clip pay all that a counted period may take, spread over the places of a person."""
    power = 2 if base.law == "gaussian" else 1
    each = most // table.max_places
    if not each:
        return None
    takes = table.max_places * (math.isqrt(each) ** 2 if power == 2 else each)
    folds = folds_of(table, base.law)
    share = Fraction(takes, table.max_places) * worth / folds
    scale = table.measure.reach / (math.sqrt(share) if power == 2 else float(share))
    noise = table.measure.on_grid(base.law, 0, scale, scale, times=1)
    price = asked_price(table, noise, takes)
    # A total of f steps pays at least (|f| · times / over)^power, which must be worth folds · (|f| · step / σ)^power.
    # The grid is fixed by now, so only σ moves.
    needed = folds * (Fraction(noise.step) * price.over / price.times) ** power / worth
    found = exact_sensitivity(needed, needed)  # rounded up: plain, and as a root
    return Asked((replace(noise, scale=found.l2 if power == 2 else found.l1),), takes, "own")


def _shared(base: Design, table: Table, most: int, worth: Fraction) -> Asked:
    """Share what a counted period may take evenly among all kinds of numbers."""
    within = float(most * worth)
    law = base.law
    scales = calibrated(
        law,
        _one_period(table),
        epsilon=base.epsilon,
        delta=base.delta,
        within=math.sqrt(within) if law == "gaussian" else within,
    )
    noises = tuple(table.measure.on_grid(law, index, *scale, times=1) for index, scale in enumerate(scales))
    wider = 1 + _HAIR
    while (takes := math.ceil(weight_of(table, noises) / worth)) > most:
        noises = tuple(replace(noise, scale=noise.scale * wider) for noise in noises)
        wider = wider**2
    return Asked(noises, takes, "share")


def _one_period(table: Table) -> tuple[Sensitivity, ...]:
    return tuple(exact_sensitivity(*size) for size in _exact(table))


def _exact(table: Table) -> list[tuple[Fraction, Fraction]]:
    """Return how far one counted period moves each kind of numbers: sizes, and squares."""
    held, parts = table.max_places, table.contributions()
    sizes = [[most_change(table.protected, 2 * held, held, part, power=power) for power in (1, 2)] for part in parts]
    return [(one, two) for one, two in sizes]


def _sizes(table: Table, found: Asked) -> list[tuple[Fraction, Fraction]]:
    """Return how far what one counted period pays for moves each kind of numbers."""
    if found.pays == "share":
        return _exact(table)
    (noise,) = found.noises
    reach, held = reach_in_steps(table, noise) * Fraction(noise.step), table.max_places
    return [(folds_of(table, "laplace") * held * reach, folds_of(table, "gaussian") * held * reach**2)]


def _times(size: tuple[Fraction, Fraction], lives: Fraction) -> Sensitivity:
    one, two = size
    return exact_sensitivity(one * lives, two * lives)
