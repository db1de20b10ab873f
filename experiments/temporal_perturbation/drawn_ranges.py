"""Fig. 6(c): which budgets Threshold derives, and at which it is the cheapest."""

from __future__ import annotations

import numpy as np

from experiments.figures import Curve, Figure, Panel, Stated
from experiments.temporal_perturbation.costs import crossings
from experiments.temporal_perturbation.dispatch import derived_curve, lowest_budget
from experiments.temporal_perturbation.ranges import WINDOWS

__all__ = ["figures"]


def figures() -> list[Figure]:
    """Return Fig. 6(c)."""
    lowest = [lowest_budget(window) for window in WINDOWS]
    thresholds = [float(threshold) for threshold, _ in lowest]
    derived = Curve(
        name="budgets derived, up to c₀ = k − 1",
        x=WINDOWS,
        y=[derived_curve(window)[-1] for window in WINDOWS],
        low=[budget for _, budget in lowest],
        style="bars",
    )
    ends = [crossings(window) for window in WINDOWS]
    wins = Curve(
        name="budgets at which Threshold, extended or not, is the cheapest",
        x=WINDOWS,
        y=[end for _, end in ends],
        low=[start for start, _ in ends],
        style="bars",
    )
    chosen = Curve(name="c₀* of the lowest budget", x=WINDOWS, y=thresholds, right=True)
    slope, offset = (float(part) for part in np.polyfit(WINDOWS, thresholds, 1))
    return [
        Figure(
            name="temporal-6c",
            source="temporal",
            title="Fig. 6(c): range of budgets against the window",
            panels=[
                Panel(
                    gallery="paper",
                    title="Ranges and c₀*",
                    x_title="window k",
                    y_title="budget ε",
                    right_title="threshold c₀*",
                    curves=[wins, derived, chosen],
                    stated=[Stated(claim="L38", x=200.0, y=2.5)],
                ),
                Panel(
                    gallery="found",
                    title="c₀* beside a line, and its share of the window",
                    x_title="window k",
                    y_title="threshold c₀*",
                    right_title="c₀* / k",
                    curves=[
                        Curve(name="c₀* of the lowest budget", x=WINDOWS, y=thresholds, style="marks"),
                        Curve(
                            name=f"line {slope:.3f} k + {offset:.1f}",
                            x=WINDOWS,
                            y=[slope * window + offset for window in WINDOWS],
                            style="dashed",
                        ),
                        Curve(
                            name="c₀* / k",
                            x=WINDOWS,
                            y=[part / window for part, window in zip(thresholds, WINDOWS, strict=True)],
                            right=True,
                        ),
                    ],
                ),
            ],
            paper_caption=f"From k = 5 to 200 the derived range grows from {lowest[0][1]:.2f}–{derived.y[0]:.2f} to "
            f"{lowest[-1][1]:.2f}–{derived.y[-1]:.2f}; Threshold is the cheapest from {ends[0][0]:.2f} to "
            f"{ends[0][1]:.2f} at k = 5 and from {ends[-1][0]:.2f} to {ends[-1][1]:.2f} at k = 200.",
            found_caption=f"c₀* grows from {thresholds[0]:g} to {thresholds[-1]:g}, near a line with an offset; as a "
            f"share of k it falls from {thresholds[0] / WINDOWS[0]:.2f} to {thresholds[-1] / WINDOWS[-1]:.2f}.",
        )
    ]
