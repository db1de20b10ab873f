"""A release and its certificate, for tests that need one."""

from __future__ import annotations

from chronodp import User
from chronodp.privacy import Certificate, Claim, Guarantee, PureCost

COST = PureCost(0.125)
CERTIFICATE = Certificate(
    mechanism="Laplace noise on a count",
    claim=Claim(User(), COST, "docs/explanation/proofs/noise.md"),
    guarantee=Guarantee(User(), 0.125),
    theorem="definition",
    precision="integers on a grid",
)
