"""Rounds and sums: in one process and between places; what a server that starts again, asks twice or lies gets."""

from __future__ import annotations

from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

import chronodp as cdp
from chronodp.errors import (
    FederationError,
    InvalidArgument,
    MessageRefused,
    RoundConflict,
    ServerInconsistent,
    TooFewHolders,
    UnreadableSource,
)
from chronodp.federated import Federation, Round, Task
from chronodp.federated.aggregation import AggregationClient, Context, Identity, Phase, Terms, aggregate
from chronodp.federated.aggregation.terms import usual_threshold
from chronodp.federated.aggregation.wire import pack, unpack
from chronodp.federated.protocol import Coordinator, Participant, TrainingRun
from chronodp.federated.quantise import Quantiser
from chronodp.federated.training import Trainer, make_trainer, read_plan
from tests.cases import case
from tests.cli.clinics import MODEL, TOP, write_clinic
from tests.conftest import Trials
from tests.federated.crowd import NAMES, TASK, Meeting, PeopleIndex, Places, Toy


@pytest.fixture
def places(tmp_path: Path) -> Places:
    return Places(tmp_path)


@pytest.mark.parametrize("weights", [None, {"h0": 1.0, "h1": 2.0, "h2": 0.5, "h3": 1.5}])
def test_places_train_what_one_process_does(tmp_path: Path, weights: dict[str, float] | None) -> None:
    places = Places(tmp_path, weights=weights, start=np.linspace(-1, 1, 40))
    while not places.coordinator.done:
        slow = ("h3",) if places.coordinator.rounds_done == 1 else ()
        assert places.phase(*slow) == []
    assert [made.survivors for made in places.made] == [NAMES, NAMES[:3], NAMES]
    assert places.coordinator.parameters.tobytes() == places.alone().tobytes()
    assert places.coordinator.requests() == {}


