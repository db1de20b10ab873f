"""One wrong argument, or two: refused by an error of ours that shows no private value, and nothing is spent."""

from __future__ import annotations

import contextlib
import random
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies as st

import chronodp as cdp
from chronodp.errors import ChronodpError
from chronodp.privacy import Swap
from tests.conftest import SCALE, Trials
from tests.fuzz.calls import FREE as RELEASING, MARK, Call, spending
from tests.fuzz.distant import DISTANT
from tests.fuzz.odd import ODD
from tests.fuzz.plain import PLAIN

FREE = {**RELEASING, **DISTANT, **PLAIN}


def try_out(call: Call, wrong: dict[str, Any], paid: Callable[[], object] = int) -> str | None:
    """Return what is at fault with a call that has wrong arguments: nothing if it works, or is refused as it should."""
    told = f"({', '.join(f'{name}={value!r:.60}' for name, value in wrong.items())})"
    before = paid()
    try:
        call.door(**{**call.arguments, **wrong})
    except ChronodpError as error:
        if MARK in str(error):
            return f"{told} tells a private value"
        return f"{told} is refused and paid for" if paid() != before else None
    except Exception as error:
        return f"{told} fails with {type(error).__name__}: {error!s:.160}"
    return None


def room_of(call: Call) -> str:
    """Return the room whose call it is."""
    door = getattr(call.door, "func", call.door)
    return str(door.__module__).split(".")[1]


@pytest.mark.slow
@pytest.mark.parametrize("room", sorted({room_of(call) for call in FREE.values()}))
def test_one_wrong_argument(room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # where a path that was meant as something else leads to nothing
    faults = []
    for name, call in FREE.items():
        if room_of(call) == room:
            assert try_out(call, {}) is None, name
            step = 1 if SCALE >= 1 else 2  # half of the odd values for one argument, the others for the next
            for place, argument in enumerate(call.arguments):
                tried = (try_out(call, {argument: value}) for value in ODD[place % step :: step])
                faults += [f"{name}{fault}" for fault in tried if fault]
    assert not faults, "\n".join(faults)


@given(st.data())
def test_two_wrong_arguments(data: st.DataObject) -> None:
    call = FREE[data.draw(st.sampled_from(sorted(FREE)))]
    places = data.draw(st.lists(st.sampled_from(sorted(call.arguments)), min_size=1, max_size=2, unique=True))
    assert try_out(call, {place: data.draw(st.sampled_from(ODD)) for place in places}) is None


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("meters", unit=cdp.Event(), epsilon=100.0, delta=1e-3)
        opened.open("wards", unit=cdp.Window(2), epsilon=100.0)
        opened.open("times", unit=Swap(4), epsilon=100.0)
        opened.open("sequences", unit=cdp.Window(1, "replace"), epsilon=100.0)
        yield opened


@pytest.mark.slow
def test_one_wrong_argument_where_a_ledger_pays(
    ledger: cdp.Ledger, tmp_path: Path, trials: Trials, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # where a dossier is written whose place is odd
    # What was debited is counted beside the ledger, which is many times faster than its status.
    with contextlib.closing(sqlite3.connect(tmp_path / "budget.db")) as beside:

        def paid() -> object:
            return beside.execute("SELECT count(*) FROM charges").fetchone()

        cases = [
            (name, argument, number)
            for name, call in spending(ledger).items()
            for argument in call.arguments
            for number in range(len(ODD))
        ]
        tried = random.Random(1).sample(cases, trials(len(cases), least=500))
        calls, faults = spending(ledger), []
        for name, argument, number in tried:
            call = calls[name]
            fresh = {key: f"{name} {argument} {number}" for key in ("name", "request") if key in call.arguments}
            fault = try_out(call, {**fresh, argument: ODD[number]}, paid)
            if fault:
                faults.append(f"{name}{fault}")
    assert not faults, "\n".join(faults)
