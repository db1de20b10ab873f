"""Fig. 7: counts and moving averages of prices."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from pathlib import Path

from experiments.claims import Given
from experiments.figures import Curve, Figure, Level, Panel
from experiments.temporal_perturbation.applications import (
    BUDGETS,
    NOISE,
    REPORTED,
    RUNS,
    UNBIASED,
    average_error,
    counting_error,
    predicted_average_ratio,
    predicted_counting_ratio,
    spread,
)
from experiments.temporal_perturbation.averages import HONEST_DELAY
from experiments.temporal_perturbation.costs import PAPERS
from experiments.temporal_perturbation.data import MADE_UP_PRICES

__all__ = ["figures"]

_errors = partial(Panel, x_title="budget ε", y_title="mean squared error", log_y=True)
_ratios = partial(Panel, x_title="budget ε", log_y=True)


def figures(given: Given) -> list[Figure]:
    """Return Figs. 7(a) to 7(d)."""
    path, data = given.path("prices"), given.mark("prices", MADE_UP_PRICES)
    return [_counts(path, data), _count_ratios(path, data), _averages(path, data), _average_ratios(path, data)]


def _count_curve(path: Path | None, kind: str) -> Curve:
    heights = [counting_error(path, kind, epsilon) for epsilon in BUDGETS]
    return Curve(name=kind, x=BUDGETS, y=heights, style="dotted" if kind == "block shuffle" else "line")


def _leads(curve: Curve, others: Iterable[Curve]) -> int:
    """Return at how many budgets a curve lies below all others."""
    rivals = [other for other in others if other is not curve]
    return sum(height < min(other.y[place] for other in rivals) for place, height in enumerate(curve.y))


def _counts(path: Path | None, data: str) -> Figure:
    paper = [_count_curve(path, kind) for kind in (*PAPERS, REPORTED)]
    errors = max(spread(path, kind, epsilon) for kind in PAPERS for epsilon in BUDGETS)
    found = [
        *(_count_curve(path, kind) for kind in (*PAPERS, UNBIASED)),
        _count_curve(path, "block shuffle"),
    ]
    return Figure(
        name="temporal-7a",
        source="temporal",
        title="Fig. 7(a): counting the days on which the price rose, k = 10",
        panels=[
            _errors(gallery="paper", title="As the paper counts", curves=paper),
            _errors(gallery="found", title="Responses made unbiased, and the block shuffle", curves=found),
        ],
        paper_caption=f"Threshold has the least error at {_leads(paper[2], paper)} of {len(BUDGETS)} budgets; Backward "
        f"lies below Forward at {_leads(paper[0], paper[:2])}, whose error falls no lower than {min(paper[1].y):.3g}. "
        f"Means of {RUNS} runs, with standard errors of {errors:.0%} at most.",
        found_caption=f"Made unbiased, randomised response errs by {found[3].y[0]:.3g} at ε = 1 rather than "
        f"{paper[3].y[0]:.3g}. The block shuffle, dotted, read by the time that values are released for, is the least "
        f"at {_leads(found[-1], found)}.",
        data=data,
        files=("prices",),
    )


def _count_ratios(path: Path | None, data: str) -> Figure:
    foretold = [predicted_counting_ratio(path, epsilon) for epsilon in BUDGETS]
    seen = [counting_error(path, "Backward", part) / counting_error(path, "Threshold", part) for part in BUDGETS]
    same = sum((one > 1) == (two > 1) for one, two in zip(foretold, seen, strict=True))
    off = [max(one / two, two / one) for one, two in zip(foretold, seen, strict=True)]
    return Figure(
        name="temporal-7b",
        source="temporal",
        title="Fig. 7(b): error of Backward over that of Threshold, counting",
        panels=[
            _ratios(
                gallery="paper",
                title="Foretold by unit costs, and measured",
                y_title="ratio of errors",
                curves=[
                    Curve(name="foretold", x=BUDGETS, y=foretold, style="dashed"),
                    Curve(name="measured", x=BUDGETS, y=seen, style="line"),
                ],
                levels=[Level(claim="L44", at=1.0, label="equally accurate")],
            ),
            _ratios(
                gallery="found",
                title="How far apart the two are",
                y_title="foretold over measured, or its inverse",
                curves=[Curve(name="factor between them", x=BUDGETS, y=off, style="marks")],
                levels=[Level(claim="L44", at=2.0, label="a factor 2")],
            ),
        ],
        paper_caption=f"Both lie on the same side of 1 at {same} of {len(BUDGETS)} budgets. The paper's axis has "
        "logarithms whose base is not told; here the ratio itself is drawn.",
        found_caption=f"In size they differ by factors from {min(off):.1f} to {max(off):.0f}.",
        data=data,
        files=("prices",),
    )


def _averages(path: Path | None, data: str) -> Figure:
    def curve(kind: str, *, lag_removed: bool = False) -> Curve:
        heights = [average_error(path, kind, epsilon, lag_removed=lag_removed) for epsilon in BUDGETS]
        return Curve(name=kind, x=BUDGETS, y=heights, style="dotted" if kind == "block shuffle" else "line")

    clock, late = (
        {kind: curve(kind, lag_removed=lag_removed) for kind in (*PAPERS, NOISE)} for lag_removed in (False, True)
    )
    wins = [_leads(curves["Threshold"], [curves[kind] for kind in PAPERS]) for curves in (clock, late)]
    below = sum(_leads(clock[kind], [clock[NOISE]]) == len(BUDGETS) for kind in PAPERS)
    return Figure(
        name="temporal-7c",
        source="temporal",
        title="Fig. 7(c): moving averages over ten days, k = 10",
        panels=[
            _errors(gallery="paper", title="By the clock", curves=list(clock.values())),
            _errors(
                gallery="found",
                title="Each mechanism at its best constant lag, and the block shuffle",
                curves=[*late.values(), curve("block shuffle")],
            ),
        ],
        paper_caption=f"{below} of the three lie below Laplace noise at every budget. Threshold has the least error at "
        f"{wins[0]} of {len(BUDGETS)}, Forward lies below Backward at {_leads(clock['Forward'], [clock['Backward']])}.",
        found_caption=f"Read late by each mechanism's best number of days, Threshold is the least at {wins[1]} of "
        f"{len(BUDGETS)}. The block shuffle, dotted, is read by the time that values are released for.",
        data=data,
        files=("prices",),
    )


def _average_ratios(path: Path | None, data: str) -> Figure:
    seen = [average_error(path, "Forward", part) / average_error(path, "Threshold", part) for part in BUDGETS]
    printed = [predicted_average_ratio(epsilon) for epsilon in BUDGETS]
    honest = [predicted_average_ratio(epsilon, HONEST_DELAY) for epsilon in BUDGETS]
    far = max(max(one / two, two / one) for one, two in zip(printed, seen, strict=True))
    measured = Curve(name="measured", x=BUDGETS, y=seen)
    level = Level(claim="L46", at=1.0, label="equally accurate")
    return Figure(
        name="temporal-7d",
        source="temporal",
        title="Fig. 7(d): error of Forward over that of Threshold, moving averages",
        panels=[
            _ratios(
                gallery="paper",
                title="Foretold with D = k M / d, and measured",
                y_title="ratio of errors",
                curves=[Curve(name="foretold, D = k M / d", x=BUDGETS, y=printed, style="dashed"), measured],
                levels=[level],
            ),
            _ratios(
                gallery="found",
                title="Foretold with D = 2 M / d, and measured",
                y_title="ratio of errors",
                curves=[Curve(name="foretold, D = 2 M / d", x=BUDGETS, y=honest, style="dashed"), measured],
                levels=[level],
            ),
        ],
        paper_caption=f"They differ by a factor of {far:.2f} at most. Foretold ratios reach {max(printed):.2f} and "
        f"measured ones {max(seen):.2f}: below 1 Forward errs less than Threshold.",
        found_caption="With what a delay really costs, 2 M / d, the unit costs foretell "
        f"{honest[0]:.2f} to {honest[-1]:.2f} where {seen[0]:.2f} to {seen[-1]:.2f} is measured.",
        data=data,
        files=("prices",),
    )
