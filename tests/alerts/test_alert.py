"""Alerts in a ledger: the same answers however they are asked, what is paid, what survives, and what is refused."""

from __future__ import annotations

import os
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import chronodp as cdp
from chronodp.alerts import (
    Alert,
    AlertDesign,
    AlertState,
    Comparator,
    Exponential,
    Laplace,
    Noise,
    Split,
    advance,
    design_alert,
    start,
)
from chronodp.alerts.scaling import to_quanta, to_quantum
from chronodp.errors import (
    BudgetExhausted,
    ChronodpError,
    InvalidArgument,
    LedgerUnavailable,
    RequestConflict,
    StreamConflict,
    UnitMismatch,
    UnknownDocument,
)
from chronodp.privacy import PureCost, Swap, dump, load
from chronodp.privacy.grid import FARTHEST
from chronodp.randomness import seeded

USER = cdp.User()


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as store:
        store.open("meters", unit=USER, epsilon=10.0)
        yield store


def opened(store: cdp.Ledger, **changes: Any) -> Alert:
    options: dict[str, Any] = {"above": 500.0, "change": 1.0, "unit": USER, "max_alerts": 3, "epsilon": 1.0}
    if "below" in changes:
        del options["above"]
    return Alert(**(options | {"ledger": store, "dataset": "meters", "name": "alarm"} | changes))


def designed(**changes: Any) -> AlertDesign:
    options: dict[str, Any] = {"above": 500.0, "change": 1.0, "unit": USER, "max_alerts": 3, "epsilon": 1.0}
    if "below" in changes:
        del options["above"]
    return design_alert(**(options | changes))


@pytest.mark.parametrize("noise", [Exponential(), Laplace()], ids=str)
@pytest.mark.parametrize("side", ["above", "below"])
def test_steps_one_by_one_and_together_are_one_mechanism(noise: Noise, side: str, ledger: cdp.Ledger) -> None:
    design = designed(**{side: 500.0}, noise=noise, max_alerts=40)
    values = np.random.default_rng(2).normal(500.0, 60.0, 300)
    entropy = seeded(9)
    state, alarms = advance(design, start(design, entropy), values, entropy)
    one = Alert.open(design, ledger=ledger, dataset="meters", name="one", entropy=seeded(9))
    many = Alert.open(design, ledger=ledger, dataset="meters", name="many", entropy=seeded(9))
    answers = [one.step(float(value)) for value in values if not one.halted]
    together = many.steps(values)
    assert state.alerts == 40
    assert [answer.period for answer in answers if answer] == alarms.periods.tolist()
    assert together.period[together.fired].tolist() == alarms.periods.tolist()
    assert len(together.fired) == state.period == one.period == many.period < 300
    assert one.halted
    assert many.halted
    beyond = values[alarms.periods] - 500.0
    assert np.mean(beyond if side == "above" else -beyond) > 10


def test_values_told_have_noise_and_a_price_of_their_own(ledger: cdp.Ledger) -> None:
    alarm = opened(ledger, value_epsilon=2.0, entropy=seeded(1))
    assert alarm.certificate.guarantee.epsilon == 1.0 + 3 * 2.0
    answer = alarm.step(900.0)
    assert answer.value != 900.0
    assert answer.value == pytest.approx(900.0, abs=20)
    told = alarm.steps([0.0, 900.0, 0.0])
    assert np.isnan(told.value[[0, 2]]).all()
    assert told.value[1] == pytest.approx(900.0, abs=20)
    assert [(alert.period, alert.value) for alert in alarm.history] == [(0, answer.value), (2, told.value[1])]
    low = opened(ledger, below=500.0, epsilon=0.5, value_epsilon=0.5, name="low", entropy=seeded(1))
    assert low.step(-900.0).value == pytest.approx(-900.0, abs=60)


def test_the_whole_price_is_paid_once_at_the_opening(ledger: cdp.Ledger) -> None:
    alarm = opened(ledger, epsilon=Split(threshold=0.5, alert=0.25))
    assert alarm.design.cost.epsilon == 1.25
    alarm.steps(np.full(1000, 100.0))
    alarm.steps([900.0] * 3)
    (entry,) = ledger.history("meters")
    assert entry.cost == PureCost(1.25)
    assert "sparse vector" in str(alarm.certificate)
    assert not alarm.certificate.seeded


def test_a_step_after_the_last_alert_says_so_and_spends_nothing(ledger: cdp.Ledger) -> None:
    alarm = opened(ledger, max_alerts=1)
    assert alarm.step(10_000.0)
    for again in (alarm, Alert.resume(ledger, "alarm")):
        for ask in (lambda it=again: it.step(0.0), lambda it=again: it.steps([0.0]), again.save):
            with pytest.raises(StreamConflict, match="has published its 1 alerts and is halted for good"):
                ask()
    assert len(ledger.history("meters")) == 1
    with pytest.raises(StreamConflict, match="exists"):
        opened(ledger)


