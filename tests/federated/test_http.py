"""Holders and server in processes of their own, some of which are killed."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from chronodp.federated import Federation
from chronodp.federated.aggregation import Phase
from tests.conftest import Trials
from tests.federated.crowd import Toy
from tests.federated.network import Network, code_of, ended


def in_process(network: Network, survivors: dict[int, list[str]]) -> bytes:
    """What one process makes of the same holders, plainly, with the same silence."""
    task = network.run.task
    toys = [Toy(name, task) for name in network.names]
    federation = Federation(
        toys,
        task,
        aggregation="plain",
        drop=lambda number, name: None if name in survivors[number] else Phase.MASK,
    )
    return federation.run().tobytes()


def test_four_processes_train_what_one_does(tmp_path: Path) -> None:
    network = Network(tmp_path, rounds=3, seconds=40.0)
    server = network.server()
    clients = [network.client(name) for name in network.names]
    with ended(server, *clients):
        assert [code_of(process) for process in (*clients, server)] == [0] * 5
    assert network.survivors() == {number: list(network.names) for number in (1, 2, 3)}
    expected = in_process(network, network.survivors())
    assert {network.parameters(name) for name in ("server", *network.names)} == {expected}


def test_a_holder_killed_in_any_phase_is_left_out_and_comes_back(tmp_path: Path, trials: Trials) -> None:
    random = np.random.default_rng(3)
    for number in range(trials(20, least=1)):
        network = Network(tmp_path / str(number), rounds=5)
        victim = str(random.choice(network.names))
        others = [name for name in network.names if name != victim]
        server = network.server()
        clients = [network.client(name) for name in others]
        deaths = {1: Phase.SHARE, 2: Phase.MASK, 3: Phase.CONSENT, 4: Phase.UNMASK}
        with ended(server, *clients):
            for round_number, phase in deaths.items():
                dying = network.client(victim, die_in=f"{phase.name}:{round_number}")
                with ended(dying):
                    assert code_of(dying) == -9
            back = network.client(victim)
            with ended(back):
                assert [code_of(process) for process in (back, *clients, server)] == [0] * 5
        found = network.survivors()
        assert [victim in found[round_number] for round_number in range(1, 6)] == [False, False, True, True, True]
        assert network.parameters("server") == in_process(network, found)
        assert network.parameters(victim) == network.parameters("server")


def test_a_holder_killed_before_its_first_word_is_not_waited_for_without_end(tmp_path: Path) -> None:
    network = Network(tmp_path, rounds=1, advertise=3.0, seconds=10.0)
    server = network.server()
    clients = [network.client(name, die_in="ADVERTISE:1" if name == "h3" else "") for name in network.names]
    with ended(server, *clients):
        assert [code_of(process) for process in (*clients, server)] == [0, 0, 0, -9, 0]
    assert network.survivors() == {1: ["h0", "h1", "h2"]}
    assert network.parameters("h0") == in_process(network, network.survivors())


def test_too_many_killed_holders_end_the_run_with_a_sentence(tmp_path: Path) -> None:
    network = Network(tmp_path, rounds=2, extra="attempts = 1")
    server = network.server()
    clients = [network.client(name, die_in="" if name in ("h0", "h2") else "MASK:1") for name in network.names]
    with ended(server, *clients):
        assert [code_of(process) for process in (*clients, server)] == [2, -9, 2, -9, 2]
    assert network.said("server").startswith("TooFewHolders: ")
    assert "2 of 4 holders answered in phase mask of round 1" in network.said("server")
    assert "3 are needed: the sum stays hidden" in network.said("server")
    assert "the server has aborted the run" in network.said("h0")
    assert network.survivors() == {}


def test_a_server_killed_at_any_moment_goes_on(tmp_path: Path, trials: Trials) -> None:
    """With no time-out in reach, every holder is in every sum, however often the server is killed."""
    kills = trials(100, least=6)
    rounds = 3 * kills
    network = Network(tmp_path, ("h0", "h1", "h2"), rounds=rounds, seconds=60.0)
    random = np.random.default_rng(7)
    clients = [network.client(name) for name in network.names]
    hits = 0
    with ended(*clients):
        for _ in range(kills):
            server = network.server()
            with ended(server):
                time.sleep(0.3 + 0.7 * float(random.random()))
                hits += len(network.survivors()) < rounds
        server = network.server()
        with ended(server):
            assert [code_of(process) for process in (*clients, server)][:3] == [0, 0, 0]
    assert hits >= 5
    expected = in_process(network, {number: list(network.names) for number in range(1, rounds + 1)})
    assert {network.parameters(name) for name in network.names} == {expected}
