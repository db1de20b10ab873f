"""``chronodp token``: let people in, see who may come, and shut the door again."""

from __future__ import annotations

import datetime as dt
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from rich.table import Table
from rich.text import Text

from chronodp.cli.options import Address, Json, check_ledger_file
from chronodp.cli.terminal import print_json, terminal
from chronodp.display import shown

if TYPE_CHECKING:
    from chronodp.service import Role, Token

__all__ = ["token"]

token = typer.Typer(
    no_args_is_help=True, rich_markup_mode="markdown", help="Tokens for the curator's service: add, list, revoke."
)


@token.command()
def add(
    name: Annotated[str, typer.Argument(help="Whose it is; of an analyst, the name in the policy.")],
    role: Annotated[str, typer.Option(help="`analyst` asks, `auditor` looks, `owner` does both.")] = "analyst",
    days: Annotated[float, typer.Option(help="How many days it is valid.")] = 90.0,
    as_json: Json = False,
    ledger: Address = "budget.db",
) -> None:
    """Make a token and show it, this once; what is kept is a digest.

    **Example**

    `chronodp token add ana --role analyst --days 30 --ledger budget.db`
    """
    from chronodp.service import add_token, open_tables

    store = open_tables(ledger)
    try:
        made = add_token(store, name, cast("Role", role), days=days)
    finally:
        store.close()
    if as_json:
        print_json({"name": name, "role": role, "token": made})
        return
    console = terminal(soft_wrap=True)
    console.print(
        Text.assemble(
            "A token for ", (shown(name), "bold"), f" ({role}), good for {days:g} days. It is shown this once:"
        )
    )
    console.print(made)


@token.command("list")
def list_all(as_json: Json = False, ledger: Address = "budget.db") -> None:
    """List tokens: whose, which role, until when. The tokens themselves are not kept.

    **Example**

    `chronodp token list --ledger budget.db`
    """
    from chronodp.service import list_tokens, open_tables

    check_ledger_file(ledger)
    store = open_tables(ledger)
    try:
        tokens = list_tokens(store)
    finally:
        store.close()
    if as_json:
        print_json([_plain(one) for one in tokens], indent=2)
        return
    table = Table("id", "name", "role", "expires (UTC)", "state")
    for one in tokens:
        state = "revoked" if one.revoked is not None else "valid" if one.valid else "expired"
        table.add_row(one.id, shown(one.name), one.role, _when(one.expires), state)
    terminal().print(table)


@token.command()
def revoke(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The token's id, as `chronodp token list` shows it.")],
    ledger: Address = "budget.db",
) -> None:
    """Close a token, and every session that it opened, for good.

    **Example**

    `chronodp token revoke 3f9a0c1d2e4b --ledger budget.db`
    """
    from chronodp.service import open_tables, revoke_token

    check_ledger_file(ledger)
    store = open_tables(ledger)
    try:
        revoke_token(store, identity)
    finally:
        store.close()
    terminal().print(f"Token {shown(identity)} is revoked.")


def _plain(one: Token) -> dict[str, Any]:
    revoked = None if one.revoked is None else _when(one.revoked)
    return asdict(one) | {"made": _when(one.made), "expires": _when(one.expires), "revoked": revoked}


def _when(moment: int) -> str:
    return dt.datetime.fromtimestamp(moment / 1e6, dt.UTC).isoformat(sep=" ", timespec="seconds")
