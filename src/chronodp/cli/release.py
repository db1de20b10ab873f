"""``chronodp release``: spend, draw, store, sign; a table and a page come out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console

from chronodp.cli.asking import Asked, asks
from chronodp.cli.budget import Address, Keys
from chronodp.cli.terminal import show_series
from chronodp.errors import InvalidArgument

if TYPE_CHECKING:
    from chronodp.series import Release

__all__ = ["release"]

_WRITERS = (".csv", ".parquet", ".json")


@asks
def release(
    *,
    asked: Asked,
    dataset: Annotated[str, typer.Option(help="Whose budget pays.")],
    request: Annotated[str, typer.Option(help="An id of your choice, once for each release.")],
    analyst: Annotated[str, typer.Option(help="Whose part of the budget pays.")] = "",
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Where to write: .csv or .parquet for the table, .json with the certificate. May be repeated."
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Where to write the page, .html.")] = None,
    level: Annotated[float, typer.Option(help="How often intervals hold the value before noise.")] = 0.95,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Release a private series: debits the budget, then draws noise. The same request again returns the same release.

    **Examples**

    `chronodp release jan.parquet --time read_at --user meter_id --every 1h --start 2026-01-01 --end 2026-02-01
    --max-periods 24 --sum kwh --clip 0 5 --epsilon 1 --delta 1e-6 --dataset meters --request load-2026-01
    --out load.csv --page load.html`

    `chronodp release --config load.toml --dataset meters --request load-2026-01 --out load.json`
    """
    from chronodp.ledger import Ledger
    from chronodp.privacy.parameters import check_fraction

    check_fraction("level", level)
    for path in (*(out or ()), *([page] if page else ())):
        _check_place(path, (".html",) if path == page else _WRITERS)
    plan = asked.plan()
    with Ledger(ledger, keys=keys) as opened:
        made = plan.release(opened, dataset=dataset, request=request, analyst=analyst)
    for path in out or ():
        _write(made, path, level)
    if page is not None:
        made.report(page)
    if as_json:
        frame = made.to_pandas(level=level)
        content = {
            "dataset": made.link.dataset,
            "request": made.link.request,
            "series": json.loads(frame.to_json(orient="records", date_format="iso", double_precision=15)),
            "release": made.text,
            "link": made.signed.to_dict(),
        }
        print(json.dumps(content, ensure_ascii=False))
        return
    console = Console(highlight=False)
    show_series(console, made)
    console.print(str(made.certificate), markup=False)
    for path in (*(out or ()), *([page] if page else ())):
        console.print(f"Written: {path}", markup=False)


def _check_place(path: Path, suffixes: tuple[str, ...]) -> None:
    """Raise before anything is spent if the file could not be written in the end."""
    if path.suffix.lower() not in suffixes:
        raise InvalidArgument(
            "out" if suffixes == _WRITERS else "page", str(path), f"a file that ends in {', '.join(suffixes)}"
        )
    if not path.absolute().parent.is_dir():
        raise InvalidArgument("out" if suffixes == _WRITERS else "page", str(path), "in a folder that exists")


def _write(made: Release, path: Path, level: float) -> None:
    match path.suffix.lower():
        case ".csv":
            made.to_pandas(level=level).to_csv(path, index=False)
        case ".parquet":
            import pyarrow.parquet

            pyarrow.parquet.write_table(made.to_arrow(level=level), path)
        case _:
            made.save(path)
