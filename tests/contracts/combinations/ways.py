"""How queries are planned where that is not by a plan of their own: a line of `WAYS` for each."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import chronodp as cdp
from chronodp.dataset import Query, plan_together
from chronodp.randomness import Entropy

__all__ = ["SPAN", "TERMS", "WAYS", "Life"]

SPAN = ("2026-01-01", "2026-01-05")
TERMS: Mapping[str, Any] = {"epsilon": 20.0, "delta": 1e-6}


@dataclass(frozen=True, slots=True)
class Life:
    """A series that is bought once; its first issue is released as a plan is."""

    plan: Any
    data: object

    def release(self, ledger: cdp.Ledger, *, dataset: str, request: str, entropy: Entropy) -> Any:
        """Buy the series, and publish its first issue."""
        with tempfile.TemporaryDirectory() as folder:
            name, tally = f"{request} of {dataset}", Path(folder) / "tally"
            opened = self.plan.open(ledger, dataset=dataset, name=name, tally=tally)
            return opened.issue(self.data, start=SPAN[0], end=SPAN[1], request=request, entropy=entropy)


def _lifetime(query: Query[Any], beside: Query[Any], data: object) -> Any:
    del beside
    return Life(query.lifetime(**TERMS, max_periods=2), data)


def _together(query: Query[Any], beside: Query[Any], data: object) -> Any:
    del data
    return plan_together({"it": query, "beside": beside}, **TERMS)


def _life_together(query: Query[Any], beside: Query[Any], data: object) -> Any:
    return _together(_lifetime(query, beside, data).plan, beside, data)


WAYS: Mapping[tuple[str, ...], tuple[str, Callable[[Query[Any], Query[Any], object], Any]]] = {
    ("plan_together",): ("plan_together", _together),
    ("lifetime",): ("lifetime", _lifetime),
    ("plan_together", "lifetime"): ("plan_together", _life_together),
}
"""By the ways that features name: what it is called, and how a query is planned so, with another beside it."""
