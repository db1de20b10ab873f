"""``chronodp release``: spend, draw, store, sign; a table and a page come out."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from chronodp.cli.asking import Asked, asks
from chronodp.cli.options import Address, Analyst, Json, Keys, Payer, Request
from chronodp.cli.telling import Level, Out, PageFile, check_form, check_places, content_of, tell_release, write_release
from chronodp.cli.terminal import print_json, print_written, table_of, terminal
from chronodp.cli.workload import is_workload, plan_workload
from chronodp.display import shown
from chronodp.errors import InvalidArgument

if TYPE_CHECKING:
    from chronodp.dataset import ReleaseTogether
    from chronodp.series import QuantileRelease, Release

__all__ = ["release"]

_ROWS = 5


@asks
def release(
    *,
    asked: Asked,
    dataset: Payer,
    request: Request,
    analyst: Analyst = "",
    out: Out = None,
    page: PageFile = None,
    level: Level = 0.95,
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

    written = out or []
    check_places(written, page, level)
    if is_workload(asked):
        if page is not None:
            raise InvalidArgument("page", str(page), "left out for several queries")
        together = plan_workload(asked)
        check_form(together.cells, written, as_json=as_json)
        with Ledger(ledger, keys=keys) as opened:
            all_of_them = together.release(opened, dataset=dataset, request=request, analyst=analyst)
        _tell_together(all_of_them, written, level, as_json=as_json)
        return
    plan = asked.plan()
    if isinstance(plan, Plan | QuantilePlan):  # where keys are found, nobody knows yet how many numbers there are
        check_form(plan.cells, written, as_json=as_json)
    with Ledger(ledger, keys=keys) as opened:
        made: Release | QuantileRelease = plan.release(opened, dataset=dataset, request=request, analyst=analyst)
    tell_release(made, out=written, page=page, level=level, as_json=as_json)


def _tell_together(made: ReleaseTogether, out: list[Path], level: float, *, as_json: bool) -> None:
    for path in out:
        write_release(made, path, level)
    if as_json:
        content = content_of(made, made.to_pandas(level=level)) | {"alerts": made.streams}
        print_json(content)
        return
    console = terminal()
    for name in made.names:
        console.print(table_of(made.view(name, level=level).to_pandas().head(_ROWS), name))
    console.print(str(made.certificate))
    for stream in made.streams.values():
        console.print(shown(f"Opened: chronodp watch {stream}"))
    print_written(console, *out)
