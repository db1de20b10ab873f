"""A release and its certificate, for tests that need one."""

from __future__ import annotations

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


def fulfil(ledger: Ledger, request: str, *, text: str = "[1]", dataset: str = "meters") -> Fulfilled:
    """Pay for a release, and store it."""
    return ledger.fulfil(
        dataset, request=request, cost=COST, unit=User(), plan="p", source="s", produce=lambda: (text, CERTIFICATE)
    )
