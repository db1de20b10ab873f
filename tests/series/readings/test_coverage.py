"""How often what is told holds the truth, and what is published by a rule misses it: many releases side by side."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pytest
from benchmarks.coverage import WEEKS, design_of, weeks_of
from benchmarks.suppression import CELLS, POPULATIONS, publish
from numpy.typing import NDArray
from scipy import stats
from tests.conftest import SCALE, Trials
from tests.postprocess.noise import errors, golden

import chronodp as cdp
from chronodp.engines import Grouping
from chronodp.postprocess import Law
from chronodp.privacy import Calendar, Certificate, Claim, Grid, Guarantee
from chronodp.randomness import seeded
from chronodp.series import Count, Design, Table, View
from chronodp.series.plain import Numbers
from chronodp.series.planner import design_release
from chronodp.series.shapes.toeplitz import White
from chronodp.series.shaping import draw_noise

FALSE_ALARM = 1e-9
DAYS, PLACES = 42, np.array([60.0, 12.0, 2.0])
CALENDAR = Calendar("1D", "2026-01-05", "2026-02-16")
FIVE_WEEKS = ("2026-01-05", "2026-02-08")
Truth = NDArray[np.float64]


def town_design(law: Law, *, white: bool) -> Design:
    table = Table(Count(), cdp.User(), DAYS, CALENDAR, max_periods=2)
    found = design_release(table, epsilon=2.0, delta=1e-6, tuned_for=cdp.RunningTotal())
    kinds = [one for one in found if one.law == law and isinstance(one.shape, White) == white]
    return kinds[0]


def replicas(design: Design, means: Truth, runs: int, seed: int) -> tuple[View, Truth]:
    """So many releases of one truth beside each other, as keys of a grouping, and the truth, days × places."""
    runs_keys, keys = tuple(str(run) for run in range(runs)), tuple(str(place) for place in range(len(means)))
    groupings = (Grouping("run", runs_keys), Grouping("place", keys))
    wide = dataclasses.replace(design, table=dataclasses.replace(design.table, groupings=groupings))
    days = np.arange(DAYS)
    truth = means * (1 + 0.3 * np.sin(days / 5) + 0.2 * (days % 7 == 5))[:, None]
    noise = design.noises[0]
    drawn = Grid(noise.step).to_values(draw_noise(design.shape, noise, DAYS, runs * len(means), seeded(seed)))
    claim = Claim(cdp.User(), noise.cost, "a page")
    certificate = Certificate("noise", claim, Guarantee(cdp.User(), 1.0), "definition", "a grid")
    numbers = np.tile(truth, runs) + drawn
    return Numbers(wide, (numbers,), certificate, f"{seed}", "r").operand(), truth


def held(view: View, row: int, truth: Truth, runs: int) -> NDArray[np.int64]:
    """In how many runs the set of each place holds the truth."""
    told, cells = view.estimates, view.cells
    inside = (told.lower[row] <= np.tile(truth, runs) + 1e-9) & (np.tile(truth, runs) - 1e-9 <= told.upper[row])
    if cells is not None and cells.not_above is not None and cells.not_below is not None:
        gap = (cells.not_above[row] < np.tile(truth, runs)) & (np.tile(truth, runs) < cells.not_below[row])
        inside &= ~gap
    if cells is not None:
        inside &= cells.kind[row] != 3
    counted: NDArray[np.int64] = inside.reshape(runs, -1).sum(axis=0)
    return counted


def exactly(count: int, runs: int, level: float) -> bool:
    return bool(stats.binomtest(count, runs, level).pvalue > FALSE_ALARM)


def at_least(count: int, runs: int, level: float) -> bool:
    return bool(stats.binom.cdf(count, runs, level) > FALSE_ALARM)


NOISES: dict[str, tuple[Law, bool]] = {
    "white gaussian": ("gaussian", True),
    "shaped gaussian": ("gaussian", False),
    "white laplace": ("laplace", True),
    "tree laplace": ("laplace", False),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", NOISES)
def test_sets_hold_the_truth_as_often_as_they_say(name: str, trials: Trials) -> None:
    law, white = NOISES[name]
    design, runs, level = town_design(law, white=white), trials(20_000, least=2000), 0.9
    view, truth = replicas(design, PLACES, runs, 3)
    whole = truth.sum(axis=1, keepdims=True)
    base = truth[:35].mean(axis=0)
    by_day = np.stack([truth[day:35:7].mean(axis=0) for day in range(7)])
    weeks = truth.reshape(6, 7, -1).sum(axis=1)
    # With white Laplace noise the set of every row takes a table of its own: six rows instead of 42.
    weekly = name == "white laplace" and SCALE < 1
    running, end, totals = (
        (np.cumsum(weeks, axis=0), (5, 2), view.resample("1W").running_total())
        if weekly
        else (np.cumsum(truth, axis=0), (41, 15), view.running_total())
    )
    at = ("2026-01-19", "2026-01-25") if weekly else ("2026-01-20", "2026-01-20")
    asked: dict[str, tuple[View, int, Truth]] = {
        "share": (view.ratio(view.over("place"), within=(0, 1), level=level), 20, (truth / whole)[20]),
        "change": (view.change(baseline=FIVE_WEEKS, level=level), 40, 100 * (truth[40] / base - 1)),
        "change inside": (view.change(baseline=FIVE_WEEKS, level=level), 10, 100 * (truth[10] / base - 1)),
        "weekday": (
            view.change(baseline=FIVE_WEEKS, match="weekday", scale="index", level=level),
            40,
            100 * truth[40] / by_day[40 % 7],
        ),
        "week": (
            view.resample("1W").change(baseline=("2026-01-05", "2026-02-07"), level=level),
            5,
            100 * (weeks[5] / weeks[:5].mean(axis=0) - 1),
        ),
        "running": (
            totals.change(baseline=at, scale="index", level=level),
            end[0],
            100 * running[end[0]] / running[end[1]],
        ),
    }
    for what, (made, row, expected) in asked.items():
        for place, count in enumerate(held(made, row, expected, runs)):
            # Sums of tree draws with many weights are covered by what covers any sum.
            check = at_least if name == "tree laplace" else exactly
            assert check(int(count), runs, level), (what, place, count / runs)
    median = np.median(truth[5:35:7], axis=0)
    made = view.change(baseline=FIVE_WEEKS, match="weekday", statistic="median", level=level)
    for row in (40, 12):  # after the baseline, and in it
        expected = 100 * (truth[row] / median - 1)
        for count in held(made, row, expected, runs):
            assert at_least(int(count), runs, level), (row, count / runs)


KNOWN = golden("suppression")
OF = 60 * CELLS  # cells that published figures are shares of
ROWS = [row for row in KNOWN["relative"] if row["cells"] == "all_small" and row["r"] == 0.5]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["law"])
def test_shares_rates_and_widths_are_the_published_ones(row: dict[str, Any], trials: Trials) -> None:
    runs = trials(60, least=15)
    found = publish(row["law"], POPULATIONS["all 3"], 0.5, runs=runs, seed="tests")
    cells = runs * CELLS
    assert errors(found.share, cells, expected=row["published_share"], of=OF) < 4.5
    shown, known = cells * found.share, OF * row["published_share"]
    assert errors(found.plain, int(shown), expected=row["naive_coverage"], of=known) < 4.5
    spread = found.spread * math.sqrt(1 + runs / 60)
    assert abs(found.missed - row["BY_FCR"]) < 4.5 * spread
    assert found.missed < 0.05 + 4.5 * found.spread
    assert found.wider == pytest.approx(row["BY_width_factor"], rel=0.01)
    assert errors(found.decided, int(shown), expected=KNOWN["decided_on_independent_release"]["coverage"]) < 4.5
    if row["law"] == "gaussian":
        assert found.given is not None
        assert errors(found.given, int(shown), expected=row["conditional_coverage"], of=known) < 4.5
        assert found.given_wider == pytest.approx(row["conditional_width_factor"], rel=0.01)
    else:
        assert found.given is None


@pytest.mark.parametrize("shape", ["square root", "buffered"])
def test_few_of_the_published_miss_where_weeks_share_noise(shape: str, trials: Trials) -> None:
    """Not promised there, since cells share noise: seen all the same, and caught without the correction."""
    design, entropy, cells = design_of("gaussian", shape), seeded(f"rules {shape}"), 250
    deviation = design.noises[0].deviation
    truth = np.tile(np.linspace(1, 4, cells) * deviation, (WEEKS, 1))
    rates: dict[str, list[float]] = {"published": [], "each": []}
    for _ in range(trials(200, least=40)):
        view = 1.0 * weeks_of(design, truth, draw_noise(design.shape, design.noises[0], WEEKS, cells, entropy), 1)
        for coverage, seen in rates.items():
            told = view.publish(relative=0.5, coverage=coverage).estimates  # type: ignore[arg-type]  # one of two words
            shown = ~np.isnan(told.value)
            missed = shown & ((told.lower > truth) | (told.upper < truth))
            seen.append(float(missed.sum() / max(1, shown.sum())))
    mean = {coverage: float(np.mean(seen)) for coverage, seen in rates.items()}
    error = {coverage: float(np.std(seen) / math.sqrt(len(seen))) for coverage, seen in rates.items()}
    assert mean["published"] < 0.05 + 4.5 * error["published"]
    assert mean["each"] > 0.05 + 4.5 * error["each"]
