"""Curators without a server: jobs that are taken one by one, and workers that die at a given point."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chronodp.ledger import Ledger
from chronodp.service.curator import Caller, Curator
from chronodp.service.job import Job
from chronodp.service.pacing import Unpaced
from chronodp.service.policy_file import read_policy
from chronodp.service.question import QueryRequest
from chronodp.service.runner import Runner

ANA = Caller("ana", "analyst", "")


class Killed(BaseException):
    """What a kill looks like from inside: nothing after it runs."""


def started(policy: Path, *, timeout: float = 5.0) -> Curator:
    curator = Curator(read_policy(policy), str(policy.with_name("budget.db")), timeout=timeout)
    curator.open_budgets()
    return curator


def submitted(curator: Curator, question: object, request: str = "r", *, fresh: bool = False) -> Job:
    """Submit a question about the first dataset of a policy."""
    dataset, asked = next(iter(curator.policy.datasets.values())), QueryRequest.model_validate(question)
    return curator.submit(ANA, dataset, asked, request=request, fresh=fresh)[0]


def runner_of(curator: Curator) -> Runner:
    return Runner(curator, pace=Unpaced())


def die_at(policy: Path, point: str, times: int = 1) -> None:
    """Take the next job, and die the so-many-th time that it reaches a point."""
    left = times

    def cut(reached: str) -> None:
        nonlocal left
        left -= reached == point
        if reached == point and not left:
            raise Killed

    broken = started(policy)
    broken.ledger = Ledger(policy.with_name("budget.db"), reached=cut)
    with pytest.raises(Killed):
        runner_of(broken).run_one()
    broken.close()


def end_leases(curator: Curator) -> None:
    """Let whoever runs a job have fallen silent long ago."""
    with curator.store.transaction() as transaction:
        transaction.run("UPDATE service_jobs SET lease = 1 WHERE state = 'running'")


def debits(curator: Curator) -> int:
    return len([entry for entry in curator.ledger.history(next(iter(curator.policy.datasets))) if not entry.analyst])


def choices(curator: Curator) -> list[Any]:
    with curator.store.transaction() as transaction:
        rows = transaction.run("SELECT chosen FROM choices WHERE chosen IS NOT NULL ORDER BY number")
        return [row[0] for row in rows]


def check_a_death(
    policy: Path, question: object, point: str, state: str, *, times: int = 1, meanwhile: Callable[[], object] = list
) -> None:
    """Check how a job ends whose worker died: with the choices that it had made, and one debit."""
    curator = started(policy)
    job, runner = submitted(curator, question), runner_of(curator)
    die_at(policy, point, times)
    meanwhile()
    kept = choices(curator)
    assert curator.job(ANA, job.id).state == "running"
    assert not runner.run_one()  # its lease still holds
    end_leases(curator)
    assert runner.run_one()
    ended = curator.job(ANA, job.id)
    assert ended.state == state, ended
    assert choices(curator)[: len(kept)] == kept
    assert debits(curator) == 1
    assert not runner.run_one()
    assert submitted(curator, question).id == job.id
    curator.close()
