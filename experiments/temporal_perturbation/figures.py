"""Every figure of the paper on temporal perturbation, and its Table II."""

from __future__ import annotations

from experiments.claims import Given
from experiments.figures import Figure
from experiments.temporal_perturbation import (
    drawn_applications,
    drawn_costs,
    drawn_ranges,
    drawn_table,
    drawn_thresholds,
)

__all__ = ["figures"]


def figures(given: Given) -> list[Figure]:
    """Return the figures in the paper's order."""
    return [
        *drawn_thresholds.figures(),
        *drawn_costs.figures(),
        *drawn_ranges.figures(),
        *drawn_applications.figures(given),
        drawn_table.figure(given),
    ]
