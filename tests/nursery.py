"""The process from which `tests.warm` has programs forked: it has the library loaded, and starts no threads."""

from __future__ import annotations

import atexit
import contextlib
import gc
import importlib
import json
import logging
import multiprocessing.util
import os
import runpy
import select
import signal
import socket
import sys
import threading
import traceback
from collections.abc import Sequence
from typing import Any, NoReturn

from tests import luck
from tests.warm import keep_commands

_LOADED = (
    *("chronodp.accounting", "chronodp.alerts", "chronodp.correlated", "chronodp.dataset", "chronodp.engines"),
    *("chronodp.state_space", "chronodp.ledger", "chronodp.live", "chronodp.selection", "chronodp.series"),
    *("chronodp.temporal", "chronodp.cli.shell", "chronodp.live.sources", "chronodp.live.sinks", "chronodp.report"),
    *("chronodp.ledger.postgres", "confluent_kafka", "duckdb", "dp_accounting", "mpmath.ctx_iv", "pandas"),
    *("pyarrow.parquet", "plotly.graph_objects", "plotly.io", "psycopg", "rich.console", "scipy.linalg"),
    *("scipy.optimize", "scipy.stats"),
    "typer._adapters",  # with all of pydantic, which Typer would load in every program that is given an option
    *("chronodp.service.app", "chronodp.service.edge.server"),
    *("chronodp.engines.tables", "pyarrow.dataset", "pyarrow.pandas_compat", "sqlglot.dialects.duckdb"),
)
_LOADED_WITH_TORCH = (*("torch", "torch.fx.experimental.symbolic_shapes", "chronodp.federated.training.gradients"),)

_Running = dict[int, int]  # programs, and where to tell of each


def _serve(control: socket.socket) -> None:
    """Load the library, and fork for every request."""
    _load(_LOADED)
    keep_commands()
    _check_noise()
    _forget_ends()
    _fork_for(control, _with_torch())


def _with_torch() -> socket.socket:
    """Return where programs with PyTorch are asked for: a fork of this process that loads it at the first."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    if not os.fork():
        ours.close()
        if not theirs.recv(1, socket.MSG_PEEK):
            os._exit(0)
        _load(_LOADED_WITH_TORCH)
        _fork_for(theirs, None)
    theirs.close()
    return ours


def _load(names: Sequence[str]) -> None:
    for name in names:
        with contextlib.suppress(ImportError):  # an extra that is not installed here
            importlib.import_module(name)


def _fork_for(control: socket.socket, with_torch: socket.socket | None) -> NoReturn:
    """Fork for every request, until nobody can ask any more."""
    gc.freeze()
    ended, wakes = socket.socketpair()
    wakes.setblocking(False)
    signal.signal(signal.SIGCHLD, lambda *_: None)  # what counts is the byte that wakes the loop
    signal.set_wakeup_fd(wakes.fileno())
    own = [one.fileno() for one in (control, with_torch, ended, wakes) if one]
    running: _Running = {}
    while True:
        ready, _, _ = select.select([control, ended], [], [])
        if ended in ready:
            ended.recv(4096)
            _tell_ends(running)
        if control not in ready:
            continue
        header, given, _, _ = socket.recv_fds(control, 2**20, 4)
        if not header:
            os._exit(0)
        asked = json.loads(header)
        if with_torch and asked["torch"]:
            socket.send_fds(with_torch, [header], given)
            for one in given:
                os.close(one)
        else:
            _begin(asked, given, running, own)


def _begin(asked: dict[str, Any], given: Sequence[int], running: _Running, own: Sequence[int]) -> None:
    """Fork a program, and tell its number."""
    told, *pipes = given
    program = os.fork()
    if not program:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for one in (*own, told, *running.values()):
            os.close(one)
        _become(asked, pipes)
    for pipe in pipes:
        os.close(pipe)
    running[program] = told
    _tell(told, program)


def _tell_ends(running: _Running) -> None:
    """Tell how programs ended, if any did."""
    with contextlib.suppress(ChildProcessError):
        while (found := os.waitpid(-1, os.WNOHANG))[0]:
            program, status = found
            told = running.pop(program, None)
            if told is not None:
                _tell(told, os.waitstatus_to_exitcode(status))
                os.close(told)


def _tell(told: int, number: int) -> None:
    with contextlib.suppress(OSError):  # the test may have gone on
        os.write(told, f"{number}\n".encode())


def _check_noise() -> None:
    """Look at this machine's logarithms once, and not in every program that draws: nothing is drawn here."""
    from chronodp.randomness.start_check import checked
    from chronodp.randomness.variates import exponential, gaussian, laplace

    for kind in (exponential, gaussian, laplace):
        checked(kind())


def _forget_ends() -> None:
    """Keep of what is done at an interpreter's end what Python needs: DuckDB's takes longer than many a program."""
    atexit._clear()
    for end in (logging.shutdown, multiprocessing.util._exit_function):  # type: ignore[attr-defined]
        atexit.register(end)


def _become(asked: dict[str, Any], pipes: list[int]) -> None:
    """Run the program as if the interpreter had been started for it."""
    for number, pipe in enumerate(pipes):
        os.dup2(pipe, number)
        os.close(pipe)
    sys.stdin = os.fdopen(0, "r", encoding="utf-8", closefd=False)
    sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    sys.stderr = os.fdopen(2, "w", buffering=1, encoding="utf-8", closefd=False)
    os.chdir(str(asked["cwd"]))
    os.environ.clear()
    os.environ.update(asked["environment"])
    luck.begin(asked["luck"])
    kind, what, *words = asked["arguments"]
    code = 0
    try:
        if kind == "-m":
            sys.argv = [what, *words]
            runpy.run_module(what, run_name="__main__", alter_sys=True)
        else:
            sys.argv = ["-c", *words]
            exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
    except SystemExit as end:
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
        if isinstance(end.code, str):
            print(end.code, file=sys.stderr)
    except BaseException:
        traceback.print_exc()
        code = 1
    threading._shutdown()  # type: ignore[attr-defined]  # what the end of an interpreter does
    atexit._run_exitfuncs()
    with contextlib.suppress(OSError):
        sys.stdout.flush()
    os._exit(code)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])))
