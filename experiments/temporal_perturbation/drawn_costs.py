"""Figs. 5(a) to 6(b): total cost against unit costs, window and budget."""

from __future__ import annotations

from functools import partial

from experiments.figures import Curve, Figure, Level, Panel, Stated
from experiments.temporal_perturbation.costs import (
    PAPERS,
    crossings,
    expected_part,
    extended,
    measured_cost,
    total_cost,
)
from experiments.temporal_perturbation.dispatch import derived_curve
from experiments.temporal_perturbation.figure_5 import RELATIVE, WINDOWS, relative_costs
from experiments.temporal_perturbation.figure_6 import BUDGETS

__all__ = ["figures"]

_SHORT = 100_000  # values of a measured run of Figs. 5(d), 6(a) and 6(b)
_LETTERS = {"missing": "M", "repeated": "N", "empty": "E", "delay": "D"}


def figures() -> list[Figure]:
    """Return Figs. 5(a) to 6(b)."""
    relative = [_relative(*panel) for panel in (("a", "missing"), ("b", "repeated"), ("c", "empty"))]
    return [*relative, _windows(), _budgets("a", 10), _budgets("b", 50)]


def _relative(letter: str, name: str) -> Figure:
    costs = {kind: [total_cost(kind, 20, 5.0, *relative_costs(name, part)) for part in RELATIVE] for kind in PAPERS}
    seen = {kind: [measured_cost(kind, 20, 5.0, *relative_costs(name, part)) for part in RELATIVE] for kind in PAPERS}
    shuffle = [total_cost("block shuffle", 20, 5.0)] * len(RELATIVE)
    worst = max(abs(b / a - 1) for kind in PAPERS for a, b in zip(costs[kind], seen[kind], strict=True))
    under = "Forward" if name == "missing" else ""  # there it lies under Backward
    panel = partial(
        Panel,
        x_title=f"relative cost of {name} values, {_LETTERS[name]}/k",
        y_title="total cost of a value, D = 1",
    )
    told = "; ".join(f"{kind} {values[0]:.2f} to {values[-1]:.2f}" for kind, values in costs.items())
    return Figure(
        name=f"temporal-5{letter}",
        source="temporal",
        title=f"Fig. 5({letter}): total cost against the cost of {name} values, k = 20, ε = 5",
        panels=[
            panel(
                gallery="paper",
                title="Expected (lines) and measured (marks)",
                curves=[
                    *(
                        Curve(name=f"{kind}, expected", x=RELATIVE, y=y, style="dashed" if kind == under else "line")
                        for kind, y in costs.items()
                    ),
                    *(Curve(name=f"{kind}, measured", x=RELATIVE, y=y, style="marks") for kind, y in seen.items()),
                ],
                levels=[Level(claim=f"L31{letter}", at=costs["Threshold"][0])],
            ),
            panel(
                gallery="found",
                title="With the block shuffle, by the clock",
                curves=[
                    *(
                        Curve(name=f"{kind}, expected", x=RELATIVE, y=y, style="dashed" if kind == under else "line")
                        for kind, y in costs.items()
                    ),
                    Curve(name="block shuffle, expected", x=RELATIVE, y=shuffle, style="dotted"),
                ],
            ),
        ],
        paper_caption=f"{told}; the line marked is what is said to stay and to be the least. Runs of a million values "
        f"lie within {worst:.1%} of what is expected." + (" Forward, dashed, lies on Backward." if under else ""),
        found_caption=f"The block shuffle, dotted, costs {shuffle[0]:.2f} throughout, all of it the wait for its "
        "block's end, and is the only one that keeps the order private.",
    )


