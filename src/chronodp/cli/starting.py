"""What ``chronodp start`` shows: the columns of a table, for the owner, and a page about what is planned."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from chronodp.cli.asking import Asked
from chronodp.display import shown_html, shown_lines
from chronodp.errors import InvalidArgument, UnreadableSource, UnsuitableColumn
from chronodp.report import house_style

__all__ = ["Column", "columns_of", "plan_page", "time_formats"]

_DIGITS = "%Y%m%d"


@dataclass(frozen=True, slots=True)
class Column:
    """A column as the owner sees it: its name, and whether it looks like a time, a number or a text."""

    name: str
    kind: str


def columns_of(path: str, *, has_names: Callable[[str], bool]) -> list[Column]:
    """Return the columns of a Parquet or CSV file, or of the first of several.

    The first line of a CSV file is looked at only where the owner says that it ``has_names``: in one without them it is
    somebody's values.
    """
    import duckdb

    from chronodp.engines import FileSource, find_source

    source = find_source(path)
    if not isinstance(source, FileSource):
        raise InvalidArgument("data", path, "a Parquet or CSV file")
    if not Path(source.paths[0]).is_file():
        raise UnreadableSource(f"there is no file {source.paths[0]}")
    if source.format == "csv" and not has_names(f"{source}"):
        raise InvalidArgument("data", path, "a table whose columns have names")
    with duckdb.connect() as database:
        try:
            read = database.read_parquet if source.format == "parquet" else database.read_csv
            table = read(source.paths[0])
        except duckdb.Error:
            # Its message may quote a line of the file.
            raise UnreadableSource(f"{source} cannot be read as a table with names of columns") from None
        return [Column(name, _kind(str(kind))) for name, kind in zip(table.columns, table.types, strict=True)]


def time_formats(options: dict[str, Any]) -> list[str]:
    """Return which formats were seen to read most times of a table, where what is asked so far reads fewer.

    There is more than one where days and months could be either; none where nothing tried reads a time.
    """
    for given in ({}, {"time_format": _DIGITS}):  # a column of numbers is refused until a format is declared
        try:
            seen = Asked({**options, **given}).plan().diagnose()
        except UnsuitableColumn:
            continue
        (time,) = (one for one in seen.reading.columns if one.argument == "time")
        best = max(time.hints.values(), default=0)
        if best > time.read:
            return [hint.split("'")[1] for hint, count in time.hints.items() if count == best]
        return [_DIGITS] if given and time.read else []
    return []


def _kind(stored: str) -> str:
    if re.match(r"TIMESTAMP|DATE", stored):
        return "time"
    return "number" if re.match(r"U?(TINY|SMALL|BIG|HUGE)?INT|FLOAT|DOUBLE|DECIMAL", stored) else "text"


def plan_page(plan: object, command: str) -> str:
    """Return a page that explains what is planned, to keep beside the settings."""
    title = "A release as it is planned"
    return f"""<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>
{house_style()}
main {{ max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }}
pre {{ white-space: pre-wrap; }}
</style>
<main>
<h1>{title}</h1>
<p>Nothing was spent, and nothing was released.</p>
<pre>{escape(shown_lines(plan))}</pre>
<h2>It is made by</h2>
<pre>{shown_html(command)}</pre>
</main>
</html>
"""
