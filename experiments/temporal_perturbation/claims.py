"""Every claim of the paper on temporal perturbation, with what is computed for it."""

from __future__ import annotations

from experiments.claims import Claim, Given
from experiments.temporal_perturbation import (
    averages,
    baselines,
    counting,
    dispatch,
    figure_5,
    figure_6,
    noise_on_values,
    privacy,
    ranges,
    scenarios,
    search,
    series,
    start,
    trajectories,
    unit_costs,
)

__all__ = ["claims"]


def claims(given: Given) -> list[Claim]:
    """Return the rows by their ids."""
    rows = [
        *privacy.rows(),
        *unit_costs.rows(),
        *noise_on_values.rows(),
        *baselines.rows(),
        *start.rows(),
        *dispatch.rows(),
        *search.rows(),
        *figure_5.rows(),
        *figure_6.rows(),
        *ranges.rows(),
        *counting.rows(given),
        *averages.rows(given),
        *trajectories.rows(given),
        *series.rows(given),
        *scenarios.rows(),
    ]
    return sorted(rows, key=lambda row: row.id)
