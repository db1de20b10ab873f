"""Windowed streams: what any window spends, errors as published, what suits which series, refusals."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from tests.conftest import SCALE, Trials

import chronodp as cdp
from chronodp.errors import InvalidArgument, StreamConflict, UnknownDocument
from chronodp.privacy import Window, dump, load
from chronodp.randomness import seeded
from chronodp.series.windowed import WindowedMechanism, WindowedState, WindowedStream, advance, rehearse, start
from chronodp.series.windowed.design import WindowedDesign, design_windowed
from chronodp.series.windowed.mechanisms import BudgetAbsorption, BudgetDistribution, Sample, Uniform

EVERY: list[WindowedMechanism] = [Uniform(), Sample(), BudgetDistribution(), BudgetAbsorption()]
STEPS = 2000


def designed(mechanism: WindowedMechanism, window: int, columns: int = 1, **changes: Any) -> WindowedDesign:
    options: dict[str, Any] = {"change": 1.0, "epsilon": 1.0}
    return design_windowed(mechanism, unit=Window(window), columns=columns, **(options | changes))


def run(design: WindowedDesign, rows: NDArray[np.float64], seed: int) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return releases and charges of every step."""
    state, entropy = start(design), seeded(seed)
    released, charges = [], []
    for row in rows:
        state, made = advance(design, state, row, entropy)
        released.append(made)
        charges.append(int(state.spent[-1]))
    charged = np.array(charges, dtype=np.int64)
    assert state.worst == rolling(charged, design.window).max()
    return np.array(released), charged


def rolling(charges: NDArray[np.int64], window: int) -> NDArray[np.int64]:
    before = np.concatenate((np.zeros(window, np.int64), np.cumsum(charges)))
    return before[window:] - before[:-window]


def waves() -> NDArray[np.float64]:
    return (1000 + 200 * np.sin(2 * np.pi * np.arange(STEPS) / 500))[:, None]


def test_no_window_spends_more_than_there_is(subtests: pytest.Subtests) -> None:
    for window, mechanism in itertools.product([1, 2, 7, 40], EVERY):
        with subtests.test(window=window, mechanism=mechanism):
            generator = np.random.default_rng(window)
            design = designed(mechanism, window, columns=3, max_groups=2)
            for seed, size in enumerate((0.1, 10.0, 1e4)):
                rows = np.cumsum(generator.normal(0, size, (300, 3)) * (generator.random((300, 1)) < 0.3), axis=0)
                _, charges = run(design, rows, seed)
                assert rolling(charges, window).max() <= design.total
                if isinstance(mechanism, Uniform | Sample):
                    assert rolling(charges, window).max() == design.total


@pytest.mark.slow
@pytest.mark.parametrize(("window", "known"), [(40, 1.20), (10, 1.45)])
def test_absorbing_without_giving_up_spends_too_much(window: int, known: float) -> None:
    design = designed(BudgetAbsorption(), window)
    charges, entropy = [], seeded(1)
    state = start(design)
    for _ in range(STEPS):
        offered = state.step - state.anchor
        state, _ = advance(design, replace(state, spent=np.zeros(window, np.int64)), [1000.0], entropy)
        charges.append(int(state.spent[-1]))
        if charges[-1] > design.watch:
            assert charges[-1] == design.watch * (1 + min(offered, window))
            state = replace(state, anchor=state.step - 1)
    # The known numbers come from other draws; these stay below them.
    assert 1.05 < rolling(np.array(charges), window).max() / design.total < known + 0.01


def test_a_state_that_forgot_to_give_up_is_refused() -> None:
    design = designed(BudgetAbsorption(), 10)
    state, entropy = start(design), seeded(1)

    def greedy() -> None:
        nonlocal state
        for _ in range(STEPS):
            state, _ = advance(design, state, [1000.0], entropy)
            state = replace(state, anchor=state.step - 1 if state.spent[-1] > design.watch else state.anchor)

    with pytest.raises(AssertionError, match="the state was altered"):
        greedy()


