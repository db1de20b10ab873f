"""Privacy for any so many consecutive periods, without end: counts released step by step (w-event privacy)."""

from chronodp.series.windowed.advance import advance
from chronodp.series.windowed.design import WindowedDesign, design_windowed
from chronodp.series.windowed.mechanisms import BudgetAbsorption, BudgetDistribution, Sample, Uniform, WindowedMechanism
from chronodp.series.windowed.rehearsal import rehearse
from chronodp.series.windowed.state import WindowedState, start
from chronodp.series.windowed.stream import WindowedAnswer, WindowedStream

__all__ = [
    "BudgetAbsorption",
    "BudgetDistribution",
    "Sample",
    "Uniform",
    "WindowedAnswer",
    "WindowedDesign",
    "WindowedMechanism",
    "WindowedState",
    "WindowedStream",
    "advance",
    "design_windowed",
    "rehearse",
    "start",
]
