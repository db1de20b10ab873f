"""``chronodp dossier``: a folder about what was released, for readers who have never heard of chronodp."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from chronodp.cli.options import Address, Json, Keys, existing_ledger
from chronodp.cli.terminal import print_json, terminal
from chronodp.display import shown
from chronodp.errors import InvalidArgument

__all__ = ["dossier"]


def dossier(
    dataset: Annotated[str | None, typer.Argument(help="Of which dataset; of all of them if left out.")] = None,
    *,
    out: Annotated[Path, typer.Option(help="The folder to write: new, or empty.")],
    request: Annotated[str | None, typer.Option(help="Of one release only, by its request.")] = None,
    owner: Annotated[Path | None, typer.Option(help="A TOML file with what only the owner knows.")] = None,
    packed: Annotated[
        bool, typer.Option("--zip", help="Pack it into a zip file beside the folder, too: one file for an e-mail.")
    ] = False,
    keys: Keys = None,
    ledger: Address = "budget.db",
    as_json: Json = False,
) -> None:
    """Write a dossier: one folder with a page, the released numbers, certificates and all that checks them. Free.

    It holds what the ledger knows. What only you know goes into the owner's file; what you leave out is shown as
    "not known to chronodp". Every key of that file may be left out:

        name = "Load of Mill Town"
        curators = ["Mill Town Utility"]
        contact = "privacy@mill.example"
        description = "Hourly load of households, by district."
        intended_use = "Planning of the grid"
        region = "Mill Town"

    **Examples**

    `chronodp dossier meters --owner owner.toml --out meters-dossier`

    `chronodp dossier meters --request load-2026-01 --out load-2026-01`

    `chronodp dossier meters --out meters-2026 --zip` writes meters-2026.zip beside it

    `chronodp dossier --out everything`
    """
    from chronodp.dossier import check_folder, check_zip, load_owner, write_dossier, write_dossiers, zip_folder

    if dataset is None and request is not None:
        raise InvalidArgument("request", request, "given with its dataset: `chronodp dossier DATASET --request …`")
    check_folder(out)
    if packed:
        check_zip(out)
    said = None if owner is None else load_owner(owner)
    with existing_ledger(ledger, keys=keys) as opened:
        if dataset is None:
            folder = write_dossiers(opened, out, owner=said)
        else:
            folder = write_dossier(opened, dataset, out, request=request, owner=said)
    files = [one for one in folder.rglob("*") if one.is_file()]
    size = sum(one.stat().st_size for one in files)
    whole = zip_folder(folder) if packed else None
    if as_json:
        told = {"folder": str(folder), "files": len(files), "bytes": size, "page": str(folder / "index.html")}
        print_json(told | ({} if whole is None else {"zip": str(whole), "zip_bytes": whole.stat().st_size}))
        return
    terminal().print(shown(f"Written: {folder} ({len(files)} files, {size / 1e6:.1f} MB); begin with index.html"))
    if whole is not None:
        terminal().print(shown(f"Packed: {whole} ({whole.stat().st_size / 1e6:.1f} MB)"))
