"""``chronodp release``: spend, draw, store, sign; a table and a page come out."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chronodp.cli.asking import Asked, asks
from chronodp.cli.options import Address, Analyst, Json, Keys, Payer, Request
from chronodp.cli.places import check_place
from chronodp.cli.table_files import TABLES, write_table
from chronodp.cli.terminal import show_series, table_of, terminal
from chronodp.cli.workload import is_workload, plan_workload
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction, to_document

if TYPE_CHECKING:
    import pandas

    from chronodp.dataset import ReleaseTogether
    from chronodp.series import QuantileRelease, Release

__all__ = ["release"]

_ROWS = 5
_WRITERS = (*TABLES, ".json", ".arrow")


@asks
def release(
    *,
    asked: Asked,
    dataset: Payer,
    request: Request,
    analyst: Analyst = "",
    out: Annotated[
        list[Path] | None,
        typer.Option(
            help="Where to write: .csv or .parquet for the table, .json (above a million numbers .arrow) with the "
            "certificate. May be repeated."
        ),
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Where to write the page, .html.")] = None,
    level: Annotated[float, typer.Option(help="How often intervals hold the value before noise.")] = 0.95,
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Release a private series: debits the budget, then draws noise. The same request again returns the same release.

    Look first, as the owner, at how the table is read: `chronodp diagnose` with the same options spends nothing.

    **Examples**

    `chronodp release jan.parquet --time read_at --user meter_id --every 1h --start 2026-01-01 --end 2026-02-01
    --max-periods 24 --sum kwh --clip 0 5 --epsilon 1 --delta 1e-6 --dataset meters --request load-2026-01
    --out load.csv --page load.html`

    `... --sum kwh --find clip --find max_periods --missing 0.05 ...` where nobody knows good bounds; see `chronodp plan
    --help`

    `... --count --discover page --max-keys 10 ...` where nobody declared the pages; `--json` has those found in `keys`

    `chronodp release --config load.toml --dataset meters --request load-2026-01 --out load.json`

    `chronodp release workload.toml --dataset meters --request month-2026-01 --out month.csv` for several queries with
    one price; see `chronodp plan --help`. Alerts go on with `chronodp watch month-2026-01/NAME`.
    """
    from chronodp.ledger import Ledger
    from chronodp.series import Plan, QuantilePlan

    check_fraction("level", level)
    for path in out or ():
        check_place("out", path, *_WRITERS)
    check_place("page", page, ".html")
    if is_workload(asked):
        if page is not None:
            raise InvalidArgument("page", str(page), "left out for several queries")
        together = plan_workload(asked)
        _check_form(together.cells, out or [], as_json=as_json)
        with Ledger(ledger, keys=keys) as opened:
            all_of_them = together.release(opened, dataset=dataset, request=request, analyst=analyst)
        _tell_together(all_of_them, out or [], level, as_json=as_json)
        return
    plan = asked.plan()
    if isinstance(plan, Plan | QuantilePlan):  # where keys are found, nobody knows yet how many numbers there are
        _check_form(plan.cells, out or [], as_json=as_json)
    with Ledger(ledger, keys=keys) as opened:
        made: Release | QuantileRelease = plan.release(opened, dataset=dataset, request=request, analyst=analyst)
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
        if made.found is not None:
            content["found"] = to_document(made.found)
        if made.keys is not None:
            content["keys"] = made.keys
        if (missing := made.missing_at(level)) is not None:
            content["missing"] = asdict(missing)
        print(json.dumps(content, ensure_ascii=False))
        return
    console = terminal()
    show_series(console, made)
    for label, text in made.beside:
        console.print(f"{label}: {text}")
    console.print(str(made.certificate))
    for path in (*(out or ()), *([page] if page else ())):
        console.print(f"Written: {path}")


def _check_form(cells: int, out: list[Path], *, as_json: bool) -> None:
    """Refuse, before anything is spent, a release in a form that cannot hold it, or that its name does not tell."""
    from chronodp.ledger import MOST_LISTED

    many = cells > MOST_LISTED
    wrong, right = (".json", ".arrow") if many else (".arrow", ".json")
    allowed = f"{right} for a release of {cells:,} numbers ({'more' if many else 'no more'} than {MOST_LISTED:,})"
    for path in out:
        if path.suffix.lower() == wrong:
            raise InvalidArgument("out", str(path), allowed)
    if many and as_json:
        raise InvalidArgument("json", True, f"left out: --out with {allowed}, and .parquet for its table")


def _tell_together(made: ReleaseTogether, out: list[Path], level: float, *, as_json: bool) -> None:
    for path in out:
        _write(made, path, level)
    frame = made.to_pandas(level=level)
    if as_json:
        content = {
            "dataset": made.link.dataset,
            "request": made.link.request,
            "series": json.loads(frame.to_json(orient="records", date_format="iso", double_precision=15)),
            "alerts": made.streams,
            "release": made.text,
            "link": made.signed.to_dict(),
        }
        print(json.dumps(content, ensure_ascii=False))
        return
    console = terminal()
    for name in made.names:
        console.print(table_of(made.view(name, level=level).to_pandas().head(_ROWS), name))
    console.print(str(made.certificate))
    for stream in made.streams.values():
        console.print(f"Opened: chronodp watch {stream}")
    for path in out:
        console.print(f"Written: {path}")


def _frames(made: Release | QuantileRelease | ReleaseTogether, level: float) -> Iterator[pandas.DataFrame]:
    """Return the table in pieces that memory holds beside the release; of several queries, in one."""
    from chronodp.series import Release

    if not isinstance(made, Release):
        yield made.to_pandas(level=level)
        return
    for stretch in made.each_period(level=level).stretches():
        yield stretch.to_pandas()


def _write(made: Release | QuantileRelease | ReleaseTogether, path: Path, level: float) -> None:
    if path.suffix.lower() in TABLES:
        write_table(_frames(made, level), path)
    else:
        made.save(path)
