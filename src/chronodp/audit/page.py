"""The audit as one page: privacy curves as they are, and every verdict."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from chronodp.audit.judging import Verdict
from chronodp.audit.run import Audit
from chronodp.report import Line, Page, series_figure, write_page

__all__ = ["report_audit"]

_SOUND, _BROKEN = "rgb(0, 114, 178)", "rgb(213, 94, 0)"


def report_audit(audit: Audit, path: str | Path) -> Path:
    """Write the page: δ as a function of ε in parts of the claimed ε, for all that is known exactly; and the table."""
    drawn = [verdict for verdict in audit.verdicts if verdict.curve]
    passed = sum(verdict.passed for verdict in audit.verdicts)
    page = Page(
        title="Audit",
        promise=f"{passed} of {len(audit.verdicts)} claims stand.",
        facts=(),
        certificate="\n".join(
            f"{one.case.name}\n    {one.case.claim.unit}\n    {one.case.claim.cost}; {one.case.claim.argument}"
            for one in audit.verdicts
        ),
        columns=("mechanism", "claimed ε", "δ", "proved at least", "exact", "verdict"),
        rows=[_row(verdict) for verdict in audit.verdicts],
        figure=_figure(drawn),
        warning="" if audit.passed else "A claim was refuted or could not be judged.",
        kind="Every claim attacked",
        caption="Each line is the exact privacy curve of one mechanism, red if its claim was refuted: δ at parts "
        "of the ε that it claims. What is claimed holds where a line lies at its claimed δ, or ends, from 1 on.",
        details="Claims",
    )
    return write_page(page, path)


def _figure(drawn: list[Verdict]) -> Any:
    """One colour for what stands and one for what was refuted; names show where the mouse is, too many for a list."""
    figure = series_figure([_line(one) for one in drawn], title="δ at each part of the claimed ε", value_name="δ")
    refuted = {one.case.name for one in drawn if one.outcome == "refuted"}
    for trace in figure.data:
        trace.line.dash = "solid"
        trace.line.color = trace.marker.color = _BROKEN if trace.name in refuted else _SOUND
    figure.update_layout(showlegend=False, hovermode="closest")
    figure.update_xaxes(title_text="part of the claimed ε")
    figure.update_yaxes(type="log", exponentformat="power", range=[-9, 0.1])
    return figure


def _line(verdict: Verdict) -> Line:
    parts = [epsilon / verdict.case.epsilon for epsilon, _ in verdict.curve]
    deltas = [delta if delta > 0 else math.nan for _, delta in verdict.curve]  # a line ends where nothing is left
    nothing = [math.nan] * len(parts)
    return Line(verdict.case.name, parts, deltas, nothing, nothing)


def _row(verdict: Verdict) -> tuple[object, ...]:
    case = verdict.case
    return (case.name, case.epsilon, case.delta, verdict.lower, verdict.exact, verdict.outcome)
