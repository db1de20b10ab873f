"""Rounds in one process, the ring that carries them, and what is refused."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, MessageRefused, RoundConflict, TooFewHolders, UnreadableSource
from chronodp.federated import Federation, Round, Task
from chronodp.federated.aggregation import AggregationClient, Context, Identity, Phase, Terms, aggregate
from chronodp.federated.aggregation.terms import usual_threshold
from chronodp.federated.quantise import Quantiser
from tests.cases import case
from tests.conftest import Trials
from tests.federated.crowd import Meeting, PeopleIndex, Toy

TASK = Task(rounds=4, size=300, model="toy 1", clip=1.0, bits=32)


def toys(count: int = 4, task: Task = TASK) -> list[Toy]:
    return [Toy(f"h{place}", task) for place in range(count)]


@pytest.mark.parametrize("weights", [None, {"h0": 1.0, "h1": 2.0, "h2": 0.5, "h3": 1.5}])
def test_secure_and_plain_agree_bit_for_bit(weights: dict[str, float] | None) -> None:
    def drop(number: int, name: str) -> Phase | None:
        return {(2, "h2"): Phase.SHARE, (3, "h0"): Phase.UNMASK, (4, "h3"): Phase.MASK}.get((number, name))

    runs = {}
    for way in ("plain", "secure"):
        made: list[Round] = []
        end = Federation(toys(), TASK, aggregation=way, weights=weights, drop=drop).run(made.append)
        runs[way] = made
        assert end.tobytes() == made[-1].parameters.tobytes()
    assert [one.parameters.tobytes() for one in runs["plain"]] == [one.parameters.tobytes() for one in runs["secure"]]
    assert [one.survivors for one in runs["plain"]] == [one.survivors for one in runs["secure"]]
    assert [len(one.survivors) for one in runs["secure"]] == [4, 3, 4, 3]


def test_rounds_are_the_sum_of_updates() -> None:
    expected = np.zeros(TASK.size)
    for number in range(1, TASK.rounds + 1):
        expected = expected + sum(toy.update(number, expected.astype(np.float32)) for toy in toys())
    found = Federation(toys(), TASK).run()
    assert np.allclose(found, expected, atol=1e-5)
    assert not np.allclose(found, expected * 1.001, atol=1e-5)


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    whole = Federation(toys(), TASK).run()
    path = tmp_path / "run.npz"
    first = Federation(toys(), TASK, checkpoint=path).rounds()
    next(first), next(first)
    seen: list[Round] = []
    assert Federation(toys(), TASK, checkpoint=path).run(seen.append).tobytes() == whole.tobytes()
    assert [one.number for one in seen] == [3, 4]
    assert Federation(toys(), TASK, checkpoint=path).run().tobytes() == whole.tobytes()
    other = Task(rounds=4, size=300, model="toy 2", clip=1.0, bits=32)
    with pytest.raises(RoundConflict, match="of another task"):
        Federation(toys(), other, checkpoint=path).run()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UnreadableSource, match="no checkpoint, or damaged"):
        Federation(toys(), TASK, checkpoint=path).run()
    with pytest.raises(InvalidArgument, match="checkpoint must be a file that can be written"):
        Federation(toys(), TASK, checkpoint=tmp_path / "nowhere" / "run.npz").run()


def test_beyond_the_threshold_a_run_aborts() -> None:
    for way in ("plain", "secure"):
        with pytest.raises(TooFewHolders, match=r"2 .*holders answered"):
            Federation(toys(), TASK, aggregation=way, drop=lambda _, name: Phase.MASK if name > "h1" else None).run()


class Broken(Toy):
    def __init__(self, update: Any) -> None:
        super().__init__("h0", TASK)
        self._update = update

    def update(self, round_number: int, parameters: NDArray[np.float32]) -> Any:  # noqa: ARG002
        return self._update


def test_updates_that_are_none_are_refused_without_showing_them() -> None:
    spoiled = np.full(300, 77.25)
    spoiled[3] = np.nan
    endless = np.full(300, np.inf)
    for wrong in (spoiled, endless, np.full(299, 77.25), np.full((300, 1), 77.25), ["77.25"] * 300, None):
        with pytest.raises(InvalidArgument, match="300 finite floating-point numbers from holder 'h0'") as refused:
            Federation([Broken(wrong), *toys()[1:]], TASK).run()
        assert "77" not in str(refused.value)


def test_a_federation_is_checked_before_it_runs() -> None:
    for options, said in (
        ({"aggregation": "open"}, "aggregation must be"),
        ({"weights": {"h0": 1.0}}, "one for each holder"),
        ({"weights": dict.fromkeys(("h0", "h1", "h2", "h3"), 0.0)}, "weights must be"),
        ({"threshold": 2}, "threshold must be"),
        ({"start": np.zeros(2)}, "start must be 300 finite numbers"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            Federation(toys(), TASK, **options)
    with pytest.raises(InvalidArgument, match="with a name and an update"):
        Federation([*toys(), "h9"], TASK)  # type: ignore[list-item]
    with pytest.raises(InvalidArgument, match="task must be a Task"):
        Federation(toys(), {"rounds": 3})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="each of another name"):
        Federation([*toys(), toys()[0]], TASK)
    for change in ({"rounds": 0}, {"size": 0}, {"model": ""}, {"clip": 0.0}, {"bits": 8}):
        with pytest.raises(InvalidArgument):
            Task(**{"rounds": 1, "size": 1, "model": "m", "clip": 1.0, "bits": 32, **change})  # type: ignore[arg-type]


@given(st.sampled_from([16, 32, 64]), st.integers(1, 200), st.data())
def test_sums_never_wrap_around(bits: int, holders: int, data: st.DataObject) -> None:
    grid = Quantiser(clip=0.75, bits=bits, holders=holders)
    assert grid.steps * holders < 2 ** (bits - 1)
    extreme = data.draw(st.sampled_from([0.75, -0.75, 9.0, -9.0]))
    total = grid.encode([extreme])
    for _ in range(holders - 1):
        total = total + grid.encode([extreme])
    assert grid.decode(total)[0] == pytest.approx(np.sign(extreme) * 0.75 * holders, rel=1e-12)
    assert int(total.view(f"<i{bits // 8}")[0]) == int(np.sign(extreme)) * grid.steps * holders


@given(st.floats(-1.5, 1.5), st.sampled_from([16, 32, 64]))
def test_rounding_is_to_the_nearest_step(value: float, bits: int) -> None:
    grid = Quantiser(clip=1.5, bits=bits, holders=5)
    found = int(grid.encode([value]).view(f"<i{bits // 8}")[0])
    exact = Fraction(value) / Fraction(1.5) * grid.steps
    assert abs(found - exact) <= Fraction(1, 2) + Fraction(grid.steps, 2**51)


def test_a_ring_too_small_for_the_holders_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="sums of 300 holders in 2\\^16 leave 109 steps"):
        Quantiser(clip=1.0, bits=16, holders=300)
    for update in ([np.nan], [np.inf], ["a"]):
        with pytest.raises(InvalidArgument, match="update must be finite numbers"):
            Quantiser(clip=1.0, bits=16, holders=3).encode(update)


def test_the_sum_is_the_plain_sum() -> None:
    for bits in [16, 32, 64]:
        for count in [2, 3, 7]:
            with case(bits, count):
                crowd = PeopleIndex(count, bits=bits, size=70_001)
                total = aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__)
                assert total.survivors == crowd.terms.names
                assert total.values.tolist() == crowd.plain(crowd.terms.names)


@pytest.mark.slow
def test_holders_may_fall_silent_in_any_phase(trials: Trials) -> None:
    random = np.random.default_rng(5)
    done = aborted = 0
    for number in range(trials(200, least=60)):
        count = int(random.integers(2, 10))
        crowd = PeopleIndex(count, threshold=int(random.integers(count // 2 + 1, count + 1)), seed=number)
        falling = random.choice(crowd.terms.names, size=int(random.integers(0, count)), replace=False)
        silent = {str(name): Phase(int(random.integers(0, 5))) for name in falling}
        expected = tuple(name for name in crowd.terms.names if silent.get(name, Phase.UNMASK) > Phase.MASK)
        if count - len(silent) < crowd.terms.threshold:
            with pytest.raises(TooFewHolders, match="are needed: the sum stays hidden"):
                aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent=silent)
            aborted += 1
            continue
        total = aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent=silent)
        assert total.survivors == expected
        assert total.values.tolist() == crowd.plain(expected)
        done += 1
    assert done >= 10
    assert aborted >= 10


@pytest.mark.slow
def test_the_threshold_is_exact_in_every_phase() -> None:
    for phase in Phase:
        crowd = PeopleIndex(6)
        assert crowd.terms.threshold == 5
        aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent={"h03": phase})
        both = {"h03": phase, "h05": phase}
        with pytest.raises(TooFewHolders, match=f"4 of 6 holders answered in phase {phase.name.lower()}"):
            aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent=both)


def test_a_message_counts_once_and_not_after_its_phase() -> None:
    crowd = PeopleIndex(4)
    meeting = Meeting(crowd)
    for phase in Phase:
        for name in meeting.server.members:
            message = meeting.answer(name)
            assert meeting.server.receive(message) == name
            assert meeting.server.receive(message) == name
        if phase is not Phase.UNMASK:
            meeting.server.advance()
    assert meeting.server.total().values.tolist() == crowd.plain(crowd.terms.names)
    meeting = Meeting(PeopleIndex(4))
    late = meeting.answer("h02")
    for name in ("h00", "h01", "h03"):
        meeting.server.receive(meeting.answer(name))
    assert meeting.server.missing == ("h02",)
    meeting.server.advance()
    with pytest.raises(MessageRefused, match="another phase"):
        meeting.server.receive(late)
    assert meeting.server.members == ("h00", "h01", "h03")


def test_a_client_answers_once_in_order_and_as_itself() -> None:
    crowd = PeopleIndex(3)
    client = crowd.client("h00")
    with pytest.raises(RoundConflict, match="out of order"):
        client.share(b"")
    client.advertise()
    with pytest.raises(RoundConflict, match="out of order"):
        client.advertise()
    crowd = PeopleIndex(3)
    with pytest.raises(InvalidArgument, match="the one that the roster has"):
        AggregationClient(Identity.create(), "h00", crowd.terms, crowd.context)
    other = Context(bytes(32), 0, 0, bytes(32))
    with pytest.raises(InvalidArgument, match="of a run with these terms"):
        crowd.client("h00", other)


def test_a_wrong_vector_is_refused_without_showing_it() -> None:
    for wrong in (np.zeros(4, "<u4"), np.zeros(5, "<u8"), np.full(5, 77.25), np.zeros((5, 1), "<u4")):
        meeting = Meeting(PeopleIndex(3))
        meeting.go_to(Phase.MASK)
        with pytest.raises(InvalidArgument, match="5 numbers of the ring") as refused:
            meeting.clients["h00"].mask(meeting.server.told("h00"), wrong)
        assert "77" not in str(refused.value)


def test_false_shares_are_noticed() -> None:
    """A holder that shares something else than its secrets spoils the round, and is named."""
    for silent in (frozenset({"h01"}), frozenset[str]()):
        meeting = Meeting(PeopleIndex(4))
        liar = meeting.clients["h01"]
        meeting.go_to(Phase.SHARE)
        kept = liar._masks, liar._seed
        liar._masks, liar._seed = Meeting(meeting.crowd).clients["h01"]._masks, bytes(32)
        for name in meeting.server.members:
            meeting.server.receive(meeting.answer(name))
        meeting.server.advance()
        liar._masks, liar._seed = kept
        meeting.go_to(Phase.UNMASK, silent=silent)
        for name in meeting.server.members:
            meeting.server.receive(meeting.answer(name))
        with pytest.raises(MessageRefused, match="h01 gave the others shares of something else"):
            meeting.server.total()


@given(st.integers(2, 300))
def test_the_usual_threshold_withstands_a_third_of_liars(count: int) -> None:
    threshold = usual_threshold(count)
    assert 3 * threshold > 2 * count >= 3 * (threshold - 1)
    colluders = 2 * threshold - count - 1
    assert 3 * (colluders + 1) >= count
    assert colluders < threshold


def test_terms_that_protect_nobody_are_refused() -> None:
    people = sorted((name, Identity.create().public) for name in "abcd")
    good = {"run": "r", "task": "", "roster": tuple(people), "threshold": 3, "size": 1, "bits": 32}
    assert Terms(**good).colluders == 1  # type: ignore[arg-type]
    for change, said in (
        ({"threshold": 2}, "threshold must be a whole number from 3 to 4"),
        ({"threshold": 5}, "threshold must be a whole number from 3 to 4"),
        ({"roster": tuple(people[:1])}, "roster must be a whole number from 2"),
        ({"roster": tuple(reversed(people))}, "in order of name"),
        ({"roster": (people[0], ("b", people[0][1]))}, "a key of its own"),
        ({"roster": (("a b", bytes(32)), people[1])}, "roster must be a name"),
        ({"bits": 31}, "bits must be one of 16, 32, 64"),
        ({"size": 0}, "size must be"),
        ({"run": "../x"}, "run must be a name"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            Terms(**{**good, **change})  # type: ignore[arg-type]