def test_a_resumed_alert_has_the_same_threshold_and_count(ledger: cdp.Ledger) -> None:
    alarm = opened(ledger, entropy=seeded(2))
    alarm.steps([0.0, 0.0, 900.0])
    assert not alarm.step(0.0)
    again = Alert.resume(ledger, "alarm")
    assert again._newest == alarm._newest
    assert (again.alerts, again.period) == (1, 3)  # the quiet step after the alert was not written
    assert again.certificate.seeded
    alarm.save()
    alarm.save()
    assert Alert.resume(ledger, "alarm").period == 4
    assert [alert.period for alert in Alert.resume(ledger, "alarm").history] == [2]
    assert load(dump(alarm.design), AlertDesign) == alarm.design


def test_seeds_mark_the_certificate_also_when_they_come_later(ledger: cdp.Ledger) -> None:
    opened(ledger)
    later = Alert.resume(ledger, "alarm", entropy=seeded(1))
    later.step(900.0)
    assert Alert.resume(ledger, "alarm").certificate.seeded


def test_an_alert_that_cannot_be_written_counts_and_is_written_first(tmp_path: Path) -> None:
    full = False

    def reached(name: str) -> None:
        if full and name == "step written":
            raise LedgerUnavailable("the disk is full")

    with cdp.Ledger(tmp_path / "budget.db", reached=reached) as ledger:
        ledger.open("meters", unit=USER, epsilon=10.0)
        alarm = opened(ledger, max_alerts=2)
        full = True
        for value in (10_000.0, 0.0):  # the second would be quiet, but is not asked before the first is on disk
            with pytest.raises(LedgerUnavailable):
                alarm.step(value)
            assert (alarm.alerts, alarm.period, alarm.history) == (1, 1, [])
        full = False
        assert not alarm.step(0.0)
        assert [alert.period for alert in alarm.history] == [0]
        assert alarm.period == 2
        assert Alert.resume(ledger, "alarm").alerts == 1


def test_only_one_of_two_processes_goes_on(ledger: cdp.Ledger) -> None:
    first = opened(ledger)
    second = Alert.resume(ledger, "alarm")
    assert first.step(10_000.0)
    for _ in range(2):
        with pytest.raises(StreamConflict, match="resume its newest state"):
            second.step(10_000.0)


@pytest.mark.slow
def test_nothing_drawn_ahead_survives_a_fork(ledger: cdp.Ledger) -> None:
    alarm = opened(ledger)
    alarm.step(0.0)
    assert alarm._noise
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        drawn = alarm._fresh()
        os.write(writer, pickle.dumps((drawn, alarm._noise[:10])))
        os._exit(0)
    os.waitpid(child, 0)
    drawn, ahead = pickle.loads(os.read(reader, 65536))
    assert drawn != alarm._noise[-1] or ahead != alarm._noise[:10]
    assert not set(ahead) <= set(alarm._noise)


def test_secrets_stay_out_of_what_is_printed(ledger: cdp.Ledger) -> None:
    alarm = opened(ledger)
    secret = str(alarm._newest.threshold)
    for text in (repr(alarm), repr(alarm._newest), repr(alarm.design), str(alarm.certificate)):
        assert secret not in text


def test_budgets_and_units_are_checked_before_anything_is_drawn(ledger: cdp.Ledger) -> None:
    with pytest.raises(BudgetExhausted):
        opened(ledger, epsilon=11.0)
    with pytest.raises(UnitMismatch):
        opened(ledger, unit=cdp.Event())
    assert not ledger.history("meters")
    with pytest.raises(StreamConflict, match="no stream"):
        Alert.resume(ledger, "alarm")


REFUSED: list[tuple[str, Any]] = [("change", 0.0), ("change", float("inf")), ("epsilon", 0.0), ("epsilon", "1")]
REFUSED += [("value_epsilon", -1.0), ("noise", "laplace"), ("unit", Swap(4)), ("unit", "user"), ("entropy", 4)]
REFUSED += [("ledger", "budget.db")]


def test_what_is_refused_at_the_opening(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"max_alerts": 0}, "max_alerts must be a whole number from 1"),
        *(({"above": above}, "above must be a finite number") for above in (float("nan"), float("inf"))),
        ({"above": None}, "threshold must be given"),
        ({"above": 1.0, "below": 0.0}, "threshold must be given"),
        ({"above": 1e300}, "threshold must be nearer to zero"),
        ({"epsilon": 1e-12}, "epsilon must be larger"),
        ({"monotone": 1}, "monotone must be True or False"),
        ({"monotone": True, "unit": cdp.User(relation="replace")}, "replaced raises some values and lowers others"),
        *(({name: value}, f"{name} must be") for name, value in REFUSED),
    ]
    for changes, said in wrong:
        with subtests.test(changes=changes, said=said):
            options: dict[str, Any] = {"above": 5.0, "change": 1.0, "unit": USER, "max_alerts": 3, "epsilon": 1.0}
            options |= {"ledger": ledger, "dataset": "meters", "name": "alarm"} | changes
            with pytest.raises(InvalidArgument, match=said):
                Alert(**options)
            assert not ledger.history("meters")


