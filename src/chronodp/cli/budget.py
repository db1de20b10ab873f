"""``chronodp budget``: open, watch, export, close and restore budgets."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from chronodp.cli.options import Address, Json, Keys, check_ledger_file, existing_ledger
from chronodp.cli.places import check_place
from chronodp.cli.terminal import print_json, print_line, terminal
from chronodp.display import shown
from chronodp.privacy import counted, parse_unit

if TYPE_CHECKING:
    from chronodp.ledger import Status

__all__ = ["budget"]

budget = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Open, watch, export, close and restore budgets."
)

Dataset = Annotated[str, typer.Argument(help="The name of the budget.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do not ask.")]


@budget.command("open")
def open_budget(
    dataset: Dataset,
    epsilon: Annotated[float, typer.Option(help="Epsilon of the guarantee.")],
    unit: Annotated[
        str,
        typer.Option(
            help="`user`, `event`, `user_period:1D`, `window:24` or `swap:20`; `/replace` after it for that relation. "
            "What periods mean may be said: `window:24@1h`, `window:7@1D@Europe/Berlin`, `user_period:1D@Asia/Tokyo`; "
            "else the first charge says it."
        ),
    ] = "user",
    delta: Annotated[float, typer.Option(help="Delta of the guarantee; 0 for a pure one.")] = 0.0,
    rule: Annotated[
        str | None, typer.Option(help="`pure`, `gaussian` or `renyi`; chosen by delta if not given.")
    ] = None,
    reserve: Annotated[
        float | None, typer.Option(help="Part of delta for failures and costs known only as (ε, δ).")
    ] = None,
    renews: Annotated[str | None, typer.Option(help="`1D`, `1W`, `1mo` or `1Y`; never if not given.")] = None,
    timezone: Annotated[
        str | None, typer.Option(help="With --renews: time zone of days, weeks, months or years; UTC if not given.")
    ] = None,
    accepts: Annotated[list[str] | None, typer.Option(help="An assumption accepted by name. May be repeated.")] = None,
    analyst: Annotated[str, typer.Option(help="Give this analyst a part of an open budget instead.")] = "",
    collusion: Annotated[
        str, typer.Option(help="Of an analyst's part: `expected` (the whole pays too) or `excluded`.")
    ] = "expected",
    keys: Keys = None,
    ledger: Address = "budget.db",
) -> None:
    """Open a budget, or an analyst's part of one; the same again changes nothing.

    **Examples**

    `chronodp budget open meters --epsilon 4 --delta 1e-6`

    `chronodp budget open meters --analyst ana --epsilon 1 --delta 1e-7`
    """
    from chronodp.ledger import Ledger

    terms: dict[str, Any] = {"epsilon": epsilon, "delta": delta, "rule": rule, "reserve": reserve}
    with Ledger(ledger, keys=keys) as opened:
        if analyst:
            terms["collusion"] = collusion
            opened.allot(dataset, analyst, **terms)
        else:
            terms |= {"renews": renews, "timezone": timezone}
            opened.open(dataset, unit=parse_unit(unit), accepts=tuple(accepts or ()), **terms)
        known = opened.status(dataset, analyst=analyst)
    name = shown(dataset + (f" for {analyst}" if analyst else ""))
    terminal().print(Text.assemble((name, "bold"), shown(f" is open. {known.guarantee} {known.budget.lifetime}")))


@budget.command()
def status(
    dataset: Annotated[str | None, typer.Argument(help="The budget; all of them if not given.")] = None,
    period: Annotated[str, typer.Option(help="Of a budget that renews, such as 2026-01.")] = "",
    analyst: Annotated[str, typer.Option(help="The part of this analyst.")] = "",
    as_json: Json = False,
    keys: Keys = None,
    ledger: Address = "budget.db",
) -> None:
    """Show what is spent, what is left and what still fits.

    **Example**

    `chronodp budget status meters --ledger budget.db`
    """
    with existing_ledger(ledger, keys=keys) as opened:
        restored = opened.restored
        if dataset is not None:
            found = [opened.status(dataset, analyst=analyst, period=period)]
        else:
            found = [opened.status(name, analyst=who, period=period) for name, who, _ in opened.budgets(closed=False)]
    if as_json:
        documents = [one.to_dict() for one in found]
        print_json(documents[0] if dataset is not None else documents, indent=2)
        return
    console = terminal()
    if restored:
        console.print(Text.assemble(("This ledger was ", "yellow"), f"{shown(restored)}."))
    for one in found:
        _show(console, one)


@budget.command()
def history(
    dataset: Dataset,
    limit: Annotated[int, typer.Option(help="How many of the newest charges.")] = 20,
    as_json: Json = False,
    keys: Keys = None,
    ledger: Address = "budget.db",
) -> None:
    """List the newest charges.

    **Example**

    `chronodp budget history meters --limit 5`
    """
    with existing_ledger(ledger, keys=keys) as opened:
        entries = opened.history(dataset, limit=limit)
    if as_json:
        print_json([entry.to_dict() for entry in entries], indent=2)
        return
    table = Table("charge", "made (UTC)", "analyst", "period", "purpose", "cost")
    for entry in entries:
        made = entry.made.strftime("%Y-%m-%d %H:%M:%S")
        words = (entry.analyst, entry.period, entry.purpose, entry.cost)
        table.add_row(str(entry.number), made, *map(shown, words))
    terminal().print(table)


@budget.command()
def close(dataset: Dataset, yes: Yes = False, keys: Keys = None, ledger: Address = "budget.db") -> None:
    """Close a budget for good; its history and certificates stay.

    **Example**

    `chronodp budget close meters --yes`
    """
    with existing_ledger(ledger, keys=keys) as opened:
        opened.status(dataset)
        if not yes and not typer.confirm(f"Close {shown(dataset)} for ever?"):
            raise typer.Exit(1)
        opened.close(dataset)
    print_line(f"{dataset} is closed.")


@budget.command()
def export(
    dataset: Dataset,
    out: Annotated[Path | None, typer.Option(help="A file to write; standard output if not given.")] = None,
    keys: Keys = None,
    ledger: Address = "budget.db",
) -> None:
    """Write the chain of signed certificates, with what is needed to verify it, as JSON.

    **Example**

    `chronodp budget export meters --out meters-chain.json`
    """
    check_place("out", out)
    with existing_ledger(ledger, keys=keys) as opened:
        exported = opened.export(dataset)
    if out is None:
        print_json(exported, indent=2)
    else:
        out.write_text(json.dumps(exported, ensure_ascii=False, indent=2) + "\n", encoding="utf-8")


@budget.command()
def restore(
    complete: Annotated[
        bool,
        typer.Option("--complete", help="You declare that nothing was spent but what the backup and the keys know."),
    ] = False,
    witness: Annotated[Path | None, typer.Option(help="The ledger's witness, if it has one.")] = None,
    yes: Yes = False,
    keys: Keys = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
) -> None:
    """Go on from a backup that was put in the ledger's place. Stop everything that uses the ledger first.

    What was spent since the backup is not known to it, so every budget is booked as spent to its limit, in every period
    up to now, and later certificates say so. With `--complete` budgets stay as they are where the counts in the keys
    file are those of the backup.

    **Examples**

    `chronodp budget restore --ledger budget.db`

    `chronodp budget restore --complete --yes`
    """
    from chronodp.ledger import FileWitness, restore as restore_ledger

    check_ledger_file(ledger)
    if not yes and not typer.confirm(f"Make the backup at {shown(ledger)} the ledger from now on?"):
        raise typer.Exit(1)
    elsewhere = None if witness is None else FileWitness(witness)
    done = restore_ledger(ledger, keys=keys, witness=elsewhere, complete=complete)
    names = [dataset + (f" for {analyst}" if analyst else "") for dataset, analyst in done.booked]
    if as_json:
        print_json({"words": done.words, "booked": names, "stopped": list(done.stopped)}, indent=2)
        return
    console = terminal(soft_wrap=True)
    console.print(shown(f"Later certificates say: {done.words}."))
    console.print(shown(f"Booked as spent to the limit: {', '.join(names) or 'nothing'}."))
    if done.stopped:
        console.print(shown(f"Streams that cannot go on: {', '.join(done.stopped)}."))


def _show(console: Console, one: Status) -> None:
    name = one.dataset + (f" for {one.analyst}" if one.analyst else "") + (f" in {one.period}" if one.period else "")
    width = 40
    used = round(one.share * width)
    colour = "red" if one.share > 0.9 else "yellow" if one.share > 0.6 else "green"
    bar = (("█" * used, colour), ("░" * (width - used), "dim"))
    console.print(Text.assemble((shown(name), "bold"), "  ", *bar, f" {1 - one.share:.1%} left"))
    console.print(shown(f"{one.guarantee} {one.budget.lifetime}"))
    table = Table("counted in", "spent", "limit", "one more of up to")
    for part in one.told:
        table.add_row(part.name, f"{part.spent:.4g}", f"{part.limit:.4g}", f"{part.left:.4g}")
    console.print(table)
    fits = "Nothing fits any more."
    if one.largest_pure is not None:
        fits = f"One more release of up to ε = {one.largest_pure:.2g} fits."
    console.print(f"{counted(one.charges, 'charge')}. {fits}")
    console.print(one.outlook.words)
    for request in one.unreleased:
        console.print(Text.assemble(("Debited but never released:", "yellow"), f" {shown(request)}"))
    console.print()
