"""``chronodp verify``: check a release, a chain of certificates or a dossier, offline."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.text import Text

from chronodp.cli.key import read_public_key
from chronodp.cli.options import Json
from chronodp.cli.terminal import print_json, terminal
from chronodp.display import shown
from chronodp.errors import CertificateInvalid, InvalidArgument
from chronodp.privacy import counted
from chronodp.reading import parse_json

__all__ = ["read_chain", "verify"]


def verify(
    file: Annotated[
        Path,
        typer.Argument(help="A release, an exported chain, or the folder of a dossier.", exists=True, readable=True),
    ],
    public_key: Annotated[
        str | None,
        typer.Option(
            help="The issuer's public key, or a file that holds it, as `chronodp key` writes it. Left out, a dossier's "
            "own: that shows whether it is whole, not who made it."
        ),
    ] = None,
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

    `chronodp verify meters-dossier --public-key public.key`
    """
    from chronodp.ledger import (
        check_labels,
        check_parts,
        check_public_key,
        is_arrow_file,
        verify as verify_link,
        verify_chain,
        verify_file,
    )

    given = None if public_key is None else read_public_key(public_key)
    if file.is_dir():
        _verify_folder(file, given, head, as_json=as_json)
        return
    if given is None:
        raise InvalidArgument("public_key", None, "given, as --public-key: the issuer has it from `chronodp key`")
    key = check_public_key(given)
    if is_arrow_file(file):
        links = [verify_file(file, key)]
        said = "The certificate is genuine and belongs to this release, with every number of it."
    elif "links" in (document := _read(file)):
        own = document.get("head")
        if own is not None and not isinstance(own, str):
            raise CertificateInvalid("the head of the chain is no digest")
        links = verify_chain(_signed_links(document["links"], file), key, head=own if head is None else head)
        check_labels(links, key, dataset=document.get("dataset"), public_key=document.get("public_key"))
        said = f"All {len(links)} links are genuine and none is missing" + (
            "." if head else " up to the file's own head."
        )
        said += f" They are of {links[0].dataset}."
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
    console.print(Text.assemble(("Valid.", "bold green"), f" {shown(said)}"))
    if len(links) == 1:
        console.print(str(links[0].certificate))
    for said in dict.fromkeys(link.restored for link in links if link.restored):
        console.print(Text.assemble(("The ledger was ", "yellow"), f"{shown(said)}."))


def read_chain(file: Path) -> list[Any]:
    """Return the signed links of an exported chain; whether they are genuine is for `verify_chain` to tell."""
    return _signed_links(_read(file).get("links"), file)


def _verify_folder(folder: Path, key: str | None, head: str | None, *, as_json: bool) -> None:
    """Check a dossier, or every dossier in a folder of them."""
    from chronodp.dossier import verify_dossier

    inner = [] if (folder / "manifest.json").exists() else sorted(one.parent for one in folder.glob("*/manifest.json"))
    if inner and head is not None:
        raise InvalidArgument("head", "for several dossiers", "of one dossier: name its folder")
    found = {one: verify_dossier(one, public_key=key, head=head) for one in inner or [folder]}
    faults = [shown(f"{one.name}: {fault}") for one, verified in found.items() for fault in verified.faults]
    if len(faults) > 1:
        for fault in faults:
            terminal(errors=True, soft_wrap=True).print(Text(fault))
        raise CertificateInvalid(f"{counted(len(faults), 'fault')}, as listed")
    if faults:
        raise CertificateInvalid(faults[0])
    if as_json:
        dossiers = [{"folder": str(one), **asdict(verified)} for one, verified in found.items()]
        print_json({"valid": True, "dossiers": dossiers})
        return
    console = terminal()
    for one, verified in found.items():
        held = f"{counted(verified.files, 'file')}, {counted(verified.links, 'link')} of the chain and "
        said = shown(f" {one.name}: {held}{counted(verified.releases, 'release')} of {verified.dataset}, as signed.")
        console.print(Text.assemble(("Valid.", "bold green"), said))
    if key is None:
        keys = ", ".join(dict.fromkeys(verified.public_key for verified in found.values()))
        console.print(f"Signed with the folder's own key; compare it with the owner's: {keys}")
    if inner:
        console.print("The page that lists these dossiers is not signed.")


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