@pytest.mark.slow
def test_errors_are_the_published_ones_without_looking(golden: Any, subtests: pytest.Subtests) -> None:
    for window, (name, delta) in itertools.product(
        [10, 40], [("Uniform", 0.0), ("UniformGauss(d=1e-6)", 1e-6), ("Sample", 0.0)]
    ):
        with subtests.test(window=window, name=name, delta=delta):
            mechanism: WindowedMechanism = Sample() if name == "Sample" else Uniform()
            # Nothing here looks at the series: either is met by each mechanism and window, by both at stated counts.
            both = [("constant1000", np.full((STEPS, 1), 1000.0)), ("sinus_amp200_per500", waves())]
            for case, rows in both if SCALE >= 1 else [both[(name == "Uniform") == (window == 40)]]:
                known = golden("continual/wevent.json")[f"w{window}_eps1.0_{case}"][name]
                wide = np.repeat(rows, 10, axis=1)
                released, _ = run(designed(mechanism, window, 10, delta=delta), wide, 1)
                error = float(np.sqrt(np.mean((released - wide) ** 2)))
                # Ten columns are apart from each other once one person is in one of them only.
                assert error == pytest.approx(known["rmse"], rel=0.12 if name == "Sample" else 0.05)


@pytest.mark.slow
@pytest.mark.parametrize("window", [10, 40])
@pytest.mark.parametrize("name", ["BD", "BA"])
def test_errors_are_the_published_ones_with_looking(golden: Any, window: int, name: str, trials: Trials) -> None:
    mechanism = BudgetDistribution() if name == "BD" else BudgetAbsorption()
    # A series that stays and one that moves, each with either window, and both with both at stated counts.
    both = [("constant1000", np.full((STEPS, 1), 1000.0)), ("sinus_amp200_per500", waves())]
    for case, rows in both if SCALE >= 1 else [both[(name == "BD") == (window == 40)]]:
        known = golden("continual/wevent.json")[f"w{window}_eps1.0_{case}"]
        runs = [run(designed(mechanism, window), rows, seed) for seed in range(trials(4, least=2))]
        errors = [float(np.sqrt(np.mean((released - rows) ** 2))) for released, _ in runs]
        fresh = [int((charges > designed(mechanism, window).watch).sum()) for _, charges in runs]
        assert known[name]["rmse_lo"] * 0.95 < np.mean(errors) < known[name]["rmse_hi"] * 1.05
        assert np.mean(fresh) == pytest.approx(known["publications"][name], rel=0.1)


