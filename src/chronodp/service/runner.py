"""Runs jobs in the background, each in a stretch of time that does not tell how much was read.

Sections 2 to 4 of ``docs/explanation/proofs/curator.md``: how a job ends, when, and that it draws once.
"""

from __future__ import annotations

import os
import secrets
import threading
from contextlib import suppress
from dataclasses import replace
from functools import partial

from chronodp.errors import BudgetExhausted, LedgerUnavailable, NotAllowed, NotFound, ReleaseFailed, RequestConflict
from chronodp.owner import owner_told
from chronodp.privacy import dump
from chronodp.series import DiscoverPlan, FindPlan, Plan, QuantilePlan
from chronodp.service.curator import Curator
from chronodp.service.failures import note_failure, note_unread
from chronodp.service.holds import is_held, place_hold
from chronodp.service.job import Job
from chronodp.service.pacing import Pace, Paced, Paces
from chronodp.service.question import QueryRequest
from chronodp.service.readiness import Readiness
from chronodp.service.refusals import describe
from chronodp.service.resuming import resumed

__all__ = ["Runner"]

_LOOK = 0.1  # seconds between looks for a job
_PAUSE = 1.0  # seconds between looks while something is wrong
_TOO_MANY = 3  # losses in a row by processes that died, after which no more jobs are taken
_WHY_DIED = f"{_TOO_MANY} releases in a row were lost after they were paid for, each with its process: see the log"
_WHY_FAILED = "a release was lost after it was paid for, though nothing died: see the log, and lift this when mended"


