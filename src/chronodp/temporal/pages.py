"""The owner's page: one person's series before and after, and what is promised."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from chronodp.privacy import counted
from chronodp.report import Line, Page, series_figure, write_page
from chronodp.temporal.published.statement import DispatchStatement
from chronodp.temporal.tables import BlurredTable

__all__ = ["report_times"]

_SHOWN = 300  # periods: more would hide what moved


def report_times(table: BlurredTable, path: str | Path, *, title: str = "Blurred times") -> Path:
    """Write a page with the first person's series before and after. FOR THE OWNER ONLY: it shows the true times."""
    import pandas

    name = table.before.columns[0]
    stop = min(int(table.before.lengths[0]) if len(table.before.starts) else 0, _SHOWN)
    times = [str(moment) for moment in table.before.frame.iloc[:stop, 0]]
    if table.before.frame.iloc[:, 0].dtype.kind in "iu":
        times = table.before.frame.iloc[:stop, 0].tolist()
    nothing = np.full(stop, np.nan)
    shown = {}
    for label, frame in (("before", table.before.frame), ("after", table.frame)):
        column = pandas.to_numeric(frame[name].iloc[:stop], errors="coerce")
        shown[label] = column.to_numpy(dtype=np.float64, na_value=np.nan)
    lines = [Line(label, times, numbers, nothing, nothing) for label, numbers in shown.items()]
    page = Page(
        title=title,
        promise=_promise(table),
        facts=_facts(table),
        certificate=str(table.promise),
        columns=("time", "before", "after"),
        rows=list(zip(times, shown["before"].tolist(), shown["after"].tolist(), strict=True)),
        figure=series_figure(lines, title=f"{name} of the first person, before and after", value_name=name),
        warning="For the owner only: this page shows true times. Publish the table, not the page.",
    )
    return write_page(page, path)


def _promise(table: BlurredTable) -> str:
    if isinstance(table.promise, DispatchStatement):
        budget, window = table.promise.budget, counted(table.promise.window, "period")
        times = (
            f"have a marginal dispatch budget of {budget:g} over {window}"
            if budget is not None
            else f"are moved by less than {window}, without any budget"
        )
        return f"No differential privacy. Values are exact; their times {times}, and an observer can rule out much."
    guarantee = table.promise.guarantee
    return (
        f"Values are exact, times are blurred: {guarantee}. It protects {guarantee.unit.protects}. It does not protect "
        f"{guarantee.unit.does_not_protect}."
    )


def _facts(table: BlurredTable) -> tuple[tuple[str, str], ...]:
    facts = [("People", f"{len(table.before.starts):,}"), ("Rows", f"{len(table.frame):,}")]
    if (damage := table.damage) is not None:
        facts += [
            ("Missing", f"{damage.missing:.2%}"),
            ("Repeated", f"{damage.repeated:.2%}"),
            ("Empty", f"{damage.empty:.2%}"),
            ("Mean displacement", f"{damage.displacement:.3g} periods"),
        ]
    return tuple(facts)
