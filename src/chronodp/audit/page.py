"""The audit as one page: privacy curves as they are, and every verdict."""

from __future__ import annotations

import math
from pathlib import Path

from chronodp.audit.judging import Verdict
from chronodp.audit.run import Audit
from chronodp.report import Line, Page, series_figure, write_page

__all__ = ["report_audit"]


def report_audit(audit: Audit, path: str | Path) -> Path:
    """Write the page: δ as a function of ε in parts of the claimed ε, for all that is known exactly; and the table."""
    verdicts = [*audit.verdicts, *(broken for _, _, broken in audit.twins)]
    names = [*(v.subject.name for v in audit.verdicts), *(f"twin: {twin.name}" for twin, _, _ in audit.twins)]
    lines = [_line(name, verdict) for name, verdict in zip(names, verdicts, strict=True) if verdict.curve]
    caught = sum(broken.outcome == "refuted" for _, _, broken in audit.twins)
    passed = sum(verdict.passed for verdict in audit.verdicts)
    page = Page(
        title="Audit",
        promise=f"{passed} of {len(audit.verdicts)} claims stand, {caught} of {len(audit.twins)} broken twins were "
        f"caught, and {sum(not one.breaks_ours for one in audit.attempts)} of {len(audit.attempts)} attacks failed.",
        facts=tuple(
            (
                one.name,
                f"{one.naive_hits}/{one.naive_guesses} against: {one.naive}; {one.our_hits}/{one.our_guesses} here",
            )
            for one in audit.attempts
        ),
        certificate="\n".join(
            f"{name}: {verdict.subject.claim.unit}; {verdict.subject.claim.cost}; {verdict.subject.claim.argument}"
            for name, verdict in zip(names, verdicts, strict=True)
        ),
        columns=("mechanism", "claimed ε", "δ", "proved at least", "exact", "verdict", "seconds"),
        rows=[_row(name, verdict) for name, verdict in zip(names, verdicts, strict=True)],
        figure=series_figure(lines, title="δ at each part of the claimed ε", value_name="δ"),
        warning="" if audit.as_it_must else "A claim was refuted or could not be judged, or a twin was not caught.",
    )
    return write_page(page, path)


def _line(name: str, verdict: Verdict) -> Line:
    parts = [epsilon / verdict.subject.epsilon for epsilon, _ in verdict.curve]
    deltas = [delta for _, delta in verdict.curve]
    nothing = [math.nan] * len(parts)
    return Line(name, parts, deltas, nothing, nothing)


def _row(name: str, verdict: Verdict) -> tuple[object, ...]:
    subject = verdict.subject
    return (name, subject.epsilon, subject.delta, verdict.lower, verdict.exact, verdict.outcome, verdict.seconds)
