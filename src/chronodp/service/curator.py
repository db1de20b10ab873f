"""The curator: a policy, a ledger and a table of jobs, and what can be asked of them.

Section 1 of ``docs/explanation/proofs/curator.md``: which routes read the policy, the ledger or releases, and nothing
else.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

from chronodp.errors import NotFound
from chronodp.ledger import FileWitness, Ledger, StoredRelease, Transaction, check_name
from chronodp.privacy import dump
from chronodp.service.job import Job
from chronodp.service.jobs import Jobs
from chronodp.service.opening import open_budgets
from chronodp.service.planning import AnyPlan, Planned, Plans, plan_question
from chronodp.service.policy import Dataset, Policy
from chronodp.service.question import QueryRequest
from chronodp.service.tables import open_tables
from chronodp.service.tokens import Role

__all__ = ["WITNESS", "Caller", "Curator"]

WITNESS = ".witness"
"""How the name of a witness ends that nobody named: it lies beside the keys, or beside a ledger's file."""

_STAGED = ("find_design", "discover_design")  # kinds of designs with choices before their release


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the name and role of their token."""

    name: str
    role: Role
    token: str

    @property
    def analyst(self) -> str:
        """Whose part of a budget pays; empty for the owner, who spends from the whole."""
        return self.name if self.role == "analyst" else ""

    def request(self, given: str) -> str:
        """Return the id under which the ledger knows a request of theirs: nobody else can take or see it."""
        return f"{self.analyst or f'owner:{self.name}'}/{given}"  # no analyst of a policy has a colon in their name


class Curator:
    """Everything a worker needs to answer. Safe in threads.

    Guarantee: every release is debited from the dataset's whole budget and, for an analyst, from their part too,
    before noise exists; so whatever analysts pool, the whole budget bounds it. Plans and refusals read no data. The
    argument, and what is not promised, stand in ``docs/explanation/proofs/curator.md``.

    Args:
        policy: what the owner decided.
        ledger: where budgets, jobs and tokens are kept.
        keys: the owner's keys; needed for PostgreSQL, by default beside a SQLite file.
        witness: a file that counts charges, by which a ledger that was set back is noticed; best on another disk.
        timeout: seconds to wait for other writers.
    """

    def __init__(
        self,
        policy: Policy,
        ledger: str,
        *,
        keys: str | Path | None = None,
        witness: str | Path | None = None,
        timeout: float = 10.0,
    ) -> None:
        self.policy, self.address = policy, ledger
        elsewhere = FileWitness(witness or f"{keys or ledger}{WITNESS}")
        self.ledger = Ledger(ledger, keys=keys, witness=elsewhere, timeout=timeout)
        self.store = open_tables(ledger, timeout=timeout)
        self.jobs = Jobs(self.store)
        self._plans = Plans()

    def open_budgets(self) -> None:
        """Open every budget of the policy; the same again is a no-op, other terms are refused."""
        open_budgets(self.ledger, self.policy)

    def datasets(self, caller: Caller) -> list[Dataset]:
        """Return the datasets that a caller may know of."""
        return [
            dataset
            for dataset in self.policy.datasets.values()
            if caller.role != "analyst" or caller.name in dataset.analysts
        ]

    def dataset(self, caller: Caller, name: str) -> Dataset:
        """Return a dataset; one that is not the caller's is as unknown as one that is not there."""
        dataset = self.policy.datasets.get(name)
        if dataset is not None and (caller.role != "analyst" or caller.name in dataset.analysts):
            return dataset
        raise NotFound(
            f"there is no dataset {name!r} for you", argument="dataset", mend="GET /api/v1/datasets lists yours"
        )

    def plan(self, dataset: Dataset, question: QueryRequest, *, asker: str = "") -> AnyPlan:
        """Return the plan of a question that the policy allows, remembered for whoever asks. Reads no data."""
        return self.planned(dataset, question, asker=asker).plan

    def planned(self, dataset: Dataset, question: QueryRequest, *, asker: str = "") -> Planned:
        """Return the plan of a question with how it is shown."""
        key = (dataset.name, question.model_dump_json())
        return self._plans.get(asker, key, lambda: plan_question(dataset, question))

    def check_fits(self, caller: Caller, dataset: Dataset, plan: AnyPlan) -> dict[str, float]:
        """Raise, with what was asked, spent and left, if the budget cannot pay a plan now.

        Returns how much of every budget that pays would be used then, by analyst, the whole's empty.
        """
        table = plan.design.table
        return self.ledger.check_fits(
            dataset.name, plan.design.cost, unit=table.claimed, analyst=caller.analyst, dates=table.span
        )

    def submit(
        self, caller: Caller, dataset: Dataset, question: QueryRequest, *, request: str, fresh: bool
    ) -> tuple[Job, bool]:
        """Put a question on disk, to be released; return its job, and whether there was none before. Reads no data."""
        check_name("request", request)
        name = caller.request(request)
        check_name("request", name)
        plan = self.plan(dataset, question, asker=caller.request(""))

        def admit(_: Transaction) -> None:
            self.check_fits(caller, dataset, plan)

        job, new = self.jobs.submit(
            dataset.name,
            name,
            caller.analyst,
            question=question.model_dump_json(),
            design=dump(plan.design),
            whose=None if dataset.share else caller.request(""),
            fresh=fresh,
            admit=admit,
            most=self.policy.running.waiting,
        )
        if job.state == "failed" and self.goes_on(job):
            return self.jobs.reopen(job), False
        return job, new

    def goes_on(self, job: Job) -> bool:
        """Return whether a job that was debited has private choices, all on disk, from which it can go on.

        "Choices before a release" in ``docs/explanation/proofs/ledger.md``: nothing is being drawn, or was.
        """
        staged = json.loads(job.design).get("kind") in _STAGED
        return staged and self.ledger.stored.may_go_on(job.dataset, job.request)

    def job(self, caller: Caller, identity: str) -> Job:
        """Return a job of the caller's; of anyone's to owner and auditor."""
        job = self.jobs.find(identity)
        if job is None or (caller.role == "analyst" and not job.request.startswith(f"{caller.name}/")):
            raise NotFound("there is no such job of yours", argument="job", mend="GET /api/v1/jobs lists yours")
        return job

    def may_read(self, caller: Caller, dataset: Dataset, request: str) -> bool:
        """Return whether a caller may read the release of a request."""
        return caller.role != "analyst" or dataset.share or request.startswith(f"{caller.name}/")

    def release(self, caller: Caller, dataset: Dataset, number: int) -> StoredRelease:
        """Return a stored release; one that is not the caller's is as unknown as one that is not there."""
        found = self.ledger.stored.release(dataset.name, number)
        if found is None or not self.may_read(caller, dataset, found.request):
            raise NotFound(
                f"there is no release {number} for you", argument="number", mend="GET .../releases lists yours"
            )
        return found

    def close(self) -> None:
        """Let go of this thread's connections."""
        self.ledger.close_connection()
        self.store.close()