@pytest.mark.slow
def test_clinics_apart_train_what_they_train_together(tmp_path: Path) -> None:
    """With the trainer of the library: bit for bit, and each round is paid once."""
    names = ("north", "south")
    tables = "".join(write_clinic(tmp_path, name, 100 + 10 * seed, seed) for seed, name in enumerate(names))
    (tmp_path / "plan.toml").write_text(TOP + MODEL + tables, encoding="utf-8")
    plan = read_plan(tmp_path / "plan.toml").plan
    first, task = plan.model.first_parameters(), plan.task()

    def trainer(name: str, place: str) -> Trainer:
        with cdp.Ledger(tmp_path / f"{name}.{place}.db") as ledger:
            ledger.open(name, unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
        path = str(tmp_path / f"{name}.{place}.db")
        return make_trainer(name=name, task=task, plan=str(tmp_path / "plan.toml"), ledger=path, seed=7)

    places = Places(tmp_path, names, task=task, start=first)
    apart = {name: trainer(name, "apart") for name in names}
    places.participants = {name: places.participant(name, holder=partial(apart.__getitem__, name)) for name in names}
    while not places.coordinator.done:
        assert places.phase() == []
    here = [trainer(name, "together") for name in names]
    together = Federation(here, task, aggregation="plain", start=first).run()
    assert places.coordinator.parameters.tobytes() == together.tobytes()
    assert not np.array_equal(together, first)
    with cdp.Ledger(tmp_path / "north.apart.db") as ledger:
        assert len(ledger.history("north")) == plan.rounds


def test_a_process_for_each_request_goes_on_with_the_state_of_the_last(places: Places) -> None:
    while not places.coordinator.done:
        for name in NAMES:
            fresh = places.participant(name)
            fresh.state = places.participants[name].state
            places.participants[name] = fresh
        assert places.phase() == []
    assert places.coordinator.parameters.tobytes() == places.alone().tobytes()
    assert all(one.state == b"" for one in places.participants.values())


def test_holders_that_die_in_any_phase_are_left_out_and_come_back(tmp_path: Path, trials: Trials) -> None:
    """Every round has a schedule of its own: who dies, as many as the threshold bears, and in which phase each."""
    random = np.random.default_rng(3)
    names, threshold = ("h0", "h1", "h2", "h3", "h4"), 3
    task = Task(rounds=trials(200, least=6), size=40, model="toy 1", clip=1.0, bits=32)
    places = Places(tmp_path, names, task=task, threshold=threshold)
    while not places.coordinator.done:
        number = places.coordinator.rounds_done
        dying = random.choice(names, size=int(random.integers(0, len(names) - threshold + 1)), replace=False)
        ends = {str(name): Phase(int(random.integers(1, 5))) for name in dying}
        while places.coordinator.rounds_done == number:
            phase = places.coordinator.phase
            for name in names:
                if ends.get(name) is phase:  # its keys are lost, its journal is not; it starts again at once
                    places.participants[name] = places.participant(name)
            gone = {name for name, end in ends.items() if end <= phase}
            assert set(places.phase()) <= gone
        assert places.made[-1].survivors == tuple(name for name in names if ends.get(name, 9) > Phase.MASK)
    assert places.coordinator.parameters.tobytes() == places.alone().tobytes()


def test_too_few_before_the_last_phase_start_over_with_fresh_keys(places: Places) -> None:
    places.phase()
    first = places.coordinator.requests()["h0"]
    places.phase("h2", "h3")
    assert (places.coordinator.rounds_done, places.coordinator.phase) == (0, Phase.ADVERTISE)
    places.phase()
    assert not set(unpack(unpack(first)[4])) & set(unpack(unpack(places.coordinator.requests()["h0"])[4])) - {
        name.encode() for name in NAMES
    }
    while not places.made:
        assert places.phase() == []
    assert places.made[0].survivors == NAMES
    places.phase("h0", "h1")
    places.phase("h0", "h1")
    with pytest.raises(TooFewHolders, match="2 of 4 holders answered in phase advertise of round 2"):
        places.phase("h0", "h1")


def test_too_few_in_the_last_phase_end_the_run_unless_others_answer_late(places: Places) -> None:
    places.to(Phase.UNMASK)
    places.carry("h2", "h3")
    with pytest.raises(TooFewHolders, match="2 of 4 holders answered in phase unmask"):
        places.coordinator.advance()
    assert places.phase("h3") == []
    assert places.made[0].survivors == NAMES


def test_a_server_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    places, file = Places(tmp_path), tmp_path / "run.npz"
    places.coordinator = places.server(checkpoint=file)
    while len(places.made) < 2:
        places.phase()
    places.phase()
    places.coordinator = places.server(checkpoint=file)  # killed in the third round: its attempt is lost
    while not places.coordinator.done:
        assert places.phase() == []
    assert places.coordinator.parameters.tobytes() == places.alone().tobytes()
    assert [made.number for made in places.made] == [1, 2, 3]
    with pytest.raises(RoundConflict, match="checkpoint of another task"):
        Coordinator(TrainingRun("other", TASK, places.run.holders), checkpoint=file)


def test_a_holder_does_not_tell_about_one_round_twice(places: Places) -> None:
    """A server that was set back asks for a round again: whoever has revealed shares in it refuses."""
    while not places.made:
        places.phase()
    places.coordinator = places.server()
    (request,) = set(places.coordinator.requests().values())
    for one in (places.participants["h0"], places.participant("h1")):
        with pytest.raises(RoundConflict, match="asks for round 1 again"):
            one.answer(request)


def test_two_processes_of_a_holder_do_not_sign_two_views(places: Places) -> None:
    """A server that lies asks both at once: signatures of two views would bring it shares of both secrets of one."""
    places.to(Phase.CONSENT)
    second, journal = places.participant("h0"), places.folder / "h0.journal"
    second.state, kept = places.participants["h0"].state, journal.read_bytes()
    asked = places.coordinator.requests()["h0"]
    parts = unpack(asked)
    other = pack([*parts[:4], pack(unpack(parts[4])[:3])])  # the same of fewer survivors
    first = places.participants["h0"].answer(asked)
    for again in (asked, other):
        with pytest.raises(RoundConflict, match="asked out of order, or again"):
            second.answer(again)
    mutant = places.participant("h0")  # without the journal it would sign both
    mutant.state = second.state
    journal.write_bytes(kept)
    assert mutant.answer(other)[-32:] != first[-32:]


def test_a_failure_while_training_costs_the_attempt_alone(places: Places) -> None:
    class Broken(Toy):
        def update(self, round_number: int, parameters: object) -> np.ndarray:  # noqa: ARG002
            raise OSError(f"no data in round {round_number}")

    places.participants["h0"] = places.participant("h0", holder=lambda: Broken("h0", TASK))
    request = places.coordinator.requests()["h0"]
    with pytest.raises(OSError, match="no data in round 1"):
        places.participants["h0"].answer(request)
    places.participants["h0"] = places.participant("h0")
    with pytest.raises(RoundConflict, match="waits for the next attempt"):
        places.participants["h0"].answer(request)
    places.coordinator = places.server()
    places.to(Phase.UNMASK)
    places.phase()
    assert places.made[0].survivors == NAMES


def test_a_holder_that_refuses_stays_silent(places: Places) -> None:
    places.to(Phase.UNMASK)
    parts = unpack(places.coordinator.requests()["h0"])
    with pytest.raises(ServerInconsistent):
        places.participants["h0"].answer(pack([*parts[:4], pack(unpack(parts[4])[:-2])]))
    assert places.carry() == ["h0"]


def test_what_was_not_agreed_on_is_refused(places: Places) -> None:
    (request,) = set(places.coordinator.requests().values())
    for changed in (
        TrainingRun("other", TASK, places.run.holders),
        TrainingRun("test", Task(rounds=3, size=40, model="toy 2", clip=1.0, bits=32), places.run.holders),
        TrainingRun("test", TASK, places.run.holders, threshold=4),
        TrainingRun("test", TASK, places.run.holders, weights=dict.fromkeys(NAMES, 1.0)),
        TrainingRun("test", TASK, places.run.holders, start=np.ones(40)),
    ):
        with pytest.raises(MessageRefused, match="runs other terms"):
            places.participant("h0", changed).answer(request)
    magic, digest, place, parameters, told = unpack(request)
    honest = places.participants["h0"]
    for wrong, said in (
        (b"hello", "cut short"),
        (pack([magic, digest, place, parameters]), "not one of training"),
        (pack([b"other", digest, place, parameters, told]), "not one of training"),
        (pack([magic, digest, place[:-1] + b"\5", parameters, told]), "phase 5 of round 1"),
        (pack([magic, digest, bytes(9), parameters, told]), "of round 0"),
        (pack([magic, digest, b"\0\0\0\4" + place[4:], parameters, told]), "of round 4"),
    ):
        with pytest.raises(MessageRefused, match=said):
            honest.answer(wrong)
    coordinator = places.coordinator
    for wrong in (parameters[:-4], parameters[:-4] + b"\0\0\xc0\x7f"):
        with pytest.raises(ServerInconsistent, match="must be 40 finite numbers"):
            places.participants["h1"].answer(pack([magic, digest, place, wrong, told]))
        places.coordinator = places.server()
        place = unpack(next(iter(places.coordinator.requests().values())))[2]
    other = honest.answer(pack([magic, digest, unpack(request)[2], parameters[:-1] + b"\1", told]))
    with pytest.raises(MessageRefused, match="started from other parameters"):
        coordinator.receive(other)


def test_a_journal_is_one_runs_own(places: Places) -> None:
    (request,) = set(places.coordinator.requests().values())
    places.participants["h0"].answer(request)
    other = TrainingRun("other", TASK, places.run.holders)
    (asked,) = set(Coordinator(other).requests().values())
    with pytest.raises(RoundConflict, match="journal of another run"):
        places.participant("h0", other).answer(asked)
    (places.folder / "h1.journal").write_bytes(b"damaged" * 1000)
    with pytest.raises(UnreadableSource, match=r"h1\.journal cannot be used"):
        places.participants["h1"].answer(request)
    with pytest.raises(InvalidArgument, match="holder must be the one of this name, h2"):
        places.participant("h2", holder=lambda: Toy("h3", TASK)).answer(request)
    with pytest.raises(InvalidArgument, match="the private key of the public one in the run"):
        Participant(places.run, "h0", identity=Identity.create(), holder=lambda: Toy("h0", TASK), journal="j")


def test_an_agreement_is_checked(places: Places) -> None:
    holders = places.run.holders
    for options, said in (
        ({"name": "a b"}, "run must be a name"),
        ({"task": "toy"}, "task must be a Task"),
        ({"holders": {"h0": holders["h0"]}}, "roster must be"),
        ({"holders": {**holders, "h4": b"short"}}, "a public key of 32 bytes"),
        ({"threshold": 2}, "threshold must be a whole number from 3 to 4"),
        ({"weights": {"h0": 1.0}}, "one for each holder"),
        ({"start": np.zeros(2)}, "start must be 40 finite numbers"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            TrainingRun(**{"name": "test", "task": TASK, "holders": holders, **options})  # type: ignore[arg-type]
    with pytest.raises(FederationError, match="a message is too short"):
        places.coordinator.receive(b"hello")


def test_identities_are_files_of_their_owners(tmp_path: Path) -> None:
    path = tmp_path / "me.key"
    mine = Identity.create()
    mine.save(path)
    assert path.stat().st_mode & 0o077 == 0
    assert Identity.load(path).public == mine.public
    with pytest.raises(InvalidArgument, match="never overwritten"):
        mine.save(path)
    path.write_text("nothing", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="an Ed25519 key"):
        Identity.load(path)
    for missing in (tmp_path / "none", tmp_path / "no" / "key"):
        with pytest.raises(InvalidArgument):
            Identity.load(missing)
    with pytest.raises(InvalidArgument, match="a place that can be written"):
        mine.save(tmp_path / "no" / "key")
    assert mine.public.hex() not in repr(mine)


WIDE = Task(rounds=4, size=300, model="toy 1", clip=1.0, bits=32)


def toys(count: int = 4, task: Task = WIDE) -> list[Toy]:
    return [Toy(f"h{place}", task) for place in range(count)]


@pytest.mark.parametrize("weights", [None, {"h0": 1.0, "h1": 2.0, "h2": 0.5, "h3": 1.5}])
def test_secure_and_plain_agree_bit_for_bit(weights: dict[str, float] | None) -> None:
    def drop(number: int, name: str) -> Phase | None:
        return {(2, "h2"): Phase.SHARE, (3, "h0"): Phase.UNMASK, (4, "h3"): Phase.MASK}.get((number, name))

    runs = {}
    for way in ("plain", "secure"):
        made: list[Round] = []
        end = Federation(toys(), WIDE, aggregation=way, weights=weights, drop=drop).run(made.append)
        runs[way] = made
        assert end.tobytes() == made[-1].parameters.tobytes()
    assert [one.parameters.tobytes() for one in runs["plain"]] == [one.parameters.tobytes() for one in runs["secure"]]
    assert [one.survivors for one in runs["plain"]] == [one.survivors for one in runs["secure"]]
    assert [len(one.survivors) for one in runs["secure"]] == [4, 3, 4, 3]


def test_rounds_are_the_sum_of_updates() -> None:
    expected = np.zeros(WIDE.size)
    for number in range(1, WIDE.rounds + 1):
        expected = expected + sum(toy.update(number, expected.astype(np.float32)) for toy in toys())
    found = Federation(toys(), WIDE).run()
    assert np.allclose(found, expected, atol=1e-5)
    assert not np.allclose(found, expected * 1.001, atol=1e-5)


def test_a_run_goes_on_from_its_checkpoint(tmp_path: Path) -> None:
    whole = Federation(toys(), WIDE).run()
    path = tmp_path / "run.npz"
    first = Federation(toys(), WIDE, checkpoint=path).rounds()
    next(first), next(first)
    seen: list[Round] = []
    assert Federation(toys(), WIDE, checkpoint=path).run(seen.append).tobytes() == whole.tobytes()
    assert [one.number for one in seen] == [3, 4]
    assert Federation(toys(), WIDE, checkpoint=path).run().tobytes() == whole.tobytes()
    other = Task(rounds=4, size=300, model="toy 2", clip=1.0, bits=32)
    with pytest.raises(RoundConflict, match="of another task"):
        Federation(toys(), other, checkpoint=path).run()
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(UnreadableSource, match="no checkpoint, or damaged"):
        Federation(toys(), WIDE, checkpoint=path).run()
    with pytest.raises(InvalidArgument, match="checkpoint must be a file that can be written"):
        Federation(toys(), WIDE, checkpoint=tmp_path / "nowhere" / "run.npz").run()


def test_beyond_the_threshold_a_run_aborts() -> None:
    for way in ("plain", "secure"):
        with pytest.raises(TooFewHolders, match=r"2 .*holders answered"):
            Federation(toys(), WIDE, aggregation=way, drop=lambda _, name: Phase.MASK if name > "h1" else None).run()


class Broken(Toy):
    def __init__(self, update: Any) -> None:
        super().__init__("h0", WIDE)
        self._update = update

    def update(self, round_number: int, parameters: NDArray[np.float32]) -> Any:  # noqa: ARG002
        return self._update


def test_updates_that_are_none_are_refused_without_showing_them() -> None:
    spoiled = np.full(300, 77.25)
    spoiled[3] = np.nan
    endless = np.full(300, np.inf)
    for wrong in (spoiled, endless, np.full(299, 77.25), np.full((300, 1), 77.25), ["77.25"] * 300, None):
        with pytest.raises(InvalidArgument, match="300 finite floating-point numbers from holder 'h0'") as refused:
            Federation([Broken(wrong), *toys()[1:]], WIDE).run()
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
            Federation(toys(), WIDE, **options)
    with pytest.raises(InvalidArgument, match="with a name and an update"):
        Federation([*toys(), "h9"], WIDE)  # type: ignore[list-item]
    with pytest.raises(InvalidArgument, match="task must be a Task"):
        Federation(toys(), {"rounds": 3})  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="each of another name"):
        Federation([*toys(), toys()[0]], WIDE)
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
