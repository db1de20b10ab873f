"""The whole audit: every mechanism, every mutant, every attack; and whether it came out as it must."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chronodp.audit.allowance import Allowance
from chronodp.audit.attacks import ATTACKS, Attempt
from chronodp.audit.case import AuditCase
from chronodp.audit.judging import Verdict, judge_all
from chronodp.audit.mutants import MUTANTS, Mutant
from chronodp.audit.registry import entries
from chronodp.errors import InvalidArgument
from chronodp.report import watched

__all__ = ["Audit", "audit", "audit_cases"]

_TRIALS = 120


@dataclass(frozen=True, slots=True)
class Audit:
    """What an audit found.

    Attributes:
        verdicts: of mechanisms.
        mutants: of each mutant, the verdict of the sound mechanism and of the broken one.
        attempts: of the attacks.
    """

    verdicts: tuple[Verdict, ...]
    mutants: tuple[tuple[Mutant, Verdict, Verdict], ...] = ()
    attempts: tuple[Attempt, ...] = ()

    @property
    def as_it_must(self) -> bool:
        """Whether every claim stands, every mutant is caught, and every attack breaks the naive version alone."""
        return (
            all(verdict.passed for verdict in self.verdicts)
            and all(sound.passed and broken.outcome == "refuted" for _, sound, broken in self.mutants)
            and all(attempt.breaks_naive and not attempt.breaks_ours for attempt in self.attempts)
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; a number that is not finite becomes a text."""
        return {
            "as_it_must": self.as_it_must,
            "mechanisms": [_plain(verdict) for verdict in self.verdicts],
            "mutants": [
                {
                    "name": mutant.name,
                    "caught": broken.outcome == "refuted",
                    "sound": _plain(one),
                    "broken": _plain(broken),
                }
                for mutant, one, broken in self.mutants
            ],
            "attacks": [
                {
                    "name": attempt.name,
                    "naive": attempt.naive,
                    "ceiling": attempt.ceiling,
                    "naive_hits": attempt.naive_hits,
                    "naive_guesses": attempt.naive_guesses,
                    "our_hits": attempt.our_hits,
                    "our_guesses": attempt.our_guesses,
                }
                for attempt in self.attempts
            ],
        }


def audit(
    name: str = "",
    *,
    allowance: Allowance | None = None,
    within: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Audit:
    """Audit every mechanism, mutant and attack; or those whose name holds a text.

    Args:
        name: part of a name; everything if empty.
        allowance: of each attack by samples; a few seconds each by default.
        within: seconds after which nothing else is begun; what is left is listed as not reached.
        progress: told which fraction is done; a bar on the terminal if not given.
    """
    given = Allowance(seconds=5.0) if allowance is None else allowance
    wanted = name.casefold()
    cases = [
        case
        for entry in entries()
        for case in entry.cases()
        if wanted in entry.name.casefold() or wanted in case.name.casefold()
    ]
    broken = [mutant for mutant in MUTANTS if wanted in mutant.name.casefold()]
    if not cases and not broken:
        known = ", ".join(entry.name for entry in entries())
        raise InvalidArgument(
            "mechanism", name, f"part of the name of a mechanism or mutant, or module:object; there are {known}"
        )
    line = [*cases, *(case for mutant in broken for case in mutant.cases)]
    attacks = ATTACKS if not wanted and within == math.inf else ()
    with watched(progress, "Auditing") as tell:
        share = len(line) / (len(line) + 2 * len(attacks))
        found = judge_all(line, given, within=within, progress=lambda fraction: tell(share * fraction))
        attempts = []
        for done, attack in enumerate(attacks):
            tell(share + (1 - share) * done / len(attacks))
            attempts.append(attack(_TRIALS))
    rest = found[len(cases) :]
    pairs = zip(broken, rest[::2], rest[1::2], strict=True)
    return Audit(tuple(found[: len(cases)]), tuple(pairs), tuple(attempts))


def audit_cases(
    cases: tuple[AuditCase, ...],
    *,
    allowance: Allowance | None = None,
    within: float = math.inf,
    progress: Callable[[float], None] | None = None,
) -> Audit:
    """Audit cases of a user's own."""
    given = Allowance(seconds=20.0) if allowance is None else allowance
    return Audit(tuple(judge_all(cases, given, within=within, progress=progress)))


def _plain(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.case.name,
        "unit": str(verdict.case.claim.unit),
        "cost": str(verdict.case.claim.cost),
        "argument": verdict.case.claim.argument,
        "epsilon": verdict.case.epsilon,
        "delta": verdict.case.delta,
        "lower": _number(verdict.lower),
        "exact": _number(verdict.exact),
        "outcome": verdict.outcome,
        "reason": verdict.reason,
        "auditors": [part.auditor for part in verdict.reached],
        "where": [part.where for part in verdict.reached],
        "seconds": round(verdict.seconds, 2),
    }


def _number(value: float | None) -> float | str | None:
    return "infinite" if value == math.inf else value
