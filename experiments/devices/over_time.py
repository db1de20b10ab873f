"""Many reports of one device: what averaging finds, and what kept answers do and do not protect."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

from chronodp.audit.devices import report_history
from chronodp.audit.exact import Finding, examine
from chronodp.local import Fresh, LocalPlan, Memoised, RandomizedResponse
from chronodp.local.longitudinal import TwoLevels, two_levels, worst_losses
from chronodp.local.probabilities import WHOLE
from chronodp.randomness import Entropy
from experiments.verdicts import Verdict

HISTORIES = tuple(itertools.product((0, 1), repeat=4))


def check() -> list[Verdict]:
    return [_averaging(), _fresh(), *_kept(), _growth(), _closed_form()]


def _worst(plan: LocalPlan, *, same: bool) -> Finding:
    compiled = plan.compiled

    def tell(history: tuple[int, ...], *, entropy: Entropy) -> object:
        return report_history(compiled, history, entropy=entropy)

    pairs = [
        (one, two)
        for one, two in itertools.combinations(HISTORIES, 2)
        if ([one.index(value) for value in one] == [two.index(value) for value in two]) is same
    ]
    return examine(tell, pairs)


def _averaging() -> Verdict:
    p = RandomizedResponse(1.0).law.truth

    def found(reports: int) -> Fraction:
        most = range(reports // 2 + 1, reports + 1)
        return sum((math.comb(reports, k) * p**k * (1 - p) ** (reports - k) for k in most), Fraction(0))

    shown = ", ".join(f"{float(found(reports)):.4f}" for reports in (1, 5, 25))
    return Verdict(
        "randomised response at ε = 1 in each slot hides a constant bit over time",
        "as well as one report: 0.7311 after any number",
        f"a majority finds it with {shown} after 1, 5, 25 reports",
        "false",
    )


def _fresh() -> Verdict:
    plan = LocalPlan("fresh", RandomizedResponse(0.5), Fresh(4))
    found = max(_worst(plan, same=part).epsilon for part in (True, False))
    return Verdict(
        "fresh reports cost T ε between any two histories",
        "ε = 2 for four at 0.5",
        f"ε = {found:.12g}, enumerated over all pairs of length 4",
        "holds" if abs(found - 2) < 1e-12 else "false",
    )


def _kept() -> list[Verdict]:
    one = LocalPlan("kept", RandomizedResponse(1.0), Memoised(permanent_epsilon=1.0, horizon=4))
    two = LocalPlan("kept", RandomizedResponse(0.5), Memoised(permanent_epsilon=1.0, horizon=4))
    same, other = _worst(one, same=True).epsilon, _worst(one, same=False).epsilon
    return [
        Verdict(
            "kept answers cost d ε∞ for d distinct values, between histories that change at the same times",
            "ε = 2 for two values at 1",
            f"ε = {same:.12g}, enumerated over all pairs of length 4",
            "holds" if abs(same - 2) < 1e-12 else "false",
        ),
        Verdict(
            "... and between any two histories",
            "ε = 2",
            "no bound with one level: two answers that differ are impossible for a constant"
            if math.isinf(other)
            else f"ε = {other:.6g}",
            "holds" if other <= 2 else "false",
        ),
        Verdict(
            "... and with a second, fresh level",
            "ε = 2",
            f"ε = {_worst(two, same=False).epsilon:.4f} after 4 slots with ε1 = 0.5, enumerated",
            "holds" if _worst(two, same=False).epsilon <= 2 else "false",
        ),
    ]


def _growth() -> Verdict:
    levels = two_levels(1.0, 0.5, 2)
    losses = [worst_losses(levels, horizon)[1] for horizon in (4, 6, 8)]
    return Verdict(
        "two levels: the price does not grow with time",
        "ε = 2",
        "between histories that change at other times: "
        + ", ".join(f"{loss:.2f}" for loss in losses)
        + " after 4, 6, 8 slots",
        "holds" if losses[-1] <= losses[0] else "false",
    )


def _closed_form() -> Verdict:
    """The closed form that is printed for the second level of k-ary kept answers."""
    permanent, first, choices = 2.0, 1.0, 10
    e1, both, e_inf = math.exp(first), math.exp(first + permanent), math.exp(permanent)
    printed = (both - 1) / (-choices * e1 + (choices - 1) * e_inf + e1 + both - 1)
    exact = two_levels(permanent, first, choices)
    p, q = TwoLevels(choices, exact.keep, exact.whole, int(printed * WHOLE), WHOLE).first
    realised, ours = math.log(p / q), math.log(exact.first[0] / exact.first[1])
    return Verdict(
        "the printed chance of the second level realises ε1 for every alphabet (Arcolezi et al. 2022)",
        f"ε1 = 1 at ε∞ = 2, k = {choices}",
        f"ε1 = {realised:.4f}: too much noise; p2 = (p − q1)/(p1 − q1) gives {ours:.4f}",
        "holds" if abs(realised - 1) < 1e-9 else "false",
    )
