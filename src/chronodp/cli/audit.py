"""``chronodp audit``: every promise attacked, and the mistakes that must be caught."""

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

__all__ = ["audit"]


def audit(
    mechanism: Annotated[
        str, typer.Argument(help="Part of a mechanism's name; or module:object, for one of your own. All if left out.")
    ] = "",
    seconds: Annotated[float | None, typer.Option(help="How long each attack by samples may take.")] = None,
    within: Annotated[float | None, typer.Option(help="Seconds after which nothing else is begun.")] = None,
    error: Annotated[
        float, typer.Option(help="Probability of calling a true claim refuted, for each mechanism.")
    ] = 1e-6,
    page: Annotated[Path | None, typer.Option(help="Write an HTML page with privacy curves.")] = None,
    as_json: Json = False,
) -> None:
    """Attack every claim: exactly, numerically and by samples; see mutants caught and attacks fail.

    Exit code 1 if a claim is refuted or cannot be judged, a mutant is not caught, or an attack succeeds.

    **Examples**

    `chronodp audit`

    `chronodp audit shuffle --json`

    `chronodp audit --within 30`

    `chronodp audit mymodule:case --seconds 60`
    """
    from chronodp.audit import Allowance, audit as run_audit, audit_cases, find_case, report_audit

    limit = math.inf if within is None else within
    if ":" in mechanism:
        sys.path.insert(0, str(Path.cwd()))
        own = Allowance(seconds=seconds or 20.0, samples=10_000_000, error=error)
        found = audit_cases(find_case(mechanism), allowance=own, within=limit)
    else:
        found = run_audit(mechanism, allowance=Allowance(seconds=seconds or 5.0, error=error), within=limit)
    if page is not None:
        report_audit(found, page)
    if as_json:
        print_json(found.to_dict(), indent=2)
    else:
        _show(found)
    if not found.as_it_must:
        raise typer.Exit(1)


def _show(found: Audit) -> None:
    console = terminal()
    if found.verdicts:
        table = _table("Mechanisms", "mechanism")
        for verdict in found.verdicts:
            _add(table, verdict.case.name, verdict, good=verdict.passed)
        console.print(table)
    if found.mutants:
        table = _table("Mutants, which must be refuted", "mistake")
        for mutant, sound, broken in found.mutants:
            _add(table, mutant.name, broken, good=broken.outcome == "refuted")
            if not sound.passed:
                _add(table, f"{mutant.name}, without the mistake", sound, good=False)
        console.print(table)
    if found.attempts:
        table = Table(
            "attack", "against", "right guesses", "here", "most that ε allows", title="Attacks from end to end"
        )
        for attempt in found.attempts:
            table.add_row(
                attempt.name,
                attempt.naive,
                f"{attempt.naive_hits}/{attempt.naive_guesses}",
                f"{attempt.our_hits}/{attempt.our_guesses}",
                f"{attempt.ceiling:.1%}",
                style=None if attempt.breaks_naive and not attempt.breaks_ours else "bold red",
            )
        console.print(table)
    reasons = {verdict.case.name: verdict.reason for verdict in found.verdicts if verdict.reason}
    for name, reason in reasons.items():
        console.print(f"{name} cannot be judged: {reason}.")
    caught = sum(broken.outcome == "refuted" for _, _, broken in found.mutants)
    stand = sum(verdict.passed for verdict in found.verdicts)
    console.print(f"{stand} of {len(found.verdicts)} claims stand; {caught} of {len(found.mutants)} mutants caught.")


def _table(title: str, first: str) -> Table:
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column(first, ratio=1)
    for name in ("claimed ε", "δ", "proved ε ≥", "exact"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("verdict", no_wrap=True)
    return table


def _add(table: Table, name: str, verdict: Verdict, *, good: bool) -> None:
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
