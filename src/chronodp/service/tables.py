"""The service's own tables, beside the ledger's in one database: tokens, sessions, jobs, workers, holds.

One database means one backup, and nothing that could disagree with itself after a restore.
"""

from __future__ import annotations

from chronodp.ledger import Store, asker, make_tables, open_store

__all__ = ["open_tables"]

_TABLES: tuple[str, ...] = (
    """CREATE TABLE service_tokens (
        id TEXT NOT NULL PRIMARY KEY, digest TEXT NOT NULL, name TEXT NOT NULL, role TEXT NOT NULL,
        made BIGINT NOT NULL, expires BIGINT NOT NULL, revoked BIGINT)""",
    """CREATE TABLE service_sessions (
        digest TEXT NOT NULL PRIMARY KEY, token TEXT NOT NULL, expires BIGINT NOT NULL)""",
    """CREATE TABLE service_jobs (
        id TEXT NOT NULL PRIMARY KEY, dataset TEXT NOT NULL, request TEXT NOT NULL, analyst TEXT NOT NULL,
        source TEXT NOT NULL, question TEXT NOT NULL, design TEXT NOT NULL, state TEXT NOT NULL,
        worker TEXT NOT NULL, lease BIGINT NOT NULL, made BIGINT NOT NULL, ended BIGINT, problem TEXT,
        UNIQUE (dataset, request))""",
    "CREATE TABLE service_workers (id TEXT NOT NULL PRIMARY KEY, seen BIGINT NOT NULL)",
    # Of which dataset, empty for all, no job is begun, and why; by_whom is empty for the curator itself.
    """CREATE TABLE service_holds (
        id TEXT NOT NULL PRIMARY KEY, dataset TEXT NOT NULL, why TEXT NOT NULL, by_whom TEXT NOT NULL,
        made BIGINT NOT NULL)""",
    "CREATE INDEX service_jobs_open ON service_jobs (state, made)",
    # Lists of jobs, newest first: of all, of one caller, and of one dataset. A design is looked for by its length: the
    # text of one with many keys is longer than what PostgreSQL puts into an index.
    "CREATE INDEX service_jobs_alike ON service_jobs (dataset, (length(design)))",
    "CREATE INDEX service_jobs_newest ON service_jobs (made, id)",
    f"CREATE INDEX service_jobs_to ON service_jobs (({asker('request')}), made, id)",
    "CREATE INDEX service_jobs_of ON service_jobs (dataset, made, id)",
)

_FORMAT = 5  # of these tables: raised whenever they change


def open_tables(address: str, *, timeout: float = 10.0) -> Store:
    """Return the store at a ledger's address, with the service's tables in it."""
    store = open_store(address, timeout=timeout)
    try:
        make_tables(store, _TABLES, form=_FORMAT, kept_in="service_version")
    except BaseException:
        store.close()
        raise
    return store
