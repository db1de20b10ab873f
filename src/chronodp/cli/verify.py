"""``chronodp verify``: check a release or a chain of certificates, offline."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from chronodp.cli.key import read_public_key
from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal
from chronodp.display import shown
from chronodp.errors import CertificateInvalid
from chronodp.reading import parse_json

__all__ = ["read_chain", "verify"]


def verify(
    file: Annotated[
        Path, typer.Argument(help="A release or an exported chain.", exists=True, dir_okay=False, readable=True)
    ],
    public_key: Annotated[
        str, typer.Option(help="The issuer's public key, or a file that holds it, as `chronodp key` writes it.")
    ],
    head: Annotated[
        str | None, typer.Option(help="Digest of the newest link, if you know it: shows links missing at the end.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Check signatures, and that no certificate was changed, removed, added or moved. Needs no ledger and no network.

    Exit code 1 if anything is wrong, with what and where.

    **Examples**

    `chronodp verify release.json --public-key public.key`

    `chronodp verify places.arrow --public-key public.key` for a release of more than a million numbers

    `chronodp verify meters-chain.json --public-key 3xk...= --head 9f2c...`
    """
    from chronodp.ledger import check_parts, is_arrow_file, verify as verify_link, verify_chain, verify_file

    key = read_public_key(public_key)
    if is_arrow_file(file):
        links = [verify_file(file, key)]
        said = "The certificate is genuine and belongs to this release, with every number of it."
    elif "links" in (document := _read(file)):
        own = document.get("head")
        if own is not None and not isinstance(own, str):
            raise CertificateInvalid("the head of the chain is no digest")
        links = verify_chain(_signed_links(document["links"], file), key, head=own if head is None else head)
        said = f"All {len(links)} links are genuine and none is missing" + (
            "." if head else " up to the file's own head."
        )
    else:
        release = document.get("release")
        if not isinstance(release, str):
            raise CertificateInvalid("the file holds neither a release with its link nor a chain of links")
        links = [verify_link(_signed(document.get("link")), key, release=release)]
        check_parts(release, ())
        said = "The certificate is genuine and belongs to this release."
    if as_json:
        print_json({"valid": True, "links": len(links), "requests": [link.request for link in links]})
        return
    console = terminal()
    console.print(Text.assemble(("Valid.", "bold green"), f" {said}"))
    if len(links) == 1:
        console.print(str(links[0].certificate))
    for said in dict.fromkeys(link.restored for link in links if link.restored):
        console.print(Text.assemble(("The ledger was ", "yellow"), f"{shown(said)}."))


def read_chain(file: Path) -> list[Any]:
    """Return the signed links of an exported chain; whether they are genuine is for `verify_chain` to tell."""
    return _signed_links(_read(file).get("links"), file)


def _read(file: Path) -> dict[str, Any]:
    try:
        document = parse_json(file.read_bytes())
    except (OSError, ValueError):
        raise CertificateInvalid(f"{file.name} is not JSON") from None
    if not isinstance(document, dict):
        raise CertificateInvalid(f"{file.name} holds no release and no chain")
    return document


def _signed_links(links: object, file: Path) -> list[Any]:
    if not isinstance(links, list):
        raise CertificateInvalid(f"{file.name} holds no chain of links")
    return [_signed(link) for link in links]


def _signed(link: Any) -> Any:
    from chronodp.ledger import SignedLink

    if not isinstance(link, dict) or not all(isinstance(link.get(name), str) for name in ("body", "signature")):
        raise CertificateInvalid("a link lacks its body or its signature")
    return SignedLink(link["body"], link["signature"])
