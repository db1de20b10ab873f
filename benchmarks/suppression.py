"""What leaving out unreliable numbers does to the intervals of the rest, and what each correction makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import chronodp as cdp
from benchmarks.harness import Topic, show
from chronodp.engines import Grouping
from chronodp.postprocess import Law
from chronodp.privacy import Certificate, Claim, Grid, Guarantee
from chronodp.randomness import Entropy, seeded
from chronodp.series import Count, Design, Table, View, each
from chronodp.series.plain import Numbers
from chronodp.series.planner import design_release
from chronodp.series.shaping import draw_noise
from chronodp.series.workloads import EachPeriod

CELLS, RUNS, LEVEL = 3_000, 400, 0.95
Floats = NDArray[np.float64]

# True numbers in units of the noise's scale.
POPULATIONS: dict[str, Floats] = {
    "zipf, the largest 3,000": 3_000 / np.arange(1, CELLS + 1),
    "all 3": np.full(CELLS, 3.0),
    "even from 2 to 30": np.linspace(2, 30, CELLS),
    "lognormal, 0.14 to 400": np.exp(np.linspace(-2, 6, CELLS)),
}


@dataclass(frozen=True)
class Outcome:
    """Of many releases of one population, published by one rule.

    Attributes:
        share: of cells that are published.
        plain: part of published cells whose interval as it was holds the truth.
        below: the same of cells whose true number is below the threshold.
        bias: mean of how far published values are off, over the truth.
        missed: part of published cells whose widened interval misses, the mean over releases; none published is 0.
        wider: how much wider these are.
        given: part of published cells whose interval given publication holds the truth; None for Laplace noise.
        given_wider: how much wider these are.
        decided: part of cells that another release's noise published whose interval as it was holds the truth.
        spread: standard error of ``missed``.
    """

    share: float
    plain: float
    below: float
    bias: float
    missed: float
    wider: float
    given: float | None
    given_wider: float | None
    decided: float
    spread: float


def design_of(law: Law) -> Design:
    """Return a plan's design of one number of each cell."""
    cells = (Grouping("cell", tuple(str(cell) for cell in range(CELLS))),)
    table = Table(Count(), cdp.User(), 1, groupings=cells, max_periods=1)
    found = design_release(table, epsilon=1.0, delta=1e-6, tuned_for=EachPeriod())
    return next(one for one in found if one.law == law)


def release_of(design: Design, truth: Floats, name: str, entropy: Entropy) -> View:
    """Return one release of these true numbers."""
    noise = design.noises[0]
    drawn = Grid(noise.step).to_values(draw_noise(design.shape, noise, 1, CELLS, entropy))
    claim = Claim(cdp.User(), noise.cost, "docs/explanation/proofs/release.md")
    certificate = Certificate("noise", claim, Guarantee(cdp.User(), 1.0), "definition", "a grid")
    numbers = Numbers(design, (truth[None, :] + drawn,), certificate, name, name)
    return numbers.view(each(1), "cells", "", "single", level=LEVEL, figure=None)


def publish(law: Law, population: Floats, relative: float, *, runs: int, seed: str = "suppression") -> Outcome:
    """Return what becomes of one population under one rule, in so many releases."""
    design = design_of(law)
    truth, entropy = population * design.noises[0].scale, seeded(f"{seed} {law} {relative}")
    rows: list[dict[str, Any]] = []
    for run in range(runs):
        view = release_of(design, truth, f"{run}", entropy)
        other = release_of(design, truth, f"other {run}", entropy)
        rows.append(_published(view, other, truth, relative, law))
    total = {name: float(sum(row[name] for row in rows)) for name in rows[0]}
    shown = max(total["shown"], 1.0)
    rates = np.array([row["missed"] / max(row["shown"], 1) for row in rows])
    gaussian = law == "gaussian"
    return Outcome(
        share=total["shown"] / (runs * CELLS),
        plain=total["plain"] / shown,
        below=total["below held"] / max(total["below"], 1.0),
        bias=total["bias"] / shown,
        missed=float(rates.mean()),
        wider=total["wider"] / shown,
        given=total["given"] / shown if gaussian else None,
        given_wider=total["given wider"] / shown if gaussian else None,
        decided=total["decided held"] / max(total["decided"], 1.0),
        spread=float(rates.std() / np.sqrt(runs)),
    )


