"""What submitting a question would debit, told before anyone pays.

Decided as a submission decides it, from the question, the policy, the ledger and the table of jobs. No data is read,
and nothing is written or reserved: by the time of the submission others may have spent.
"""

from __future__ import annotations

from chronodp.accounting import epsilon_at
from chronodp.ledger import check_name
from chronodp.privacy import dump
from chronodp.service import shapes
from chronodp.service.curator import Caller, Curator
from chronodp.service.policy import Dataset
from chronodp.service.question import QueryRequest

__all__ = ["quote"]


def quote(
    curator: Curator, caller: Caller, dataset: Dataset, question: QueryRequest, *, request: str, fresh: bool
) -> shapes.QuoteShape:
    """Return what a submission would debit, or raise what it would be refused with."""
    check_name("request", request)
    name = caller.request(request)
    check_name("request", name)
    plan = curator.plan(dataset, question, asker=caller.request(""))
    whose = None if dataset.share else caller.request("")
    known = curator.jobs.foresee(dataset.name, name, design=dump(plan.design), whose=whose, fresh=fresh)
    if known is None:
        after = curator.check_fits(caller, dataset, plan)
        return shapes.QuoteShape(
            debits=True,
            why="",
            release=None,
            epsilon=epsilon_at(plan.design.cost, dataset.delta),
            delta=dataset.delta,
            left=None if "" not in after else 1 - after[""],
            left_of_mine=None if not caller.analyst else 1 - after[caller.analyst],
        )
    source, state = known
    stored = curator.ledger.stored.release_of(dataset.name, source) if state == "done" else None
    made = "This request was made before" if source == name else "The same question was asked before"
    then = "its release is shown again" if state == "done" else f"it is {state}"
    return shapes.QuoteShape(
        debits=False,
        why=f"{made}: {then}, and nothing is debited.",
        release=None if stored is None else stored.number,
        epsilon=0.0,
        delta=dataset.delta,
        left=None,
        left_of_mine=None,
    )