def _windows() -> Figure:
    kinds = (*PAPERS, "block shuffle")
    hatched = [extended(window, 5.0) for window in WINDOWS]
    totals = {kind: [total_cost(kind, window, 5.0) for window in WINDOWS] for kind in kinds}
    bars = [
        Panel(
            gallery="paper",
            title=f"{kind}: parts of the cost (bars) and total (line)",
            x_title="window k",
            y_title="cost of a value, unit costs k and D = 1",
            log_x=True,
            curves=[
                *(
                    Curve(
                        name=f"{kind}: {part}",
                        x=WINDOWS,
                        y=[expected_part(kind, window, 5.0, part) for window in WINDOWS],
                        style="bars",
                        hatched=hatched if kind == "Threshold" else (),
                    )
                    for part in _LETTERS
                ),
                Curve(name=f"{kind}: total, expected", x=WINDOWS, y=totals[kind]),
            ],
        )
        for kind in PAPERS
    ]
    lines = Panel(
        gallery="found",
        title="Totals, expected (lines) and measured (marks)",
        x_title="window k",
        y_title="total cost of a value",
        log_x=True,
        log_y=True,
        curves=[
            *(
                Curve(
                    name=f"{kind}, expected",
                    x=WINDOWS,
                    y=totals[kind],
                    style="dashed" if kind == "Forward" else "dotted" if kind == "block shuffle" else "line",
                )
                for kind in kinds
            ),
            *(
                Curve(
                    name=f"{kind}, measured",
                    x=WINDOWS,
                    y=[measured_cost(kind, window, 5.0, length=_SHORT) for window in WINDOWS],
                    style="marks",
                )
                for kind in ("Backward", "Threshold")
            ),
        ],
        levels=[Level(claim="L32", at=33.0, axis="x", label="the plain mechanism ends")],
    )
    told = ", ".join(f"{cost:.1f}" for cost in totals["Threshold"])
    base = ", ".join(f"{cost:.1f}" for cost in totals["Backward"])
    return Figure(
        name="temporal-5d",
        source="temporal",
        title="Fig. 5(d): costs against the window, ε = 5",
        panels=[*bars, lines],
        paper_caption=f"At k = 10 to 160 Threshold costs {told}, each baseline {base}. Hatched bars are the extended "
        "mechanism, which alone reaches ε = 5 from k = 34 on and has missing and empty values too.",
        found_caption=f"Forward, dashed, lies on Backward. The block shuffle, dotted, costs "
        f"{', '.join(f'{cost:.1f}' for cost in totals['block shuffle'])}.",
    )


def _budgets(letter: str, window: int) -> Figure:
    costs = {kind: [total_cost(kind, window, epsilon) for epsilon in BUDGETS] for kind in ("Backward", "Threshold")}
    split = [extended(window, epsilon) for epsilon in BUDGETS]
    last = split.index(False)
    plain = [float("nan") if dropped else cost for dropped, cost in zip(split, costs["Threshold"], strict=True)]
    start, end = crossings(window)
    stated = 10.0 if window == 10 else 16.0
    panel = partial(Panel, x_title="budget ε", y_title="total cost of a value")
    curves = [
        Curve(name="Backward and Forward, expected", x=BUDGETS, y=costs["Backward"]),
        Curve(name="Threshold, expected", x=BUDGETS, y=plain),
        Curve(name="extended Threshold", x=BUDGETS[: last + 1], y=costs["Threshold"][: last + 1], style="dashed"),
    ]
    marks = [
        Curve(
            name=f"{kind}, measured",
            x=BUDGETS,
            y=[measured_cost(kind, window, epsilon, length=_SHORT) for epsilon in BUDGETS],
            style="marks",
        )
        for kind in ("Backward", "Forward", "Threshold")
    ]
    shuffle = [total_cost("block shuffle", window, epsilon) for epsilon in BUDGETS]
    highest, most = derived_curve(window)[-1], max(derived_curve(window))
    return Figure(
        name=f"temporal-6{letter}",
        source="temporal",
        title=f"Fig. 6({letter}): total cost against the budget, k = {window}",
        panels=[
            panel(
                gallery="paper",
                title="Expected",
                curves=curves,
                stated=[Stated(claim="L34", x=1.0, y=costs["Backward"][0])] if window == 10 else [],
                levels=[Level(claim="L35", at=stated, axis="x", label="said to be the largest budget")],
            ),
            panel(
                gallery="found",
                title="Expected, measured, and the block shuffle by the clock",
                log_y=True,
                curves=[
                    *curves,
                    *marks,
                    Curve(name="block shuffle, expected", x=BUDGETS, y=shuffle, style="dotted"),
                ],
                levels=[Level(claim="L35", at=highest, axis="x", label="derived at c₀ = k − 1")],
            ),
        ],
        paper_caption=f"Backward and Forward cost the same. Threshold, extended up to ε = {last}, is the cheapest from "
        f"ε = {start:.2f} to {end:.2f}; at ε = 1 it costs {costs['Threshold'][0]:.2f} and the baselines "
        f"{costs['Backward'][0]:.2f}.",
        found_caption=f"The cheapest threshold, k − 1, derives ε = {highest:.2f}, from which on the cost stays 1; the "
        f"largest derived budget of any is {most:.2f}, at c₀ = 2. Marks are runs of {_SHORT:,} values.",
    )
