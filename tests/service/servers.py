"""`chronodp serve` as a process of its own, for tests that kill it or call it from outside."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx

from tests import forkserver
from tests.service.town import API, ROOT, free_port


@contextmanager
def running_server(
    policy: Path, ledger: str, *options: str, port: int | None = None
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """Run `chronodp serve` as its own process, and wait until it answers."""
    chosen = free_port() if port is None else port
    command = [sys.executable, "-c", "from chronodp.cli import main; main()", "serve", "--policy", str(policy)]
    command += ["--ledger", ledger, "--port", str(chosen), *options]
    environment = os.environ | {"PYTHONPATH": f"{ROOT / 'src'}{os.pathsep}{ROOT}"}
    with policy.with_name(f"serve-{chosen}.log").open("ab") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log, cwd=policy.parent)
        url = f"http{'s' if '--tls-cert' in options else ''}://127.0.0.1:{chosen}"
        with _answering(url, process, Path(log.name)):
            yield url, process


@contextmanager
def forked_server(policy: Path, ledger: str, *options: str) -> Iterator[tuple[str, forkserver.Program]]:
    """Run `chronodp serve` likewise, forked from a process that has the library loaded, and so are its workers."""
    chosen = free_port()
    log = policy.with_name(f"serve-{chosen}.log")
    words = ("serve", "--policy", str(policy), "--ledger", ledger, "--port", str(chosen), *options)
    process = forkserver.start("-c", _FORKED, str(log), *words, cwd=policy.parent)
    url = f"http{'s' if '--tls-cert' in options else ''}://127.0.0.1:{chosen}"
    try:
        with _answering(url, process, log):
            yield url, process
    finally:
        process.close()


_FORKED = """
import multiprocessing, os, sys

import chronodp.service.app
import chronodp.service.edge.server
import chronodp.service.supervising
from chronodp.cli import main

log = os.open(sys.argv.pop(1), os.O_CREAT | os.O_APPEND | os.O_WRONLY)
os.dup2(log, 1)
os.dup2(log, 2)
forking = multiprocessing.get_context("fork")
multiprocessing.get_context = lambda _method: forking
chronodp.service.supervising._BRIEF = 0.2  # those who kill workers need not wait for the next
main()
"""


@contextmanager
def _answering(url: str, process: subprocess.Popen[bytes] | forkserver.Program, log: Path) -> Iterator[None]:
    """Wait until a server answers, and leave nothing of it behind."""
    try:
        deadline = time.monotonic() + 60
        while True:
            try:
                if httpx.get(f"{url}{API}/health", verify=False, timeout=5).status_code == 200:
                    break
            except httpx.HTTPError:
                time.sleep(0.05)
            if _is_gone(process) or time.monotonic() > deadline:
                raise AssertionError(log.read_text(encoding="utf-8"))
        yield
    finally:
        if process.returncode is None:
            process.terminate()
            process.wait(60)


def _is_gone(process: subprocess.Popen[bytes] | forkserver.Program) -> bool:
    return process.poll() is not None if isinstance(process, subprocess.Popen) else not _lives(process.pid)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
