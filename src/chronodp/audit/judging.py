"""Judging: every check of a case is run, and the worst that any of them found is the verdict.

The judge sees a case and nothing else. Sound mechanisms and mutants come to it in one shuffled line, under
numbers instead of names.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from chronodp.audit.allowance import Allowance
from chronodp.audit.case import AuditCase, Curve, Reached, Unfit
from chronodp.audit.statistical import Sampled
from chronodp.privacy import check_kind
from chronodp.randomness import secure
from chronodp.report import watched

__all__ = ["Outcome", "Verdict", "judge", "judge_all"]

Outcome: TypeAlias = Literal["holds", "not refuted", "refuted", "cannot be judged", "not reached"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the audit found about one case.

    Attributes:
        case: who was judged.
        outcome: 'holds' if an exact or numerical auditor computed the truth, or a bound, on all neighbours given; 'not
            refuted' if samples alone speak for it; 'refuted'; 'cannot be judged', or 'not reached' in the time given,
            which are never a pass.
        lower: the largest epsilon that was proved at the claim's delta.
        exact: the true epsilon over the neighbours given, where it is known.
        reached: how far each auditor got.
        reason: why it cannot be judged.
        seconds: how long it took.
    """

    case: AuditCase
    outcome: Outcome
    lower: float
    exact: float | None
    reached: tuple[Reached, ...] = ()
    reason: str = ""
    seconds: float = 0.0

    @property
    def passed(self) -> bool:
        """Whether the claim stands."""
        return self.outcome in ("holds", "not refuted")

    @property
    def curve(self) -> Curve:
        """The true privacy curve, where some auditor knows it."""
        return next((part.curve for part in self.reached if part.curve), ())


def judge(case: AuditCase, allowance: Allowance | None = None) -> Verdict:
    """Run every check of a case.

    >>> from chronodp.privacy import Claim, PureCost, Report
    >>> always = AuditCase(name="always 7", mechanism=lambda data: 7, neighbours=((0, 1),),
    ...                  claim=Claim(Report(), PureCost(1.0), "my notes"))
    >>> judge(always, Allowance(samples=1_000)).reason
    'it is not random, as far as was seen: each input gave one output, in 200 tries; more samples or seconds see more'
    """
    check_kind("case", case, AuditCase, "an AuditCase")
    given = Allowance() if allowance is None else check_kind("allowance", allowance, Allowance, "an Allowance")
    started = time.perf_counter()
    reached: list[Reached] = []
    reason = ""
    for check in case.checks or (Sampled(),):
        try:
            reached.append(check.attack(case, given))
        except Unfit as error:
            reason = str(error)
    exacts = [part.exact for part in reached if part.exact is not None]
    bounded = any(part.upper is not None and part.upper <= case.epsilon for part in reached)
    outcome: Outcome = "holds" if exacts or bounded else "not refuted"
    if any(part.refuted for part in reached):
        outcome = "refuted"
    elif reason:
        outcome = "cannot be judged"
    return Verdict(
        case,
        outcome,
        max((part.lower for part in reached), default=0.0),
        max(exacts, default=None),
        tuple(reached),
        reason,
        time.perf_counter() - started,
    )


def judge_all(
    cases: Sequence[AuditCase],
    allowance: Allowance | None = None,
    *,
    within: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> list[Verdict]:
    """Judge cases in a random order under numbers, so that nothing can tell who is who; return them as given.

    Args:
        cases: sound and broken alike.
        allowance: of each attack.
        within: seconds after which no other case is begun.
        progress: told which fraction is done; a bar on the terminal if not given.
    """
    started = time.perf_counter()
    order = secure().permutations(len(cases))[0].tolist() if cases else []
    found: dict[int, Verdict] = {}
    with watched(progress, "Auditing") as tell:
        for done, place in enumerate(order):
            tell(done / len(order))
            if time.perf_counter() - started > within:
                found[place] = Verdict(cases[place], "not reached", 0.0, None)
                continue
            verdict = judge(replace(cases[place], name=f"case {done + 1}"), allowance)
            found[place] = replace(verdict, case=cases[place])
    return [found[place] for place in range(len(cases))]
