"""Every claim of the chapter on applications that its own room judges, and what we add beside them.

Alerts, model selection and federated training have rooms of their own.
"""

from __future__ import annotations

from experiments.applications.accumulation import accumulation_claims
from experiments.applications.aggregates import aggregate_claims
from experiments.applications.buildings import building_claims
from experiments.applications.grid import grid_claims
from experiments.applications.information import information_claims
from experiments.applications.linkage import linkage_claims
from experiments.applications.signals import signal_claims
from experiments.claims import Claim, Given

__all__ = ["claims"]


def claims(given: Given) -> list[Claim]:
    """Return the claims."""
    found = [
        *linkage_claims(given),
        *aggregate_claims(),
        *signal_claims(given),
        *building_claims(),
        *grid_claims(given),
        *information_claims(),
        *accumulation_claims(),
    ]
    return sorted(found, key=lambda claim: claim.id)
