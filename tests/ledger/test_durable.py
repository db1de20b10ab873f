from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pytest

from chronodp import User
from chronodp.errors import InvalidArgument, StreamConflict, UnknownDocument
from chronodp.ledger import DurableStream, Ledger, Snapshot, StateCodec
from chronodp.privacy import Cost, PureCost
from chronodp.randomness import Entropy, seeded

COST, PERSON = PureCost(0.5), User()


@dataclass(frozen=True)
class Counting:
    plan: str = "plan"
    cost: Cost = COST
    unit: User = PERSON


def decode(sealed: bytes) -> Snapshot[Counting, int]:
    plan, state, repeatable = sealed.decode().split()
    return Snapshot(plan, Counting(plan), int(state), repeatable == "1")


class Counter(DurableStream[Counting, int]):
    """All that a mechanism must add."""

    codec = StateCodec(lambda one: f"{one.plan} {one.state} {int(one.seeded)}".encode(), decode)
    takes = ("design", Counting, "a Counting")

    @classmethod
    def _start(cls, design: Counting, entropy: Entropy) -> int:
        del design, entropy
        return 0

    @classmethod
    def _plan(cls, design: Counting) -> str:
        return design.plan


def begin(ledger: Ledger, *, repeatable: bool = False) -> Counter:
    ledger.open("meters", unit=User(), epsilon=1.0)
    entropy = seeded(1) if repeatable else None
    return Counter.open(Counting(), ledger=ledger, dataset="meters", name="live", entropy=entropy)


def test_state_and_values_move_together(ledger: Ledger) -> None:
    live = begin(ledger)
    live._commit(7, [[1, None], {"two": 2.5}])
    again = Counter.resume(ledger, "live")
    for one in (live, again):
        assert (one.name, one.period, one._state, one.design, one.finished) == ("live", 2, 7, Counting(), False)
        assert one._committed() == [[1, None], {"two": 2.5}]
    again._commit(8, ["three"], finished=True)
    assert again.finished
    assert live._committed() == [[1, None], {"two": 2.5}]  # not its own to return
    with pytest.raises(StreamConflict, match="gone on past step 2"):
        live._commit(9, ["other"])
    assert live._state == 7
    assert ledger.status("meters").charges == 1


def test_a_step_that_was_repeatable_is_never_forgotten(ledger: Ledger) -> None:
    begin(ledger, repeatable=True)
    live = Counter.resume(ledger, "live")
    assert live._seeded
    live._commit(1, ["one"])
    assert Counter.resume(ledger, "live")._seeded


def test_what_a_failure_kept_from_being_returned_is_returned_after_resuming_only(tmp_path: Path) -> None:
    class Silent:
        fails = True

        def newest(self, stream: str) -> int:  # noqa: ARG002
            return 0

        def saw(self, stream: str, step: int) -> None:
            if "live" in stream and self.fails:
                raise OSError(f"{stream} {step}")

    witness = Silent()
    with Ledger(tmp_path / "b.db", witness=witness) as ledger:
        live = begin(ledger)
        with pytest.raises(OSError, match=r'"live"\] 1'):
            live._commit(1, ["one"])
        assert (live.period, live._state, live._committed()) == (0, 0, [])
        with pytest.raises(StreamConflict):
            live._commit(1, ["another draw"])
        for read in (lambda: Counter.resume(ledger, "live"), lambda: ledger.released_steps("live")):
            with pytest.raises(OSError, match=r'"live"\] 1'):  # not returned as long as nobody would remember it
                read()
        witness.fails = False
        assert Counter.resume(ledger, "live")._committed() == ["one"]


def test_steps_come_one_after_another(ledger: Ledger) -> None:
    live = begin(ledger)
    live._commit(3, [1, 2, 3])
    live._check_next(None, 2, length=5, left_out="")
    live._check_next(3, 2, length=5, left_out="")
    with pytest.raises(StreamConflict, match="goes on with step 3; step 2 was released before"):
        live._check_next(2, 1, length=5, left_out="")
    with pytest.raises(StreamConflict, match="step 4 would leave steps out: count them as 0"):
        live._check_next(4, 1, length=5, left_out="count them as 0")
    with pytest.raises(StreamConflict, match="ends after 5 steps: 2 are left"):
        live._check_next(3, 3, length=5, left_out="")


def test_what_is_refused_before_anything_is_spent(ledger: Ledger) -> None:
    with pytest.raises(InvalidArgument, match="ledger"):
        Counter.open(Counting(), ledger="b", dataset="meters", name="live")  # type: ignore[arg-type]
    begin(ledger)
    with pytest.raises(InvalidArgument, match="design"):
        Counter.open("counts", ledger=ledger, dataset="meters", name="other")  # type: ignore[arg-type]
    with pytest.raises(StreamConflict, match="exists"):
        begin(ledger)
    assert ledger.status("meters").charges == 1
    ledger.open_stream("meters", "other", cost=PureCost(0.1), unit=User(), plan="plan", state=b"secret")
    with pytest.raises(UnknownDocument, match="another kind") as refused:
        Counter.resume(ledger, "other")
    assert "secret" not in str(refused.value)
    assert "7" not in repr(Snapshot("plan", Counting(), 7, seeded=False))


def test_an_opening_seals_what_open_seals() -> None:
    opening = Counter.opening(Counting(), "live", entropy=seeded(1))
    assert (opening.name, opening.plan, opening.state) == ("live", "plan", b"plan 0 1")
