"""How much larger the error of a release is when its bounds are found privately than with the best bounds there are."""

from __future__ import annotations

import sys

import numpy as np
from numpy.typing import NDArray

from benchmarks.crowds import Crowd, crowds
from benchmarks.finding import Outcome, find_clip_and_periods, find_norm
from benchmarks.guesses import approx_bounds, exact_quantile, get_bounds, private_quantile
from benchmarks.harness import Topic, show
from chronodp.dataset import TimeSeries
from chronodp.engines import Reference
from chronodp.privacy import User

Floats = NDArray[np.float64]
MU, SHARE = 0.236705, 0.05  # (1, 1e-6), and what of its square is spent on choosing
WORST = 1e-3


def measure() -> Topic:
    topic = Topic(
        "Bounds found privately: root mean squared error beside the best bounds in hindsight, ε = 1, δ = 1e-6",
        "python -m benchmarks.bounds",
        (
            "table",
            "people",
            "periods",
            "found",
            "above twice the best",
            "exact .95",
            "exact .99",
            "exact .999",
            "private .95",
            "Google's rule",
            "Tumult's rule",
            "best norm",
            "found norm",
        ),
        everywhere=True,
    )
    for crowd in crowds():
        best, best_norm = _best(crowd), _best_norm(crowd)
        found = find_clip_and_periods(crowd, SHARE)
        google, silent = approx_bounds(crowd, MU, SHARE)
        cells = [
            _ratio(found, best),
            f"{sum(one.chance for one in found if one.error > 2 * best):.1%}",
            *(_ratio(exact_quantile(crowd, MU, q), best) for q in (0.95, 0.99, 0.999)),
            _ratio(private_quantile(crowd, MU, SHARE, 0.95), best),
            "no answer" if silent > 0.5 else _ratio(google, best),
            _ratio(get_bounds(crowd, MU, SHARE), best),
            f"{best_norm / best:.2f}",
            _ratio(find_norm(crowd, SHARE), best),
        ]
        topic.rows.append((crowd.name, crowd.people, crowd.periods, *cells))
    topic.notes = [
        "a sum in each period, white Gaussian noise, unit User, add or remove; the error counts clipping, periods left"
        " out and noise, against the unbounded sums",
        "every figure is divided by the least error of any clip (steps of 2^(1/8)) and limit on periods at the whole"
        " price; private rules spend 5 % of μ² on choosing, and what they lack for the release is in the figure",
        "root mean square over the rule's own randomness, the worst 0.1 % of outcomes left out; computed from the"
        " probabilities, not sampled (2,000 draws for Tumult's rule)",
        "found: the probabilities of the library's own steps; the rule was fixed before these tables were made. Found"
        " norm: one l2 bound on a person's series, by the same steps",
        "Google's and Tumult's rules are made anew here from what they publish, they were not run: one value"
        " of each person in bins of powers of two, Laplace noise; 95 % of people's periods as the limit; no answer: no"
        " bin passes Google's threshold more often than not",
        "exact quantiles are not private",
    ]
    return topic


def _ratio(outcomes: list[Outcome], best: float) -> str:
    error = np.array([one.error for one in outcomes])
    order = np.argsort(error)
    chance = np.array([one.chance for one in outcomes])[order]
    chance = np.minimum(chance, np.maximum(0, (1 - WORST) * chance.sum() - (np.cumsum(chance) - chance)))
    ratio = np.sqrt((chance * error[order] ** 2).sum() / chance.sum()) / best
    return f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0e}"


def _best(crowd: Crowd) -> float:
    top = int(np.ceil(8 * np.log2(np.abs(crowd.value).max())))
    ks = np.unique(np.ceil(crowd.periods * 2.0 ** (-np.arange(0, 4 * np.log2(crowd.periods) + 1) / 4)).astype(np.int64))

    def error(eighth: int) -> float:
        clip = 2.0 ** (eighth / 8)
        return float(np.sqrt((crowd.squared_error(clip, ks) + clip**2 * ks / MU**2).min()))

    coarse = min(range(top, top - 97, -4), key=error)  # half octaves first, then the neighbourhood of the best
    return min(error(eighth) for eighth in range(coarse - 4, coarse + 5))


def _best_norm(crowd: Crowd) -> float:
    top = int(np.ceil(8 * np.log2(crowd.norm.max())))
    bounds = 2.0 ** (np.arange(top - 80, top + 1) / 8)
    return min(float(np.sqrt(crowd.squared_error_of_norm(r) + (r / MU) ** 2)) for r in bounds)


def measure_groups() -> Topic:
    topic = Topic(
        "A clip for each group: root mean squared error of a day's sum, ε = 1, δ = 1e-6",
        "python -m benchmarks.bounds groups",
        (
            "large over small",
            "group",
            "alone",
            "one clip for small",
            "one clip for large",
            "a release each",
            "by group",
        ),
    )
    for times in (2, 8, 32):
        held = _unlike(times)
        best = {key: min((_error({key: clip}, held, key), clip) for clip in _clips(of)) for key, of in held.items()}
        own = {key: clip for key, (_, clip) in best.items()}
        for key, (error, _) in best.items():
            cells = [
                *(_error(dict.fromkeys(own, clip), held, key) for clip in own.values()),
                _error({key: own[key]}, held, key, share=1 / len(own)),
                _error(own, held, key),
            ]
            topic.rows.append((times, key, f"{error:,.0f}", *(f"{cell / error:.2f}" for cell in cells)))
    topic.notes = [
        "2,000 people in each of two groups, 30 days, each day's total of a person from a gamma law of shape 2, in one"
        " group so many times as large as in the other; unit User, all 30 days count, white Gaussian noise",
        "alone: the error at the clip that is best in hindsight if the group were all there is, at the whole price, in"
        " units of the column; all other figures are divided by it. One clip: that best one of the small or of the"
        " large group serves both. A release each: its own clip and half of the price. By group: clip={key: ...}",
        "the error counts clipping and noise, against the unbounded sums; computed from the plan's noise, not sampled",
    ]
    return topic


def _unlike(times: int) -> dict[str, Floats]:
    chance = np.random.default_rng(20260725)
    return {key: size * chance.gamma(2.0, 10.0, (30, 2_000)) for key, size in (("small", 1), ("large", times))}


def _clips(held: Floats) -> Floats:
    return np.quantile(held, np.linspace(0.5, 1.0, 101))


def _error(clips: dict[str, float], held: dict[str, Floats], key: str, share: float = 1.0) -> float:
    """The error of one group where these have clips, within a share of μ²."""
    days = TimeSeries(
        [],
        time="at",
        user="who",
        every="1D",
        start="2026-01-01",
        end="2026-01-31",
        unit=User(),
        max_periods=30,
        engine=Reference(),
    )
    design = days.sum("number", clip={one: (0.0, clip) for one, clip in clips.items()}).by(group=list(clips))
    plan = design.plan(epsilon=1.0, delta=1e-6).design
    noise = plan.noises[0].scale * (plan.table.scales or ())[list(clips).index(key)]
    cut = np.maximum(held[key] - clips[key], 0.0).sum(axis=1)
    return float(np.sqrt((cut**2).mean() + noise**2 / share))


if __name__ == "__main__":
    show(measure_groups if "groups" in sys.argv[1:] else measure)
