"""``chronodp run``: one release for each period of a scheduled job, safe to call again."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import typer

from chronodp.cli.asking import Asked
from chronodp.cli.job_periods import JobPeriod, read_period
from chronodp.cli.options import Address, Json, Keys
from chronodp.cli.question_options import FILE_OPTIONS
from chronodp.cli.telling import check_form, check_places, tell_release
from chronodp.errors import InvalidArgument
from chronodp.reading import closed_file
from chronodp.settings import Section, load_settings, table, text, texts

__all__ = ["run"]

_PERIOD = "{period}"
_GIVEN = ("config", "start", "end")  # what the period says
_JOB = {
    **{name: setting for name, setting in FILE_OPTIONS.items() if name not in _GIVEN},
    "job": table(
        {
            "dataset": text(needed=True),
            "request": text(needed=f"an id with {_PERIOD} in it, such as visits-{_PERIOD}"),
            "analyst": text(default=""),
            "out": texts(),
            "page": text(),
        },
        needed=True,
    ),
}


def run(
    job: Annotated[Path, typer.Argument(help="A TOML file: options of `release`, and a table [job].")],
    *,
    period: Annotated[
        str,
        typer.Option(
            "--for", help="`2026`, `2026-Q4`, `2026-11`, `2026-W46`, `2026-11-17`; `last-month`, `yesterday`."
        ),
    ],
    as_json: Json = False,
    ledger: Address = "budget.db",
    keys: Keys = None,
) -> None:
    """Release one period of a job, for schedulers: each period is one request, and calling again pays nothing more.

    The file has the options of `chronodp release` but start and end, which the period gives, and a table `[job]` with
    `dataset`, `request`, `out`, `page` and `analyst`. `{period}` stands for the period in `data`, `request`, `out` and
    `page`. A period that is not over yet is refused: later rows would never be released.

    **Examples**

    `chronodp run visits.toml --for 2026-01`

    `chronodp run visits.toml --for last-month` on the first days of a month, from cron or Airflow
    """
    from chronodp.ledger import Ledger

    with closed_file():
        said = load_settings("job", job, _JOB)
        with said.pointing():
            now = _now(said)
    asked_for = _ended(period, now)  # whoever typed it may read it again
    with closed_file(), said.pointing():
        request, out, page = _places(said["job"], asked_for)
        check_places(out, page, 0.95)
        options = {name: value for name, value in said.items() if name != "job"}
        if isinstance(options.get("data"), str):
            options["data"] = options["data"].replace(_PERIOD, asked_for.name)
        days = {"start": f"{asked_for.start}", "end": f"{asked_for.end}"}
        plan = _plan({**options, **days}, period)
        if hasattr(plan, "cells"):
            check_form(plan.cells, out, as_json=as_json)
        with Ledger(ledger, keys=keys) as opened:
            made = plan.release(opened, dataset=said["job"]["dataset"], request=request, analyst=said["job"]["analyst"])
    tell_release(made, out=out, page=page, level=0.95, as_json=as_json)


def _plan(options: dict[str, Any], period: str) -> Any:
    """Return the plan for a period; one that the job's own periods do not fill is refused as it was typed."""
    try:
        return Asked(options).plan()
    except InvalidArgument as error:
        if error.name not in ("start", "end"):
            raise
        allowed = f"a period that whole periods of {options.get('every')} fill, such as 2026, 2026-11 or 2026-W46"
    raise InvalidArgument("for", period, allowed)


def _now(said: Section) -> datetime:
    """Return the time on the clocks of the job."""
    zone = said.get("timezone", "UTC")
    try:
        return datetime.now(ZoneInfo(zone))
    except (ZoneInfoNotFoundError, ValueError, TypeError, OSError):
        raise InvalidArgument("timezone", zone, "an IANA name such as Europe/Berlin") from None


def _ended(given: str, now: datetime) -> JobPeriod:
    """Return the period, if it is over."""
    period = read_period(given, now.date())
    if period.end > now.date():
        raise InvalidArgument("for", given, f"a period that is over: this one ends before {period.end} ({now.tzinfo})")
    return period


def _places(job: Section, period: JobPeriod) -> tuple[str, list[Path], Path | None]:
    """Return the request of a period, and where its release is written."""

    def filled(key: str, given: str) -> str:
        if _PERIOD not in given:
            raise job.wrong(key, f"a text with {_PERIOD} in it: each period has its own")
        return given.replace(_PERIOD, period.name)

    out = [Path(filled("out", one)) for one in job.get("out", ())]
    page = job.get("page")
    return filled("request", job["request"]), out, None if page is None else Path(filled("page", page))
