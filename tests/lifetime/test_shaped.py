"""Noise shaped inside an issue: prices by the first periods, lives that every spread of K periods fits, least error."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import chronodp as cdp
from chronodp.engines import WholePrice
from chronodp.errors import InvalidArgument
from chronodp.lifetime import LifetimeDesign
from chronodp.lifetime.shaped import is_shaped, most_of, shaped_design, shaped_prices
from chronodp.privacy import User, dump, load as read_back
from chronodp.series import Count, Design, Mean, Measure, Noise, RunningTotal, Sum, draw_noise, release_shapes
from chronodp.series.shapes import Banded, BufferedLinear, SquareRoot, White
from tests.conftest import GOLDEN, SCALE
from tests.lifetime.lives import QUIET, open_series, series
from tests.series.releases import Silent

G: list[float] = json.loads((GOLDEN / "lifetime" / "prices.json").read_text(encoding="utf-8"))["g"]
SHAPES: list[Any] = [SquareRoot(RunningTotal()), Banded((1.0, 0.5, 0.25)), BufferedLinear((0.9, 0.5), (0.3, 0.2))]


def days(end: str = "2026-02-01", **terms: Any) -> cdp.TimeSeries:
    return series(every="1D", end=end, max_periods=1, **terms)


@cache
def shaped(
    shape: Any = SHAPES[0], periods: int = 31, measure: Measure | None = None, relation: Any = "add_remove", **more: Any
) -> LifetimeDesign:
    """A series with a shape that is given, and not chosen."""
    asked = days(unit=User(relation=relation), end=more.pop("end", "2026-02-01")).ask(measure or Count())
    table = asked.by(group=["a", "b", "c"], max_groups=2).table
    kinds = len(table.contributions())
    white = Design(table, (Noise("gaussian", 1.0, 1.0, 2.0**-20),) * kinds, 1.0, 1e-6, RunningTotal(), White())
    made = shaped_design(white, shape, periods=periods, reissues=more.get("reissues", 0))
    assert made is not None
    return LifetimeDesign(made[0], "at", "who", periods, made[1], "share", **more)


def prices(design: LifetimeDesign, **terms: Any) -> tuple[int, ...]:
    issue = design.issue("load", **({"start": "2026-01-01", "end": "2026-02-01"} | terms))
    price = design.price(issue)
    assert isinstance(price, WholePrice)
    return price.prices


def test_prices_are_those_of_the_first_days_and_not_as_many_times_the_first() -> None:
    made = prices(shaped())
    assert made[0] <= 2**32
    assert [price / made[0] for price in made] == pytest.approx([one / G[0] for one in G], rel=3e-4)
    assert made[30] / (31 * made[0]) == pytest.approx(9.300, rel=1e-3)


def test_the_dearest_spread_is_not_that_of_full_issues() -> None:
    """The last days of a month reach less far: twice 23 of 31 days take more than 31 and 15."""
    made = prices(shaped())
    assert 2 * made[22] > made[30] + made[14]
    assert most_of(made, 46) >= 2 * made[22]
    assert shaped(periods=46).life >= 2 * prices(shaped(periods=46))[22]


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.integers(1, 9))
@settings(max_examples=60, deadline=None)
def test_the_dearest_spread_of_so_many_periods(steps: list[int], periods: int) -> None:
    made = list(itertools.accumulate(steps))
    spreads = (
        parts
        for count in range(1, periods + 1)
        for parts in itertools.combinations_with_replacement(range(1, len(made) + 1), count)
        if sum(parts) == periods
    )
    assert most_of(made, periods) == max(sum(made[part - 1] for part in parts) for parts in spreads)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=6), st.integers(1, 400))
@settings(max_examples=60, deadline=None)
def test_the_dearest_spread_over_a_long_life(steps: list[int], periods: int) -> None:
    made, best = list(itertools.accumulate(steps)), [0]
    while len(best) <= periods:
        best.append(max(before + price for before, price in zip(best[::-1], made, strict=False)))
    assert most_of(made, periods) == best[periods]


@pytest.mark.slow
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@given(st.data())
@settings(max_examples=25 if SCALE >= 1 else 10, deadline=None)
def test_whatever_a_life_lets_through_is_within_what_was_bought(shape: Any, relation: str, data: Any) -> None:
    """In fractions, of the coefficients in use: Σ ‖C (f - f')‖² of all issues is within what the noise hides."""
    sign = data.draw(st.sampled_from([(0.0, 2.0), (-2.0, 2.0), (-2.0, 1.0)]))
    design = shaped(shape, data.draw(st.sampled_from([1, 3, 9, 20])), Sum("x", sign), relation)
    made, ends = prices(design), [int(end) for end in sign]
    exact = [Fraction(float(one)) for one in shape.coefficients(31)]
    unit = max(one.denominator for one in exact)  # a power of two, as they all are
    column = [int(one * unit) for one in exact]
    used, squares = [0, 0], 0
    for _ in range(data.draw(st.integers(1, 3))):
        difference = [[0] * 31, [0] * 31]  # of the two places that one person is in
        for side in range(1 if relation == "add_remove" else 2):
            room = int(WholePrice(made).most(np.array([design.life - used[side]]))[0])
            wanted = data.draw(st.sampled_from([0, 1, 4, 31]))
            kept = data.draw(st.permutations(range(31))) if data.draw(st.booleans()) else list(range(31))
            count = min(wanted, room)
            used[side] += made[count - 1] if count else 0
            value = data.draw(st.sampled_from(ends))
            for at, place in itertools.product(kept[:count], range(2)):
                difference[place][at] += value if side == 0 else -value
        for row, at in itertools.product(difference, range(31)):
            squares += sum(column[at - day] * row[day] for day in range(at + 1) if row[day]) ** 2
    noise = design.base.noises[0]
    told = Fraction(squares, unit**2) / Fraction(noise.scale) ** 2
    if relation == "add_remove":  # the rest of the life goes to another question, with white noise of its own
        asked = design.issue("load", asked=days().count().table, takes=0.5, start="2026-02-01", end="2026-03-01")
        price = design.price(asked)
        assert isinstance(price, WholePrice)
        told += int(price.most(np.array([design.life - used[0]]))[0]) / Fraction(asked.noises[0].scale) ** 2
    assert max(used) <= design.life
    assert told <= (Fraction(noise.sensitivity) / Fraction(noise.scale)) ** 2


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("length", [28, 31])
def test_what_rounding_adds_is_in_the_price(shape: Any, length: int) -> None:
    """Draws that tell the same numbers with and without a person lie no farther apart than the person pays for."""
    design, chance = shaped(shape, 9), np.random.default_rng(5)
    noise, made = design.base.noises[0], prices(design)
    one = round(1 / noise.step)
    for held in ([0], [3, 4], list(range(7)), [1, 9, 20, 27]):
        draws = np.rint(chance.normal(0, noise.scale / noise.step, length)).astype(np.int64)
        without = _noise(shape, draws).copy()
        without[held] += one  # the same release, told by someone who is not there
        other = np.zeros(length, np.int64)
        for at in range(length):
            other[at] = without[at] - _noise(shape, other)[at]
        shift = sum(int(step) ** 2 for step in other - draws)
        paid = made[len(held) - 1] * Fraction(noise.sensitivity) ** 2 / design.life
        assert 2 * shift * Fraction(noise.step) ** 2 <= paid  # in both places of a person


def _noise(shape: Any, draws: Any) -> Any:
    """The noise that draws make, as a release makes it."""

    class Given(Silent):
        def gaussian(self, scale: float, size: Any) -> Any:
            del scale
            return draws.reshape(size)

    return draw_noise(shape, Noise("gaussian", 1.0, 1.0, 1.0), len(draws), 1, Given())[:, 0]


@pytest.mark.parametrize("workload", [cdp.RunningTotal(), cdp.Rolling(7), cdp.Ewm(0.3)], ids=str)
def test_a_shorter_issue_has_the_same_shape(workload: Any) -> None:
    for shape in release_shapes(days().count().table, "gaussian", workload):
        if isinstance(shape, SquareRoot | Banded | BufferedLinear):
            whole = shape.coefficients(31)
            for length in (1, 7, 28):
                assert shape.coefficients(length) == pytest.approx(whole[:length], rel=1e-13, abs=1e-15)


@pytest.mark.slow
@given(st.lists(st.integers(1, 31), min_size=1, max_size=12))
@settings(max_examples=40 if SCALE >= 1 else 15, deadline=None)
def test_so_many_periods_fit_however_they_lie(parts: list[int]) -> None:
    design = shaped(periods=sum(parts))
    made = prices(design)
    assert sum(made[part - 1] for part in parts) <= design.life


@pytest.mark.parametrize("measure", [Count(3), Mean("x", (0.0, 2.0))], ids=str)
def test_other_bounds_and_several_kinds_of_numbers(measure: Measure) -> None:
    design = shaped(measure=measure, periods=7)
    assert prices(design)[6] <= design.life
    if isinstance(measure, Count):
        assert prices(design, at_most=6)[0] == pytest.approx(4 * prices(design)[0], rel=1e-3)
    other = design.issue("load", start="2026-02-01", end="2026-03-01", asked=series().count().table)
    assert other.life is not None
    assert (str(other.shape), other.life.together, other.cost) == ("white noise", None, design.base.cost)


def test_a_shorter_month_fits_and_a_longer_one_is_refused() -> None:
    design = shaped(end="2026-01-31")
    assert prices(design, start="2026-02-01", end="2026-03-01") == prices(design, end="2026-01-31")[:28]
    with pytest.raises(InvalidArgument, match="noise is shaped for at most 30 periods"):
        prices(design)


def test_corrections_are_hidden_too() -> None:
    once, twice = shaped(periods=5), shaped(periods=5, reissues=1)
    scales = [design.base.noises[0].scale for design in (once, twice)]
    assert scales[1] == pytest.approx(scales[0] * 2**0.5, rel=1e-4)
    assert prices(twice)[4] <= twice.life


def test_shapes_that_rise_again_are_not_priced() -> None:
    table = days().count().table
    white = Design(table, (Noise("gaussian", 1.0, 1.0, 2.0**-20),), 1.0, 1e-6, RunningTotal(), White())
    assert shaped_design(white, Banded((1.0, 0.2, 0.4)), periods=3, reissues=0) is None
    rising = replace(white, shape=Banded((1.0, 0.2, 0.4)))
    with pytest.raises(InvalidArgument, match="white, or one whose coefficients"):
        shaped_prices(rising, table, life=2**40, reissues=0)


@pytest.mark.slow
def test_the_plan_takes_what_errs_least_and_says_how_far_the_other_would() -> None:
    query = days().count()
    short, long = (
        query.lifetime(epsilon=1.0, delta=1e-6, max_periods=periods, tuned_for=cdp.RunningTotal())
        for periods in (9, 365)
    )
    assert is_shaped(short.design.base)
    assert isinstance(long.design.base.shape, White)
    for plan in (short, long):
        assert plan.other is not None
        assert plan.design.base.errors.rmse_mean <= plan.other.errors.rmse_mean
        assert plan.design.pays == "share"
    text = " ".join(str(short).split())
    assert "inside an issue, fresh in each; white noise would err 1.0" in text or "white noise would err 1.1" in text
    assert "One person counts for 9 days at least, and for more where few of them lie in one issue" in text
    assert "people until their life is used up" in text
    assert "white noise; " in " ".join(str(long).split())
    assert short.alternatives.loc[short.alternatives["chosen"], "shape"].tolist() == [str(short.design.base.shape)]
    plain = query.lifetime(epsilon=1.0, delta=1e-6, max_periods=9)
    assert plain.other is None
    assert "Shape " not in str(plain)


def test_whole_shares_alone_pay_for_shaped_noise() -> None:
    with pytest.raises(InvalidArgument, match="'share' or left out with tuned_for=running totals"):
        days().sum("x", clip=(0.0, 1.0)).lifetime(
            epsilon=1.0, delta=1e-6, max_periods=9, pays="own", tuned_for=cdp.RunningTotal()
        )
    with pytest.raises(InvalidArgument, match="'share' where noise is shaped"):
        replace(shaped(periods=5, measure=Sum("x", (0.0, 1.0))), pays="own")
    with pytest.raises(InvalidArgument, match="life must be that of 40 periods"):
        replace(shaped(periods=5), max_periods=40)
    design = shaped(periods=5)
    assert read_back(dump(design), LifetimeDesign) == design


@pytest.mark.slow
def test_issues_of_days_are_paid_by_how_many_of_them_count(tmp_path: Path) -> None:
    import pandas as pd

    plan = days().count().lifetime(epsilon=1.0, delta=1e-6, max_periods=9, tuned_for=cdp.RunningTotal())
    ledger, load = open_series(tmp_path, plan)
    with ledger:
        counted = []
        for start in pd.date_range("2026-01-01", "2026-06-01", freq="MS", tz="UTC"):
            rows = [("ann", start + pd.Timedelta(days=day, hours=3)) for day in range(20)]
            rows += [("bo", start + pd.Timedelta(days=2))]
            made = load.issue(
                pd.DataFrame(rows, columns=["who", "at"]), start=start, end=start + pd.DateOffset(months=1),
                request=f"{start:%Y-%m}", entropy=Silent(), **QUIET,
            )  # fmt: skip
            counted.append(round(float(made.to_pandas()["value"].sum())))
            assert str(made.design.shape) == str(plan.design.base.shape)
        assert counted == [10, 1, 1, 1, 1, 1]  # nine days of ann at once; bo has a day in every month
        assert load.diagnose().used_up == 1
        load.verify()
