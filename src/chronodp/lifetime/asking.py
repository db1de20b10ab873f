"""Another question about the same people: how much noise it needs to take no more of a life than it may.

Noise is chosen upwards in floats; whether it is enough is then decided in fractions. "Other questions" of
``docs/explanation/proofs/lifetime.md``.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction

from chronodp.errors import InvalidArgument
from chronodp.lifetime.shares import weight_of
from chronodp.privacy import Sensitivity, exact_sensitivity, most_change
from chronodp.series import Design, Noise, Table, calibrated

__all__ = ["Asked", "ask"]

_HAIR = 2.0**-46


@dataclass(frozen=True, slots=True)
class Asked:
    """The noise of another question, and the most that one counted period of it takes."""

    noises: tuple[Noise, ...]
    takes: int


def ask(base: Design, table: Table, *, most: int, worth: Fraction, life: int) -> Asked:
    """Return the least noise with which one counted period takes at most so many quanta.

    Args:
        base: an issue of the series itself, whose law of noise is for life.
        table: what is asked.
        most: quanta that a counted period may take.
        worth: what one quantum stands for, of μ² or ε.
        life: the quanta of a life.
    """
    found = _shared(base, table, most, worth) if most else None
    if found is None or not all(noise.drawable for noise in found.noises):
        allowed = "more, or less: noise for so little or so much of a life cannot be drawn on a grid"
        raise InvalidArgument("takes", f"{float(most * worth):.3g} of the budget a period", allowed)
    # What a life that is spent on this question alone may move, beside the noise that hides it.
    lives = Fraction(life, found.takes)
    sizes = _exact(table)
    of_law = [part.l2 if base.law == "gaussian" else part.l1 for part in (_times(size, lives) for size in sizes)]
    noises = tuple(replace(noise, sensitivity=size) for noise, size in zip(found.noises, of_law, strict=True))
    return replace(found, noises=noises)


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
    return Asked(noises, takes)


def _one_period(table: Table) -> tuple[Sensitivity, ...]:
    return tuple(exact_sensitivity(*size) for size in _exact(table))


def _exact(table: Table) -> list[tuple[Fraction, Fraction]]:
    """Return how far one counted period moves each kind of numbers: sizes, and squares."""
    held, parts = table.max_places, table.contributions()
    sizes = [[most_change(table.protected, 2 * held, held, part, power=power) for power in (1, 2)] for part in parts]
    return [(one, two) for one, two in sizes]


def _times(size: tuple[Fraction, Fraction], lives: Fraction) -> Sensitivity:
    one, two = size
    return exact_sensitivity(one * lives, two * lives)
