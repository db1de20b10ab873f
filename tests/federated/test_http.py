"""Holders and server in processes of their own, some of which are killed."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from chronodp.federated import Federation
from chronodp.federated.aggregation import Phase
from tests.conftest import Trials
from tests.federated.crowd import Toy
from tests.federated.network import Network, code_of, ended

pytestmark = pytest.mark.kill

HOLDERS, THRESHOLD = ("h0", "h1", "h2", "h3", "h4"), 3
KILLED_IN = (Phase.SHARE, Phase.MASK, Phase.CONSENT, Phase.UNMASK)


def in_process(network: Network, survivors: dict[int, list[str]]) -> bytes:
    """What one process makes of the same holders, plainly, with the same silence."""
    task = network.run.task
    toys = [Toy(name, task) for name in network.names]
    federation = Federation(
        toys,
        task,
        aggregation="plain",
        threshold=network.run.terms.threshold,
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


def test_holders_killed_in_any_phase_are_left_out_and_come_back(tmp_path: Path, trials: Trials) -> None:
    """Every round has a schedule of its own: who is killed, as many as the threshold bears, and in which phase each."""
    rounds = trials(200, least=6)
    network = Network(tmp_path, HOLDERS, rounds=rounds, seconds=60.0, extra=f"threshold = {THRESHOLD}")
    most = len(HOLDERS) - THRESHOLD
    random = np.random.default_rng(3)
    deaths: dict[str, list[tuple[int, Phase]]] = {name: [] for name in HOLDERS}
    for number in range(1, rounds + 1):
        for victim in random.choice(HOLDERS, size=int(random.integers(0, most + 1)), replace=False):
            deaths[str(victim)].append((number, KILLED_IN[int(random.integers(len(KILLED_IN)))]))
    server = network.server(hurried=True)
    with ended(server), ThreadPoolExecutor(len(HOLDERS)) as watching:
        ends = list(watching.map(lambda name: live_and_die(network, name, deaths[name]), HOLDERS))
        assert ends == [0] * len(HOLDERS)
        assert code_of(server) == 0
    found = network.survivors()
    for number in range(1, rounds + 1):
        killed = {name: phase for name, dying in deaths.items() for at, phase in dying if at == number}
        assert found[number] == [name for name in HOLDERS if killed.get(name, Phase.UNMASK) > Phase.MASK]
    expected = in_process(network, found)
    assert {network.parameters(name) for name in ("server", *network.names)} == {expected}


def live_and_die(network: Network, name: str, deaths: list[tuple[int, Phase]]) -> int | None:
    """Start a holder anew after each of its deaths, and return how it ended after the last."""
    for number, phase in deaths:
        dying = network.client(name, die_in=f"{phase.name}:{number}")
        with ended(dying):
            assert code_of(dying, seconds=3600) == -9
    living = network.client(name)
    with ended(living):
        return code_of(living, seconds=3600)


def test_a_holder_killed_before_its_first_word_is_not_waited_for_without_end(tmp_path: Path) -> None:
    network = Network(tmp_path, rounds=1, seconds=40.0)
    server = network.server(hurried=True, gone=["h3"])
    clients = [network.client(name, die_in="ADVERTISE:1" if name == "h3" else "") for name in network.names]
    with ended(server, *clients):
        assert [code_of(process) for process in (*clients, server)] == [0, 0, 0, -9, 0]
    assert network.survivors() == {1: ["h0", "h1", "h2"]}
    assert network.parameters("h0") == in_process(network, network.survivors())


def test_too_many_killed_holders_end_the_run_with_a_sentence(tmp_path: Path) -> None:
    network = Network(tmp_path, rounds=2, seconds=40.0, extra="attempts = 1")
    server = network.server(hurried=True, gone=["h1", "h3"])
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
            assert [code_of(process) for process in clients] == [0, 0, 0]
    assert hits >= 5
    expected = in_process(network, {number: list(network.names) for number in range(1, rounds + 1)})
    assert {network.parameters(name) for name in network.names} == {expected}
