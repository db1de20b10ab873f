"""The audit as one page: privacy curves as they are, and every verdict."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from chronodp.audit.judging import Verdict
from chronodp.audit.run import Audit
from chronodp.report import Line, Page, series_figure, write_page

__all__ = ["report_audit"]

_MUTANT = "mutant: "
_SOUND, _BROKEN = "rgb(0, 114, 178)", "rgb(213, 94, 0)"


def report_audit(audit: Audit, path: str | Path) -> Path:
    """Write the page: δ as a function of ε in parts of the claimed ε, for all that is known exactly; and the table."""
    verdicts = [*audit.verdicts, *(broken for _, _, broken in audit.mutants)]
    names = [*(v.case.name for v in audit.verdicts), *(f"{_MUTANT}{mutant.name}" for mutant, _, _ in audit.mutants)]
    lines = [_line(name, verdict) for name, verdict in zip(names, verdicts, strict=True) if verdict.curve]
    caught = sum(broken.outcome == "refuted" for _, _, broken in audit.mutants)
    passed = sum(verdict.passed for verdict in audit.verdicts)
    told = [f"{passed} of {len(audit.verdicts)} claims stand"]
    if audit.mutants:
        told.append(f"{caught} of {len(audit.mutants)} mutants were caught")
    if audit.attempts:
        told.append(f"{sum(not one.breaks_ours for one in audit.attempts)} of {len(audit.attempts)} attacks failed")
    page = Page(
        title="Audit",
        promise="; ".join(told) + ".",
        facts=tuple(
            (
                one.name,
                f"{one.naive_hits}/{one.naive_guesses} against: {one.naive}; {one.our_hits}/{one.our_guesses} here",
            )
            for one in audit.attempts
        ),
        certificate="\n".join(
            f"{name}\n    {verdict.case.claim.unit}\n    {verdict.case.claim.cost}; {verdict.case.claim.argument}"
            for name, verdict in zip(names, verdicts, strict=True)
        ),
        columns=("mechanism", "claimed ε", "δ", "proved at least", "exact", "verdict"),
        rows=[_row(name, verdict) for name, verdict in zip(names, verdicts, strict=True)],
        figure=_figure(lines),
        warning="" if audit.as_it_must else "A claim was refuted or could not be judged, or a mutant was not caught.",
        kind="Every claim attacked",
        caption="Each line is the exact privacy curve of one mechanism, blue, or of one mutant, red: δ at parts "
        "of the ε that it claims. What is claimed holds where a line lies at its claimed δ, or ends, from 1 on.",
        details="Claims",
    )
    return write_page(page, path)


def _figure(lines: list[Line]) -> Any:
    """One colour for mechanisms and one for mutants; names show where the mouse is, too many for a list."""
    figure = series_figure(lines, title="δ at each part of the claimed ε", value_name="δ")
    for trace in figure.data:
        trace.line.dash = "solid"
        trace.line.color = trace.marker.color = _BROKEN if str(trace.name).startswith(_MUTANT) else _SOUND
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_xaxes(title_text="part of the claimed ε")
    figure.update_yaxes(type="log", exponentformat="power", range=[-9, 0.1])
    return figure


def _line(name: str, verdict: Verdict) -> Line:
    parts = [epsilon / verdict.case.epsilon for epsilon, _ in verdict.curve]
    deltas = [delta if delta > 0 else math.nan for _, delta in verdict.curve]  # a line ends where nothing is left
    nothing = [math.nan] * len(parts)
    return Line(name, parts, deltas, nothing, nothing)


def _row(name: str, verdict: Verdict) -> tuple[object, ...]:
    case = verdict.case
    return (name, case.epsilon, case.delta, verdict.lower, verdict.exact, verdict.outcome)
