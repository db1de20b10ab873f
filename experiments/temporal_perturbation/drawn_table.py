"""Table II as a figure: clusters of trajectories before and after perturbation."""

from __future__ import annotations

from functools import partial
from itertools import pairwise

from experiments.claims import Given
from experiments.figures import Curve, Figure, Panel, Stated
from experiments.temporal_perturbation.applications import BUDGETS, NOISE
from experiments.temporal_perturbation.trajectories import CELLS, RUNS, StandIn, agreement, stand_ins

__all__ = ["figure"]

_panel_of = partial(Panel, x_title="budget ε", y_title="normalised mutual information")


def figure(given: Given) -> Figure:
    """Return Table II, as printed and on what stands in for the taxis."""
    here = stand_ins(given)
    stated = [
        Stated(claim=f"L47.{place + 1}", x=epsilon, y=CELLS[kind][place])
        for kind in (NOISE, "Threshold")
        for place, epsilon in enumerate(BUDGETS)
    ]
    printed = _panel_of(
        gallery="paper",
        title="As printed, 6,307 taxis",
        curves=[Curve(name=f"{kind}, as printed", x=BUDGETS, y=cells, style="dashed") for kind, cells in CELLS.items()],
        stated=stated,
    )
    above = [sum(agreement(one, NOISE, part) < agreement(one, "Threshold", part) for part in BUDGETS) for one in here]
    told = "; ".join(
        f"{one.mark.partition(': ')[2]}: Threshold above Laplace noise at {count} of {len(BUDGETS)}, between "
        f"{min(_heights(one, 'Threshold')):.2f} and {max(_heights(one, 'Threshold')):.2f}; it falls from one budget to "
        f"the next {sum(b < a for a, b in pairwise(_heights(one, 'Threshold')))} times; Laplace noise reaches "
        f"{_heights(one, NOISE)[-1]:.2f} where the paper has {CELLS[NOISE][-1]:.3f}"
        for one, count in zip(here, above, strict=True)
    )
    return Figure(
        name="temporal-table-2",
        source="temporal",
        title="Table II: agreement of clusters with the true ones, k = 10, 6 clusters",
        panels=[printed, *(_panel(one, stated) for one in here)],
        paper_caption="The sixteen cells. Threshold, extended up to ε = 3, rises from "
        f"{CELLS['Threshold'][0]:.3f} to {CELLS['Threshold'][-1]:.3f}; Laplace noise leaves nothing of the clusters.",
        found_caption=f"Means of {RUNS} runs. {told}. Open marks are the paper's cells.",
        data=here[0].mark,
        files=("vitals",),
    )


def _heights(where: StandIn, kind: str) -> list[float]:
    return [agreement(where, kind, epsilon) for epsilon in BUDGETS]


def _panel(where: StandIn, stated: list[Stated]) -> Panel:
    return _panel_of(
        gallery="found",
        title=f"{where.name.capitalize()} ({where.mark})",
        curves=[
            Curve(name=NOISE, x=BUDGETS, y=_heights(where, NOISE)),
            Curve(name="Threshold, extended up to ε = 3", x=BUDGETS, y=_heights(where, "Threshold")),
            Curve(name="block shuffle", x=BUDGETS, y=_heights(where, "block shuffle"), style="dotted"),
        ],
        stated=stated,
    )
