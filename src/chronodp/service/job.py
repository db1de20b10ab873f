"""One job: a submitted question, and how far it is."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeAlias

from chronodp.ledger import Row

__all__ = ["COLUMNS", "Job", "State", "answered", "read_job"]

State: TypeAlias = Literal["waiting", "held", "running", "done", "refused", "failed", "lost"]

COLUMNS = "id, dataset, request, analyst, source, question, design, state, lease, made, ended, problem"
"""Of the table of jobs, in the order in which `read_job` takes them."""


@dataclass(frozen=True, slots=True)
class Job:
    """One submitted question.

    Attributes:
        id: of the job.
        dataset: what was asked about.
        request: under which the ledger knows it: the caller's name and the caller's own id.
        analyst: whose part of the budget pays; empty for the owner.
        source: the request whose release answers it: its own, or an earlier one of the same design.
        question: as it was asked, JSON.
        design: the design's canonical text.
        state: how far it is.
        lease: until when its worker has it, in microseconds since 1970.
        made: when it was submitted.
        ended: when it ended.
        problem: why it was refused, failed or lost, in the one shape of errors.
    """

    id: str
    dataset: str
    request: str
    analyst: str
    source: str
    question: str
    design: str
    state: State
    lease: int = 0
    made: int = 0
    ended: int | None = None
    problem: dict[str, Any] | None = None

    @property
    def asker(self) -> str:
        """What all requests of whoever asked begin with, as `Caller.request` has it."""
        return self.request.partition("/")[0] + "/"


def answered(job: Job, answer: Row) -> Job:
    """Return a job with the state, end and problem of the one that answers it."""
    if job.source == job.request:
        return job
    state, ended, problem = answer
    late = None if ended is None else max(int(ended), job.made)
    return replace(job, state=state, ended=late, problem=None if problem is None else json.loads(problem))


def read_job(row: Row) -> Job:
    """Return the job of a row of the table."""
    problem = None if row[11] is None else json.loads(row[11])
    ended = None if row[10] is None else int(row[10])
    names = ("id", "dataset", "request", "analyst", "source", "question", "design", "state")
    known = dict(zip(names, row, strict=False))
    return Job(**known, lease=int(row[8]), made=int(row[9]), ended=ended, problem=problem)
