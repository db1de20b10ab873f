"""Holders in processes of their own, with the trainer of the library, on the command line."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.federated import Federation
from chronodp.federated.training import make_trainer, read_plan
from tests.cli.clinics import MODEL, TOP, write_clinic
from tests.conftest import SCALE
from tests.federated.network import Network, code_of, command, ended

pytestmark = pytest.mark.kill

NAMES = ("north", "south", "east", "west")


def clinics(folder: Path, names: Sequence[str]) -> Network:
    """Clinics, their plan, and a run's file that names it."""
    tables = "".join(write_clinic(folder, name, 100 + 10 * seed, seed) for seed, name in enumerate(names))
    (folder / "plan.toml").write_text(TOP + MODEL + tables, encoding="utf-8")
    return Network(folder, names, seconds=60.0, task='plan = "plan.toml"')


def ledger_of(network: Network, name: str, place: str) -> str:
    """Open a holder's budget, just as large as the plan needs."""
    plan, path = read_plan(network.folder / "plan.toml").plan, network.folder / f"{name}.{place}.db"
    with cdp.Ledger(path) as ledger:
        ledger.open(name, unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
    return str(path)


def test_clinics_apart_train_what_they_train_together(tmp_path: Path) -> None:
    """Holders over HTTP, bit for bit the model of one process with the same seeds: four so stated, else two."""
    names = NAMES if SCALE >= 1 else NAMES[::3]
    network = clinics(tmp_path, names)
    folder, plan = network.folder, network.folder / "plan.toml"
    file = str(network.file)
    server = command(folder / "server.said", "federate", "server", file, "--out", str(folder / "model.npy"))
    clients = []
    for name in names:
        place = folder / name
        options = f'plan = "{plan}"\nledger = "{ledger_of(network, name, "apart")}"\nseed = 7\n'
        own = place.with_suffix(".toml")
        own.write_text(f'[holder]\nmake = "chronodp.federated.training:make_trainer"\n{options}', encoding="utf-8")
        needed = ("--token-file", f"{place}.token", "--identity", f"{place}.key", "--out", f"{place}.npy")
        given = ("client", file, "--holder", name, *needed, "--own-file", str(own))
        clients.append(command(folder / f"{name}.said", "federate", *given))
    with ended(server, *clients):
        for name, process in zip((*names, "server"), (*clients, server), strict=True):
            assert code_of(process) == 0, (folder / f"{name}.said").read_text(encoding="utf-8")
    design = read_plan(plan).plan
    task, first = design.task(), design.model.first_parameters()
    here = [
        make_trainer(name=name, task=task, plan=str(plan), ledger=ledger_of(network, name, "together"), seed=7)
        for name in names
    ]
    together = Federation(here, task, aggregation="plain", start=first).run()
    for name in ("model", *names):
        assert network.parameters(name) == together.tobytes()
    assert not np.array_equal(together, first)
    with cdp.Ledger(folder / "west.apart.db") as ledger:
        assert len(ledger.history("west")) == design.rounds


def test_plans_that_are_not_the_runs_are_refused(tmp_path: Path) -> None:
    network = clinics(tmp_path, NAMES)
    plan = network.folder / "plan.toml"
    text, task = plan.read_text(encoding="utf-8"), network.run.task
    plan.write_text(text.replace("learning_rate = 0.5", "learning_rate = 0.4"), encoding="utf-8")
    with pytest.raises(InvalidArgument, match="plans differ"):
        make_trainer(name="north", task=task, plan=str(plan), ledger=str(network.folder / "north.db"))
    plan.write_text(text.replace("[holders.west]", "[holders.far]"), encoding="utf-8")
    with pytest.raises(InvalidArgument, match="holders must be those of the plan: east, far, north, south"):
        _ = network.run
    plan.write_text(text, encoding="utf-8")
    run = network.file.read_text(encoding="utf-8").replace("[task]", "[task]\nrounds = 3")
    network.file.write_text(run, encoding="utf-8")
    with pytest.raises(InvalidArgument, match="a plan alone"):
        _ = network.run
