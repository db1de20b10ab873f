"""Jobs: what was asked, on disk before anything runs, and how it ended.

A worker takes a job under a lease. If it falls silent another takes over, looks in the ledger what was debited and
stored, and goes on from there: the ledger alone decides, and it debits a request once. A job never draws twice.

Section 4 of ``docs/explanation/proofs/curator.md``, "One debit, one draw".
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from chronodp.errors import RequestConflict, TooManyCalls
from chronodp.ledger import Store, Transaction, asked_by, now
from chronodp.service.holds import COVERED
from chronodp.service.job import COLUMNS, Job, State, answered, read_job

__all__ = ["Jobs"]


class Jobs:
    """The table of jobs, for every worker."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def submit(
        self,
        dataset: str,
        request: str,
        analyst: str,
        *,
        question: str,
        design: str,
        whose: str | None,
        fresh: bool,
        admit: Callable[[Transaction], None],
        most: int,
    ) -> tuple[Job, bool]:
        """Put a job on disk and return it, with whether it is new.

        The same request for the same design returns the same job. An earlier job of the same design answers it too,
        for nothing, unless ``fresh`` asks for a release of its own; ``whose`` limits that to requests that begin so.
        ``admit`` is called before a job that will release something is written, in the same transaction, and raises if
        it must not be; no more than ``most`` jobs of one name may wait.
        """
        with self._store.transaction() as transaction:
            transaction.alone()  # of two alike that come together, the second must see the first
            if known := self._known(transaction, dataset, request):
                if known.design != design:
                    raise RequestConflict(f"request {request!r} was made before for another question")
                return known, False
            source = request if fresh else self._alike(transaction, dataset, design, whose) or request
            job = Job(secrets.token_hex(12), dataset, request, analyst, source, question, design, "waiting", made=now())
            if source == request:
                admit(transaction)
                if self._waiting(transaction, request.partition("/")[0] + "/") >= most:
                    raise TooManyCalls(f"{most} jobs of yours wait already", mend="wait until some of them have ended")
            else:
                job = replace(job, state="done", ended=job.made)
            transaction.run(
                "INSERT INTO service_jobs (id, dataset, request, analyst, source, question, design, state, worker, "
                "lease, made, ended) VALUES (?, ?, ?, ?, ?, ?, ?, ?, '', 0, ?, ?)",
                (job.id, dataset, request, analyst, source, question, design, job.state, job.made, job.ended),
            )
        return job, True

    def foresee(
        self, dataset: str, request: str, *, design: str, whose: str | None, fresh: bool
    ) -> tuple[str, State] | None:
        """Return the request that would answer a submission for nothing, with its state; None where it has to pay.

        As `submit` decides it, and nothing is written: by the time of the submission others may have submitted.
        """
        with self._store.snapshot() as transaction:
            if known := self._known(transaction, dataset, request):
                if known.design != design:
                    raise RequestConflict(f"request {request!r} was made before for another question")
                return known.source, known.state
            alike = None if fresh else self._alike(transaction, dataset, design, whose)
            source = None if alike is None else self._known(transaction, dataset, alike)
            return None if source is None else (source.source, source.state)

    def find(self, identity: str) -> Job | None:
        """Return a job; one that another answers has that one's state."""
        with self._store.snapshot() as transaction:
            rows = transaction.run(f"SELECT {COLUMNS} FROM service_jobs WHERE id = ?", (identity,))
            if not rows:
                return None
            return self._answered(transaction, read_job(rows[0]))

    def newest(
        self,
        *,
        by: str | None = None,
        dataset: str | None = None,
        state: State | None = None,
        before: tuple[int, str] | None = None,
        limit: int,
    ) -> list[Job]:
        """Return the newest jobs, newest first, each as the job that answers it stands.

        Args:
            by: of one asker, such as ``ana/``.
            dataset: of one dataset.
            state: of one state.
            before: when a job was made and its id, to go on after it.
            limit: how many at most.
        """
        whose, given = asked_by("j.request", by)
        wanted, parameters = [whose], list[str | int](given)
        # A state is no way in: jobs are wanted in the order in which they were made.
        for condition, value in (("j.dataset = ?", dataset), ("s.state || '' = ?", state)):
            if value is not None:
                wanted.append(condition)
                parameters.append(value)
        if before is not None:
            wanted.append("(j.made, j.id) < (?, ?)")
            parameters += before
        columns = ", ".join(f"j.{column}" for column in COLUMNS.split(", "))
        with self._store.snapshot() as transaction:
            rows = transaction.run(
                f"SELECT {columns}, s.state, s.ended, s.problem FROM service_jobs j "
                "JOIN service_jobs s ON s.dataset = j.dataset AND s.request = j.source "
                f"WHERE {' AND '.join(wanted)} ORDER BY j.made DESC, j.id DESC LIMIT ?",
                (*parameters, limit),
            )
        return [answered(read_job(row), row[12:]) for row in rows]

    def claim(self, worker: str, *, lease: float, ready: Callable[[], None] = lambda: None) -> Job | None:
        """Take the oldest job that waits and that no hold covers, or whose worker fell silent.

        ``ready`` is called once there is one, and raises if none should be taken.
        """
        moment = now()
        with self._store.snapshot() as transaction:  # who only looks keeps no writer waiting
            rows = transaction.run(
                f"SELECT {COLUMNS} FROM service_jobs WHERE (state = 'waiting' AND NOT {COVERED}) "
                "OR (state = 'running' AND lease < ?) ORDER BY made, id LIMIT 8",
                (moment,),
            )
        if not rows:
            return None
        ready()
        with self._store.transaction() as transaction:
            for row in rows:
                job = read_job(row)
                until = moment + int(lease * 1e6)
                taken = transaction.run(
                    "UPDATE service_jobs SET state = 'running', worker = ?, lease = ? "
                    f"WHERE id = ? AND state = ? AND lease = ? AND (state = 'running' OR NOT {COVERED}) RETURNING id",
                    (worker, until, job.id, job.state, job.lease),
                )
                if taken:
                    return replace(job, state="running", lease=until)
        return None

    def beat(self, worker: str, in_hand: Collection[str], *, lease: float) -> None:
        """Keep the jobs that a worker has in hand its own, and say that it is alive."""
        moment = now()
        with self._store.transaction() as transaction:
            for identity in in_hand:
                transaction.run(
                    "UPDATE service_jobs SET lease = ? WHERE id = ? AND worker = ? AND state = 'running'",
                    (moment + int(lease * 1e6), identity, worker),
                )
            transaction.run(
                "INSERT INTO service_workers (id, seen) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET seen = ?",
                (worker, moment, moment),
            )
            transaction.run("DELETE FROM service_workers WHERE seen < ?", (moment - 3_600_000_000,))

    def let_go(self, worker: str, job: Job) -> None:
        """Leave a job that could not be carried on to whoever looks next."""
        with self._store.transaction() as transaction:
            transaction.run(
                "UPDATE service_jobs SET lease = 0 WHERE id = ? AND worker = ? AND state = 'running'", (job.id, worker)
            )

    def put_back(self, worker: str, job: Job) -> None:
        """Let a job that was taken wait again."""
        with self._store.transaction() as transaction:
            transaction.run(
                "UPDATE service_jobs SET state = 'waiting', lease = 0 "
                "WHERE id = ? AND worker = ? AND state = 'running'",
                (job.id, worker),
            )

    def lost_in_a_row(self) -> int:
        """Return how many jobs were lost since a release was last made."""
        with self._store.snapshot() as transaction:
            ((count,),) = transaction.run(
                "SELECT COUNT(*) FROM service_jobs WHERE state = 'lost' AND ended > COALESCE("
                "(SELECT MAX(ended) FROM service_jobs WHERE state = 'done' AND source = request), 0)"
            )
        return int(count)

    def reopen(self, job: Job) -> Job:
        """Let a failed job wait again: it goes on from what the ledger has of it."""
        with self._store.transaction() as transaction:
            transaction.alone()
            transaction.run(
                "UPDATE service_jobs SET state = 'waiting', lease = 0, ended = NULL, problem = NULL "
                "WHERE id = ? AND state = 'failed'",
                (job.id,),
            )
        return replace(job, state="waiting", lease=0, ended=None, problem=None)

    def end(self, job: Job, state: State, problem: dict[str, Any] | None = None) -> None:
        """Write how a job ended; a release that is in the ledger outweighs whatever was thought before."""
        guard = "" if state == "done" else " AND state = 'running'"
        with self._store.transaction() as transaction:
            transaction.run(
                f"UPDATE service_jobs SET state = ?, ended = ?, problem = ? WHERE id = ?{guard}",
                (state, now(), None if problem is None else json.dumps(problem), job.id),
            )

    def counts(self) -> dict[str, int]:
        """Return how many jobs there are in each state."""
        with self._store.snapshot() as transaction:
            rows = transaction.run("SELECT state, COUNT(*) FROM service_jobs GROUP BY state")
        return {row[0]: int(row[1]) for row in rows}

    def _known(self, transaction: Transaction, dataset: str, request: str) -> Job | None:
        rows = transaction.run(
            f"SELECT {COLUMNS} FROM service_jobs WHERE dataset = ? AND request = ?", (dataset, request)
        )
        return self._answered(transaction, read_job(rows[0])) if rows else None

    def _alike(self, transaction: Transaction, dataset: str, design: str, whose: str | None) -> str | None:
        rows = transaction.run(
            "SELECT request FROM service_jobs WHERE dataset = ? AND length(design) = ? AND design = ? "
            "AND source = request AND state IN ('waiting', 'held', 'running', 'done') "
            "AND (? = '' OR substr(request, 1, ?) = ?) ORDER BY made DESC, id LIMIT 1",
            (dataset, len(design), design, whose or "", len(whose or ""), whose or ""),
        )
        return rows[0][0] if rows else None

    def _waiting(self, transaction: Transaction, owner: str) -> int:
        ((count,),) = transaction.run(
            "SELECT COUNT(*) FROM service_jobs WHERE state IN ('waiting', 'held') AND substr(request, 1, ?) = ?",
            (len(owner), owner),
        )
        return int(count)

    def _answered(self, transaction: Transaction, job: Job) -> Job:
        if job.source == job.request:
            return job
        rows = transaction.run(
            "SELECT state, ended, problem FROM service_jobs WHERE dataset = ? AND request = ?",
            (job.dataset, job.source),
        )
        if not rows:
            return job
        return answered(job, rows[0])
