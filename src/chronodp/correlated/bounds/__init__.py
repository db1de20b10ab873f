"""Bounds on leakage, each with its argument in ``docs/explanation/proofs/correlated.md``; the smallest certifies."""

from chronodp.correlated.bounds.ceiling import group_spans
from chronodp.correlated.bounds.forward_dobrushin import contraction, forward_distances, forward_dobrushin
from chronodp.correlated.bounds.influences import Influences, influences
from chronodp.correlated.bounds.memory import memory, memory_ranges
from chronodp.correlated.bounds.one_step import blunted, log_ranges, one_step
from chronodp.correlated.bounds.ratios import least_ratios
from chronodp.correlated.bounds.reader import Reader
from chronodp.correlated.bounds.rounding import MARGIN, round_up
from chronodp.correlated.bounds.space_time import reach_of_release, space_time
from chronodp.correlated.bounds.total_variation import aged_distances, from_distance, total_variation
from chronodp.correlated.bounds.window import Windows

__all__ = [
    "MARGIN",
    "Influences",
    "Reader",
    "Windows",
    "aged_distances",
    "blunted",
    "contraction",
    "forward_distances",
    "forward_dobrushin",
    "from_distance",
    "group_spans",
    "influences",
    "least_ratios",
    "log_ranges",
    "memory",
    "memory_ranges",
    "one_step",
    "reach_of_release",
    "round_up",
    "space_time",
    "total_variation",
]
