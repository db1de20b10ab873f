"""What must be true of everything that steps: what was sealed resumes, and only the newest state goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import chronodp as cdp
from chronodp.correlated import Fran
from chronodp.errors import StreamConflict, UnknownDocument
from chronodp.privacy import PureCost
from chronodp.series.windowed import WindowedStream
from chronodp.state_space import PrivateFilter
from chronodp.temporal import BlurredStream

KINDS: dict[str, tuple[Any, Any]] = {
    "door": (cdp.Stream, [3.0, 4.0]),
    "beds": (WindowedStream, [100, 200]),
    "pulse": (BlurredStream, 72),
    "heat": (PrivateFilter, [0.5]),
    "alarms": (Fran, [1, 0]),
    "alarm": (cdp.Alert, 1e6),
}
"""By the name of a state that was sealed after four steps: its class, and a value that every class commits."""


@pytest.fixture
def stored(golden: Any, tmp_path: Path) -> Any:
    """A ledger with states that were sealed before."""
    with cdp.Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("all", unit=cdp.User(), epsilon=1.0)
        for name, state in golden("streams/states.json").items():
            sealed = bytes.fromhex(state["state"])
            opened = ledger.open_stream(
                "all", name, cost=PureCost(0.01), unit=cdp.User(), plan=state["plan"], state=sealed
            )
            ledger.advance_stream(opened, values=state["released"], state=sealed)
        yield ledger


@pytest.mark.parametrize("name", KINDS)
def test_what_was_sealed_resumes_and_is_sealed_alike(name: str, stored: cdp.Ledger, golden: Any) -> None:
    kind, value = KINDS[name]
    live = kind.resume(stored, name)
    assert live.period == 4
    assert live._seeded  # its draws were repeatable once, so for ever
    assert kind.codec.encode(live._snapshot).hex() == golden("streams/states.json")[name]["state"]
    live.step(value)
    assert kind.resume(stored, name).period == live.period == 5


@pytest.mark.parametrize("name", KINDS)
def test_only_the_newest_state_goes_on(name: str, stored: cdp.Ledger) -> None:
    kind, value = KINDS[name]
    older, newer = kind.resume(stored, name), kind.resume(stored, name)
    newer.step(value)
    told, memory = older._committed(), older._state
    with pytest.raises(StreamConflict, match="resume its newest state"):
        older.step(value)
    assert older._committed() == told
    assert older._state is memory
    assert len(newer._committed()) == len(told) + 1


@pytest.mark.parametrize("name", KINDS)
def test_a_stream_of_another_kind_is_refused(name: str, stored: cdp.Ledger) -> None:
    for other in KINDS.keys() - {name}:
        with pytest.raises(UnknownDocument, match=f"stream '{other}' is of another kind") as refused:
            KINDS[name][0].resume(stored, other)
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__
