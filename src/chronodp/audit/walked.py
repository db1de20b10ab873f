"""The exact auditors as checks: every outcome of a mechanism's randomness, on each pair of neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, cast

from chronodp.audit.allowance import Allowance
from chronodp.audit.case import AuditCase, Curve, Reached, Unfit
from chronodp.audit.exact import Finding, Outcomes, compare_outcomes, examine
from chronodp.audit.fitness import check_replay
from chronodp.errors import InvalidArgument
from chronodp.privacy import BoundedRangeCost

__all__ = ["Enumerated", "Known", "Lawful", "epsilon_at", "report_finding"]

_POINTS = 7
_BITS = 80  # of an answer that is e^2ε less likely: a tail must be far less likely than what ε makes of an answer
_BIT = math.log(2)


@dataclass(frozen=True, slots=True)
class Enumerated:
    """StepEnumerator through every draw of the mechanism's public call."""

    @property
    def auditor(self) -> str:
        """Its name."""
        return "exact"

    def attack(self, case: AuditCase, allowance: Allowance) -> Reached:
        """Return the true worst loss over the neighbours given."""
        if not case.draws:
            raise Unfit("it takes no entropy, so its outcomes cannot be walked through")
        check_replay(case)
        try:
            finding = examine(
                case.run_with,
                case.neighbours,
                most_runs=allowance.runs,
                bits=_BITS + math.ceil(2 * case.epsilon / _BIT),
            )
        except InvalidArgument as error:
            raise Unfit(str(error)) from error
        return report_finding(self.auditor, finding, case)


class Lawful(Protocol):
    """A mechanism whose law can be computed from its parts, as `StepEnumerator` and `Orders` do."""

    def law(self, data: Any) -> Outcomes:
        """Return the law of the output on an input."""
        ...


@dataclass(frozen=True, slots=True)
class Known:
    """Compare laws that the mechanism's parts give: each step from each state, each order of values, walked once."""

    @property
    def auditor(self) -> str:
        """Its name."""
        return "exact"

    def attack(self, case: AuditCase, allowance: Allowance) -> Reached:  # noqa: ARG002 (of Check)
        """Return the true worst loss over the neighbours given."""
        check_replay(case)
        mechanism = cast("Lawful", case.mechanism)
        known = {data: mechanism.law(data) for data in {data for pair in case.neighbours for data in pair}}
        finding = compare_outcomes([(known[first], known[second]) for first, second in case.neighbours])
        return report_finding(self.auditor, finding, case)


def report_finding(auditor: str, finding: Finding, case: AuditCase) -> Reached:
    """Return what a finding says about a claim."""
    if all(len(law.shares) == 1 and not law.lost for pair in finding.pairs for law in pair):
        raise Unfit("it is not random: one input always gives one output")
    refuted = finding.refutes(case.epsilon, case.delta)
    # Mass that was not followed is counted once in a sum, but at every output in a ratio: the sum may prove more.
    exact = max(epsilon_at(finding, case.delta), case.epsilon if refuted else 0.0)
    cost = case.claim.cost
    if isinstance(cost, BoundedRangeCost):
        # A span is twice what ratios need to reach: it can break the claim where no single ratio does.
        exact = max(exact, finding.range)
        refuted = refuted or finding.range > cost.epsilon + 1e-12  # logarithms are rounded
    return Reached(
        auditor,
        exact,
        exact,
        refuted,
        "" if finding.output is None else f"output {finding.output!r}"[:60],
        _curve(finding, case),
    )


def epsilon_at(finding: Finding, delta: float) -> float:
    """Return the smallest epsilon that surely is needed at ``delta``."""
    if not delta:
        return finding.epsilon
    low, high = 0.0, 64.0
    if finding.delta(high)[0] > delta:
        return math.inf
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if finding.delta(middle)[0] > delta else (low, middle)
    return low


def _curve(finding: Finding, case: AuditCase) -> Curve:
    most = 1.5 * case.epsilon
    return tuple(
        (most * step / (_POINTS - 1), finding.delta(most * step / (_POINTS - 1))[0]) for step in range(_POINTS)
    )
