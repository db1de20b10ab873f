"""``chronodp demo``: a private release of a generated series, on the terminal."""

from __future__ import annotations

import json
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console
from rich.table import Table

__all__ = ["demo"]

_PEOPLE = 2_000
_HOURS = 7 * 24
_MAX_PERIODS = 60
_BARS = "▁▂▃▄▅▆▇█"


def demo(
    epsilon: Annotated[float, typer.Option(help="Epsilon of the release, for everything of one person.")] = 1.0,
    delta: Annotated[float, typer.Option(help="Delta of the release.")] = 1e-6,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
) -> None:
    """Release a week of hourly head counts of a generated building, with Gaussian noise on a grid.

    **Example**

    `chronodp demo --epsilon 0.5`
    """
    from chronodp.accounting import gaussian
    from chronodp.privacy import (
        Bounds,
        Certificate,
        Certified,
        Claim,
        Contribution,
        GaussianCost,
        Grid,
        Guarantee,
        User,
        dump,
        per_period,
    )
    from chronodp.randomness import secure

    unit = User()
    sensitivity = per_period(unit, Bounds(horizon=_HOURS, max_periods=_MAX_PERIODS), Contribution.count())
    sigma = gaussian.sigma(epsilon, delta, sensitivity=sensitivity.l2)
    grid = Grid.for_scale(sigma)
    entropy = secure()
    certificate = Certificate(
        mechanism="one count an hour, each with noise",
        claim=Claim(unit, GaussianCost(sensitivity=sensitivity.l2, sigma=sigma), "docs/explanation/proofs/noise.md"),
        guarantee=Guarantee(unit, epsilon, delta),
        theorem="Gaussian differential privacy (exact)",
        precision=f"integers on a grid of {grid.step:g}; the noise has exactly the stated law",
        seeded=entropy.seeded,
    )
    counts = _head_counts()
    noisy = grid.to_steps(counts) + entropy.gaussian(sigma / grid.step, len(counts))
    release = Certified(grid.to_values(noisy), certificate).then(
        lambda values: np.rint(values).astype(np.int64), "rounded to whole people"
    )
    if as_json:
        values = release.value.tolist()
        print(json.dumps({"values": values, "sigma": sigma, "certificate": json.loads(dump(release.certificate))}))
        return
    console = Console(highlight=False)
    console.print(
        f"[bold]{_PEOPLE:,} generated people, {_HOURS} hours; at most {_MAX_PERIODS} hours of one person count[/]\n"
    )
    table = Table("day", "true (owner only)", "private", "private total")
    days = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
    for index, day in enumerate(days):
        hours = slice(24 * index, 24 * (index + 1))
        top = float(counts.max())
        table.add_row(
            day,
            _bars(counts[hours], top),
            _bars(release.value[hours], top),
            f"{int(release.value[hours].sum()):,}",
        )
    console.print(table)
    console.print(f"Each hour is within ±{1.96 * sigma:.0f} people of the truth, 19 times out of 20.\n")
    console.print(str(release.certificate), markup=False)


def _head_counts() -> NDArray[np.int64]:
    """Count made-up people an hour: office days of uneven length, few at weekends, a person in at most 60 hours."""
    chance = np.random.default_rng(20260105)  # the made-up data only; noise comes from secure entropy
    present = np.zeros((_PEOPLE, _HOURS), dtype=bool)
    arrive = np.clip(chance.normal(8.5, 1.2, (_PEOPLE, 7)), 0, 23)
    stay = np.clip(chance.normal(8.0, 1.0, (_PEOPLE, 7)), 0, 10)
    comes = chance.random((_PEOPLE, 7)) < np.array([0.9, 0.92, 0.9, 0.88, 0.75, 0.08, 0.05])
    hours = np.arange(24)
    for day in range(7):
        there = (hours >= arrive[:, day, None]) & (hours < arrive[:, day, None] + stay[:, day, None])
        present[:, 24 * day : 24 * (day + 1)] = there & comes[:, day, None]
    present &= np.cumsum(present, axis=1) <= _MAX_PERIODS
    counts: NDArray[np.int64] = np.count_nonzero(present, axis=0)
    return counts


def _bars(values: NDArray[np.int64], top: float) -> str:
    heights = np.clip(values / top * (len(_BARS) - 1), 0, len(_BARS) - 1).astype(int)
    return "".join(_BARS[height] for height in heights)
