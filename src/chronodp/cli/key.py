"""``chronodp key``: the public half of a ledger's keys, for everyone who verifies."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from chronodp.cli.options import Address, Json, Keys, existing_ledger
from chronodp.cli.places import check_place
from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.reading import parse_json

__all__ = ["key", "read_public_key"]

_LARGEST = 4096  # bytes; a public key has 45


def key(
    out: Annotated[Path | None, typer.Option(help="A file to write; standard output if not given.")] = None,
    keys: Keys = None,
    as_json: Json = False,
    ledger: Address = "budget.db",
) -> None:
    """Show or write the public key that certificates are verified with. Give it to everyone who gets a release.

    The keys file itself stays with the owner: it holds the private half.

    **Examples**

    `chronodp key --ledger budget.db`

    `chronodp key --ledger budget.db --out public.key`
    """
    check_place("out", out)
    with existing_ledger(ledger, keys=keys) as opened:
        public = opened.public_key
    text = json.dumps({"public_key": public, "algorithm": "Ed25519"}) if as_json else public
    if out is None:
        print(text)
    else:
        out.write_text(f"{text}\n", encoding="ascii")


def read_public_key(given: str) -> str:
    """Return a public key that was given as text or as the name of a file; nothing of a file is ever repeated."""
    from chronodp.ledger import check_public_key, holds_keys

    path = Path(given)
    try:
        content = path.read_bytes()[: _LARGEST + 1] if path.is_file() else None
    except (OSError, ValueError):
        content = None
    if content is None:
        return check_public_key(given.strip())
    if holds_keys(content):
        raise InvalidArgument(
            "public_key",
            path.name,
            "the public half alone: that file holds a ledger's private keys. `chronodp key --out public.key` writes it",
        )
    return check_public_key(_public_part(content))


def _public_part(content: bytes) -> str:
    try:
        text = content.decode("ascii").strip()
        said = parse_json(text) if text.startswith("{") else None  # what `--json` wrote
    except (UnicodeDecodeError, UnknownDocument):
        return ""
    return str(said.get("public_key")) if isinstance(said, dict) else text
