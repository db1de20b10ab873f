"""Thresholds and reach against figures computed elsewhere, in higher precision, and over all small cases."""

from __future__ import annotations

import itertools
import json
import math
from typing import Any

import numpy as np
import pytest
from mpmath import mp, mpf
from tests.conftest import GOLDEN, Trials

from chronodp import Event, User, UserPeriod, Window
from chronodp.accounting import gaussian
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.privacy import dump, load
from chronodp.series import RunningTotal
from chronodp.series.key_streams import KeyStreamDesign, design_key_stream
from chronodp.series.key_streams.thresholds import chance_of_a_key, moved_length, noise_lengths, thresholds
from chronodp.series.recursion import Recursion
from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.toeplitz import SquareRoot, White

STREAMS = json.loads((GOLDEN / "keys" / "streams.json").read_text(encoding="utf-8"))
COARSE = json.loads((GOLDEN / "keys" / "streams_coarse.json").read_text(encoding="utf-8"))
MU = gaussian.mu_for(1.0, 6e-7)
DAY = UserPeriod("1D", timezone="UTC")


def root_thresholds(looks: int, keys: int, delta: float = 4e-7) -> Any:
    """Thresholds with the square root of the running total, as the figures were computed."""
    column = SquareRoot(RunningTotal()).coefficients(looks)
    deviations = np.sqrt(np.cumsum(np.cumsum(SquareRoot(RunningTotal()).inverse(looks)) ** 2))
    sigma = math.sqrt(keys) * moved_length(column, may_return=False) / MU
    return thresholds(deviations * sigma, chance_of_a_key(delta, keys))


def test_the_budget_of_the_figures() -> None:
    assert pytest.approx(STREAMS["mu"], rel=1e-9) == MU
    column = SquareRoot(RunningTotal()).coefficients(365)
    assert moved_length(column, may_return=False) == pytest.approx(STREAMS["col"], rel=1e-12)


def test_thresholds_by_the_number_of_looks(subtests: pytest.Subtests) -> None:
    for row in COARSE["rows"]:
        with subtests.test(row=row):
            found = root_thresholds(int(row["steps"]), COARSE["m"])
            assert found[0] == pytest.approx(row["tau_first"], rel=1e-9)
            assert found[-1] == pytest.approx(row["tau_last"], rel=1e-9)


@pytest.mark.parametrize("row", STREAMS["thresholds"], ids=lambda row: row["m"])
def test_thresholds_by_the_number_of_keys(row: dict[str, float]) -> None:
    found = root_thresholds(365, int(row["m"]))
    assert found[-1] == pytest.approx(row["root_every_period"], rel=1e-9)
    assert found[0] == pytest.approx(row["first_period"], rel=1e-9)
    assert root_thresholds(1, int(row["m"]))[0] == pytest.approx(row["once_at_end"], rel=1e-9)


def test_designs_come_close_to_the_square_root(subtests: pytest.Subtests) -> None:
    for looks in [1, 2, 4, 6, 12, 26, 52, 365]:
        with subtests.test(looks=looks):
            design = design_key_stream(unit=User(), horizon=365, looks=looks, max_keys=10, epsilon=1.0, delta=1e-6)
            wanted = float(root_thresholds(looks, 10)[-1])
            assert wanted * (1 - 1e-3) <= design.people_needed[-1] <= 1.01 * wanted
            assert len(design.look_steps) == looks
            assert design.look_steps[-1] == 364
            assert list(design.look_steps) == sorted(set(design.look_steps))


def test_a_lone_key_is_told_no_more_often_than_stated(subtests: pytest.Subtests) -> None:
    """The union over looks and keys, with the exact law of the noise in 40 digits, and rounding at its worst."""
    for unit, (looks, epsilon, delta) in itertools.product(
        [User(), User("replace"), DAY, Event(), Event("replace")],
        [(1, 1.0, 1e-6), (12, 1.0, 1e-6), (100, 0.1, 1e-9), (7, 9.0, 0.1)],
    ):
        with subtests.test(unit=unit, looks=looks, epsilon=epsilon, delta=delta):
            design = design_of(unit, looks=looks, epsilon=epsilon, delta=delta)
            l2, l1 = noise_lengths(design.shape, looks)
            shape, spans = design.shape, design.noise.scale / design.noise.step
            rounded = Recursion(shape).rounding_bound(looks, spans) if isinstance(shape, BufferedLinear) else 0.0
            with mp.workdps(40):
                scale = mpf(design.noise.scale) / mpf(design.noise.step)
                chance = mpf(0)
                for look in range(looks):
                    left = int(design.quanta[look]) - design.person - (rounded + mpf(1) / 2) * mpf(float(l1[look]))
                    chance += mp.erfc(left / (scale * mpf(float(l2[look])) * mp.sqrt(2))) / 2
                missed = 1 - (1 - chance) ** design.moved
                assert missed <= mpf(design.key_delta)
                assert missed >= mpf(design.key_delta) * mpf(
                    "0.98"
                )  # and not far below: people are not asked for in vain