def test_bad_values_are_refused_without_being_told(ledger: cdp.Ledger, subtests: pytest.Subtests) -> None:
    alarm = opened(ledger)
    wrong: list[Any] = [float("nan"), float("inf"), -np.inf, "zaphod", None, 1j, [1.0], 10.0 + 0j]
    for value in wrong:
        for ask in (alarm.step, lambda it: alarm.steps([0.0, it])):
            with subtests.test(value=value), pytest.raises(InvalidArgument) as refused:
                ask(value)
            assert "zaphod" not in str(refused.value)
    arrays: list[Any] = [0.0, [[1.0]], ["1"], None]
    for values in arrays:
        with subtests.test(values=values), pytest.raises(InvalidArgument, match=r"values must be finite.*; got a"):
            alarm.steps(values)
    with pytest.raises(InvalidArgument, match="got a bool"):
        alarm.step(True)
    assert alarm.period == 0


def test_no_finite_value_is_refused(ledger: cdp.Ledger) -> None:
    alarm = opened(ledger)
    for value in (-1.7e308, -(10**400), np.float32(-3e38), np.int64(-(2**63)), -5, np.longdouble(-1.0)):
        assert not alarm.step(value)  # type: ignore[arg-type]
    assert alarm.step(10**400)
    assert not alarm.steps([]).fired.size
    assert bool(alarm.steps(np.array([2**63], dtype=np.uint64)))
    assert not alarm.steps([-1.7e308, -1e-320])


def test_rounding_brings_no_two_values_farther_apart(subtests: pytest.Subtests) -> None:
    for step in [1.0, 2.0**-20, 8.0]:
        with subtests.test(step=step):
            generator = np.random.default_rng(3)
            for size in (1.0, 1e6, 2.0**51 * step, 2.0**55 * step):
                values = np.concatenate((generator.normal(0, size, 500), generator.integers(-20, 20, 500) * step / 4))
                moved = np.concatenate((values[:500], values[500:] + 3 * step))
                steps = to_quanta(values, step)
                assert steps.tolist() == [to_quantum(float(value), step) for value in values]
                assert np.abs(steps).max() <= FARTHEST
                assert np.abs(to_quanta(moved, step) - steps).max() <= 3
    # Whole numbers turned into floats are rounded; the change must stay the change.
    step, change = 8.0, 1000
    generator = np.random.default_rng(3)
    far = generator.integers(2**53, 2**57, 2000)
    apart = np.array([to_quantum(int(value) + change, step) - to_quantum(int(value), step) for value in far])
    assert apart.max() <= change // 8


def test_states_that_are_none_are_refused() -> None:
    with pytest.raises(UnknownDocument):
        AlertState.from_bytes(b"something else")
    design = designed(max_alerts=1)
    with pytest.raises(InvalidArgument, match="state must be"):
        advance(design, AlertState(0, 1, 0), [1.0], seeded(1))
    assert AlertState.from_bytes(AlertState(-5, 2, 9).to_bytes()) == AlertState(-5, 2, 9)
    document = dump(designed(epsilon=Split(0.5, 0.25))).replace('"epsilon":1.25', '"epsilon":1.0')
    with pytest.raises(InvalidArgument, match=r"epsilon must be at least 1\.25"):
        load(document, AlertDesign)
    with pytest.raises(ChronodpError):
        load(dump(designed()).replace('"max_alerts":3', '"max_alerts":0'), AlertDesign)


def test_a_check_is_paid_each_time_and_repeated_for_the_same_request(ledger: cdp.Ledger) -> None:
    once = Comparator(above=500.0, change=1.0, unit=USER, epsilon=0.5)
    answers = {once.check(500.0, ledger=ledger, dataset="meters", request="today").value for _ in range(20)}
    assert len(answers) == 1
    assert len(ledger.history("meters")) == 1
    with pytest.raises(RequestConflict):
        once.check(501.0, ledger=ledger, dataset="meters", request="today")
    assert once.check(900.0, ledger=ledger, dataset="meters", request="tomorrow").value
    low = Comparator(below=500.0, change=1.0, unit=USER, epsilon=0.5, noise=Laplace())
    made = low.check(0.0, ledger=ledger, dataset="meters", request="low", entropy=seeded(1))
    assert made.value
    assert made.certificate.seeded
    assert made.certificate.guarantee.epsilon == 0.5
    assert load(dump(low), Comparator) == low
    with pytest.raises(InvalidArgument, match="value must be a finite number; got a float"):
        once.check(float("nan"), ledger=ledger, dataset="meters", request="next")
    assert len(ledger.history("meters")) == 3
