"""The order of a model: found by votes, untouched by any one person's series, never a reason to refuse."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from tests import forkserver
from tests.selection.panels import ORDERS, TRUE, second_order_people

import chronodp as cdp
from chronodp.audit.exact import examine
from chronodp.errors import InvalidArgument
from chronodp.privacy import Event, Report, User, UserPeriod, Window
from chronodp.randomness import Entropy
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
    Utilities,
    Validation,
    choose_order,
    design_choice,
    losses_of,
    probabilities,
    tally,
)
from chronodp.selection.arima.fitting import fit_coefficients

NAMES = tuple(str(order) for order in ORDERS)


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
    for piece in [
        [],
        [1.0],
        [1.0] * 12,
        [0.0] * 200,
        [math.nan] * 200,
        [math.inf, -math.inf] * 100,
        [1e308, -1e308] * 100,
    ]:
        with subtests.test(piece=piece):
            found = losses_of([np.array(piece)], ORDERS, Validation(LeastSquares(), 20, 1000))
            assert found.shape == (1, 6)
            assert not np.isnan(found).any()
            if len(piece) < 22 or not np.isfinite(piece).any():
                assert np.isinf(found).all()
            assert tally(found).sum() <= 1


def test_a_panel_is_monotone_only_where_whole_people_come_and_go(subtests: pytest.Subtests) -> None:
    for unit, kind in [
        (User(), MonotoneUtilities),
        (User(relation="replace"), Utilities),
        (Event(), Utilities),
        (UserPeriod("1D"), Utilities),
        (Window(7), Utilities),
    ]:
        with subtests.test(unit=unit, kind=kind):
            bound = Panel([[1.0]]).bound(np.zeros(3), unit)
            assert type(bound) is kind
            assert bound.change == 1.0


def test_blocks_that_a_unit_touches(subtests: pytest.Subtests) -> None:
    for unit, touched in [
        (Event(), 1),
        (Event(relation="replace"), 2),
        (Window(1), 1),
        (Window(2), 2),
        (Window(11), 2),
        (Window(12), 3),
        (Window(21), 3),
        (Window(22), 4),
    ]:
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


def test_a_short_series_changes_nothing_about_a_choice(ledger: cdp.Ledger) -> None:
    people = list(second_order_people(5, 60, 1))
    seed = cdp.randomness.seeded
    plain = chosen(ledger, Panel(people), entropy=seed(5))
    with_short = chosen(ledger, Panel([*people, np.array([1.0])]), request="with a short one", entropy=seed(5))
    assert plain.place == with_short.place


def test_the_whole_choice_costs_epsilon_for_a_person(ledger: cdp.Ledger) -> None:
    people = [row.tolist() for row in second_order_people(3, 40, 8)]
    numbers = iter(range(10**6))

    def run(count: int, *, entropy: Entropy) -> int:
        made = chosen(ledger, Panel(people[:count]), ("0,0,0", "2,0,0"), entropy=entropy, request=f"{next(numbers)}")
        return made.place

    finding = examine(run, [(count, count + 1) for count in range(3)])
    assert 0.5 < finding.epsilon <= 1.0 + 1e-12
    assert not finding.refutes(1.0)


def test_bad_arguments_are_refused_by_name_and_cost_nothing(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"orders": []}, "orders"),
        ({"orders": "2,0,0"}, "orders"),
        ({"orders": ["2,0"]}, "orders"),
        ({"orders": [(1, 0, 0), (1, 0, 0)]}, "orders"),
        ({"orders": [(-1, 0, 0)]}, "autoregressive"),
        ({"orders": [(1, 3, 0)]}, "differences"),
        ({"orders": [(1, 0, 99)]}, "moving_average"),
        ({"orders": [3]}, "orders"),
        ({"pieces": [[1.0, 2.0]]}, "pieces"),
        ({"unit": Report()}, "unit"),
        ({"pieces": Blocks([1.0] * 40, length=20)}, "unit"),
        ({"scoring": "votes"}, "scoring"),
        ({"scoring": ClippedRegret(0.1)}, "largest_error"),
        ({"fit": "ols"}, "fit"),
        ({"holdout": 0}, "holdout"),
        ({"longest": 20}, "longest"),
        ({"largest_error": 0.0}, "largest_error"),
        ({"workers": 0}, "workers"),
        ({"epsilon": -1.0}, "epsilon"),
        ({"mechanism": "best"}, "mechanism"),
    ]
    for changes, name in wrong:
        with subtests.test(changes=changes, name=name):
            options = {"pieces": Panel([[1.0, 2.0]]), "orders": ["1,0,0"]} | changes
            with pytest.raises(InvalidArgument) as caught:
                chosen(ledger, options.pop("pieces"), options.pop("orders"), **options)
            assert caught.value.name == name
            assert ledger.status("people").charges == 0


def test_bad_series_are_refused_without_showing_them(subtests: pytest.Subtests) -> None:
    wrong: list[Any] = [3.0, [["a", "b"]], [[[1.0]]], [[1.0, None]]]
    for series in wrong:
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
