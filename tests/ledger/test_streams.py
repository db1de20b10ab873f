from __future__ import annotations

import shutil
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import pytest

from chronodp import User
from chronodp.errors import (
    BudgetExhausted,
    InvalidArgument,
    LedgerSetBack,
    LedgerUnavailable,
    StreamConflict,
    UnknownDocument,
    UnknownStream,
)
from chronodp.ledger import DurableStream, FileWitness, Keys, Ledger, Snapshot, StateCodec, StreamState
from chronodp.privacy import Cost, PureCost
from chronodp.randomness import Entropy, seeded


def begin(ledger: Ledger, name: str = "live") -> StreamState:
    ledger.open("meters", unit=User(), epsilon=1.0)
    return ledger.open_stream("meters", name, cost=PureCost(0.5), unit=User(), plan="plan", state=b"seed")


def test_steps_go_on_from_the_newest_state_only(ledger: Ledger) -> None:
    start = begin(ledger)
    one = ledger.advance_stream(start, values=["1.5"], state=b"after one")
    three = ledger.advance_stream(one, values=["2.5", "3.5"], state=b"after three")
    assert (one.step, three.step) == (1, 3)
    for old in (start, one):
        with pytest.raises(StreamConflict, match="resume its newest state"):
            ledger.advance_stream(old, values=["again"], state=b"x")
    resumed = ledger.resume_stream("live", plan="plan")
    assert (resumed.step, resumed.state, resumed.dataset) == (3, b"after three", "meters")
    last = ledger.advance_stream(resumed, values=["4.5"], state=b"", finished=True)
    assert ledger.released_steps("live") == ["1.5", "2.5", "3.5", "4.5"]
    with pytest.raises(StreamConflict, match="is finished"):
        ledger.advance_stream(last, values=["5.5"], state=b"")
    assert ledger.status("meters").charges == 1
    assert ledger.advance_stream(last, values=[], state=b"ignored") is last


def test_rows_stand_beside_the_state_and_go_with_their_step(ledger: Ledger) -> None:
    start = begin(ledger)
    one = ledger.advance_stream(start, values=["1"], state=b"a", rows=[b"first", b"second"])
    two = ledger.advance_stream(one, values=["2", "3"], state=b"b", rows=[b"third"])
    assert ledger.stream_rows(two) == [b"first", b"second", b"third"]
    assert ledger.stream_rows(one) == [b"first", b"second"]  # what came later is of a later state
    with pytest.raises(StreamConflict, match="resume its newest state"):
        ledger.advance_stream(one, values=["again"], state=b"x", rows=[b"never"])
    with pytest.raises(InvalidArgument, match="state"):
        ledger.advance_stream(two, values=["4"], state=b"x", rows=["no bytes"])  # type: ignore[list-item]
    assert ledger.stream_rows(ledger.resume_stream("live")) == [b"first", b"second", b"third"]
    assert ledger.stream_rows(replace(two, name="other")) == []


def test_a_row_is_sealed_to_its_place(ledger: Ledger) -> None:
    state = ledger.advance_stream(begin(ledger), values=["1"], state=b"a", rows=[b"private text", b"other"])
    with ledger._store.transaction() as transaction:
        sealed = [row[0] for row in transaction.run("SELECT sealed FROM stream_rows ORDER BY number")]
        assert not any("private" in text for text in sealed)
        for number, text in enumerate(reversed(sealed)):  # they change places
            transaction.run("UPDATE stream_rows SET sealed = ? WHERE number = ?", (text, number))
    with pytest.raises(LedgerUnavailable, match="row 0 of stream live at step 1 was changed"):
        ledger.stream_rows(state)


def test_names_are_taken_once_and_plans_are_kept(ledger: Ledger) -> None:
    begin(ledger)
    with pytest.raises(StreamConflict, match="a stream 'live' exists"):
        begin(ledger)
    assert ledger.status("meters").charges == 1
    with pytest.raises(StreamConflict, match="opened with another plan"):
        ledger.resume_stream("live", plan="other")
    with pytest.raises(UnknownStream, match="no stream 'lively'; known: live"):
        ledger.resume_stream("lively")
    with pytest.raises(BudgetExhausted):
        ledger.open_stream("meters", "second", cost=PureCost(0.6), unit=User(), plan="plan", state=b"")
    with pytest.raises(UnknownStream, match="no stream 'second'"):
        ledger.resume_stream("second")


def test_states_are_bytes_and_values_are_texts(ledger: Ledger) -> None:
    wrong: Any = "seed"
    start = begin(ledger)
    with pytest.raises(InvalidArgument, match=r"state must be bytes; got a str$"):
        ledger.open_stream("meters", "other", cost=PureCost(0.1), unit=User(), plan="plan", state=wrong)
    with pytest.raises(InvalidArgument, match="state must be bytes"):
        ledger.advance_stream(start, values=["1"], state=wrong)
    numbers: Any = [1.5]
    with pytest.raises(InvalidArgument, match=r"values must be a text; got a float$"):
        ledger.advance_stream(start, values=numbers, state=b"")
    assert ledger.resume_stream("live").step == 0
    assert ledger.status("meters").charges == 1


