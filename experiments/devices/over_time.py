"""Many reports of one device: what averaging finds, and what kept answers do and do not protect."""

from __future__ import annotations

import itertools
import math
from functools import partial

from chronodp.audit.devices import report_history
from chronodp.audit.exact import examine
from chronodp.local import Fresh, LocalPlan, Memoised, RandomizedResponse
from chronodp.local.longitudinal import TwoLevels, two_levels, worst_losses
from chronodp.local.probabilities import WHOLE
from chronodp.randomness import Entropy
from experiments.claims import Claim, Tolerance, above, computation, number, rising
from experiments.textbook.local_reports import REPORTS, majority

__all__ = ["history_claims"]

HISTORIES = tuple(itertools.product((0, 1), repeat=4))
PLANS = {
    "fresh": LocalPlan("fresh", RandomizedResponse(0.5), Fresh(4)),
    "kept": LocalPlan("kept", RandomizedResponse(1.0), Memoised(permanent_epsilon=1.0, horizon=4)),
    "two levels": LocalPlan("kept", RandomizedResponse(0.5), Memoised(permanent_epsilon=1.0, horizon=4)),
}


@computation()
def history_epsilon(name: str, *, same: bool) -> float:
    """Return the least ε between histories of four bits that change at the same times, or at others; enumerated."""
    compiled = PLANS[name].compiled

    def tell(history: tuple[int, ...], *, entropy: Entropy) -> object:
        return report_history(compiled, history, entropy=entropy)

    pairs = [
        (one, two)
        for one, two in itertools.combinations(HISTORIES, 2)
        if ([one.index(value) for value in one] == [two.index(value) for value in two]) is same
    ]
    return examine(tell, pairs).epsilon


@computation(inverse=lambda f: lambda *slots: 1 / f(*slots))
def loss_after(slots: int) -> float:
    """Return the worst loss of two levels between histories that change at different times, after so many slots."""
    return worst_losses(two_levels(1.0, 0.5, 2), slots)[1]


@computation()
def realised_first(*, printed: bool) -> float:
    """Return the ε1 that the second level of k-ary kept answers gives: by the printed chance, or by ours.

    ε∞ = 2, ε1 = 1, k = 10; the printed form is that of Arcolezi et al. 2022.
    """
    permanent, first, choices = 2.0, 1.0, 10
    exact = two_levels(permanent, first, choices)
    if printed:
        e1, both, e_inf = math.exp(first), math.exp(first + permanent), math.exp(permanent)
        chance = (both - 1) / (-choices * e1 + (choices - 1) * e_inf + e1 + both - 1)
        p, q = TwoLevels(choices, exact.keep, exact.whole, int(chance * WHOLE), WHOLE).first
    else:
        p, q = exact.first
    return math.log(p / q)


def history_claims() -> list[Claim]:
    """Return what we expect of many reports."""
    claim = partial(Claim, source="textbook", origin="ours")
    return [
        claim(
            id="N05",
            place="beside T34",
            says="Randomised response in each slot does not hide a constant bit over time: the majority of 1, 5, 25 "
            "reports at ε = 1 finds it with 0.7311, 0.8755, 0.9934.",
            rule=number,
            stated=[0.7311, 0.8755, 0.9934],
            tolerance=Tolerance(absolute=5e-5),
            readings={"exact": lambda: [majority(1.0, reports) for reports in REPORTS]},
        ),
        claim(
            id="N06d",
            place="beside T29",
            says="Fresh reports cost T ε between any two histories: 2 for four at 0.5.",
            rule=number,
            stated=2,
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "all pairs of length 4": lambda: max(history_epsilon("fresh", same=part) for part in (True, False))
            },
        ),
        claim(
            id="N06e",
            place="beside T29; Erlingsson et al. 2014",
            says="Kept answers cost ε∞ for each distinct value, between histories that change at the same times: 2 for "
            "two values at 1.",
            rule=number,
            stated=2,
            tolerance=Tolerance(absolute=1e-12),
            readings={"all such pairs of length 4": lambda: history_epsilon("kept", same=True)},
        ),
        claim(
            id="N06f",
            place="beside T29; Erlingsson et al. 2014",
            says="Between any two histories one level of kept answers has no bound: two answers that differ are "
            "impossible for a constant.",
            rule=above,
            stated=2.0,
            readings={"the other pairs of length 4": lambda: history_epsilon("kept", same=False)},
        ),
        claim(
            id="N06g",
            place="beside T29; Erlingsson et al. 2014",
            says="A second, fresh level bounds that, but by more than ε∞ for each value: 2.03 after four slots.",
            rule=above,
            stated=2.0,
            readings={"the other pairs of length 4": lambda: history_epsilon("two levels", same=False)},
        ),
        claim(
            id="N06h",
            place="beside T29; Erlingsson et al. 2014",
            says="With two levels the price grows with time.",
            rule=rising,
            stated="rises with the slots",
            readings={"4, 6, 8 slots": lambda: [loss_after(slots) for slots in (4, 6, 8)]},
        ),
        claim(
            id="N06i",
            place="beside T29; Arcolezi et al. 2022",
            says="The printed chance of the second level realises ε1 = 0.6994 where 1 is meant, at ε∞ = 2 and ten "
            "choices; p2 = (p − q1)/(p1 − q1) realises it.",
            rule=number,
            stated=[0.6994, 1.0],
            tolerance=Tolerance(absolute=5e-5),
            readings={"printed, ours": lambda: [realised_first(printed=True), realised_first(printed=False)]},
        ),
    ]