def design_of(unit: Any, *, looks: int, epsilon: float = 1.0, delta: float = 1e-6) -> KeyStreamDesign:
    limits: dict[str, int] = {}
    if isinstance(unit, User):
        limits = {"max_keys": 3}
    elif isinstance(unit, UserPeriod):
        limits = {"max_groups": 2, "max_periods": 2}
    return design_key_stream(unit=unit, horizon=400, looks=looks, epsilon=epsilon, delta=delta, **limits)


def test_the_price_is_what_was_asked_for(subtests: pytest.Subtests) -> None:
    for unit in [User(), User("replace"), DAY, Event(), Event("replace")]:
        with subtests.test(unit=unit):
            design = design_of(unit, looks=12)
            assert load(dump(design), KeyStreamDesign) == design
            assert gaussian.epsilon([design.cost], 1e-6) <= 1.0


def test_reach_is_the_worst_of_all_small_changes(subtests: pytest.Subtests) -> None:
    """A meeting comes, goes, or is put off to a later look: all of them, through the whole matrix."""
    for looks in [1, 2, 3, 5]:
        with subtests.test(looks=looks):
            for shape in (White(), SquareRoot(RunningTotal()), design_of(User(), looks=max(2, looks)).shape):
                column = shape.coefficients(looks)
                matrix = np.array(
                    [[column[row - at] if row >= at else 0.0 for at in range(looks)] for row in range(looks)]
                )
                alone = [matrix[:, at] for at in range(looks)]
                put_off = [matrix[:, a] - matrix[:, b] for a, b in itertools.combinations(range(looks), 2)]
                once = max(float(np.linalg.norm(change)) for change in alone)
                either = max(float(np.linalg.norm(change)) for change in [*alone, *put_off])
                assert moved_length(column, may_return=False) == pytest.approx(once, rel=1e-12)
                assert moved_length(column, may_return=True) == pytest.approx(either, rel=1e-12)
                assert either <= math.sqrt(2) * once * (1 + 1e-12)


def test_a_meeting_that_is_put_off_reaches_farther() -> None:
    column = SquareRoot(RunningTotal()).coefficients(40)
    longer = moved_length(column, may_return=True) / moved_length(column, may_return=False)
    assert longer == pytest.approx(1.224, abs=5e-4)
    # Without it, white noise on totals of two looks: 2.2e-4 for a claimed 1e-6.
    assert gaussian.delta_of(gaussian.mu_for(1.0, 1e-6) * math.sqrt(2), 1.0) == pytest.approx(2.2e-4, rel=0.05)


def test_what_is_not_argued_is_refused() -> None:
    terms: dict[str, Any] = {"horizon": 10, "epsilon": 1.0, "delta": 1e-6}
    with pytest.raises(InvalidArgument, match=r"unit.*User, UserPeriod or Event"):
        design_key_stream(unit=Window(3), **terms)
    with pytest.raises(MissingBound, match="max_keys"):
        design_key_stream(unit=User(), **terms)
    with pytest.raises(MissingBound, match="max_groups"):
        design_key_stream(unit=DAY, max_periods=1, **terms)
    with pytest.raises(MissingBound, match="max_periods"):
        design_key_stream(unit=DAY, max_groups=1, **terms)
    for unit, name in ((Event(), "max_keys"), (DAY, "max_keys"), (User(), "max_periods"), (Event(), "max_groups")):
        given = {"max_keys": 3, name: 2} if isinstance(unit, User) else {name: 2}
        with pytest.raises(InvalidArgument, match=rf"{name}.*left out"):
            design_key_stream(unit=unit, **terms, **given)
    for wrong in ({"looks": 11}, {"looks": 0}, {"delta": 0.0}, {"key_delta": 1e-6}, {"longest": 0}, {"max_keys": 0}):
        with pytest.raises(InvalidArgument, match=next(iter(wrong))):
            design_key_stream(unit=User(), **{"max_keys": 3, **terms, **wrong})


def test_noise_that_begins_when_a_key_is_first_seen_tells_when_that_was() -> None:
    """One person makes a key start 99 looks earlier, and its noise is wider: the hockey stick of two normal laws."""
    trap = STREAMS["trap_noise_starts_at_first_sight"]
    points = np.linspace(-200, 200, 400_001)
    early, late = (
        np.exp(-(((points - people) / trap[name]) ** 2) / 2) / trap[name]
        for name, people in (("sd_early", 1), ("sd_late", 0))
    )
    excess = np.maximum(early - math.e * late, 0).sum() * (points[1] - points[0]) / math.sqrt(2 * math.pi)
    assert excess == pytest.approx(trap["delta_at_1"][0], rel=1e-6)
    assert excess > 1e4 * trap["claimed"]


@pytest.mark.slow
def test_twelve_looks_find_what_was_promised_on_a_made_year(trials: Trials) -> None:
    """200,000 people and 84,761 keys; noise is normal, of the design's shape."""
    from benchmarks.key_streams import _design, _found, meetings

    assert meetings()[1] == 84_761
    keys, years = _found(_design(12), 0)
    assert keys >= 650
    assert years >= 320
    often, shorter = _found(_design(trials(365, least=26)), 0)
    assert often < keys
    assert shorter < years
