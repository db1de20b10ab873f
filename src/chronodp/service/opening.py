"""Opening what a policy declares: the budgets of its datasets, the parts of its analysts, its series for ever.

Terms on disk never change, so a policy whose budgets stand open as it has them costs one look, however many they are.
"""

from __future__ import annotations

from collections.abc import Mapping

from chronodp.ledger import Budget, Ledger, Part, Wanted, open_all
from chronodp.service.made_once import budget_of
from chronodp.service.policy import Allotment, Dataset, Policy

__all__ = ["open_budgets"]

_TOGETHER = 1000  # budgets in a transaction: others who write wait for some tenths of a second


def open_budgets(ledger: Ledger, policy: Policy) -> None:
    """Open every budget of a policy; the same again is a no-op, other terms are refused."""
    known = {(name, analyst): budget for name, analyst, budget in ledger.budgets(closed=False)}
    wanted = [
        _wanted(dataset, new=(name, "") not in known)
        for name, dataset in policy.datasets.items()
        if not _is_open(dataset, known)
    ]
    for first in range(0, len(wanted), _TOGETHER):
        open_all(ledger, wanted[first : first + _TOGETHER])


def _wanted(dataset: Dataset, *, new: bool) -> Wanted:
    # A new budget speaks of the policy's own grid and zone, whichever grid is asked for first; one that is open already
    # keeps the meaning that it has.
    unit = dataset.unit.on(dataset.calendar) if new else dataset.unit
    zone = dataset.calendar.timezone if new and dataset.renews is not None else None
    budget = budget_of(unit, dataset.epsilon, dataset.delta, dataset.reserve, dataset.renews, zone)
    parts = {who: Part(part.epsilon, part.delta, reserve=part.reserve) for who, part in dataset.analysts.items()}
    return dataset.name, budget, parts


def _is_open(dataset: Dataset, known: Mapping[tuple[str, str], Budget]) -> bool:
    """Return whether the budgets of a dataset are open as the policy has them, word for word."""
    whole = known.get((dataset.name, ""))
    if whole is None or whole != _terms(dataset, dataset, whole):
        return False
    return all(
        known.get((dataset.name, analyst)) == _terms(dataset, part, whole) for analyst, part in dataset.analysts.items()
    )


def _terms(dataset: Dataset, amounts: Dataset | Allotment, whole: Budget) -> Budget:
    """Return terms of a policy, on the clocks of the budget that is open."""
    unit = dataset.unit.on(dataset.calendar)
    return budget_of(unit, amounts.epsilon, amounts.delta, amounts.reserve, dataset.renews, whole.timezone)
