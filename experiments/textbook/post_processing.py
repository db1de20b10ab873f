"""What is done with an output afterwards: it neither weakens the guarantee nor gives budget back."""

from __future__ import annotations

import tempfile
from functools import partial
from pathlib import Path

import chronodp as cdp
from chronodp.audit.exact import Mechanism, examine
from chronodp.randomness import Entropy, seeded
from experiments.claims import Claim, Pair, Tolerance, bound, computation, equal
from experiments.textbook.responses import adaptive_reports

__all__ = ["post_processing_claims"]

PLACE = "Principles and Mechanisms, The Immunity of Post-Processing"
Bits = tuple[int, ...]


def _averaged(bits: Bits, *, entropy: Entropy) -> float:
    reports = adaptive_reports(bits, entropy=entropy)
    return sum(reports) / len(reports)


def _relabelled(bits: Bits, *, entropy: Entropy) -> Bits:
    return tuple(7 - 3 * report for report in adaptive_reports(bits, entropy=entropy))


def _voted(bits: Bits, *, entropy: Entropy) -> bool:
    return sum(adaptive_reports(bits, entropy=entropy)) >= 2


def _stirred(bits: Bits, *, entropy: Entropy) -> Bits:
    return tuple(report ^ int(entropy.coins(1, 5)) for report in adaptive_reports(bits, entropy=entropy))


AFTERWARDS: dict[str, Mechanism[Bits]] = {
    "as it is": adaptive_reports,
    "averaged": _averaged,
    "relabelled": _relabelled,
    "the majority": _voted,
    "with coins of its own": _stirred,
}


@computation()
def epsilon_after(name: str) -> float:
    """Return the least pure ε of three adaptive reports after a function of them."""
    return examine(AFTERWARDS[name], [((0, 0, 0), (1, 1, 1)), ((0, 1, 0), (1, 1, 1))]).epsilon


@computation()
def spent_after_views(views: int) -> float:
    """Return the share of a budget of 1 that a ledger counts as spent after a release and so many readings of it."""
    with tempfile.TemporaryDirectory() as folder, cdp.Ledger(Path(folder) / "budget.db") as ledger:
        ledger.open("day", unit=cdp.User(), epsilon=1.0)
        plan = cdp.Aggregate([3.0] * 24, change=1.0, unit=cdp.User(), max_periods=24).plan(epsilon=0.5)
        made = plan.release(ledger, dataset="day", request="hours", entropy=seeded(1), progress=lambda _: None)
        for _ in range(views):
            made.to_pandas()["value"].rolling(3).mean()
        return ledger.status("day").share


def post_processing_claims() -> list[Claim]:
    """Return the claims on post-processing."""
    claim = partial(Claim, source="textbook", place=PLACE)
    return [
        claim(
            id="T26",
            says="A function of an output that sees no data keeps the guarantee.",
            rule=bound,
            stated="at most the ε before",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "three adaptive reports, enumerated": lambda: [
                    Pair(epsilon_after(name), epsilon_after("as it is"), name)
                    for name in AFTERWARDS
                    if name != "as it is"
                ]
            },
            tokens=(r"f(\mathcal{M}(D))",),
            parameters="ours: three responses at ε = ln 3",
        ),
        claim(
            id="T27",
            says="Post-processing gives no spent budget back.",
            rule=equal,
            stated="the cost stays",
            tolerance=Tolerance(absolute=1e-12),
            readings={
                "an invertible map, and a ledger": lambda: [
                    Pair(epsilon_after("relabelled"), epsilon_after("as it is"), "ε after relabelling"),
                    Pair(spent_after_views(3), 0.5, "spent after smoothing a release of ε = 0.5"),
                ]
            },
            tokens=('cannot "recover" or "improve"',),
            parameters="ours: three responses at ε = ln 3; a release of ε = 0.5",
        ),
    ]
