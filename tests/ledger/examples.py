"""A release and its certificate, for tests that need one."""

from __future__ import annotations

from typing import Any

from chronodp import User
from chronodp.ledger import Fulfilled, Ledger
from chronodp.privacy import Certificate, Claim, Guarantee, PureCost

COST = PureCost(0.125)
CERTIFICATE = Certificate(
    mechanism="Laplace noise on a count",
    claim=Claim(User(), COST, "docs/explanation/proofs/noise.md"),
    guarantee=Guarantee(User(), 0.125),
    theorem="definition",
    precision="integers on a grid",
)


def fulfil(
    ledger: Ledger, request: str, *, text: str = "[1]", dataset: str = "meters", produce: Any = None, **other: str
) -> Fulfilled:
    """Pay for a release, and store it: a text, or what is produced."""
    asked: dict[str, Any] = {"plan": "p", "source": "s", "produce": produce or (lambda: (text, CERTIFICATE)), **other}
    return ledger.fulfil(dataset, request=request, cost=COST, unit=User(), **asked)
