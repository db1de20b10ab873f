"""A run between places: what a server that starts again, asks twice or lies gets of its holders."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import numpy as np
import pytest

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
from chronodp.federated import Federation, Task
from chronodp.federated.aggregation import Identity, Phase
from chronodp.federated.aggregation.wire import pack, unpack
from chronodp.federated.protocol import Coordinator, Participant, TrainingRun
from chronodp.federated.training import Trainer, make_trainer, read_plan
from tests.cli.clinics import MODEL, TOP, write_clinic
from tests.conftest import Trials
from tests.federated.crowd import NAMES, TASK, Places, Toy


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
