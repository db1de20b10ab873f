"""Every statement of the paper on correlated sequences that can be looked at, and what we add."""

from __future__ import annotations

from experiments.claims import Claim, Given
from experiments.correlated_sequences import (
    abstract,
    additions,
    bounds,
    definition,
    figure_3,
    figure_4,
    figure_5,
    foundations,
    panel,
    utility,
)

__all__ = ["claims"]


def claims(given: Given) -> list[Claim]:
    """Return all rows, those of the paper by their number, then ours."""
    parts = (abstract, foundations, definition, bounds, utility, figure_3, figure_4, figure_5)
    stated = [claim for part in parts for claim in part.claims()]
    return [*sorted(stated, key=lambda claim: claim.id), *additions.claims(), *panel.claims(given)]
