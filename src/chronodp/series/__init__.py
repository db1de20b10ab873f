"""Releasing a series: what is released, which noise, the plan, the release and what is read from it for free."""

from chronodp.series.answers import Memory as Memory, answer_steps as answer_steps
from chronodp.series.comparison import compare, solve
from chronodp.series.describe import (
    describe as describe,
    every_of as every_of,
    half_width as half_width,
    unit_reach as unit_reach,
)
from chronodp.series.design import Design as Design
from chronodp.series.diagnosis import Diagnosis as Diagnosis
from chronodp.series.discover import Discover
from chronodp.series.discovery import (
    DiscoverDesign as DiscoverDesign,
    DiscoverPlan as DiscoverPlan,
    KeysOrigin as KeysOrigin,
    describe_discover as describe_discover,
    make_discover_plan as make_discover_plan,
)
from chronodp.series.drawing import certificate_of as certificate_of, draw_release as draw_release
from chronodp.series.estimates import estimate as estimate
from chronodp.series.finding import (
    FindDesign as FindDesign,
    FindingOrigin as FindingOrigin,
    FindPlan as FindPlan,
    describe_find as describe_find,
    make_find_plan as make_find_plan,
)
from chronodp.series.found import Find, Found
from chronodp.series.life import Asks as Asks, Life as Life, full_periods as full_periods, so_many as so_many
from chronodp.series.listed import listed as listed
from chronodp.series.measures import (
    Active as Active,
    Count as Count,
    Histogram as Histogram,
    Mean as Mean,
    Measure as Measure,
    PanelMean as PanelMean,
    Quantiles as Quantiles,
    RowHistogram as RowHistogram,
    RowMean as RowMean,
    RowQuantiles as RowQuantiles,
    ScaledSum as ScaledSum,
    Sum as Sum,
    Total as Total,
    Variance as Variance,
)
from chronodp.series.missing import Missing, MissingFigure as MissingFigure
from chronodp.series.noise import Noise as Noise, calibrated as calibrated, cost_of as cost_of
from chronodp.series.norm import Norm, check_norm as check_norm
from chronodp.series.places import Places
from chronodp.series.plan import Origin as Origin, Plan, Quanta as Quanta, Terms as Terms, make_plan as make_plan
from chronodp.series.planner import check_drawable as check_drawable, design_release as design_release
from chronodp.series.quantiles import (
    QuantileDesign as QuantileDesign,
    QuantilePlan as QuantilePlan,
    QuantileRelease as QuantileRelease,
    describe_quantiles as describe_quantiles,
    make_quantile_plan as make_quantile_plan,
    open_release as open_release,
    rank_change as rank_change,
)
from chronodp.series.questions import ASKABLE as ASKABLE, Questions as Questions, ask_for as ask_for
from chronodp.series.reading_request import ReadingRequest as ReadingRequest, offered as offered, read_view as read_view
from chronodp.series.release import Release
from chronodp.series.releasing import ReleasePlan as ReleasePlan
from chronodp.series.shaping import draw_noise as draw_noise, rounding_bound as rounding_bound
from chronodp.series.smoothed import smooth_view
from chronodp.series.split import Split as Split, choice_prices as choice_prices, numbers_within as numbers_within
from chronodp.series.stream import Stream, StreamAnswer
from chronodp.series.stream_design import StreamDesign as StreamDesign, design_stream as design_stream
from chronodp.series.table import Table as Table
from chronodp.series.views import View
from chronodp.series.voters import Voters as Voters, voters_of as voters_of
from chronodp.series.window_rows import Row as Row, check_totals as check_totals
from chronodp.series.windows import coarser as coarser, each as each, running as running
from chronodp.series.workloads import (
    CausalFilter as CausalFilter,
    EachPeriod,
    Ewm,
    Filter,
    Hierarchy,
    Rolling,
    RunningTotal,
    Workload as Workload,
)

__all__ = [
    "Discover",
    "EachPeriod",
    "Ewm",
    "Filter",
    "Find",
    "Found",
    "Hierarchy",
    "Missing",
    "Norm",
    "Places",
    "Plan",
    "Release",
    "Rolling",
    "RunningTotal",
    "Stream",
    "StreamAnswer",
    "View",
    "compare",
    "smooth_view",
    "solve",
]
