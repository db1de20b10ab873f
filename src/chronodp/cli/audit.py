"""``chronodp audit``: the claim of a mechanism of one's own attacked."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal

if TYPE_CHECKING:
    from chronodp.audit import Audit, Verdict

__all__ = ["add_verdict", "audit", "verdict_table"]


def audit(
    mechanism: Annotated[
        str, typer.Argument(help="module:object, where object is an AuditCase, a list of them, or a function of them.")
    ],
    seconds: Annotated[float, typer.Option(help="How long each attack by samples may take.")] = 20.0,
    within: Annotated[float | None, typer.Option(help="Seconds after which nothing else is begun.")] = None,
    error: Annotated[
        float, typer.Option(help="Probability of calling a true claim refuted, for each mechanism.")
    ] = 1e-6,
    page: Annotated[Path | None, typer.Option(help="Write an HTML page with privacy curves.")] = None,
    as_json: Json = False,
) -> None:
    """Attack the claim of your own mechanism: exactly, numerically and by samples.

    Exit code 1 if a claim is refuted or cannot be judged.

    **Examples**

    `chronodp audit mymodule:case --seconds 60`

    `chronodp audit mymodule:cases --within 30 --json`
    """
    from chronodp.audit import Allowance, audit_cases, find_case, report_audit

    sys.path.insert(0, str(Path.cwd()))
    found = audit_cases(
        find_case(mechanism),
        allowance=Allowance(seconds=seconds, samples=10_000_000, error=error),
        within=math.inf if within is None else within,
    )
    if page is not None:
        report_audit(found, page)
    if as_json:
        print_json(found.to_dict(), indent=2)
    else:
        _show(found)
    if not found.passed:
        raise typer.Exit(1)


def _show(found: Audit) -> None:
    console = terminal()
    table = verdict_table("Mechanisms", "mechanism")
    for verdict in found.verdicts:
        add_verdict(table, verdict.case.name, verdict, good=verdict.passed)
    console.print(table)
    for name, reason in {verdict.case.name: verdict.reason for verdict in found.verdicts if verdict.reason}.items():
        console.print(f"{name} cannot be judged: {reason}.")
    console.print(f"{sum(verdict.passed for verdict in found.verdicts)} of {len(found.verdicts)} claims stand.")


def verdict_table(title: str, first: str) -> Table:
    """Return a table to which verdicts are added."""
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first, ratio=1)
    for name in ("claimed ε", "δ", "proved ε ≥", "exact"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    return table


def add_verdict(table: Table, name: str, verdict: Verdict, *, good: bool) -> None:
    """Add a row, in red if it is not as it must be."""
    case = verdict.case
    table.add_row(
        name,
        f"{case.epsilon:.4g}",
        f"{case.delta:.3g}",
        f"{verdict.lower:.4g}",
        "–" if verdict.exact is None else f"{verdict.exact:.4g}",
        verdict.outcome,
        style=None if good else "bold red",
    )
