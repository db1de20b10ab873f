from __future__ import annotations

from pathlib import Path

import pytest

from chronodp import User
from chronodp.errors import InvalidArgument, StreamConflict, UnknownDocument
from chronodp.ledger import Form, Ledger, Running, Spend, Standing
from chronodp.privacy import PureCost
from chronodp.randomness import secure, seeded

Counter = Running[str, int]

FORM: Form[str, int] = Form(
    lambda standing: f"{standing.plan} {standing.memory} {int(standing.seeded)}".encode(),
    lambda state: Standing(
        state.decode().split()[0], "counts", int(state.decode().split()[1]), state.decode().split()[2] == "1"
    ),
)


def begin(ledger: Ledger, *, repeatable: bool = False) -> Counter:
    ledger.open("meters", unit=User(), epsilon=1.0)
    bits = seeded(1) if repeatable else secure()
    standing = Standing("plan", "counts", 0, bits.seeded)
    spend = Spend("meters", PureCost(0.5), User())
    return Running.open(FORM, "live", standing, spend, ledger=ledger, entropy=bits)


def resume(ledger: Ledger) -> Counter:
    return Running.resume(FORM, ledger, "live", entropy=None)


def test_memory_and_values_move_together(ledger: Ledger) -> None:
    live = begin(ledger)
    live.advance(7, [[1, None], {"two": 2.5}])
    again = resume(ledger)
    for one in (live, again):
        assert (one.name, one.step, one.memory, one.design, one.finished) == ("live", 2, 7, "counts", False)
        assert one.released() == [[1, None], {"two": 2.5}]
    again.advance(8, ["three"], finished=True)
    assert again.finished
    assert live.released() == [[1, None], {"two": 2.5}]  # not its own to tell
    with pytest.raises(StreamConflict, match="gone on past step 2"):
        live.advance(9, ["other"])
    assert live.memory == 7
    assert ledger.status("meters").charges == 1


def test_a_step_that_was_repeatable_is_never_forgotten(ledger: Ledger) -> None:
    begin(ledger, repeatable=True)
    live = resume(ledger)
    assert live.seeded
    live.advance(1, ["one"])
    assert resume(ledger).seeded


def test_what_a_failure_kept_from_being_told_is_told_after_resuming_only(tmp_path: Path) -> None:
    class Silent:
        fails = True

        def newest(self, stream: str) -> int:  # noqa: ARG002
            return 0

        def saw(self, stream: str, step: int) -> None:
            if stream == "live" and self.fails:
                raise OSError(f"{stream} {step}")

    witness = Silent()
    with Ledger(tmp_path / "b.db", witness=witness) as ledger:
        live = begin(ledger)
        with pytest.raises(OSError, match="live 1"):
            live.advance(1, ["one"])
        assert (live.step, live.memory, live.released()) == (0, 0, [])
        with pytest.raises(StreamConflict):
            live.advance(1, ["another draw"])
        for tell in (lambda: resume(ledger), lambda: ledger.released_steps("live")):
            with pytest.raises(OSError, match="live 1"):  # not told as long as nobody would remember it
                tell()
        witness.fails = False
        assert resume(ledger).released() == ["one"]


def test_steps_come_one_after_another(ledger: Ledger) -> None:
    live = begin(ledger)
    live.advance(3, [1, 2, 3])
    live.check_next(None, 2, length=5, left_out="")
    live.check_next(3, 2, length=5, left_out="")
    with pytest.raises(StreamConflict, match="goes on with step 3; step 2 was released before"):
        live.check_next(2, 1, length=5, left_out="")
    with pytest.raises(StreamConflict, match="step 4 would leave steps out: count them as 0"):
        live.check_next(4, 1, length=5, left_out="count them as 0")
    with pytest.raises(StreamConflict, match="ends after 5 steps: 2 are left"):
        live.check_next(3, 3, length=5, left_out="")


def test_what_is_refused_before_anything_is_spent(ledger: Ledger) -> None:
    standing = Standing("plan", "counts", 0, seeded=False)
    with pytest.raises(InvalidArgument, match="ledger"):
        Running.open(FORM, "live", standing, Spend("meters", PureCost(0.5), User()), ledger="b", entropy=secure())  # type: ignore[arg-type]
    begin(ledger)
    with pytest.raises(StreamConflict, match="exists"):
        begin(ledger)
    assert ledger.status("meters").charges == 1
    ledger.open_stream("meters", "other", cost=PureCost(0.1), unit=User(), plan="plan", state=b"secret")
    with pytest.raises(UnknownDocument, match="another kind") as refused:
        Running.resume(FORM, ledger, "other", entropy=None)
    assert "secret" not in str(refused.value)
    assert "7" not in repr(Standing("plan", "counts", 7, seeded=False))
