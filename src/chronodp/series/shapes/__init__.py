"""Noise of a chosen shape: release y = C x + z, estimate x̂ = C⁻¹ y, and answer any linear query from x̂.

The privacy cost depends on the sensitivity of C alone, the error of a query on C⁻¹ alone. Each shape is frozen data;
what it costs and what it is worth is computed, never assumed.
"""

from chronodp.series.shapes.buffered import BufferedLinear
from chronodp.series.shapes.buffered_table import buffers_near, endless_buffers
from chronodp.series.shapes.candidates import Candidate, reach_of, shape_candidates
from chronodp.series.shapes.differenced import Differenced
from chronodp.series.shapes.errors import (
    CausalShape,
    Errors,
    Shape,
    answer_variances,
    errors_of,
    filter_variances,
    lower_bound,
    sum_variances,
    window_variances,
)
from chronodp.series.shapes.power_series import product, reciprocal
from chronodp.series.shapes.reach import FilterReach, Reach, TreeReach
from chronodp.series.shapes.sensitivity import shape_sensitivity
from chronodp.series.shapes.stays import stays_sensitivity
from chronodp.series.shapes.toeplitz import Banded, SquareRoot, White
from chronodp.series.shapes.tree import Tree

__all__ = [
    "Banded",
    "BufferedLinear",
    "Candidate",
    "CausalShape",
    "Differenced",
    "Errors",
    "FilterReach",
    "Reach",
    "Shape",
    "SquareRoot",
    "Tree",
    "TreeReach",
    "White",
    "answer_variances",
    "buffers_near",
    "endless_buffers",
    "errors_of",
    "filter_variances",
    "lower_bound",
    "product",
    "reach_of",
    "reciprocal",
    "shape_candidates",
    "shape_sensitivity",
    "stays_sensitivity",
    "sum_variances",
    "window_variances",
]
