"""The file that describes a run: the same for the server and for every holder."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.federated.aggregation import Phase, Terms, usual_threshold
from chronodp.federated.holder import Task
from chronodp.federated.quantise import Grid
from chronodp.federated.rounds import check_weights, digest_of, starting_point
from chronodp.privacy.parameters import check_positive, check_whole
from chronodp.reading import check_path, closed_file, read_toml

__all__ = ["LOOPBACK", "RunFile", "read_run"]

_SECONDS = {"advertise": 3600.0, "share": 60.0, "mask": 60.0, "consent": 60.0, "unmask": 120.0}
_LINGER = 60.0
_KNOWN = {
    "": {"name", "threshold", "attempts", "task", "server", "seconds", "holders", "holder"},
    "task": {"rounds", "size", "model", "clip", "bits", "start", "plan"},
    "server": {"address", "authority", "tokens", "state"},
    "holders": {"identity", "weight"},
}
LOOPBACK = {"127.0.0.1", "::1", "localhost"}


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
    def grid(self) -> Grid:
        """How updates become whole numbers."""
        return Grid(self.task.clip, self.task.bits, len(self.terms.roster))

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
    place = check_path("run", path)
    content = read_toml("run", place)
    _check_known("", content)
    options, server, people = (_table(content, name) for name in ("task", "server", "holders"))
    task, start = _planned(options, place.parent, people) if "plan" in options else _given(options, place.parent)
    roster = tuple((name, _identity(name, people[name])) for name in sorted(people))
    given = {name: one["weight"] for name, one in people.items() if "weight" in one}
    weights = check_weights(given, sorted(people)) if given else None
    agreed = {"task": task.to_json(), "weights": weights, "start": digest_of(start).hex()}
    waits = _table(content, "seconds")
    linger = check_positive("linger", waits.pop("linger", _LINGER))
    run = RunFile(
        terms=Terms(
            content.get("name", ""),
            json.dumps(agreed, sort_keys=True),
            roster,
            content.get("threshold", usual_threshold(len(roster))),
            task.size,
            task.bits,
        ),
        task=task,
        weights=weights,
        seconds=_seconds(waits),
        linger=linger,
        attempts=check_whole("attempts", content.get("attempts", 3), most=1000),
        address=_address(server.get("address")),
        authority=place.parent / server["authority"] if "authority" in server else None,
        tokens=place.parent / server.get("tokens", "tokens.json"),
        state=place.parent / server.get("state", "server.db"),
        start=start,
        holder=_table(content, "holder"),
    )
    check_whole("holders", run.grid.holders, least=2)  # and that their sum fits into the ring
    return run


def _table(content: Mapping[str, Any], name: str) -> dict[str, Any]:
    found = content.get(name, {})
    if not isinstance(found, dict):
        raise InvalidArgument(name, found, f"a table [{name}]")
    if name in ("task", "server"):
        _check_known(name, found)
    if name == "server" and not all(isinstance(value, str) for value in found.values()):
        raise InvalidArgument(name, found, "a table of texts")
    return dict(found)


def _check_known(table: str, content: Mapping[str, Any]) -> None:
    for name in sorted(content.keys() - _KNOWN[table]):
        where = f"{name} in [{table}]" if table else name
        raise InvalidArgument(where, "unknown", f"one of {', '.join(sorted(_KNOWN[table]))}")


def _identity(name: str, entry: object) -> bytes:
    if not isinstance(entry, dict):
        raise InvalidArgument("holders", entry, f"tables such as [holders.{name}]")
    _check_known("holders", entry)
    try:
        return bytes.fromhex(entry["identity"])
    except (KeyError, ValueError, TypeError):
        raise InvalidArgument(
            f"identity of {name}", entry.get("identity"), "a public key as hexadecimal digits"
        ) from None


def _seconds(given: Mapping[str, Any]) -> dict[Phase, float]:
    for name in sorted(given.keys() - _SECONDS.keys()):
        raise InvalidArgument(f"{name} in [seconds]", given[name], f"one of {', '.join(_SECONDS)} or linger")
    return {Phase[name.upper()]: check_positive(name, given.get(name, usual)) for name, usual in _SECONDS.items()}


def _address(given: object) -> str:
    try:
        parts = urlsplit(given) if isinstance(given, str) else None
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
        raise InvalidArgument("address", given, "such as https://training.example.org:8443")
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise InvalidArgument(
            "address", given, "https: tokens and parameters do not travel in the open; http is for loopback"
        )
    return str(given).rstrip("/")


def _given(options: dict[str, Any], folder: Path) -> tuple[Task, NDArray[np.float32]]:
    """Return a task whose numbers stand in the file, and where it starts."""
    start = options.pop("start", None)
    try:
        task = Task(**options)
    except TypeError:
        allowed = "a table with rounds, size, model, clip and bits, or with a plan"
        raise InvalidArgument("task", sorted(options), allowed) from None
    return task, starting_point(None if start is None else _load_start(folder / start), task)


def _planned(options: Mapping[str, Any], folder: Path, holders: Mapping[str, Any]) -> tuple[Task, NDArray[np.float32]]:
    """Return the task of a training plan's file, and the model's first parameters."""
    from chronodp.federated.training.plan_file import read_plan

    if len(options) > 1:
        raise InvalidArgument("task", sorted(options), "a plan alone: it says all the rest")
    file = read_plan(folder / str(options["plan"]))
    if set(holders) != set(file.people):
        raise InvalidArgument("holders", sorted(holders), f"those of the plan: {', '.join(sorted(file.people))}")
    return file.plan.task(), file.plan.model.first_parameters()


def _load_start(path: Path) -> NDArray[Any]:
    try:
        return np.asarray(np.load(path, allow_pickle=False))
    except (OSError, ValueError, EOFError):
        raise InvalidArgument("start", path.name, "a .npy file of numbers") from None
