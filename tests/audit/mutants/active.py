"""Mistakes about how often a person is present who was active once."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cache
from itertools import combinations

from chronodp.accounting import gaussian
from chronodp.audit.numerical import Linear
from chronodp.engines import Question, Record, reference_totals
from chronodp.privacy import Calendar, Claim, GaussianCost, Grid, User, presence_of
from chronodp.randomness import Entropy
from chronodp.series import Noise, RunningTotal, draw_noise
from chronodp.series.shapes import Differenced, SquareRoot, White, stays_sensitivity
from tests.audit.mutants.mutant import Mutant

__all__ = ["MUTANTS"]

_ARGUMENT = "docs/explanation/proofs/active-people.md"
_DELTA = 1e-5
_MU = gaussian.mu_for(1.0, _DELTA)
_STEP = 2.0**-20  # the grid of these releases
_DAYS, _WINDOW = 10, 3
_ROOT = SquareRoot(RunningTotal())

Days = tuple[int, ...]


@cache
def _question(max_periods: int | None, max_stays: int | None) -> Question:
    days = Calendar("1D", "2026-01-01", "2026-01-13")  # two days are read before the ten that are released
    limits = {"max_periods": max_periods, "window": _WINDOW, "max_stays": max_stays}
    return Question(days, "day", "who", None, Grid(1.0), (0, 1), **limits)  # type: ignore[arg-type]  # by name


def _release(
    sensitivity: float, shape: White | Differenced, max_periods: int | None, max_stays: int | None
) -> Callable[..., tuple[float, ...]]:
    """Release who was active in three days, with noise for the sensitivity that is said to be a person's."""
    question = _question(max_periods, max_stays)

    def release(days: Days, *, entropy: Entropy) -> tuple[float, ...]:
        records = [Record("ann", int(question.calendar.edges[day])) for day in days]
        present = reference_totals(records, question, key="any").people[_WINDOW - 1 :]
        noise = draw_noise(shape, Noise("gaussian", sensitivity, sensitivity / _MU, _STEP), _DAYS, 1, entropy)
        return tuple((present + noise[:, 0] * _STEP).tolist())

    return release


def _mutant(
    name: str,
    shape: White | Differenced,
    honest: float,
    wrong: float,
    *,
    max_periods: int | None = None,
    max_stays: int | None = None,
    days: int,
) -> Mutant:
    return Mutant(
        name=name,
        claim=Claim(User(), GaussianCost(honest, honest / _MU), _ARGUMENT),
        epsilon=1.0,
        delta=_DELTA,
        sound=_release(honest * (1 + 1e-9), shape, max_periods, max_stays),
        broken=_release(wrong, shape, max_periods, max_stays),
        neighbours=tuple(((), chosen) for chosen in combinations(range(_DAYS + _WINDOW - 1), days)),
        checks=(Linear(),),
    )


def _stays(runs: int) -> float:
    present = presence_of(User(), horizon=_DAYS, window=_WINDOW, max_stays=runs)
    return stays_sensitivity(_ROOT, _DAYS, present).l2


MUTANTS: tuple[Mutant, ...] = (
    _mutant(
        "two active days of a person, charged as two numbers",
        White(),
        math.sqrt(2 * _WINDOW),
        math.sqrt(2),
        max_periods=2,
        days=2,
    ),
    _mutant("a person who counts once a window, charged once", White(), math.sqrt(_WINDOW), 1.0, max_periods=1, days=1),
    _mutant("two stays of a person, charged as one", Differenced(_ROOT), _stays(2), _stays(1), max_stays=2, days=2),
)
