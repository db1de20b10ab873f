"""What a source says of federated training, and what training, attacks and accounts show beside it."""

from __future__ import annotations

from experiments.claims import Claim, Given
from experiments.federated.accounting import accounting_claims
from experiments.federated.secure_sums import secure_sum_claims
from experiments.federated.trainings import training_claims

__all__ = ["claims"]


def claims(given: Given) -> list[Claim]:
    """Return the claims."""
    found = [*accounting_claims(), *secure_sum_claims(), *training_claims(given)]
    return sorted(found, key=lambda claim: claim.id)
