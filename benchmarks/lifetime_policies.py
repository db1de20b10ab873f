"""Which periods of a life count: the error of each policy, the price of a life, and what renewing budgets truly cost.

Computed, not drawn: populations are stationary, stays are geometric, and who is there is there every month.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

import chronodp as cdp
from benchmarks.harness import Topic, show
from chronodp.accounting import gaussian

EPSILON, DELTA, MONTHS, CELL = 1.0, 1e-6, 120, 10_000
CELLS = (100, 300, 1_000, 3_000, 10_000, 1_000_000)
MU = gaussian.mu_for(EPSILON, DELTA)

Floats = NDArray[np.float64]
Stays = tuple[tuple[float, int], ...]
"""Shares of those present, and how many months they stay on average."""

POPULATIONS: dict[str, Stays] = {
    "app": ((0.2, 3), (0.4, 18), (0.4, 120)),
    "residents": ((1.0, 240),),
    "patients": ((1.0, 6),),
}
LIVES = (
    ("1mo", 12), ("1mo", 36), ("1mo", 120), ("1mo", 600), ("1mo", 1_200), ("1W", 5_218), ("1D", 3_653), ("1D", 36_525),
    ("1h", 87_660), ("1h", 876_600),
)  # fmt: skip


@dataclass(frozen=True)
class Policy:
    """Which months of a person count.

    Attributes:
        name: in words.
        life: K, how many months of one person count at most.
        kept: with which chance a month counts while the life lasts.
        rule: 'first' months, 'joint' over all months by key, or a fixed 'phase'.
    """

    name: str
    life: int
    kept: float = 1.0
    rule: str = "first"

    def missing(self, stays: Stays) -> Floats:
        """Return the part of each month's people that an estimate misses, on average."""
        return sum((share * self._missed(length) for share, length in stays), np.zeros(MONTHS))

    def _missed(self, length: int) -> Floats:
        stay, months = 1 - 1 / length, np.arange(MONTHS)
        if self.rule == "phase":  # every fourth month of 120 is 30 at most
            return np.zeros(MONTHS)
        if self.rule == "joint":
            return np.array([self._left_out(stay, int(month)) for month in months])
        # Who is there in month t was there j of the months before it: geometric, and all who came earlier at j = t.
        missed = np.zeros(MONTHS)
        used_up: Floats = np.asarray(binom.sf(self.life - 1, months, self.kept))  # after so many months
        for month in months:
            missed[month] = _law(stay, int(month)) @ used_up[: month + 1]
        return missed

    def _left_out(self, stay: float, month: int) -> float:
        """Return the chance that a month is not among the K that a key takes of all of a person's months."""
        held = 1 + np.add.outer(np.arange(month + 1), np.arange(MONTHS - month))
        chances = np.outer(_law(stay, month), _law(stay, MONTHS - 1 - month))
        return float((chances * np.maximum(0.0, 1 - self.life / held)).sum())

    def noise(self) -> float:
        """Return the deviation of an estimate's noise, in people."""
        return math.sqrt(self.life) / MU / self.kept

    def sampling(self, cell: int) -> float:
        """Return the deviation that comes of keeping some and not others, in people."""
        return math.sqrt(cell * (1 - self.kept) / self.kept)

    def errors(self, stays: Stays, cell: int) -> tuple[float, float, float, float]:
        """Return bias, noise, sampling and all together: roots of mean squares over months, in people."""
        bias = cell * math.sqrt(float((self.missing(stays) ** 2).mean()))
        parts = (bias, self.noise(), self.sampling(cell))
        return (*parts, math.hypot(*parts))


def _law(stay: float, most: int) -> Floats:
    """Return the chances of 0 … most months on one side of a month, where the last stands for all that are more."""
    chances = (1 - stay) * stay ** np.arange(most + 1.0)
    chances[-1] = stay**most
    return chances


POLICIES = (
    Policy("everybody, K = 120", MONTHS),
    Policy("first 12 months ever", 12),
    Policy("first 36 months ever", 36),
    Policy("first 60 months ever", 60),
    Policy("one plan over all 120 months, 36 of each person's by key", 36, rule="joint"),
    Policy("kept with p = 0.3, at most 36, divided by p", 36, 0.3),
    Policy("kept with p = 0.3, at most 48, divided by p", 48, 0.3),
    Policy("every 4th month at a phase of one's own, at most 30, times 4", 30, 0.25, rule="phase"),
    Policy("ε = 1 a month, renewing", 1, rule="phase"),
)