@pytest.mark.slow
def test_looking_pays_with_many_columns() -> None:
    rows = np.repeat(1000.0 + 500.0 * (np.arange(STEPS) // 237 % 2), 100).reshape(STEPS, 100)
    errors = {}
    for mechanism in EVERY:
        released, _ = run(designed(mechanism, 40, 100), rows, 1)
        errors[type(mechanism)] = float(np.sqrt(np.mean((released - rows) ** 2)))
    assert errors[BudgetDistribution] < 0.3 * errors[Uniform]
    assert errors[BudgetDistribution] < errors[BudgetAbsorption] < errors[Sample]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        for window in (4, 5, 8):
            opened.open(f"window {window}", unit=Window(window), epsilon=100.0)
        yield opened


def opened(store: cdp.Ledger, mechanism: Any, window: Any, **changes: Any) -> WindowedStream:
    options: dict[str, Any] = {"change": 1.0, "epsilon": 1.0, "ledger": store, "dataset": f"window {window}"}
    return WindowedStream(mechanism, window=window, **(options | {"name": type(mechanism).__name__} | changes))


@pytest.mark.parametrize("mechanism", EVERY, ids=str)
def test_a_resumed_stream_goes_on_as_if_nothing_had_happened(mechanism: WindowedMechanism, ledger: cdp.Ledger) -> None:
    design = designed(mechanism, 5, 2)
    assert load(dump(design), WindowedDesign) == design
    live = opened(ledger, mechanism, 5, columns=2, entropy=seeded(3))
    state, entropy = start(design), seeded(3)
    for place in range(30):
        state, expected = advance(design, state, [place * 10.0, 5.0], entropy)
        made = live.step([place * 10.0, 5.0])
        np.testing.assert_array_equal(made.value, expected)
        live = WindowedStream.resume(ledger, type(mechanism).__name__, entropy=live._entropy)
        assert live.period == place + 1
    older = WindowedStream.resume(ledger, type(mechanism).__name__)
    live.step([1.0, 1.0])
    with pytest.raises(StreamConflict, match="has gone on past step 30"):
        older.step([1.0, 1.0])
    assert live.rolling_spend <= 1
    assert live.certificate.seeded
    assert ledger.status("window 5").charges == 1
    assert len(ledger.released_steps(type(mechanism).__name__)) == 31


def test_values_are_rounded_exactly_ties_going_up() -> None:
    design = replace(designed(Sample(), 1), step=0.25)

    def released(value: float) -> int:
        return int(advance(design, start(design), [value], seeded(1))[0].released[0])

    below = float(np.nextafter(0.125, 0))
    for value in (below, 0.125, 0.375, -0.125, -below, -0.375, float(np.nextafter(-0.375, -1)), -1e-300, 1e9 + 0.125):
        exact = (Fraction(value) / Fraction(design.step) + Fraction(1, 2)).__floor__()
        assert released(value) - released(0.0) == exact


def test_replaced_data_touch_twice_the_columns() -> None:
    unit = Window(3, relation="replace")
    assert [
        design_windowed(Uniform(), unit=unit, change=1.0, columns=columns, max_groups=2, epsilon=1.0).touched
        for columns in (2, 3, 9)
    ] == [2, 3, 4]


def test_the_first_share_of_each(ledger: cdp.Ledger) -> None:
    live = {type(kind): opened(ledger, kind, 8) for kind in EVERY}
    first = {kind: stream.step(1e6).spend for kind, stream in live.items()}
    look = Fraction(1, 16)
    assert first == {
        Uniform: Fraction(1, 8),
        Sample: 1,
        BudgetDistribution: look + Fraction(1, 4),
        BudgetAbsorption: look + Fraction(1, 16),
    }


def test_bad_arguments_are_refused_by_name(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    cases: list[tuple[dict[str, Any], str]] = [
        ({"window": 0}, "window"), ({"window": 2**21}, "window"), ({"window": 1.5}, "window"),
        ({"epsilon": 0.0}, "epsilon"), ({"epsilon": -1.0}, "epsilon"), ({"epsilon": float("nan")}, "epsilon"),
        ({"epsilon": 1e-30}, "epsilon"), ({"epsilon": 1e50}, "epsilon"), ({"change": 0.0}, "change"),
        ({"delta": 1e-6}, "delta"), ({"columns": 0}, "columns"), ({"max_groups": 2}, "max_groups"),
        ({"mechanism": "uniform"}, "mechanism"), ({"entropy": 7}, "entropy"), ({"ledger": "budget.db"}, "ledger"),
    ]  # fmt: skip
    for changes, name in cases:
        with subtests.test(changes=changes, name=name):
            options: dict[str, Any] = {"mechanism": BudgetAbsorption(), "window": 4, "dataset": "window 4"} | changes
            with pytest.raises(InvalidArgument) as caught:
                opened(ledger, options.pop("mechanism"), options.pop("window"), **options)
            assert caught.value.name == name
            assert ledger.status("window 4").charges == 0


def test_bad_values_are_refused_and_release_nothing(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    live = opened(ledger, Uniform(), 4, columns=2)
    cases: list[Any] = [[1.0], [1.0, float("nan")], [1.0, float("inf")], 3.0, [[1.0, 2.0]], ["a", "b"]]
    for values in cases:
        with subtests.test(values=values), pytest.raises(InvalidArgument, match="2 finite numbers"):
            live.step(values)
    assert live.period == 0
    assert live.rolling_spend == 0
    assert ledger.released_steps(str(Uniform())) == []


def test_damaged_or_foreign_states_are_refused() -> None:
    design = designed(Uniform(), 4)
    stored = start(design).to_bytes()
    for damaged in (b"", stored[:-1], b"x" + stored[1:]):
        with pytest.raises(UnknownDocument, match="state"):
            WindowedState.from_bytes(damaged)
    with pytest.raises(InvalidArgument, match="window of 4"):
        advance(design, start(designed(Uniform(), 5)), [1.0], seeded(1))


COLUMNS = 100
NAMES = {"Uniform": "the same share", "Sample": "one release", "BD": "half of", "BA": "shares of"}


def examples() -> dict[str, NDArray[np.float64]]:
    chance, times = np.random.default_rng(0), np.arange(STEPS)
    levels = chance.uniform(500, 1500, COLUMNS)
    return {
        "constant": np.tile(levels, (STEPS, 1)),
        "randwalk_sd5": levels + np.cumsum(chance.normal(0, 5, (STEPS, COLUMNS)), axis=0),
        "steps": levels * (1 + 0.2 * (times // 237 % 2))[:, None],
    }


@cache
def rehearsed(case: str, runs: int) -> pd.DataFrame:
    return rehearse(examples()[case], window=40, change=1.0, epsilon=1.0, delta=1e-6, runs=runs, entropy=seeded(3))


def rmse(table: pd.DataFrame, name: str, noise: str = "laplace", reading: str = "as released") -> float:
    chosen = table[
        table["mechanism"].str.startswith(NAMES[name]) & (table["noise"] == noise) & (table["reading"] == reading)
    ]
    return float(chosen["rmse"].iloc[0])


@pytest.mark.parametrize("case", ["constant", "randwalk_sd5"])
@pytest.mark.slow
def test_errors_are_the_published_ones(case: str, golden: Any, trials: Trials) -> None:
    known = golden("continual/wevent_d100.json")[f"w40_{case}"]
    table = rehearsed(case, trials(2))
    for name in NAMES:
        assert rmse(table, name) == pytest.approx(known[name], rel=0.05 if name in {"Uniform", "Sample"} else 0.15)
    assert rmse(table, "Uniform", "gaussian") == pytest.approx(known["UniformGauss"], rel=0.02)
    # The published filter was given its pace; ours finds it, and is not behind.
    assert rmse(table, "Uniform", "gaussian", "Kalman filter") < 1.02 * known["UniformGauss+Kalman"]


@pytest.mark.slow
def test_which_mechanism_wins_depends_on_how_the_series_moves(trials: Trials) -> None:
    best = {case: rehearsed(case, trials(2)).iloc[0] for case in examples()}
    assert best["constant"]["mechanism"].startswith(NAMES["Sample"])
    assert best["randwalk_sd5"]["reading"] == "Kalman filter"
    assert best["steps"]["mechanism"].startswith(NAMES["BD"])


def test_rehearsals_refuse_what_is_no_series(subtests: pytest.Subtests) -> None:
    cases: list[tuple[Any, dict[str, Any]]] = [
        (np.zeros(3), {}), (np.full(20, np.nan), {}), ("text", {}), (np.zeros(20), {"window": 0}),
        (np.zeros(20), {"runs": 0}), (np.zeros(20), {"epsilon": 0.0}), (np.zeros(20), {"entropy": 3}),
    ]  # fmt: skip
    for example, changes in cases:
        with subtests.test(example=example, changes=changes):
            options: dict[str, Any] = {"window": 4, "change": 1.0, "epsilon": 1.0}
            with pytest.raises(InvalidArgument):
                rehearse(example, **(options | changes))
