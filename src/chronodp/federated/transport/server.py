"""Runs the server until all rounds are done, or the run is aborted."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import uvicorn
from numpy.typing import NDArray

from chronodp.errors import FederationError, InvalidArgument
from chronodp.federated.rounds import Round
from chronodp.federated.transport.application import application
from chronodp.federated.transport.coordinator import Coordinator
from chronodp.federated.transport.run_file import LOOPBACK, RunFile

__all__ = ["serve"]

_PULSE = 0.1  # seconds between looks at the clock


def serve(
    run: RunFile,
    *,
    tls_cert: Path | None = None,
    tls_key: Path | None = None,
    host: str | None = None,
    progress: Callable[[Round], None] | None = None,
) -> NDArray[np.float32]:
    """Serve a run from where it stands, and return the parameters after its last round.

    Args:
        run: as it was agreed.
        tls_cert: the certificate of the server, for TLS.
        tls_key: its private key.
        host: the machine's own address to listen at, if it is not the one that holders call.
        progress: called with every round that is done.

    Raises:
        FederationError: the run was aborted; its state is kept.
    """
    called, port = run.place
    place = called if host is None else host
    _check_encryption(run, place, tls_cert, tls_key)
    coordinator = Coordinator(run, progress=progress)
    app = application(coordinator)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            host=place,
            port=port,
            loop="asyncio",  # what is installed beside us decides nothing
            http="h11",
            ws="none",
            log_level="warning",
            access_log=False,
            ssl_certfile=None if tls_cert is None else str(tls_cert),
            ssl_keyfile=None if tls_key is None else str(tls_key),
            timeout_graceful_shutdown=2,
        )
    )
    watcher = threading.Thread(target=_watch, args=(coordinator, server, app.state.seen_the_end), daemon=True)
    watcher.start()
    try:
        with contextlib.suppress(SystemExit):  # how uvicorn says that it cannot listen there
            server.run()
        if not server.started:
            raise InvalidArgument("host", f"{place}:{port}", "an address where this machine can listen")
        server.should_exit = True
        watcher.join()
        if coordinator.aborted is not None:
            raise coordinator.aborted
        if not coordinator.done:
            raise FederationError("the server was stopped before the last round: start it again to go on")
        return np.frombuffer(coordinator.parameters(run.task.rounds + 1), "<f4").astype(np.float32)
    finally:
        server.should_exit = True
        watcher.join()
        coordinator.close()


def _watch(coordinator: Coordinator, server: uvicorn.Server, seen_the_end: set[str]) -> None:
    over: float | None = None
    while not server.should_exit:
        time.sleep(_PULSE)
        coordinator.tick()
        if over is None and (coordinator.done or coordinator.aborted is not None):
            over = coordinator.clock()
        everyone = seen_the_end >= set(coordinator.run.terms.names)
        if over is not None and (everyone or coordinator.clock() - over > coordinator.run.linger):
            server.should_exit = True


def _check_encryption(run: RunFile, host: str, tls_cert: Path | None, tls_key: Path | None) -> None:
    if run.encrypted and (tls_cert is None or tls_key is None):
        raise InvalidArgument("tls_cert", None, "given with its key: the run's address is https")
    if not run.encrypted and host not in LOOPBACK:
        raise InvalidArgument("host", host, "loopback, since the run's address is not https")
    if not run.encrypted and tls_cert is not None:
        raise InvalidArgument("address", run.address, "https, since there is a certificate")
    for path in (tls_cert, tls_key):
        if path is not None and not path.is_file():
            raise InvalidArgument("tls_cert", str(path), "a file that can be read, and its key another")
