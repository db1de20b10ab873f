"""Runs of ones through a shape on differences: no longer than said, for every short series, and as others computed."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.linalg import toeplitz

from chronodp.errors import InvalidArgument
from chronodp.privacy import Presence, User, Window, most_stays, presence_of
from chronodp.series import EachPeriod, RunningTotal
from chronodp.series.shapes import BufferedLinear, Differenced, SquareRoot, buffers_near, errors_of, stays_sensitivity
from chronodp.series.shapes.stays import majorant_at, run_lengths
from chronodp.series.workloads import Rolling

FOLDER = Path(__file__).parents[2] / "golden" / "published"
ROOT = SquareRoot(RunningTotal())
BUFFERS = BufferedLinear(theta=(0.98, 0.55), omega=(0.16, 0.34))


def golden(name: str) -> dict[str, Any]:
    return dict(json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8")))


def matrix_of(shape: SquareRoot | BufferedLinear, horizon: int) -> np.ndarray[Any, Any]:
    return np.asarray(toeplitz(shape.coefficients(horizon), np.zeros(horizon)))


def series_with(horizon: int, runs: int) -> list[tuple[int, ...]]:
    """Every series of zeros and ones with at most so many runs of ones."""
    rows = []
    for bits in itertools.product((0, 1), repeat=horizon):
        begun = sum(now and not before for before, now in itertools.pairwise((0, *bits)))
        if begun <= runs:
            rows.append(bits)
    return rows


def longest(shape: SquareRoot | BufferedLinear, horizon: int, runs: int) -> float:
    changes = np.diff(np.array(series_with(horizon, runs), dtype=np.float64), axis=1, prepend=0.0)
    return float((np.linalg.norm(matrix_of(shape, horizon) @ changes.T, axis=0) ** 2).max())


def test_no_series_of_a_person_is_longer(subtests: pytest.Subtests) -> None:
    every_shape: list[SquareRoot | BufferedLinear] = [ROOT, BUFFERS]
    every_horizon: list[int] = [1, 2, 5, 9, 11]
    for shape, horizon in itertools.product(every_shape, every_horizon):
        with subtests.test(shape=shape, horizon=horizon):
            for runs in (1, 2, 3):
                said = stays_sensitivity(shape, horizon, presence_of(User(), horizon=horizon, window=1, max_stays=runs))
                exact = longest(shape, horizon, runs)
                assert exact <= said.l2**2
                if runs == 1:
                    assert math.isclose(exact, said.l2**2, rel_tol=1e-9)


@pytest.mark.parametrize("shape", [ROOT, BUFFERS], ids=str)
def test_no_two_people_lie_farther_apart(shape: SquareRoot | BufferedLinear) -> None:
    horizon = 7
    for runs in (1, 2):
        rows = np.array(series_with(horizon, runs), dtype=np.float64)
        seen = np.diff(rows, axis=1, prepend=0.0) @ matrix_of(shape, horizon).T
        apart = max(float(np.linalg.norm(seen - one, axis=1).max()) for one in seen)
        present = presence_of(User("replace"), horizon=horizon, window=1, max_stays=runs)
        assert apart <= stays_sensitivity(shape, horizon, present).l2


@pytest.mark.parametrize("length", [1, 2, 4])
@pytest.mark.parametrize("window", [1, 2, 3])
@pytest.mark.slow
def test_no_stretch_of_a_person_reaches_farther(length: int, window: int) -> None:
    horizon = 7
    read = range(-(window - 1), horizon)

    def present(active: set[int]) -> list[float]:
        return [float(any(at - window < one <= at for one in active)) for at in range(horizon)]

    matrix = matrix_of(ROOT, horizon)
    for relation in ("add_remove", "replace"):
        said = stays_sensitivity(ROOT, horizon, presence_of(Window(length, relation), horizon=horizon, window=window))
        for first in range(read.start, read.stop - length + 1):
            stretch = list(range(first, first + length))
            outside = [one for one in read if one not in stretch]
            insides = [set(one) for size in range(length + 1) for one in itertools.combinations(stretch, size)]
            for bits in itertools.product((0, 1), repeat=len(outside)):
                rest = {one for one, on in zip(outside, bits, strict=True) if on}
                rows = np.array([present(rest | inside) for inside in insides])
                seen = np.diff(rows, axis=1, prepend=0.0) @ matrix.T
                others = seen if relation == "replace" else seen[:1]  # the first is without any of the stretch
                assert max(float(np.linalg.norm(seen - one, axis=1).max()) for one in others) <= said.l2 * (1 + 1e-12)


def test_bounds_are_those_computed_elsewhere() -> None:
    found = golden("active_people_runs")
    for row in found["runs_bound"]:
        if row["shape"] != "square_root":
            continue
        horizon, runs = row["T"], row["runs"]
        present = presence_of(User(), horizon=horizon, window=1, max_stays=runs)
        assert stays_sensitivity(ROOT, horizon, present).l2 ** 2 == pytest.approx(row["bound"], abs=1e-5)
        assert row["exact"] <= row["bound"] + 1e-5
        if row["w"] == 1 and horizon <= 11:
            assert longest(ROOT, horizon, runs) == pytest.approx(row["exact"], abs=1e-5)
    for row in found["sd_at_mu_1"]:
        horizon = row["T"]
        deviation = errors_of(EachPeriod(), Differenced(ROOT), horizon).rmse_mean
        for runs in (1, 2, 4, 8, 12):
            present = presence_of(User(), horizon=horizon, window=7, max_stays=runs)
            said = stays_sensitivity(ROOT, horizon, present).l2 * deviation
            assert said == pytest.approx(row[f"stays_{runs}"], abs=0.0051)
        lengths = run_lengths(ROOT.coefficients(horizon))
        assert (lengths[-1], horizon) == (pytest.approx(row["pair"], abs=1e-4), horizon)


def test_one_day_of_a_person_is_one_run() -> None:
    for row in golden("active_people")["exact"]:
        if row["unit"] == "UserPeriod one day":
            present = presence_of(Window(1), horizon=row["T"], window=row["w"])
            square = stays_sensitivity(ROOT, row["T"], present).l2 ** 2
            assert square == pytest.approx(row["shaped_l2sq"], abs=1e-5)


def test_alternating_changes_are_enumerated_alike() -> None:
    for row in golden("active_people")["alternating"]:
        horizon, flips = row["T"], row["flips"]
        if horizon <= 10 and flips % 2 == 0:  # half as many stays, each with a beginning and an end
            assert longest(ROOT, horizon, flips // 2) == pytest.approx(row["exact"], abs=1e-5)


def test_nobody_cut_is_priced_as_elsewhere() -> None:
    for row in golden("active_people_uncapped")["rows"]:
        horizon, window, runs = row["T"], row["w"], row["most_stays"]
        # There a stay could not have begun before the first period; here it can, which may be one more.
        assert runs <= most_stays(horizon, window) <= runs + 1
        present = presence_of(User(), horizon=horizon, window=window, max_stays=runs)
        said = (
            stays_sensitivity(ROOT, horizon, present).l2 * errors_of(EachPeriod(), Differenced(ROOT), horizon).rmse_mean
        )
        assert said == pytest.approx(row["sd_stays"], abs=0.0051)
        assert math.sqrt(presence_of(User(), horizon=horizon, window=window).cells) == pytest.approx(
            row["sd_white"], abs=0.0051
        )


@pytest.mark.parametrize("horizon", [10, 365, 5000])
def test_every_buffered_shape_passes(horizon: int) -> None:
    present = presence_of(User(), horizon=horizon, window=7, max_stays=4)
    for shape in (ROOT, *buffers_near(horizon, 1).values()):
        assert stays_sensitivity(shape, horizon, present).l2 < math.sqrt(horizon) * 4


def test_other_shapes_are_refused() -> None:
    present = presence_of(User(), horizon=40, window=7, max_stays=4)
    bent = BufferedLinear(theta=(0.5,), omega=(0.9,))  # 1, 0.9, 0.45: falls less at first than later
    for shape in (SquareRoot(Rolling(7)), bent):
        with pytest.raises(InvalidArgument, match="convex"):
            stays_sensitivity(shape, 40, present)
    with pytest.raises(InvalidArgument, match="running totals"):
        Differenced("white")  # type: ignore[arg-type]


@pytest.mark.slow
def test_a_majorant_is_concave_and_nowhere_below() -> None:
    chance = np.random.default_rng(5)
    for _ in range(50):
        values = np.concatenate(([0.0], np.maximum.accumulate(chance.random(12))))
        points = np.linspace(0, 12, 97)
        over = np.array([majorant_at(values, float(at)) for at in points])
        assert (over >= np.interp(points, np.arange(13), values) - 1e-12).all()
        assert (np.diff(over, 2) <= 1e-12).all()
        # The least of all: through any point it is a chord of two values.
        chords = [
            max(
                values[i] + (values[j] - values[i]) * (at - i) / (j - i) if j > i else values[i]
                for i in range(math.floor(at) + 1)
                for j in range(math.ceil(at), 13)
            )
            for at in points
        ]
        assert np.allclose(over, chords, atol=1e-9)


def test_stays_in_several_places_lie_side_by_side() -> None:
    present = presence_of(User(), horizon=12, window=3, max_stays=2, places=5, max_places=5)
    assert present == Presence(cells=24, runs=2, length=24, sides=1, places=5)
    whole = presence_of(User(), horizon=12, window=3, max_stays=1)
    alone = stays_sensitivity(ROOT, 12, whole).l2
    assert stays_sensitivity(ROOT, 12, present).l2 == pytest.approx(math.sqrt(2) * alone, rel=1e-9)
