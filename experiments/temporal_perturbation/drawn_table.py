"""Table II as a figure: clusters of trajectories before and after perturbation."""

from __future__ import annotations

from experiments.claims import Given
from experiments.figures import Curve, Figure, Panel, Stated
from experiments.temporal_perturbation.applications import BUDGETS, NOISE
from experiments.temporal_perturbation.trajectories import CELLS, RUNS, StandIn, agreement, stand_ins

__all__ = ["figure"]

_TITLES = {"x_title": "budget ε", "y_title": "normalised mutual information"}


def figure(given: Given) -> Figure:
    """Return Table II, as printed and on what stands in for the taxis."""
    here = stand_ins(given)
    stated = [
        Stated(claim=f"L47.{place + 1}", x=epsilon, y=CELLS[kind][place])
        for kind in (NOISE, "Threshold")
        for place, epsilon in enumerate(BUDGETS)
    ]
    printed = Panel(
        gallery="paper",
        title="As printed, 6,307 taxis",
        **_TITLES,
        curves=[Curve(name=f"{kind}, as printed", x=BUDGETS, y=cells, style="dashed") for kind, cells in CELLS.items()],
        stated=stated,
    )
    above = [sum(agreement(one, NOISE, part) < agreement(one, "Threshold", part) for part in BUDGETS) for one in here]
    told = "; ".join(
        f"{one.mark.partition(': ')[2]}: Threshold above Laplace noise at {count} of {len(BUDGETS)}, between "
        f"{min(_heights(one, 'Threshold')):.2f} and {max(_heights(one, 'Threshold')):.2f}"
        for one, count in zip(here, above, strict=True)
    )
    return Figure(
        name="temporal-table-2",
        source="temporal",
        title="Table II: agreement of clusters with the true ones, k = 10, 6 clusters",
        panels=[printed, *(_panel(one, stated) for one in here)],
        paper_caption="The sixteen cells. Threshold, extended up to ε = 3, rises from "
        f"{CELLS['Threshold'][0]:.3f} to {CELLS['Threshold'][-1]:.3f}; Laplace noise leaves nothing of the clusters.",
        found_caption=f"Means of {RUNS} runs. {told}. It does not rise with the budget at each step, and Laplace noise "
        "leaves more than the paper's cells say.",
        data=here[0].mark,
        files=("vitals",),
    )


def _heights(where: StandIn, kind: str) -> list[float]:
    return [agreement(where, kind, epsilon) for epsilon in BUDGETS]


def _panel(where: StandIn, stated: list[Stated]) -> Panel:
    return Panel(
        gallery="found",
        title=f"{where.name.capitalize()} ({where.mark})",
        **_TITLES,
        curves=[
            Curve(name=NOISE, x=BUDGETS, y=_heights(where, NOISE)),
            Curve(name="Threshold, extended up to ε = 3", x=BUDGETS, y=_heights(where, "Threshold")),
            Curve(name="block shuffle", x=BUDGETS, y=_heights(where, "block shuffle"), style="dotted"),
        ],
        stated=stated,
    )
