"""An audit of several cases, and where a user's own cases are found."""

from __future__ import annotations

import importlib
import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chronodp.audit.allowance import Allowance
from chronodp.audit.case import AuditCase
from chronodp.audit.judging import Verdict, judge_all
from chronodp.errors import InvalidArgument

__all__ = ["Audit", "audit_cases", "find_case"]


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Attributes:
        verdicts: one for each case.
    """

    verdicts: tuple[Verdict, ...]

    @property
    def passed(self) -> bool:
        """Whether every claim stands."""
        return all(verdict.passed for verdict in self.verdicts)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; a number that is not finite becomes a text."""
        return {"passed": self.passed, "mechanisms": [_plain(verdict) for verdict in self.verdicts]}


def audit_cases(
    cases: tuple[AuditCase, ...],
    *,
    allowance: Allowance | None = None,
    within: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Audit:
    """Audit cases.

    Args:
        cases: what to audit.
        allowance: of each attack; 20 seconds of samples by default.
        within: seconds after which nothing else is begun; what is left is listed as not reached.
        progress: told which fraction is done; a bar on the terminal if not given.
    """
    given = Allowance(seconds=20.0) if allowance is None else allowance
    return Audit(tuple(judge_all(cases, given, within=within, progress=progress)))


def find_case(address: str) -> tuple[AuditCase, ...]:
    """Return the cases of ``module:object``: an AuditCase, several, or a function that makes them."""
    allowed = "module:object, where object is an AuditCase, a list of them, or a function that returns them"
    module, _, name = address.partition(":")
    try:
        found = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise InvalidArgument("mechanism", address, f"{allowed} ({error})") from error
    if not isinstance(found, AuditCase) and callable(found):
        found = found()
    made = (found,) if isinstance(found, AuditCase) else found
    if not isinstance(made, list | tuple) or not made or not all(isinstance(one, AuditCase) for one in made):
        raise InvalidArgument("mechanism", address, allowed)
    return tuple(made)


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.case.name,
        "unit": str(verdict.case.claim.unit),
        "cost": str(verdict.case.claim.cost),
        "argument": verdict.case.claim.argument,
        "epsilon": verdict.case.epsilon,
        "delta": verdict.case.delta,
        "lower": _number(verdict.lower),
        "exact": _number(verdict.exact),
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "auditors": [part.auditor for part in verdict.reached],
        "where": [part.where for part in verdict.reached],
        "seconds": round(verdict.seconds, 2),
    }


def _number(value: float | None) -> float | str | None:
    return "infinite" if value == math.inf else value
