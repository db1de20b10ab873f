"""A run over HTTP in a folder: its file, keys, tokens, and processes for the server and its holders."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pickle
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from chronodp.cli import main
from chronodp.errors import ChronodpError
from chronodp.federated import Round, load_holder
from chronodp.federated.aggregation import Identity, Phase
from chronodp.federated.transport import link as linking, server as serving
from chronodp.federated.transport.coordinator import Coordinator
from chronodp.federated.transport.link import Link
from chronodp.federated.transport.participant import take_part
from chronodp.federated.transport.run_file import RunFile, read_run
from chronodp.federated.transport.tokens import issue_token
from tests import forkserver

_WORK = "import pickle, sys; work, arguments = pickle.loads(bytes.fromhex(sys.argv[1])); work(*arguments)"


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class Network:
    """Everything a run needs, in one folder."""

    def __init__(
        self,
        folder: Path,
        names: Sequence[str] = ("h0", "h1", "h2", "h3"),
        *,
        rounds: int = 3,
        seconds: float = 3.0,
        advertise: float = 40.0,
        linger: float = 60.0,
        scheme: str = "http",
        server: str = "",
        extra: str = "attempts = 20",
        task: str = "",
    ) -> None:
        folder.mkdir(exist_ok=True)
        self.folder, self.names = folder, tuple(names)
        people = []
        for name in self.names:
            mine = Identity.create()
            mine.save(folder / f"{name}.key")
            people.append(f'[holders.{name}]\nidentity = "{mine.public.hex()}"\n')
        waits = "".join(f"{phase} = {seconds}\n" for phase in ("share", "mask", "consent", "unmask"))
        toy = f'rounds = {rounds}\nsize = 40\nmodel = "toy 1"\nclip = 1.0\nbits = 32'
        self.file = folder / "run.toml"
        self.file.write_text(
            f'name = "test"\n{extra}\n'
            f"[task]\n{task or toy}\n"
            f'[server]\naddress = "{scheme}://127.0.0.1:{free_port()}"\n{server}\n'
            f"[seconds]\nadvertise = {advertise}\nlinger = {linger}\n{waits}\n"
            '[holder]\nmake = "tests.federated.crowd:make_toy"\n' + "\n".join(people),
            encoding="utf-8",
        )
        for name in self.names:
            (folder / f"{name}.token").write_text(issue_token(self.run.tokens, name, days=1), encoding="ascii")

    @property
    def run(self) -> RunFile:
        return read_run(self.file)

    def server(self, *, hurried: bool = False, gone: Sequence[str] = ()) -> forkserver.Program:
        """Start the server; a hurried one does not sit out the time of holders that are known to be dead.

        Those in ``gone`` never come back, not even to learn how the run ended.
        """
        return started(_serve, self.folder, hurried, tuple(gone))

    def client(self, name: str, *, die_in: str = "") -> forkserver.Program:
        """Start a holder; ``die_in`` names a phase and round, such as ``MASK:1``, in which it kills itself."""
        return started(_take_part, self.folder, name, die_in)

    def parameters(self, name: str) -> bytes:
        """What the server, or a holder, ended with."""
        return bytes(np.load(self.folder / f"{name}.npy").tobytes())

    def said(self, name: str) -> str:
        """By which sentence a process ended."""
        return (self.folder / f"{name}.error").read_text(encoding="utf-8")

    def survivors(self) -> dict[int, list[str]]:
        """Who was in the sum of each round."""
        path = self.folder / "rounds.jsonl"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return dict(map(json.loads, lines))


def command(errors: Path, *arguments: str) -> forkserver.Program:
    """Start a command of the shell, and write what it says on the side to a file."""
    return started(_command, errors, arguments)


@contextlib.contextmanager
def ended(*processes: forkserver.Program) -> Iterator[None]:
    """Leave no process behind, whatever happens."""
    try:
        yield
    finally:
        for process in processes:
            process.kill()
        for process in processes:
            code_of(process)
            process.close()


def code_of(process: forkserver.Program, *, seconds: float = 120.0) -> int:
    """Wait for a process and return its exit code."""
    return process.wait(seconds)


def started(work: Callable[..., None], *arguments: object) -> forkserver.Program:
    """Start a process of its own that does some work."""
    return forkserver.start("-c", _WORK, pickle.dumps((work, arguments)).hex())


def _command(errors: Path, arguments: tuple[str, ...]) -> None:
    with errors.open("w", encoding="utf-8") as file, contextlib.redirect_stderr(file):
        sys.argv = ["chronodp", *arguments]
        main()


class _Hurried(Coordinator):
    """A server whose clock jumps to the end of a phase as soon as only holders are missing that have killed themselves.

    What then happens is what happens when the time is up; who is alive has all the time there is. So it jumps when the
    run is over and only holders have not seen its end that never come back.
    """

    def __init__(self, run: RunFile, *, gone: tuple[str, ...], **options: Any) -> None:
        self._ahead, self._gone = 0.0, gone
        super().__init__(run, **options, clock=lambda: time.monotonic() + self._ahead)

    def tick(self) -> None:
        with self._lock:
            place = (self._standing.round_number, self._standing.attempt, self._server.phase)
            missing = self._server.missing
            if missing and all(_death(self.run.state.parent, name, *place).exists() for name in missing):
                self._ahead += self.run.seconds[self._server.phase]
            if self._gone and (self.done or self.aborted is not None) and self._all_others_ended():
                self._ahead += self.run.linger
            super().tick()

    def _all_others_ended(self) -> bool:
        folder = self.run.state.parent
        others = set(self.run.terms.names) - set(self._gone)
        return all(any((folder / f"{name}.{end}").exists() for end in ("npy", "error")) for name in others)


def _death(folder: Path, name: str, round_number: int, attempt: int, phase: int) -> Path:
    """Where a holder writes that it is about to die, in which phase."""
    return folder / f"{name}.{round_number}.{attempt}.{int(phase)}.dead"


def _serve(folder: Path, hurried: bool, gone: tuple[str, ...]) -> None:
    if hurried:
        serving.Coordinator = functools.partial(_Hurried, gone=gone)  # type: ignore[assignment,attr-defined]

    def tell(made: Round) -> None:
        with (folder / "rounds.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps([made.number, made.survivors]) + "\n")

    with _told(folder / "server"):
        np.save(folder / "server.npy", serving.serve(read_run(folder / "run.toml"), progress=tell))


def _take_part(folder: Path, name: str, die_in: str) -> None:
    send = Link.send

    def send_or_die(link: Link, round_number: int, attempt: int, phase: int, message: bytes) -> None:
        if die_in == f"{Phase(phase).name}:{round_number}":
            _death(folder, name, round_number, attempt, phase).touch()
            os.kill(os.getpid(), signal.SIGKILL)
        send(link, round_number, attempt, phase, message)

    linking._LONGEST = 0.1  # a server that was killed is back at once
    Link.send = send_or_die  # type: ignore[assignment,method-assign]
    with _told(folder / name):
        run = read_run(folder / "run.toml")
        end = take_part(
            run,
            load_holder(run.holder, name=name, task=run.task),
            identity=Identity.load(folder / f"{name}.key"),
            token=(folder / f"{name}.token").read_text(encoding="ascii"),
            journal=folder / f"{name}.journal",
            pause=0.05,
        )
        np.save(folder / f"{name}.npy", end)


@contextlib.contextmanager
def _told(place: Path) -> Iterator[None]:
    try:
        yield
    except ChronodpError as error:
        place.with_suffix(".error").write_text(f"{type(error).__name__}: {error}", encoding="utf-8")
        sys.exit(2)
