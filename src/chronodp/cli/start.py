"""``chronodp start``: five questions, and a file that ``chronodp release`` runs. Nothing is spent."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from chronodp.cli.asking import Asked
from chronodp.cli.options import Data
from chronodp.cli.places import check_place
from chronodp.cli.starting import Column, columns_of, plan_page, time_formats
from chronodp.cli.terminal import terminal
from chronodp.display import shown
from chronodp.errors import ChronodpError, InvalidArgument
from chronodp.privacy import Calendar, parse_every

if TYPE_CHECKING:
    from chronodp.series import Table

__all__ = ["start"]

_TELLS = ("count", "sum", "mean")
_LENGTH = re.compile(r"(?P<count>[0-9]*) *(?P<unit>second|minute|hour|day|week|month|year)s?")
_UNITS = {"second": "s", "minute": "min", "hour": "h", "day": "D", "week": "W", "month": "mo", "year": "Y"}
_FEW = 20  # periods: up to so many no limit errs less than one that is found, with the noise of what it removes
_SHARE = 0.05  # of the price, for the figure of what limits removed


def start(
    data: Data,
    *,
    out: Annotated[Path, typer.Option(help="Where to write the settings, .toml; the page goes beside it.")] = Path(
        "release.toml"
    ),
) -> None:
    """Ask five questions about a table, and write the settings of a release and a page that explains them. Free.

    It shows you, the OWNER, the names and types of columns, and tries how times are written. It looks at no bounds and
    suggests none: those must be chosen without the data, or found privately.

    **Example**

    `chronodp start jan.parquet`
    """
    check_place("out", out, ".toml")
    if out.exists():
        raise InvalidArgument("out", str(out), "a file that is not there yet: --out names another")
    page = out.with_name(f"{out.stem}-plan.html")
    check_place("page", page, ".html")
    columns = columns_of(data, has_names=_has_names)
    console = terminal(soft_wrap=True)
    console.print(shown(f"{data} has {', '.join(f'{column.name} ({column.kind})' for column in columns)}."))
    console.print("Answers in [brackets] are taken where you just press Enter.\n")
    options = {"data": data, **_answers(columns)}
    _tell_what_is_missing(options, _planned(options).design.table)
    plan = _planned(options)
    if formats := time_formats(options):
        options["time_format"] = _time_format(options["time"], formats)
        plan = _planned(options)
    _write(out, _settings(options))
    _write(page, plan_page(plan, command := _release(out)))
    console.print(f"\n{plan}\n")
    console.print(f"Written: {out} and {page}. Nothing was spent. Next:\n")
    for line in (
        f"chronodp diagnose --config {out}",
        f"chronodp budget open {_dataset(out)} --epsilon 4 --delta 1e-6",
        command,
    ):
        console.print(f"    {line}")


def _planned(options: dict[str, Any]) -> Any:
    """Return the plan; what was typed and does not fit is asked again."""
    while True:
        try:
            return Asked(options).plan()
        except InvalidArgument as error:
            if error.name not in _AGAIN or error.name not in options:
                raise  # what follows from the table cannot be mended here
            typer.echo(shown(f"   {error}"))
            options[error.name] = _AGAIN[error.name](options)


def _tell_what_is_missing(options: dict[str, Any], table: Table) -> None:
    """Leave no limit to be found that is not needed, and have told what the others remove, where that can be.

    The band of noise alone holds the truth less often than it says, wherever a limit removes anything.
    """
    found = [name for name in options.pop("find", []) if name != "max_periods" or table.horizon > _FEW]
    if "max_periods" not in found and "max_periods" not in options:
        options["max_periods"] = table.horizon
    if found:
        options["find"] = found
    if not table.measure.averages:
        options["missing"] = _SHARE


def _has_names(file: str) -> bool:
    asked = shown(f"Does the first line of {file} name its columns? They are shown next")
    return typer.confirm(asked, default=True)


def _answers(columns: list[Column]) -> dict[str, Any]:
    """Ask the five questions."""
    times = [column.name for column in columns if column.kind == "time"]
    answers: dict[str, Any] = {}
    names = [column.name for column in columns]
    answers["time"] = _one_of("1. Which column has the time?", names, times[0] if times else None)
    answers["user"] = _one_of("   Which column names the person (or meter, patient, phone) to protect?", names, None)
    answers["every"] = _every()
    answers["start"] = _start(answers)
    answers["end"] = _end(answers)
    told = _one_of("3. What is told of each period: count (of people), sum or mean?", list(_TELLS), "count")
    if told == "count":
        answers["count"] = True
    else:
        numbers = [column.name for column in columns if column.kind == "number"]
        answers[told] = _one_of(f"   The {told} of which column?", names, numbers[0] if len(numbers) == 1 else None)
    answers.update(_bounds(told))
    answers["epsilon"] = _epsilon()
    answers["delta"] = 1e-6
    return answers


def _bounds(told: str) -> dict[str, Any]:
    """Ask for bounds, or for their being found."""
    periods = _periods("find")
    found: list[str] = ["max_periods"] if periods == "find" else []
    bounds: dict[str, Any] = {} if found else {"max_periods": periods}
    if told != "count":
        of = "A row" if told == "mean" else "One person's total in a period"
        clip = typer.prompt(
            f"   {of} lies between (such as 0,5), or find: 0 and a number found privately", default="find"
        )
        if clip == "find":
            found.append("clip")
            bounds["find_from_zero"] = True
        else:
            bounds["clip"] = clip
    if found:
        bounds["find"] = found
    return bounds


def _one_of(question: str, names: list[str], default: str | None) -> str:
    while True:
        given: str = typer.prompt(question, default=default)
        if given in names:
            return given
        typer.echo(shown(f"   one of {', '.join(names)}"))


def _time_format(column: str, formats: list[str]) -> str:
    """Return how times are written; where days and months could be either, as the owner says."""
    if len(formats) == 1:
        typer.echo(shown(f"   Times in {column!r} are read as {formats[0]}."))
        return formats[0]
    return _one_of(shown(f"   How are times in {column!r} written: {' or '.join(formats)}?"), formats, formats[0])


def _every() -> str:
    def read(given: str) -> str:
        found = _LENGTH.fullmatch(given.strip().lower())
        every = f"{found['count'] or 1}{_UNITS[found['unit']]}" if found else given.strip()
        parse_every(every)  # refuses what is none
        return every

    return _read("2. How long is a period (15min, 1h, 1D, 1W, 1mo)?", read, default="1D")


def _start(answers: dict[str, Any]) -> str:
    def read(given: str) -> str:
        Calendar.from_length(answers["every"], given.strip(), 1)
        return given.strip()

    return _read("   First day (2026-01-01), as is publicly known", read)


def _end(answers: dict[str, Any]) -> str:
    def read(given: str) -> str:
        Calendar(answers["every"], answers["start"], given.strip())
        return given.strip()

    return _read("   The day after the last (2026-02-01)", read)


def _read(question: str, read: Callable[[str], str], default: str | None = None) -> str:
    """Ask until the answer can be read: what was answered before is kept."""
    while True:
        given: str = typer.prompt(question, default=default)
        try:
            return read(given)
        except InvalidArgument as error:
            typer.echo(shown(f"   {error}"))


def _epsilon() -> float:
    while True:
        given = typer.prompt("5. Which epsilon? 1 is common; `chronodp explain` says what it means", default="1")
        try:
            return float(given)
        except ValueError:
            typer.echo("   a number such as 0.5 or 1")


def _periods(default: str | None = None) -> int | str:
    find = f", or find (privately; of at most {_FEW} periods all count)" if default else ""
    while True:
        asked = f"4. In how many periods does one person count at most? A number{find}"
        given: str = typer.prompt(asked, default=default)
        if given.isdecimal() or given == default:
            return given if given == default else int(given)
        typer.echo(f"   a whole number{find}")


def _clip(of: str, default: str | None = None) -> list[float] | str:
    find = ", or find: between 0 and a number found privately" if default else ""
    while True:
        given: str = typer.prompt(f"   {of} lies between (such as 0,5){find}", default=default)
        if given == default:
            return given
        try:
            low, high = (float(part) for part in given.split(","))
        except ValueError:
            typer.echo(f"   two numbers with a comma between them{find}")
        else:
            return [low, high]


_AGAIN: dict[str, Callable[[dict[str, Any]], Any]] = {
    "start": _start,
    "end": _end,
    "epsilon": lambda _: _epsilon(),
    "max_periods": lambda _: _periods(),
    "clip": lambda _: _clip("What counts"),
}


def _settings(options: dict[str, Any]) -> str:
    """Return the file; JSON's texts, numbers and lists are TOML's too."""
    lines = [f"{name} = {json.dumps(value, ensure_ascii=True)}" for name, value in options.items()]
    return "\n".join(
        ["# Written by chronodp start; every option of `chronodp release --help` may stand here.", *lines, ""]
    )


def _dataset(out: Path) -> str:
    return "people" if not out.stem.isidentifier() else out.stem


def _release(out: Path) -> str:
    written = f"{out.stem}.csv --page {out.stem}.html"
    return f"chronodp release --config {out} --dataset {_dataset(out)} --request first --out {written}"


def _write(path: Path, text: str) -> None:
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise ChronodpError(f"{path} cannot be written: {error.strerror}") from None
