"""Running the service: one process or several, plain or under TLS, stopped without losing a job."""

from __future__ import annotations

import os
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from chronodp.errors import InvalidArgument
from chronodp.service.edge import allow_files
from chronodp.service.failures import start_log
from chronodp.service.policy_file import read_policy
from chronodp.service.sources import source_warnings
from chronodp.service.supervising import supervise

if TYPE_CHECKING:
    from chronodp.service.curator import Curator
    from chronodp.service.policy import Policy

__all__ = ["Settings", "listen", "run_worker", "serve"]

_UNSENT = 1 << 17  # bytes


@dataclass(frozen=True, slots=True)
class Settings:
    """What every worker is started with. Called, it makes the worker's application.

    Attributes:
        policy: the policy's file.
        ledger: a file's path, or ``postgresql://...``.
        keys: the owner's keys; needed for PostgreSQL.
        witness: a file that counts charges; best on another disk than the ledger.
        tls: whether the service is under TLS.
        workers: how many processes share the work.
    """

    policy: str
    ledger: str = field(repr=False)  # it may hold a password
    keys: str | None = None
    witness: str | None = None
    tls: bool = False
    workers: int = 1

    def __call__(self, policy: Policy | None = None) -> Any:
        """Return the application of one worker, under a policy that was read before or, without, the file's."""
        from chronodp.service.app import make_app

        return make_app(self.curator(policy), tls=self.tls, workers=self.workers)

    def curator(self, policy: Policy | None = None) -> Curator:
        """Return the curator that a worker answers from."""
        from chronodp.service.curator import Curator

        return Curator(policy or read_policy(self.policy), self.ledger, keys=self.keys, witness=self.witness)


def serve(
    settings: Settings,
    *,
    host: str = "127.0.0.1",
    port: int = 8321,
    certificate: str | None = None,
    key: str | None = None,
    told: Callable[[str], None] = lambda _: None,
    warned: Callable[[str], None] = lambda _: None,
) -> None:
    """Open the budgets and answer until told to stop.

    Workers finish the jobs they have begun; what waits stays on disk for the next start. ``told`` is called with the
    address once the policy is read, the budgets are open and the port is taken; ``warned`` before, with each file that
    is missing or lacks a column.
    """
    if (certificate is None) != (key is None):
        raise InvalidArgument("tls_cert", certificate, "given together with tls_key")
    curator = settings.curator()
    allow_files(curator.policy.running.edge.connections)
    for warning in source_warnings(curator.policy):
        warned(warning)
    curator.open_budgets()
    _ = curator.ledger.keys  # made now, by one process
    curator.close()
    door = listen(host, port)
    shown = f"[{host}]" if ":" in host else host
    told(f"http{'s' if settings.tls else ''}://{shown}:{door.getsockname()[1]}/")
    tls = None if certificate is None or key is None else (certificate, key)
    # Every worker has the policy whose budgets were opened, also one that is started again after the file was changed.
    work = (settings, curator.policy, door, tls)
    if settings.workers == 1:
        run_worker(*work)
    else:
        supervise(
            lambda context: context.Process(target=run_worker, args=(*work, os.getpid())), workers=settings.workers
        )


def run_worker(
    settings: Settings, policy: Policy, door: socket.socket, tls: tuple[str, str] | None, parent: int | None = None
) -> None:
    """Answer until told to stop, or until the process that started this one is gone."""
    from chronodp.service.edge import EdgeServer

    start_log()
    server = EdgeServer(settings(policy), [door], tls=tls)
    if parent is not None:
        threading.Thread(target=_follow, args=(server, parent), daemon=True).start()
    server.run()


def _follow(server: Any, parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(0.5)
    server.should_exit = True


def listen(host: str, port: int) -> socket.socket:
    """Take a port, and return the socket that all workers answer at."""
    try:
        socket.getaddrinfo(host, port)
    except (OSError, ValueError):  # nobody knows the name, or it cannot be one
        raise InvalidArgument("host", host, "an address of this machine") from None
    try:
        door = socket.create_server((host, port), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
    except OSError as error:
        raise InvalidArgument("port", port, f"free, and host an address of this machine ({error.strerror})") from None
    # Connections inherit it. Without, an answer's body waits for its head to be acknowledged, which takes 40 ms.
    door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):  # so does this: who takes no answer keeps no megabytes of it in the system
        door.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)
    return door
