"""Every figure of the paper on correlated sequences over its whole range, and one on vital signs."""

from __future__ import annotations

from experiments.claims import Given
from experiments.correlated_sequences import drawn_3, drawn_4, drawn_5, panel
from experiments.figures import Figure

__all__ = ["figures"]


def figures(given: Given) -> list[Figure]:
    """Return all figures in the paper's order."""
    return [*drawn_3.figures(), *drawn_4.figures(), *drawn_5.figures(), *panel.figures(given)]
