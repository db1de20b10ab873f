"""Releasing a series: what is released, which noise, the plan, the release and what is read from it for free."""

from chronodp.series.comparison import compare, solve
from chronodp.series.design import Design, Table
from chronodp.series.diagnosis import Diagnosis
from chronodp.series.measures import Blocks, Count, Histogram, Mean, Measure, PanelMean, Sum, Total, Variance
from chronodp.series.noise import Noise
from chronodp.series.plan import Origin, Plan, Steps, make_plan
from chronodp.series.release import Release
from chronodp.series.smoothed import smooth_view
from chronodp.series.stream import Stream, StreamAnswer
from chronodp.series.stream_design import StreamDesign
from chronodp.series.views import View
from chronodp.series.workloads import EachPeriod, Ewm, Filter, Hierarchy, Rolling, RunningTotal, Workload

__all__ = [
    "Blocks",
    "Count",
    "Design",
    "Diagnosis",
    "EachPeriod",
    "Ewm",
    "Filter",
    "Hierarchy",
    "Histogram",
    "Mean",
    "Measure",
    "Noise",
    "Origin",
    "PanelMean",
    "Plan",
    "Release",
    "Rolling",
    "RunningTotal",
    "Steps",
    "Stream",
    "StreamAnswer",
    "StreamDesign",
    "Sum",
    "Table",
    "Total",
    "Variance",
    "View",
    "Workload",
    "compare",
    "make_plan",
    "smooth_view",
    "solve",
]
