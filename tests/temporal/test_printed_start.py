"""Threshold begun as Algorithm 1 prints it: its law listed, its empty times counted, and no budget stated."""

from __future__ import annotations

import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp.audit.exact import outcomes
from chronodp.errors import InvalidArgument
from chronodp.privacy import Swap, dump, load
from chronodp.randomness import Entropy, seeded
from chronodp.temporal import BlurredStream, DispatchStatement, Threshold, choose_threshold, expected_warm_up
from chronodp.temporal.published.printed_start import juggle_from_empty
from tests.cases import case
from tests.conftest import Trials

SMALL = [(3, 2, 6), (4, 2, 5), (4, 3, 5), (5, 2, 4), (5, 3, 4), (5, 4, 5)]


def listed(window: int, threshold: int, length: int) -> dict[tuple[int, ...], Fraction]:
    """Algorithm 1 line by line: how likely values go to which times, in turn."""
    found: dict[tuple[int, ...], Fraction] = {(): Fraction(1)}
    for now in range(length):
        after: dict[tuple[int, ...], Fraction] = {}
        for went, chance in found.items():
            empty = [time for time in range(now, now + window) if time not in went]
            choices = [now] if len(empty) <= threshold and now in empty else empty
            for time in choices:
                after[(*went, time)] = chance / len(choices)
        found = after
    return found


@pytest.mark.parametrize(("window", "threshold", "length"), SMALL)
@pytest.mark.slow
def test_every_outcome_has_the_probability_that_the_algorithm_gives_it(
    window: int, threshold: int, length: int
) -> None:
    def run(entropy: Entropy) -> object:
        waits, _ = juggle_from_empty(length, window, threshold, entropy)
        return tuple((waits + np.arange(length)).tolist())

    assert outcomes(run).probabilities == listed(window, threshold, length)


def test_as_many_times_stay_empty_as_the_window_is_above_the_threshold() -> None:
    window: int
    epsilon: float
    for window, epsilon in [(3, 0.0), (4, 2.2), (10, 3.2), (20, 5.0)]:
        with case(window, epsilon):
            mechanism = Threshold(window, epsilon, start="printed")
            spare = window - mechanism.choice.threshold
            source = mechanism.perturb_panel(np.zeros((20, 600)), entropy=seeded(1)).source
            assert np.all((source < 0).sum(axis=1) == spare)
            for row in source:
                lost = np.setdiff1d(np.arange(600), row)
                assert len(lost) == spare  # as many are still under way as times were left empty
                assert np.all(lost > 600 - window)
                shown = np.flatnonzero(row >= 0)
                assert np.all((shown - row[shown] >= 0) & (shown - row[shown] < window))


@pytest.mark.slow
def test_golden_steps_until_the_threshold(golden: Any, trials: Trials) -> None:
    for name, steps in golden("claims/algorithm1_printed_start.json")["expected_steps"].items():
        window, threshold = map(int, name.split(","))
        assert expected_warm_up(window, threshold) == pytest.approx(steps, rel=1e-12)
    runs = trials(4_000, least=400)
    drawn = [juggle_from_empty(500, 6, 3, seeded(seed))[1] for seed in range(runs)]
    assert abs(np.mean(drawn) - expected_warm_up(6, 3)) < 6.5 * np.std(drawn) / math.sqrt(runs)
    for window, threshold in ((13, 4), (4, 4), (4, 1)):
        with pytest.raises(InvalidArgument, match=r"(window|threshold) must be"):
            expected_warm_up(window, threshold)


def test_the_extended_mechanism_drops_nothing_before_the_threshold() -> None:
    mechanism = Threshold(6, 0.5, start="printed")
    assert mechanism.choice.extended
    for seed in range(40):
        _, warm = juggle_from_empty(60, 6, mechanism.choice.threshold, seeded(seed))
        blurred = mechanism.perturb(np.arange(60), entropy=seeded(seed))
        assert set(range(warm)) <= set(blurred.source.tolist())


def test_no_budget_is_stated_since_none_holds() -> None:
    mechanism = Threshold(3, 0.0, start="printed")
    statement = mechanism.statement()
    assert statement.budget is None
    assert "no marginal dispatch budget" in " ".join(str(statement).split())
    assert statement.ruled_out == ((3, 1.0),)
    assert Threshold(3, 0.0).statement().budget == choose_threshold(3, 0.0).budget == 0.0
    # In the steady state every delay is as likely; the second value of a printed start stays 8/5 times as often.
    second = [Fraction(0)] * 3
    for went, chance in listed(3, 2, 2).items():
        second[went[1] - 1] += chance
    assert second == [Fraction(4, 9), Fraction(5, 18), Fraction(5, 18)]


def test_the_start_is_part_of_the_design_and_older_texts_stay_as_they_were() -> None:
    assert dump(Threshold(4, 1.0)) == '{"epsilon":1.0,"kind":"threshold","window":4}'
    printed = Threshold(4, 1.0, start="printed")
    assert load(dump(printed), Threshold) == printed
    assert load(dump(Threshold(4, 1.0)), Threshold) == Threshold(4, 1.0, start="steady")
    with pytest.raises(InvalidArgument, match="start must be"):
        Threshold(4, 1.0, start="cold")  # type: ignore[arg-type]


def test_a_stream_goes_on_where_it_was_in_the_midst_of_its_start(tmp_path: Path) -> None:
    mechanism = Threshold(8, 4.0, start="printed")
    spare = 8 - mechanism.choice.threshold
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("loose", unit=Swap(8), epsilon=1.0, accepts=("times are not protected",))
        live = BlurredStream(mechanism, ledger=ledger, dataset="loose", name="pulse", entropy=seeded(2))
        shown: list[Any] = []
        for value in range(200):
            if value in (1, 3, 7):
                live = BlurredStream.resume(ledger, "pulse", entropy=seeded(value))
            shown += live.step(value).values
        assert live.mechanism == mechanism
        assert isinstance(live.promise, DispatchStatement)
        assert live.promise.budget is None
        shown += live.finish().values
    assert shown[:200].count(None) == spare
    assert sorted(value for value in shown if value is not None) == list(range(200))  # no value is lost
