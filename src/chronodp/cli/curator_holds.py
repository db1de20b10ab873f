"""``chronodp curator hold`` and ``resume``: keep jobs from being begun, and let them go on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from chronodp.cli.options import Address, Json, check_ledger_file
from chronodp.cli.terminal import print_json, terminal
from chronodp.display import shown

if TYPE_CHECKING:
    from chronodp.ledger import Store
    from chronodp.service import Hold

__all__ = ["add_holds", "holds_of", "show_holds"]

_BY_COMMAND = "owner"  # whoever can write the ledger's database is its owner


def add_holds(app: typer.Typer) -> None:
    """Add the commands to those of the curator."""
    app.command()(hold)
    app.command()(resume)


def hold(
    dataset: Annotated[str, typer.Argument(help="Whose jobs are not begun; all if it is left out.")] = "",
    why: Annotated[str, typer.Option(help="For other owners and auditors.")] = "held by the owner",
    as_json: Json = False,
    ledger: Address = "budget.db",
) -> None:
    """Begin no job of a dataset, or none at all, until it is resumed. What is under way is finished; the rest waits.

    **Example**

    `chronodp curator hold meters --why "the meters of May are being corrected" --ledger budget.db`
    """
    from chronodp.service import place_hold

    with _tables(ledger) as store:
        made = place_hold(store, dataset=dataset, why=why, by_whom=_BY_COMMAND)
    if as_json:
        print_json(_plain(made))
        return
    terminal(soft_wrap=True).print(
        Text(shown(f"Hold {made.id}: no job {_of(made)} is begun. Lift it: resume {made.id}"))
    )


def resume(
    identity: Annotated[
        str, typer.Argument(metavar="ID", help="The hold's id, as `chronodp curator check` with --ledger shows it.")
    ],
    as_json: Json = False,
    ledger: Address = "budget.db",
) -> None:
    """Lift a hold, also one that the curator placed after a loss: what waits is begun, oldest first.

    **Example**

    `chronodp curator resume 3f9a0c1d2e4b --ledger budget.db`
    """
    from chronodp.service import lift_hold

    with _tables(ledger) as store:
        lift_hold(store, identity)
    if as_json:
        print_json({"lifted": identity})
        return
    terminal(soft_wrap=True).print(Text(shown(f"Hold {identity} is lifted.")))


def holds_of(ledger: str) -> list[dict[str, Any]]:
    """Return what is held, by whom and why. The curator itself holds everything after a release was lost."""
    from chronodp.service import list_holds

    with _tables(ledger) as store:
        return [_plain(one) for one in list_holds(store)]


def show_holds(held: list[dict[str, Any]]) -> None:
    """Print what is held; nothing where nothing is."""
    table = Table("id", "holds", "by", "since (UTC)", "why")
    for one in held:
        words = (one["dataset"] or "everything", one["by_whom"] or "the curator", one["made"], one["why"])
        table.add_row(one["id"], *map(shown, words))
    terminal().print(table if held else "Nothing is held.")


@contextmanager
def _tables(ledger: str) -> Iterator[Store]:
    from chronodp.service import open_tables

    check_ledger_file(ledger)  # a hold in a new file would hold nothing
    store = open_tables(ledger)
    try:
        yield store
    finally:
        store.close()


def _of(made: Hold) -> str:
    return f"of {made.dataset!r}" if made.dataset else "at all"


def _plain(one: Hold) -> dict[str, Any]:
    return asdict(one) | {"made": _when(one.made)}


def _when(moment: int) -> str:
    return dt.datetime.fromtimestamp(moment / 1e6, dt.UTC).isoformat(sep=" ", timespec="seconds")
