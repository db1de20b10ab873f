"""Figs. 3 and 4: what becomes of Forward without collisions, and what budget a threshold derives."""

from __future__ import annotations

import math
from itertools import pairwise

from experiments.figures import Curve, Figure, Level, Panel, Stated
from experiments.temporal_perturbation.dispatch import derived_curve, lowest_budget, ratio_to_first
from experiments.temporal_perturbation.start import collision_free_runs, delays_without_collisions

__all__ = ["figures"]

_STEPS = 400
_RUNS = 4


def figures() -> list[Figure]:
    """Return Figs. 3 and 4."""
    return [_figure_3(), _figure_4()]


def _figure_3() -> Figure:
    runs = collision_free_runs(3, _STEPS, _RUNS)
    mean = delays_without_collisions(3, _STEPS)
    stuck = [max((time for time, delay in enumerate(run) if delay < 2), default=-1) + 1 for run in runs]
    near = next(step for step, delay in enumerate(mean) if delay > 1.99)
    steps = list(range(_STEPS))
    return Figure(
        name="temporal-3",
        source="temporal",
        title="Fig. 3: Forward without collisions, k = 3",
        panels=[
            Panel(
                gallery="paper",
                title="Delay of each value, some runs",
                x_title="step",
                y_title="delay in periods",
                curves=[
                    Curve(name=f"run {number}", x=steps, y=run, style="line" if number == 1 else "dashed")
                    for number, run in enumerate(runs, 1)
                ],
                levels=[Level(claim="L16", at=2.0, label="k − 1")],
            ),
            Panel(
                gallery="found",
                title="Mean delay, exactly",
                x_title="step",
                y_title="mean delay in periods",
                curves=[Curve(name="every empty time alike", x=steps, y=mean)],
                levels=[Level(claim="L16", at=2.0, label="k − 1")],
            ),
        ],
        paper_caption=f"From steps {', '.join(map(str, stuck))} on every value of the {_RUNS} runs comes two periods "
        f"late, to the last of {_STEPS} steps; from there on the later runs, dashed, lie on the first.",
        found_caption=f"The mean delay rises from {mean[0]:.2f} to k − 1 = 2 and is above 1.99 from step {near} on.",
    )


def _figure_4() -> Figure:
    panels = [_budget_lines(window, gallery) for window, gallery in ((20, "paper"), (10, "found"), (50, "found"))]
    lowest = {window: lowest_budget(window) for window in (10, 20, 50)}
    return Figure(
        name="temporal-4",
        source="temporal",
        title="Fig. 4: derived budget against the threshold",
        panels=panels,
        paper_caption="The paper does not tell k; here it is 20. The red line falls, the blue one rises; their upper "
        f"parts, dashed over them, are the derived budget, lowest at V = ({lowest[20][0]}, {lowest[20][1]:.4f}). "
        f"A budget ε₁ = {_above(20):.2f} above it meets the blue line at Q, rounded down to U; ε₂ = {_below(20):.2f} "
        "below it meets the red line at O, rounded up, where the blue line's G is brought down to H.",
        found_caption="The same at k = 10 and 50: V lies at "
        + " and ".join(f"({lowest[window][0]}, {lowest[window][1]:.4f})" for window in (10, 50))
        + ". At small thresholds the red line is far higher than any budget that is used.",
    )


def _above(window: int) -> float:
    """Return a budget ε₁ that some threshold derives: a quarter above the lowest, not on a threshold."""
    return 1.25 * lowest_budget(window)[1]


def _below(window: int) -> float:
    """Return a budget ε₂ below the lowest."""
    return 0.6 * lowest_budget(window)[1]


def _budget_lines(window: int, gallery: str) -> Panel:
    thresholds = list(range(2, window))
    red = [ratio_to_first(window, part, window - 1) for part in thresholds]
    blue = [ratio_to_first(window, part, 0) for part in thresholds]
    high, low = _above(window), _below(window)
    meets_blue = _meeting(thresholds, blue, high)
    meets_red = _meeting(thresholds, red, low)
    rounded = math.ceil(meets_red)
    best, lowest = lowest_budget(window)
    points = [
        ("V", best, lowest),
        ("Q", meets_blue, high),
        ("U", math.floor(meets_blue), blue[math.floor(meets_blue) - 2]),
        ("O", meets_red, low),
        ("G", rounded, blue[rounded - 2]),
        ("H", rounded, low),
    ]
    return Panel(
        gallery="paper" if gallery == "paper" else "found",
        title=f"k = {window}",
        x_title="threshold c₀",
        y_title="budget ε̂",
        curves=[
            Curve(name="2 ln(p_{k−1} / p₁), the paper's red line", x=thresholds, y=red),
            Curve(name="2 ln(p₀ / p₁), the paper's blue line", x=thresholds, y=blue),
            Curve(
                name="derived budget, the larger of both", x=thresholds, y=list(derived_curve(window)), style="dashed"
            ),
            *(Curve(name=name, x=[float(x)], y=[y], style="marks") for name, x, y in points),
        ],
        stated=[Stated(claim="L25", x=float(best), y=lowest)],
        levels=[Level(claim="L24", at=high, label="ε₁"), Level(claim="L25", at=low, label="ε₂")],
    )


def _meeting(places: list[int], heights: list[float], level: float) -> float:
    """Return where a line that falls or rises all along meets a level, between whole places."""
    for place, (here, there) in zip(places, pairwise(heights), strict=False):
        if min(here, there) <= level <= max(here, there):
            return place + (level - here) / (there - here)
    raise ValueError(f"the line meets no level of {level}")
