"""All claims and figures, gathered from the rooms."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module

from experiments.claims.claim import Claim
from experiments.claims.datasets import Given
from experiments.figures import Figure

__all__ = ["ROOMS", "all_claims", "all_figures"]

ROOMS = (
    "textbook",
    "applications",
    "correlated_sequences",
    "temporal_perturbation",
    "alerts",
    "devices",
    "federated",
    "model_selection",
)
_DRAWN = ("correlated_sequences", "temporal_perturbation")


def all_claims(given: Given, rooms: Iterable[str] = ROOMS) -> list[Claim]:
    """Return the claims of some rooms, or of all; an id is used once."""
    found: dict[str, Claim] = {}
    for room in rooms:
        for claim in import_module(f"experiments.{room}.claims").claims(given):
            if claim.id in found:
                raise ValueError(f"two claims are called {claim.id}")
            found[claim.id] = claim
    return list(found.values())


def all_figures(given: Given, rooms: Iterable[str] = ROOMS) -> list[Figure]:
    """Return the figures of some rooms, or of all."""
    return [
        figure
        for room in rooms
        if room in _DRAWN
        for figure in import_module(f"experiments.{room}.figures").figures(given)
    ]
