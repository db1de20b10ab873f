"""Plans of questions that a policy allows; those made before are remembered, for whoever asked.

A plan follows from the policy and the question alone, so that the same again is answered from memory. It is remembered
for one caller: an answer that came sooner would tell them that somebody else asked the same. So nobody's plans make
room for another's either, unless more than `_CALLERS` ask in turn.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from chronodp.series import DiscoverPlan, FindPlan, Plan, QuantilePlan, Terms
from chronodp.service import shapes
from chronodp.service.bound_rules import allowed_search
from chronodp.service.policy import Dataset
from chronodp.service.presenting import show_plan
from chronodp.service.price import check_delta_asked, check_price
from chronodp.service.question import QueryRequest, ask
from chronodp.service.rules import allowed_grid, allowed_keys, check_allowed, check_expressions

__all__ = ["AnyPlan", "Planned", "Plans", "plan_question"]

AnyPlan: TypeAlias = Plan | FindPlan | DiscoverPlan | QuantilePlan

_CALLERS = 64
_EACH = 64  # plans of one caller


@dataclass(frozen=True)
class Planned:
    """A plan, and how it is shown while the budget can pay it."""

    dataset: Dataset
    plan: AnyPlan

    @cached_property
    def shown(self) -> shapes.PlanShape:
        """What is told of it, but for what the ledger says now."""
        return show_plan(self.dataset, self.plan)


class Plans:
    """Plans made before, by caller, dataset and question. Safe in threads."""

    def __init__(self) -> None:
        self._callers: OrderedDict[str, OrderedDict[tuple[str, str], Planned]] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, caller: str, key: tuple[str, str], make: Callable[[], Planned]) -> Planned:
        """Return the plan of a caller's question, made now unless they had it before."""
        with self._lock:
            known = self._of(caller)
            if key in known:
                known.move_to_end(key)
                return known[key]
        made = make()  # outside of the lock: others need not wait
        with self._lock:
            known = self._of(caller)
            known[key] = made
            if len(known) > _EACH:
                known.popitem(last=False)
        return made

    def _of(self, caller: str) -> OrderedDict[tuple[str, str], Planned]:
        known = self._callers.setdefault(caller, OrderedDict())
        self._callers.move_to_end(caller)
        if len(self._callers) > _CALLERS:
            self._callers.popitem(last=False)
        return known


def plan_question(dataset: Dataset, question: QueryRequest) -> Planned:
    """Return the plan of a question, or raise why the policy does not allow it. Reads no data."""
    grid = allowed_grid(dataset, every=question.every, start=question.start, end=question.end)
    check_expressions(dataset, where=question.where, columns=question.columns)
    periods = question.finding.instead_of("max_periods", question.max_periods)
    series = dataset.series(grid, max_periods=periods, where=question.where, columns=question.columns)
    query = allowed_keys(dataset, allowed_search(dataset, ask(series, question)), question.discovering)
    workload = question.workload
    check_allowed(dataset, query, tuned_for=workload, missing=question.missing is not None)
    check_delta_asked(dataset, question.delta)
    terms: Terms = {
        "epsilon": question.epsilon,
        "delta": question.delta,
        "tuned_for": workload,
        "missing": question.figure,
    }
    plan: AnyPlan = query.plan(**terms)
    check_price(dataset, plan.design.cost)
    return Planned(dataset, plan)
