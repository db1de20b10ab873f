"""How many ranks quantiles are off by the way that a plan takes, beside every other way and white bins."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from benchmarks.harness import Topic, show
from chronodp.privacy import User
from chronodp.randomness import seeded
from chronodp.series.measures import quantiles_of
from chronodp.series.quantile_reading import read_quantiles
from chronodp.series.quantiles.choices import ByChoice, draw_bins
from chronodp.series.quantiles.design import QuantileDesign
from chronodp.series.quantiles.histograms import ByHistogram
from chronodp.series.quantiles.planner import design_quantiles
from chronodp.series.shapes.toeplitz import White
from chronodp.series.table import Table
from chronodp.series.workloads import EachPeriod

PEOPLE, TOP, DELTA, REPLICAS = 10_000, 20.0, 1e-6, 40
BINS, COUNTS, EPSILONS = (20, 200, 2_000, 10_000), (1, 9, 99), (0.1, 1.0)

Floats = NDArray[np.float64]


def measure() -> Topic:
    topic = Topic(
        f"Quantiles of {PEOPLE:,} people: mean error of ranks, δ = 1e-6",
        "python -m benchmarks.quantiles",
        (
            "ε",
            "bins",
            "quantiles",
            "way",
            "expected",
            "error",
            "too few",
            "least of all ways",
            "ratio",
            "white bins",
        ),
        everywhere=True,
    )
    values = np.minimum(np.exp(np.random.default_rng(1).normal(size=PEOPLE)), TOP)
    for epsilon in EPSILONS:
        for bins in BINS:
            edges = np.linspace(0, TOP, bins + 1)
            counts = np.histogram(values, edges)[0]
            for count in COUNTS:
                fractions = tuple((np.arange(1, count + 1) / (count + 1)).round(4).tolist())
                table = Table(quantiles_of("v", fractions, tuple(edges.tolist())), User(), 1, max_periods=1)
                designs = design_quantiles(table, epsilon=epsilon, delta=DELTA, tuned_for=EachPeriod())
                found = [_error(design, edges, counts) for design in designs]
                errors = [error for error, _ in found]
                white = min(error for design, error in zip(designs, errors, strict=True) if _is_white(design))
                topic.rows.append(
                    (
                        epsilon,
                        bins,
                        count,
                        str(designs[0].way),
                        round(designs[0].rank_error, 1),
                        round(errors[0], 1),
                        f"{found[0][1]:.0%}",
                        round(min(errors), 1),
                        f"{errors[0] / max(min(errors), 1e-9):.2f}" if errors[0] else "1.00",
                        round(white, 1),
                    )
                )
    topic.notes.append(
        f"lognormal values clipped to {TOP:g}, even edges, {REPLICAS} draws. An error is how many ranks the quantile "
        "lies beyond the bin that is shown, or that holds the value; `expected` is the plan's figure, from public "
        "numbers alone; `too few`: draws of the way that was taken that show no bin"
    )
    topic.notes.append("`ratio`: the way that was taken over the least of all that were weighed, in this run")
    return topic


def _is_white(design: QuantileDesign) -> bool:
    return isinstance(design.way, ByHistogram) and isinstance(design.way.shape, White)


def _error(design: QuantileDesign, edges: Floats, counts: NDArray[np.int64]) -> tuple[float, float]:
    """Return how many ranks the bins that are shown are off on average, and how many are not: too few."""
    way, fractions = design.way, design.quantiles
    many, entropy = np.tile(counts, (REPLICAS, 1)), seeded(f"{way} {len(fractions)} {len(edges)}")
    if isinstance(way, ByChoice):
        places = draw_bins(way, fractions, many, 1, entropy)
    else:
        noisy = np.asarray(way.draw(many * round(1 / way.noise.step), entropy) * way.noise.step, np.float64)
        half = [np.zeros((REPLICAS, len(counts) - 1)) for _ in fractions]
        values = read_quantiles(noisy[:, None, :], edges, fractions, half).value[:, 0]
        places = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(counts) - 1)
    past = np.concatenate(([0], np.cumsum(counts)))[:, None] - np.array(fractions) * PEOPLE
    off = np.append(np.maximum(0, np.maximum(past[:-1], -past[1:])), np.full((1, len(fractions)), np.nan), axis=0)
    ranks = np.take_along_axis(off, places, axis=0)
    return float(np.nanmean(ranks)), float(np.isnan(ranks).mean())


if __name__ == "__main__":
    show(measure)