def test_the_state_is_sealed(tmp_path: Path) -> None:
    secret = b"a very secret threshold"
    with Ledger(tmp_path / "b.db") as ledger:
        begin(ledger)
        ledger.advance_stream(ledger.resume_stream("live"), values=["1"], state=secret)
        assert secret.decode() not in repr(ledger.resume_stream("live"))
    for path in tmp_path.glob("b.db*"):
        assert secret not in path.read_bytes()
    with Ledger(tmp_path / "b.db") as ledger:
        ledger._opened = replace(ledger._opened, keys=Keys.create())
        with pytest.raises(LedgerUnavailable, match="sealed with other keys"):
            ledger.resume_stream("live")


def test_a_ledger_that_was_set_back_is_noticed_by_its_witness(tmp_path: Path) -> None:
    def opened() -> Ledger:
        return Ledger(tmp_path / "b.db", witness=FileWitness(tmp_path / "elsewhere.json"))

    with opened() as ledger:
        one = ledger.advance_stream(begin(ledger), values=["1"], state=b"one")
    shutil.copy(tmp_path / "b.db", tmp_path / "copy.db")
    keys = (tmp_path / "b.db.keys").read_bytes()
    with opened() as ledger:
        ledger.advance_stream(one, values=["2"], state=b"two")
    for extra in tmp_path.glob("b.db-*"):
        extra.unlink()
    shutil.copy(tmp_path / "copy.db", tmp_path / "b.db")
    with pytest.raises(LedgerSetBack, match="it holds 1 steps of 'live' and 2 were made"):
        opened()
    (tmp_path / "b.db.keys").write_bytes(keys)  # set back as well: now the witness alone knows
    with pytest.raises(LedgerSetBack, match="it holds 1 steps of 'live' and 2 were made"):
        opened()
    with Ledger(tmp_path / "b.db") as ledger:  # without a witness nobody can know: the documented limit
        assert ledger.resume_stream("live").step == 1
    (tmp_path / "elsewhere.json").write_text("{")
    with pytest.raises(LedgerUnavailable, match=r"elsewhere\.json is damaged"):
        opened()


def test_a_stream_is_not_resumed_behind_what_its_witness_saw_elsewhere(tmp_path: Path) -> None:
    class Shared:
        steps: ClassVar[dict[str, int]] = {}

        def newest(self, stream: str) -> int:
            return self.steps.get(stream, 0)

        def saw(self, stream: str, step: int) -> None:
            self.steps[stream] = step

    with Ledger(tmp_path / "b.db", witness=Shared()) as ledger:
        ledger.advance_stream(begin(ledger), values=["1"], state=b"one")
        Shared.steps['["steps", "live"]'] = 2  # by a copy of the ledger, on another machine
        with pytest.raises(StreamConflict, match="stands at step 1 in this ledger but 2 was announced"):
            ledger.resume_stream("live")
    with Ledger(tmp_path / "c.db") as ledger:
        ledger.advance_stream(begin(ledger), values=["1"], state=b"one")
    for file in (tmp_path / "seen", tmp_path / "seen"):
        with Ledger(tmp_path / "c.db", witness=FileWitness(file)) as ledger:
            assert ledger.resume_stream("live").step == 1
    FileWitness(tmp_path / "seen").saw('["steps", "live"]', 5)
    with pytest.raises(LedgerSetBack, match="it holds 1 steps of 'live' and 5 were made"):
        Ledger(tmp_path / "c.db", witness=FileWitness(tmp_path / "seen"))


PAID, PERSON = PureCost(0.5), User()


@dataclass(frozen=True)
class Counting:
    plan: str = "plan"
    cost: Cost = PAID
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


def begin_counter(ledger: Ledger, *, repeatable: bool = False) -> Counter:
    ledger.open("meters", unit=User(), epsilon=1.0)
    entropy = seeded(1) if repeatable else None
    return Counter.open(Counting(), ledger=ledger, dataset="meters", name="live", entropy=entropy)


def test_state_and_values_move_together(ledger: Ledger) -> None:
    live = begin_counter(ledger)
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
    begin_counter(ledger, repeatable=True)
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
        live = begin_counter(ledger)
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
    live = begin_counter(ledger)
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
    begin_counter(ledger)
    with pytest.raises(InvalidArgument, match="design"):
        Counter.open("counts", ledger=ledger, dataset="meters", name="other")  # type: ignore[arg-type]
    with pytest.raises(StreamConflict, match="exists"):
        begin_counter(ledger)
    assert ledger.status("meters").charges == 1
    ledger.open_stream("meters", "other", cost=PureCost(0.1), unit=User(), plan="plan", state=b"secret")
    with pytest.raises(UnknownDocument, match="another kind") as refused:
        Counter.resume(ledger, "other")
    assert "secret" not in str(refused.value)
    assert "7" not in repr(Snapshot("plan", Counting(), 7, seeded=False))