def _published(view: View, other: View, truth: Floats, relative: float, law: Law) -> dict[str, Any]:
    plain = view.publish(relative=relative, coverage="each")
    wide = view.publish(relative=relative)
    there = ~np.isnan(plain.estimates.value[0])
    width = (view.estimates.upper - view.estimates.lower)[0]
    threshold = width / 2 / relative
    low = there & (truth < threshold)
    decided = view.publish(relative=relative, decided_on=other)
    chosen = ~np.isnan(decided.estimates.value[0])
    found = {
        "shown": there.sum(),
        "plain": (_held(plain, truth) & there).sum(),
        "below": low.sum(),
        "below held": (_held(plain, truth) & low).sum(),
        "bias": ((view.estimates.value[0] - truth) / truth)[there].sum(),
        "missed": (~_held(wide, truth) & there).sum(),
        "wider": (_width(wide) / width)[there].sum(),
        "decided": chosen.sum(),
        "decided held": (_held(decided, truth) & chosen).sum(),
    }
    if law == "gaussian":
        given = view.publish(relative=relative, coverage="given")
        found["given"] = (_held(given, truth) & there).sum()
        found["given wider"] = (_width(given) / width)[there].sum()
    return found


def _held(view: View, truth: Floats) -> NDArray[np.bool_]:
    held: NDArray[np.bool_] = (view.estimates.lower[0] <= truth) & (truth <= view.estimates.upper[0])
    return held


def _width(view: View) -> Floats:
    width: Floats = view.estimates.upper[0] - view.estimates.lower[0]
    return width


def measure() -> Topic:
    topic = Topic(
        f"Publishing by a rule: {CELLS:,} cells × {RUNS} releases, intervals of 95 %",
        "python -m benchmarks.suppression",
        (
            "true numbers",
            "noise",
            "half-width at most",
            "published",
            "hold, as they were",
            "of those truly below the threshold",
            "mean bias",
            "false coverage rate",
            "wider",
            "hold, given publication",
            "wider so",
            "hold, decided on other noise",
        ),
        everywhere=True,
    )
    for name, population in POPULATIONS.items():
        for law in ("gaussian", "laplace"):
            for relative in (0.2, 0.5):
                found = publish(law, population, relative, runs=RUNS)
                topic.rows.append(_row(name, law, relative, found))
    topic.notes = [
        "numbers in units of the noise's scale; bias: how far published values are above the truth, as a part of it",
        "false coverage rate: of what is published, the part whose interval misses after publish()'s default "
        "correction, the mean over releases; at most 0.05 is promised. Wider: than the interval as it was",
        "given publication: equal-tailed intervals of a Gaussian number given that it is shown; of a Laplace number "
        "nothing bounds it from below. Other noise: a second release of the same numbers decides what is shown",
        "–: nothing, or fewer than 100 cells, was published",
    ]
    return topic


def _row(name: str, law: str, relative: float, found: Outcome) -> tuple[Any, ...]:
    few = found.share * CELLS * RUNS < 100
    given = few or found.given is None

    def text(value: float | None, form: str = ".3f", *, none: bool = few) -> str:
        return "–" if none else format(value, form)

    return (
        name,
        law,
        f"{relative:.0%} of the value",
        f"{found.share:.3f}",
        text(found.plain),
        text(found.below),
        text(found.bias, "+.1%"),
        f"{found.missed:.4f}",
        text(found.wider, ".2f"),
        text(found.given, none=given),
        text(found.given_wider, ".2f", none=given),
        text(found.decided),
    )


if __name__ == "__main__":
    show(measure)
