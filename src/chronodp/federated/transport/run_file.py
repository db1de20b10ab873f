"""The file that describes a run: the same for the server and for every holder."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.aggregation import Phase, Terms, usual_threshold
from chronodp.federated.holder import Task
from chronodp.federated.quantise import Quantiser
from chronodp.federated.rounds import check_weights, digest_of, starting_point
from chronodp.privacy import check_positive, check_whole
from chronodp.reading import closed_file
from chronodp.settings import Place, Section, Setting, Settings, anything, each, load_settings, options, table, text

__all__ = ["LOOPBACK", "RunFile", "read_run"]

_SECONDS = {"advertise": 3600.0, "share": 60.0, "mask": 60.0, "consent": 60.0, "unmask": 120.0}
_LINGER = 60.0
_NUMBERS = ("rounds", "size", "model", "clip", "bits")
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def _identity(value: Any, place: Place) -> bytes:
    try:
        return bytes.fromhex(value)
    except (ValueError, TypeError):
        raise place.wrong(value, "a public key as hexadecimal digits") from None


def _address(value: Any, place: Place) -> str:
    try:
        parts = urlsplit(value) if isinstance(value, str) else None
        port = parts.port if parts is not None else None
    except ValueError:
        parts = port = None
    if (
        parts is None
        or port == 0
        or parts.scheme not in ("http", "https")
        or not parts.hostname
        or parts.path not in ("", "/")
    ):
        raise place.wrong(value, "such as https://training.example.org:8443")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise place.wrong(value, "https: tokens and parameters do not travel in the open; http is for loopback")
    return str(value).rstrip("/")


def _task(task: Section) -> Settings:
    """Return what a task may hold: its own numbers, or a plan alone, which says all the rest."""
    if "plan" in task:
        if len(task) > 1:
            raise task.wrong("plan", "a plan alone: it says all the rest")
        return {"plan": text()}
    needed = "a table with rounds, size, model, clip and bits, or with a plan"
    return {**{name: anything(needed=needed) for name in _NUMBERS}, "start": text(), "plan": text()}


_RUN: Settings = {
    "name": anything(default=""),
    "threshold": anything(),
    "attempts": anything(default=3),
    "task": table(_task, needed=True),
    "server": table(
        {
            "address": Setting(_address, missing="such as https://training.example.org:8443"),
            "authority": text(),
            "tokens": text(default="tokens.json"),
            "state": text(default="server.db"),
        },
        needed=True,
    ),
    "seconds": table(
        {name: anything(default=usual) for name, usual in {**_SECONDS, "linger": _LINGER}.items()}, default=True
    ),
    "holders": each(
        table({"identity": Setting(_identity, missing="a public key as hexadecimal digits"), "weight": anything()})
    ),
    "holder": options(),
}


@dataclass(frozen=True)
class RunFile:
    """A run as it was agreed.

    Attributes:
        terms: who takes part, and in what.
        task: what is trained.
        weights: public weights of the holders, or none.
        seconds: how long the server waits in each phase before it goes on without who is silent.
        linger: how many seconds it stays after the end, for holders who have not heard of it yet.
        attempts: how many times a round is tried.
        address: of the server.
        authority: the certificate by which holders know the server, if it is not a public one.
        tokens: the server's file of digests of tokens.
        state: the server's file.
        start: the parameters to begin with.
        holder: what makes a holder, for `load_holder`.
    """

    terms: Terms
    task: Task
    weights: dict[str, float] | None
    seconds: dict[Phase, float]
    linger: float
    attempts: int
    address: str
    authority: Path | None
    tokens: Path
    state: Path
    start: NDArray[np.float32]
    holder: dict[str, Any]

    @property
    def grid(self) -> Quantiser:
        """How updates become whole numbers."""
        return Quantiser(self.task.clip, self.task.bits, len(self.terms.roster))

    @property
    def encrypted(self) -> bool:
        """Whether the server speaks TLS."""
        return self.address.startswith("https:")

    @property
    def place(self) -> tuple[str, int]:
        """Where the server listens."""
        parts = urlsplit(self.address)
        return parts.hostname or "", parts.port or (443 if self.encrypted else 80)


@closed_file()
def read_run(path: str | Path) -> RunFile:
    """Return the run that a TOML file describes; paths in it are seen from where the file lies."""
    said = load_settings("run", path, _RUN)
    folder, people = Path(path).parent, said["holders"]
    with said.pointing():
        return _run(said, folder, people)


def _run(said: Section, folder: Path, people: Section) -> RunFile:
    task, start = _planned(said["task"], folder, people) if "plan" in said["task"] else _given(said["task"], folder)
    roster = tuple((name, people[name]["identity"]) for name in sorted(people))
    given = {name: one["weight"] for name, one in people.items() if "weight" in one}
    weights = check_weights(given, sorted(people)) if given else None
    agreed = {"task": task.to_json(), "weights": weights, "start": digest_of(start).hex()}
    waits, server = said["seconds"], said["server"]
    run = RunFile(
        terms=Terms(
            said["name"],
            json.dumps(agreed, sort_keys=True),
            roster,
            said.get("threshold", usual_threshold(len(roster))),
            task.size,
            task.bits,
        ),
        task=task,
        weights=weights,
        seconds={Phase[name.upper()]: check_positive(name, waits[name]) for name in _SECONDS},
        linger=check_positive("linger", waits["linger"]),
        attempts=check_whole("attempts", said["attempts"], most=1000),
        address=server["address"],
        authority=folder / server["authority"] if "authority" in server else None,
        tokens=folder / server["tokens"],
        state=folder / server["state"],
        start=start,
        holder=dict(said.get("holder", {})),
    )
    check_whole("holders", run.grid.holders, least=2)  # and that their sum fits into the ring
    return run


def _given(options: Section, folder: Path) -> tuple[Task, NDArray[np.float32]]:
    """Return a task whose numbers stand in the file, and where it starts."""
    task = Task(**{name: options[name] for name in _NUMBERS})
    return task, starting_point(_load_start(folder / options["start"]) if "start" in options else None, task)


def _planned(options: Section, folder: Path, holders: Section) -> tuple[Task, NDArray[np.float32]]:
    """Return the task of a training plan's file, and the model's first parameters."""
    from chronodp.federated.training.plan_file import read_plan

    file = read_plan(folder / options["plan"])
    if set(holders) != set(file.people):
        raise InvalidArgument("holders", sorted(holders), f"those of the plan: {', '.join(sorted(file.people))}")
    return file.plan.task(), file.plan.model.first_parameters()


def _load_start(path: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError):
        raise InvalidArgument("start", path.name, "a .npy file of numbers") from None
