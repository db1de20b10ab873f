"""Every claim of the textbook chapter, and what we add beside them."""

from __future__ import annotations

from experiments.claims import Claim, Given
from experiments.textbook.adjacency import adjacency_claims
from experiments.textbook.background import background_claims
from experiments.textbook.composition import composition_claims
from experiments.textbook.growth import growth_claims
from experiments.textbook.interpretation import interpretation_claims
from experiments.textbook.local_reports import local_claims
from experiments.textbook.post_processing import post_processing_claims
from experiments.textbook.renyi import renyi_claims
from experiments.textbook.sparse_vector import sparse_vector_claims

__all__ = ["claims"]


def claims(given: Given) -> list[Claim]:
    """Return the claims; none of them reads a file."""
    del given
    found = [
        *adjacency_claims(),
        *composition_claims(),
        *growth_claims(),
        *renyi_claims(),
        *interpretation_claims(),
        *background_claims(),
        *post_processing_claims(),
        *local_claims(),
        *sparse_vector_claims(),
        Claim(
            id="T35",
            source="textbook",
            place="Introduction",
            says="A third part offers exercises.",
            reason="the text that we have ends before it",
            tokens=("**Hands-On Practices**",),
        ),
    ]
    return sorted(found, key=lambda claim: claim.id)
