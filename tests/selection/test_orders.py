"""Votes and clipped regrets, and the order of a model that they find: nobody's series is a reason to refuse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays
from numpy.typing import NDArray
from scipy.signal import lfilter
from tests import forkserver

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.privacy import Event, RecordUnit, Report, User, UserPeriod, Window
from chronodp.selection import (
    Blocks,
    Choice,
    ClippedRegret,
    ExponentialMechanism,
    LeastSquares,
    MaximumLikelihood,
    MonotoneUtilities,
    Order,
    Panel,
    PermuteAndFlip,
    Scoring,
    Utilities,
    Validation,
    Votes,
    choose_order,
    design_choice,
    losses_of,
    probabilities,
    tally,
)
from chronodp.selection.arima.fitting import fit_coefficients
from chronodp.selection.ballots import ballots_of

ORDERS = tuple(Order(*order) for order in ((0, 0, 0), (1, 0, 0), (2, 0, 0), (0, 0, 1), (1, 0, 1), (0, 1, 1)))
TRUE = 2
"""The place of the order that the series have."""
NAMES = tuple(str(order) for order in ORDERS)
ANY = st.floats(allow_nan=True, allow_infinity=True)
ROWS = arrays.arrays(np.float64, (5, 4), elements=ANY)
ROW = arrays.arrays(np.float64, (4,), elements=ANY)


def second_order_people(people: int, length: int, seed: int) -> NDArray[np.float64]:
    """Return series x_t = 1.1 x_{t-1} - 0.5 x_{t-2} + e_t, one row a person."""
    shocks = np.random.default_rng(seed).normal(size=(people, length + 50))
    series: NDArray[np.float64] = lfilter([1.0], [1.0, -1.1, 0.5], shocks, axis=1)[:, 50:]
    return series


@pytest.mark.parametrize("scoring", [Votes(), ClippedRegret(0.3), ClippedRegret(1e-50), ClippedRegret(1e50)], ids=str)
@given(rows=ROWS, row=ROW)
def test_one_more_person_raises_every_utility_by_at_most_one(
    scoring: Scoring, rows: np.ndarray[Any, Any], row: np.ndarray[Any, Any]
) -> None:
    before, after = tally(rows, scoring), tally(np.vstack((rows, row)), scoring)
    assert np.all(after >= before)
    assert np.all(after <= before + 1)
    # Sums are exact: people may come in any order.
    np.testing.assert_array_equal(tally(rows[::-1], scoring), before)
    ballots = ballots_of(rows, scoring)
    assert np.all((ballots >= 0) & (ballots <= 1))
    assert not ballots[~np.isfinite(rows)].any()


@given(rows=ROWS)
def test_everyone_has_one_vote_or_none(rows: np.ndarray[Any, Any]) -> None:
    cast = ballots_of(rows, Votes()).sum(axis=1)
    np.testing.assert_array_equal(cast, np.isfinite(rows).any(axis=1).astype(float))
    assert tally(np.zeros((0, 3))).tolist() == [0.0, 0.0, 0.0]
    for scoring in (Votes(), ClippedRegret(1.0)):
        assert tally(np.full((7, 3), np.inf), scoring).tolist() == [0.0, 0.0, 0.0]


def test_the_best_earns_one_and_the_rest_by_regret() -> None:
    losses = [[2.0, 2.1, 2.3, 5.0, math.inf, math.nan]]
    assert ballots_of(losses, ClippedRegret(0.4))[0].round(5).tolist() == [1.0, 0.75, 0.25, 0.0, 0.0, 0.0]
    assert ballots_of(losses, Votes())[0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert tally([[3.0, 3.0]]).tolist() == [1.0, 0.0]  # the first among equals


def test_losses_of_unequal_length_and_other_nonsense_are_refused(subtests: pytest.Subtests) -> None:
    wrong: list[Any] = [[[1.0, 2.0], [1.0]], [1.0, 2.0], [[]], [["a", "b"]], None]
    for losses in wrong:
        with subtests.test(losses=losses), pytest.raises(InvalidArgument, match="all rows of one length"):
            tally(losses)
    with pytest.raises(InvalidArgument, match="scoring must be"):
        tally([[1.0]], "votes")  # type: ignore[arg-type]  # on purpose
    for clip in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidArgument, match="clip must be"):
            ClippedRegret(clip)


@pytest.fixture(scope="module")
def losses() -> NDArray[np.float64]:
    """Losses of 120 people, fitted once for the tests that read them."""
    return losses_of(second_order_people(120, 150, 1), ORDERS, Validation(LeastSquares(), 30, 1000, 5.0))  # type: ignore[arg-type]  # rows


def right(values: NDArray[np.float64], mechanism: PermuteAndFlip | ExponentialMechanism | None = None) -> float:
    """The probability that the true order is chosen at epsilon 1."""
    chosen = PermuteAndFlip() if mechanism is None else mechanism
    design = design_choice(chosen, NAMES, unit=User(), change=1.0, monotone=True, epsilon=1.0)
    return float(probabilities(design, MonotoneUtilities(values, change=1.0))[TRUE])


@pytest.mark.slow
def test_votes_and_regrets_find_the_order_where_raw_losses_do_not(losses: NDArray[np.float64]) -> None:
    assert right(tally(losses)) > 0.99
    assert right(tally(losses, ClippedRegret(0.05))) > 0.99
    raw = (1 - losses).sum(axis=0)
    assert right(raw, ExponentialMechanism()) == pytest.approx(0.433, abs=0.08)
    assert right(raw) == pytest.approx(0.504, abs=0.08)


@pytest.mark.slow
def test_a_row_depends_on_its_own_person_only(losses: NDArray[np.float64]) -> None:
    people = list(second_order_people(120, 150, 1)[:6])
    validation = Validation(LeastSquares(), 30, 1000, 5.0)
    people[3] = np.full(400, 1e9)
    changed = losses_of(people, ORDERS, validation)
    np.testing.assert_array_equal(np.delete(changed, 3, 0), np.delete(losses[:6], 3, 0))
    np.testing.assert_array_equal(losses_of(people[::-1], ORDERS, validation), changed[::-1])


@pytest.mark.slow
def test_least_squares_finds_known_coefficients() -> None:
    (series,) = second_order_people(1, 20_000, 3)
    found = fit_coefficients(series + 7.0, Order(2, 0, 0), LeastSquares())
    assert found.mean == pytest.approx(7.0, abs=0.1)
    np.testing.assert_allclose(found.autoregressive, [1.1, -0.5], atol=0.03)
    shocks = np.random.default_rng(4).normal(size=20_001)
    moving = fit_coefficients(shocks[1:] + 0.6 * shocks[:-1], Order(0, 0, 1), LeastSquares())
    np.testing.assert_allclose(moving.moving_average, [0.6], atol=0.03)
    # Of two moving averages with the same autocorrelations the one is found whose errors can be told.
    turned = fit_coefficients(shocks[1:] + shocks[:-1] / 0.6, Order(0, 0, 1), LeastSquares())
    np.testing.assert_allclose(turned.moving_average, [0.6], atol=0.05)


def test_the_loss_is_the_mean_square_of_one_step_errors() -> None:
    (series,) = second_order_people(1, 300, 5)
    found = fit_coefficients(series[:-40], Order(2, 0, 0), LeastSquares())
    centred = series - found.mean
    errors = centred[2:] - found.autoregressive[0] * centred[1:-1] - found.autoregressive[1] * centred[:-2]
    ((plain, clipped),) = (
        [
            float(losses_of([series], (Order(2, 0, 0),), Validation(LeastSquares(), 40, 1000, largest))[0, 0])
            for largest in (None, 1.5)
        ],
    )
    assert plain == pytest.approx(np.mean(errors[-40:] ** 2) / series[:-40].var(), rel=1e-9)
    assert clipped == pytest.approx(np.mean(np.minimum((errors[-40:] / 1.5) ** 2, 1.0)), rel=1e-9)


@pytest.mark.slow
def test_maximum_likelihood_agrees_with_least_squares_where_both_are_good() -> None:
    people = list(second_order_people(2, 150, 2))
    orders = (Order(1, 0, 0), Order(2, 0, 0))
    slow, fast = (
        losses_of(people, orders, Validation(fit, 30, 1000)) for fit in (MaximumLikelihood(30), LeastSquares())
    )
    np.testing.assert_allclose(slow, fast, rtol=0.1)


@pytest.mark.kill
def test_fits_in_processes_give_the_same_losses() -> None:
    people = list(second_order_people(3, 60, 2))
    told: list[float] = []
    validation = Validation(LeastSquares(), 20, 1000)
    both = losses_of(people, ORDERS[:3], validation, workers=2, progress=told.append)
    np.testing.assert_array_equal(both, losses_of(people, ORDERS[:3], validation))
    assert told[-1] == 1.0


def test_no_series_causes_a_refusal(subtests: pytest.Subtests) -> None:
    far: list[list[float]] = [[math.nan] * 200, [math.inf, -math.inf] * 100, [1e308, -1e308] * 100]
    for piece in [[], [1.0], [1.0] * 12, [0.0] * 200, *far]:
        with subtests.test(piece=piece):
            found = losses_of([np.array(piece)], ORDERS, Validation(LeastSquares(), 20, 1000))
            assert found.shape == (1, 6)
            assert not np.isnan(found).any()
            if len(piece) < 22 or not np.isfinite(piece).any():
                assert np.isinf(found).all()
            assert tally(found).sum() <= 1


def test_a_panel_is_monotone_only_where_whole_people_come_and_go(subtests: pytest.Subtests) -> None:
    units: list[RecordUnit] = [User(), User("replace"), Event(), UserPeriod("1D"), Window(7)]
    for unit in units:
        kind: type = MonotoneUtilities if unit == User() else Utilities
        with subtests.test(unit=unit, kind=kind):
            bound = Panel([[1.0]]).bound(np.zeros(3), unit)
            assert type(bound) is kind
            assert bound.change == 1.0


def test_blocks_that_a_unit_touches(subtests: pytest.Subtests) -> None:
    windows = ((1, 1), (2, 2), (11, 2), (12, 3), (21, 3), (22, 4))
    for unit, touched in [(Event(), 1), (Event("replace"), 2), *((Window(size), met) for size, met in windows)]:
        with subtests.test(unit=unit, touched=touched):
            bound = Blocks(np.zeros(100), length=10).bound(np.zeros(3), unit)
            assert type(bound) is Utilities
            assert bound.change == touched
            if isinstance(unit, Window):
                met = [len({place // 10 for place in range(start, start + unit.periods)}) for start in range(10)]
                assert max(met) == touched


def test_blocks_are_cut_by_place_and_a_missing_value_keeps_its() -> None:
    values = np.arange(35.0)
    values[3] = np.nan
    blocks = Blocks(values, length=10)
    assert [block[0] for block in blocks.series] == [0.0, 10.0, 20.0]
    assert len(blocks.series[0]) == 10


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("people", unit=User(), epsilon=1e4)
        opened.open("hall", unit=Event(), epsilon=1e4)
        yield opened


def chosen(store: cdp.Ledger, pieces: Any, orders: Any = ("0,0,0", "1,0,0", "2,0,0"), **changes: Any) -> Choice:
    options: dict[str, Any] = {"epsilon": 1.0, "unit": User(), "dataset": "people", "request": "order"}
    return choose_order(pieces, orders, ledger=store, **(options | changes))


@pytest.mark.slow
def test_a_panel_chooses_its_order(ledger: cdp.Ledger) -> None:
    people = Panel(second_order_people(120, 120, 1))
    made = chosen(ledger, people)
    assert made.winner == "ARIMA(2,0,0)"
    assert Order.parse(made.winner) == Order(2, 0, 0)
    assert chosen(ledger, people).text == made.text
    assert ledger.status("people").charges == 1
    said = made.certificate.mechanism
    assert "votes of a panel; one-step errors of the last 20 of at most 1000 values, fitted by least squares" in said
    other = chosen(ledger, people, scoring=ClippedRegret(0.05), largest_error=5.0, request="by regret")
    assert other.winner == "ARIMA(2,0,0)"
    assert "regrets clipped at 0.05 of a panel" in other.certificate.mechanism


def test_blocks_of_one_series_choose_its_order(ledger: cdp.Ledger) -> None:
    (series,) = second_order_people(1, 120 * 100, 2)
    blocks = Blocks(series, length=120)
    made = chosen(ledger, blocks, unit=Event(), dataset="hall")
    assert made.winner == "ARIMA(2,0,0)"
    assert not made.design.monotone


def test_all_fits_failing_or_nobody_there_still_gives_a_choice(ledger: cdp.Ledger) -> None:
    for number, people in enumerate((Panel([]), Panel([[1.0, 2.0]] * 50))):
        assert chosen(ledger, people, request=f"{number}").winner in {"ARIMA(0,0,0)", "ARIMA(1,0,0)", "ARIMA(2,0,0)"}


PARTS = ("autoregressive", "differences", "moving_average")
REFUSED: list[tuple[str, Any]] = [("pieces", [[1.0, 2.0]]), ("unit", Report()), ("scoring", "votes"), ("fit", "ols")]
REFUSED += [("holdout", 0), ("longest", 20), ("largest_error", 0.0), ("workers", 0), ("epsilon", -1.0)]
REFUSED += [("mechanism", "best")]


def test_bad_arguments_are_refused_by_name_and_cost_nothing(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    orders: list[Any] = [[], "2,0,0", ["2,0"], [(1, 0, 0), (1, 0, 0)], [3]]
    wrong: list[tuple[dict[str, Any], str]] = [
        *(({"orders": one}, "orders") for one in orders),
        *(({"orders": [one]}, name) for one, name in zip([(-1, 0, 0), (1, 3, 0), (1, 0, 99)], PARTS, strict=True)),
        *(({name: value}, name) for name, value in REFUSED),
        ({"pieces": Blocks([1.0] * 40, length=20)}, "unit"),
        ({"scoring": ClippedRegret(0.1)}, "largest_error"),
    ]
    for changes, name in wrong:
        with subtests.test(changes=changes, name=name):
            options = {"pieces": Panel([[1.0, 2.0]]), "orders": ["1,0,0"]} | changes
            with pytest.raises(InvalidArgument) as caught:
                chosen(ledger, options.pop("pieces"), options.pop("orders"), **options)
            assert caught.value.name == name
            assert ledger.status("people").charges == 0
    unreadable: list[Any] = [3.0, [["a", "b"]], [[[1.0]]], [[1.0, None]]]
    for series in unreadable:
        with subtests.test(series=series), pytest.raises(InvalidArgument, match=r"series must be .*; got a"):
            Panel(series)


@pytest.mark.kill
def test_a_missing_library_is_refused_and_not_taken_for_failed_fits() -> None:
    program = """
import sys
sys.modules["statsmodels"] = None
from chronodp.errors import InvalidArgument
from chronodp.selection import LeastSquares, Order, Validation, losses_of
losses_of([], (Order(1, 0, 0),), Validation(LeastSquares(), 5, 100))
try:
    losses_of([], (Order(1, 0, 1),), Validation(LeastSquares(), 5, 100))
except InvalidArgument as error:
    print(error)
"""
    assert "chronodp[models]" in forkserver.run("-c", program).stdout