def measure() -> Topic:
    topic = Topic(
        f"Which months of a life count: error of a cell of {CELL:,} people over {MONTHS} months, in %",
        "python -m benchmarks.lifetime_policies",
        ("policy", *(f"{name}: bias / noise / sampling = all" for name in POPULATIONS)),
        everywhere=True,
    )
    for policy in POLICIES:
        cells = []
        for stays in POPULATIONS.values():
            bias, noise, sampling, every = (100 * part / CELL for part in policy.errors(stays, CELL))
            cells.append(f"{bias:.2f} / {noise:.2f} / {sampling:.2f} = {every:.2f}")
        topic.rows.append((policy.name, *cells))
    renewed = gaussian.epsilon_of(math.sqrt(MONTHS) * MU, DELTA)
    topic.notes = [
        f"a count, one group, (ε, δ) = ({EPSILON:g}, {DELTA:g}) for ever; the last line's true ε after {MONTHS} months "
        f"is {renewed:.1f}",
        "of those present in the app a fifth stay 3 months on average, two fifths 18, two fifths 120; residents 240, "
        "patients 6. The series begins with nobody's life used. Roots of mean squares over months, computed exactly",
        "coverage of the first 36: "
        + ", ".join(
            f"{name} 100 % until month 36, {100 * (1 - Policy('', 36).missing(stays)[36]):.1f} % from month 37 on"
            for name, stays in POPULATIONS.items()
        ),
    ]
    return topic


def measure_prices() -> Topic:
    topic = Topic(
        f"The price of a life: a count, one group, ε = {EPSILON:g}, δ = {DELTA:g}, for ever",
        "python -m benchmarks.lifetime_policies --prices",
        ("every", "periods of a life", "σ", "± (95 %)", "beside one joint plan"),
        everywhere=True,
    )
    for every, periods in LIVES:
        life = _series(every).count().lifetime(epsilon=EPSILON, delta=DELTA, max_periods=periods)
        (noise,) = life.design.base.noises
        joint = math.sqrt(periods) / MU
        sizes = (_digits(noise.scale), _digits(1.959964 * noise.scale))
        topic.rows.append((every, f"{periods:,}", *sizes, f"{noise.scale / joint:.6f}"))
    topic.notes = ["σ of the plan that is opened, over √K/μ of one table with `max_periods=K`"]
    return topic


def measure_renewing() -> Topic:
    topic = Topic(
        f"A budget of ε = {EPSILON:g} that renews every month, for a person: true ε at δ = {DELTA:g}",
        "python -m benchmarks.lifetime_policies --renewing",
        ("after", "true ε", "σ of a life as long", "σ of a month by itself"),
        everywhere=True,
    )
    for years in (1, 3, 5, 10, 50):
        true = gaussian.epsilon_of(math.sqrt(12 * years) * MU, DELTA)
        topic.rows.append((f"{years} year{'s' * (years > 1)}", true, math.sqrt(12 * years) / MU, 1 / MU))
    topic.notes = ["Gaussian noise on a count; someone who is there in every month"]
    return topic


def measure_best() -> Topic:
    topic = Topic(
        "The best number of first months, by the size of a cell",
        "python -m benchmarks.lifetime_policies --best",
        ("population", *(f"cell of {cell:,}: K, error in people" for cell in CELLS)),
        everywhere=True,
    )
    for name, stays in POPULATIONS.items():
        squares = [float((Policy("", life).missing(stays) ** 2).mean()) for life in range(1, MONTHS + 1)]
        row = []
        for cell in CELLS:
            errors = [math.sqrt(cell**2 * bias + life / MU**2) for life, bias in enumerate(squares, 1)]
            best = min(range(MONTHS), key=errors.__getitem__)
            row.append(f"{best + 1}, {errors[best]:.1f}")
        topic.rows.append((name, *row))
    topic.notes = [
        f"of 1 to {MONTHS} months, with {MONTHS} nobody is cut: {math.sqrt(MONTHS) / MU:.1f}. Found with "
        "the law of stays at hand: take it from public knowledge, never from the tally",
    ]
    return topic


def _digits(size: float) -> str:
    return f"{size:,.0f}" if size >= 100 else f"{size:.1f}"


def _series(every: str) -> Any:
    """Return a series of two weeks, or of a month, of which nothing is read."""
    end = "2026-02-01" if every == "1mo" else "2026-01-15"
    options: Any = {"time": "at", "user": "who", "every": every, "start": "2026-01-01", "end": end}
    return cdp.TimeSeries("visits.parquet", unit=cdp.User(), max_periods=1, **options)


if __name__ == "__main__":
    ways = {"--prices": measure_prices, "--renewing": measure_renewing, "--best": measure_best}
    show(next((ways[option] for option in sys.argv[1:] if option in ways), measure))