class Runner:
    """The background of one worker: threads that take jobs, and one that keeps their leases.

    Args:
        curator: whose jobs.
        pace: when what was read may be used; the policy's own unless a test says otherwise.
    """

    def __init__(self, curator: Curator, *, pace: Paces | None = None) -> None:
        running = curator.policy.running
        self._curator, self._lease, self._parallel = curator, running.lease, running.parallel
        self._pace = Pace(running.floor, running.quantum) if pace is None else pace
        self._worker = f"{os.getpid()}-{secrets.token_hex(4)}"
        self._stop, self._called, self._done = threading.Event(), threading.Event(), threading.Event()
        self._looking = threading.Lock()
        self._threads: list[threading.Thread] = []
        self._in_hand: dict[str, Job] = {}
        self._kept: dict[str, Job] = {}
        self._begun: set[str] = set()
        self.readiness = Readiness(curator)

    def start(self) -> None:
        """Begin to take jobs."""
        self._threads = [threading.Thread(target=self._work, daemon=True) for _ in range(self._parallel)]
        self._beating = threading.Thread(target=self._beat, daemon=True)
        for thread in (*self._threads, self._beating):
            thread.start()

    def stop(self, *, seconds: float = 30.0) -> None:
        """Take no more jobs, and wait for those under way; what waits is on disk for the next start."""
        self._stop.set()
        self._called.set()
        for thread in self._threads:
            thread.join(seconds)
        self._done.set()  # leases are kept until the last job has ended
        self._beating.join(seconds)

    def wake(self) -> None:
        """Look for a job now; without a call a worker looks now and then, since others may have been told."""
        self._called.set()

    def run_one(self) -> bool:
        """Run one job if there is one, and if it could be finished; return whether there was."""
        job = self._next()
        if job is not None:
            self._attempt(job)
        return job is not None

    def _next(self) -> Job | None:
        return self._take_kept() or self._take()

    def _wait_for_job(self) -> Job | None:
        """Return a job if there is one; if not, wait a while, or until somebody calls.

        One thread waits for all and leaves its place to the next when it has found a job: otherwise each of them would
        take the database's lock ten times a second to find nothing.
        """
        with self._looking:
            if self._stop.is_set():
                return None
            job = self._next()
            if job is None:
                self._called.wait(self._pause)
                self._called.clear()
            return job

    @property
    def _pause(self) -> float:
        return _LOOK if self.readiness.why is None else _PAUSE

    def _take(self) -> Job | None:
        job = self._curator.jobs.claim(self._worker, lease=self._lease, ready=self.readiness.check)
        # One that is in hand lost its lease while the database was away, and another thread here has it.
        return None if job is None or job.id in self._in_hand else job

    def _take_kept(self) -> Job | None:
        """Return a job that the database went away under, to be finished before anything else is taken."""
        try:
            return self._kept.popitem()[1]
        except KeyError:
            return None

    def _attempt(self, job: Job) -> None:
        self._in_hand[job.id], kept = job, False
        try:
            self._run(job)
            self._begun.discard(job.id)
        except LedgerUnavailable:
            kept = self._curator.ledger.may_finish(job.dataset, job.request)
            if kept:
                self._kept[job.id] = job  # it stays in hand: nobody else knows what was drawn
                raise
            with suppress(LedgerUnavailable):  # then its lease runs out, since nobody has it in hand
                self._curator.jobs.let_go(self._worker, job)
            raise
        finally:
            if not kept:
                self._in_hand.pop(job.id, None)

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                job = self._wait_for_job()
                if job is not None:
                    self._attempt(job)
            except LedgerUnavailable:
                self._stop.wait(self._pause)
            except Exception as error:  # a thread that died would leave jobs waiting without a word
                note_failure(error)
                self._stop.wait(self._pause)
        with suppress(LedgerUnavailable):  # it is lost then, and named by the next start
            while (job := self._take_kept()) is not None:
                self._attempt(job)
        self._curator.close()

    def _beat(self) -> None:
        while not self._done.wait(min(1.0, self._lease / 4)):
            try:
                self._curator.jobs.beat(self._worker, tuple(self._in_hand), lease=self._lease)
                self.readiness.database(None)
                self.readiness.look()
            except Exception as error:
                self.readiness.database(error)
        self._curator.close()

    def _run(self, job: Job) -> None:
        curator = self._curator
        if curator.ledger.stored.release_of(job.dataset, job.request) is not None:
            curator.jobs.end(job, "done")
            return
        if curator.ledger.store_drawn(job.dataset, job.request):
            curator.jobs.end(job, "done")
            return
        may_finish = curator.ledger.may_finish(job.dataset, job.request)
        if self._was_debited(job) and not may_finish and not curator.goes_on(job):
            self._lose(job, died=job.id not in self._begun)
            return
        if not may_finish and self._is_held(job):
            # Taken over from a worker that died, or taken while the hold was placed.
            curator.jobs.put_back(self._worker, job)
            return
        self._begun.add(job.id)
        try:
            with owner_told(partial(note_unread, job.dataset, job.request)):
                self._release(job)
        except (BudgetExhausted, NotAllowed, NotFound) as error:
            if self._was_debited(job):  # the terms changed while its choices waited for the rest
                self._lose(job, died=False)
                return
            curator.jobs.end(job, "refused", describe(error)[1]["error"])
        except LedgerUnavailable:
            raise  # the job stays as it is and is taken up again
        except RequestConflict:
            return  # another worker has it; whoever comes next reads in the ledger how it ended
        except Exception as error:
            self._fail(job, error)
        else:
            curator.jobs.end(job, "done")

    def _fail(self, job: Job, error: Exception) -> None:
        number, spent, mend = note_failure(error), "nothing was spent", "tell the owner that number"
        if self._was_debited(job):
            if not self._curator.goes_on(job):
                self._lose(job, died=False)
                return
            spent = "its price was debited"
            mend += ", and ask again with the same request id: it goes on, and nothing is debited again"
        failed = ReleaseFailed(
            f"the release could not be made and {spent}; the owner's log has it under number {number}", mend=mend
        )
        self._curator.jobs.end(job, "failed", describe(failed)[1]["error"])

    def _was_debited(self, job: Job) -> bool:
        return self._curator.ledger.stored.was_debited(job.dataset, job.request)

    def _is_held(self, job: Job) -> bool:
        with self._curator.store.snapshot() as transaction:
            return is_held(transaction, job.dataset)

    def _lose(self, job: Job, *, died: bool) -> None:
        """End a job that was debited and cannot be released, and take no more where that may happen again.

        A process that died loses what it was drawing, and a service may be killed and started at any time: only
        several such losses in a row stop it. A loss that nobody died of comes from what is still there: one is enough.
        """
        if not died or self._curator.jobs.lost_in_a_row() + 1 >= _TOO_MANY:
            place_hold(self._curator.store, dataset="", why=_WHY_DIED if died else _WHY_FAILED, by_whom="")
        lost = ReleaseFailed(
            "it was debited and its release was lost before it was stored; its noise is never drawn again",
            mend="ask again under another request id, which is debited again",
        )
        self._curator.jobs.end(job, "lost", describe(lost)[1]["error"])

    def _release(self, job: Job) -> None:
        curator = self._curator
        dataset = curator.policy.datasets.get(job.dataset)
        if dataset is None:
            raise NotFound(f"dataset {job.dataset!r} is no longer offered")
        if job.analyst and job.analyst not in dataset.analysts:
            raise NotAllowed(f"{job.analyst} may no longer ask about {job.dataset!r}")
        plan = curator.plan(dataset, QueryRequest.model_validate_json(job.question), asker=job.asker)
        if dump(plan.design) != job.design:
            raise _changed()
        paced: Plan | FindPlan | DiscoverPlan | QuantilePlan
        if isinstance(plan, Plan | QuantilePlan):
            paced = replace(plan, origin=Paced(plan.origin, self._pace))
        else:
            paced = resumed(plan, self._pace)
        paced.release(
            curator.ledger, dataset=job.dataset, request=job.request, analyst=job.analyst, progress=lambda _: None
        )


def _changed() -> NotAllowed:
    return NotAllowed("the dataset's terms have changed since this was asked", mend="plan and submit it anew")
