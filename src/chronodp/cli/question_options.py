"""The options of a question: as flags of a command, and as keys of a TOML file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from chronodp.settings import Section, anything, elsewhere, load_settings

__all__ = ["FILE_OPTIONS", "OPTIONS", "read_options"]

OPTIONS: dict[str, Any] = {
    "data": Annotated[
        str | None,
        typer.Argument(help="A Parquet or CSV file, or a glob in quotes; or a TOML file with several queries."),
    ],
    "config": Annotated[Path | None, typer.Option("--config", "-c", help="A TOML file with any of these options.")],
    "time": Annotated[str | None, typer.Option(help="The column with the time.")],
    "user": Annotated[str | None, typer.Option(help="The column with the person.")],
    "every": Annotated[str | None, typer.Option(help="Length of a period: `15min`, `1h`, `1D`, `1mo`.")],
    "start": Annotated[str | None, typer.Option(help="When the first period begins, such as 2026-01-01.")],
    "end": Annotated[str | None, typer.Option(help="When the last period ends.")],
    "timezone": Annotated[str | None, typer.Option(help="Time zone of days and hours; UTC if not given.")],
    "time_format": Annotated[
        str | None,
        typer.Option(help="How times are written: `s`, `ms`, `us` or `ns` since 1970, or such as `%d.%m.%Y %H:%M`."),
    ],
    "decimal": Annotated[str | None, typer.Option(help="The decimal sign of numbers in texts: `.` or `,`.")],
    "separator": Annotated[str | None, typer.Option(help="Between fields of CSV; else the first line decides.")],
    "encoding": Annotated[str | None, typer.Option(help="Of CSV: `utf-8` (default), `latin-1` or `utf-16`.")],
    "line_breaks": Annotated[
        bool | None,
        typer.Option("--line-breaks", help="Quoted fields of CSV hold line breaks; every quote must close."),
    ],
    "where": Annotated[
        str | None, typer.Option(help="Count only rows of which this holds: `\"origin = 'JFK' AND dep_delay > 0\"`.")
    ],
    "column": Annotated[
        list[str] | None, typer.Option(help="Make a column of others: `late='dep_delay > 15'`. May be repeated.")
    ],
    "unit": Annotated[
        str | None, typer.Option(help="`user` (default), `event`, `user_period:1D`, `window:24`; `/replace` after it.")
    ],
    "max_periods": Annotated[int | None, typer.Option(help="How many periods of one person count.")],
    "count": Annotated[bool | None, typer.Option("--count", help="Count people (or rows, see --at-most).")],
    "sum": Annotated[str | None, typer.Option(help="Add up this column.")],
    "mean": Annotated[str | None, typer.Option(help="Average this column, of what --of says.")],
    "variance": Annotated[
        str | None, typer.Option(help="The variance of this column's totals over the people present.")
    ],
    "histogram": Annotated[str | None, typer.Option(help="Count people, or --of rows, by bins of this column.")],
    "quantiles": Annotated[
        str | None, typer.Option(help="Release quantiles of this column, of people or --of rows; see --fractions.")
    ],
    "active": Annotated[
        str | None, typer.Option(help="Count people with a row in the last days at every period: `7D`, `28D`.")
    ],
    "max_stays": Annotated[
        int | None,
        typer.Option(
            help="With --active and unit `user`: how many stays of one person count, runs of periods without a gap."
        ),
    ],
    "of": Annotated[
        str | None,
        typer.Option(
            help="What a mean is of: `people` (each with the mean of their rows), `rows` (with --at-most) or `totals` "
            "(people's totals in a period); a histogram, or quantiles: `people` (default) or `rows`."
        ),
    ],
    "clip": Annotated[
        tuple[float, float] | None,
        typer.Option(
            help="Clipping bounds: lowest and highest value of one person in a period, or of a row in a mean of rows."
        ),
    ],
    "clip_of": Annotated[
        list[str] | None,
        typer.Option(
            help="In place of --clip, a clip for each key of --by, in one proportion: `north=0,50`. To be repeated."
        ),
    ],
    "norm": Annotated[
        str | None,
        typer.Option(
            help="With --sum, unit `user` and a delta, in place of --clip: the largest l2 norm of one person's whole "
            "series, or `find`."
        ),
    ],
    "signed": Annotated[
        bool | None, typer.Option("--signed/--no-signed", help="With --norm: whether totals below 0 count.")
    ],
    "at_most": Annotated[
        int | None, typer.Option(help="Most rows (or bins) of one person in a period; of means, their weight.")
    ],
    "edges": Annotated[str | None, typer.Option(help="Edges of bins, such as `0,1,2,5`.")],
    "fractions": Annotated[str | None, typer.Option(help="Which quantiles, such as `0.1,0.5,0.9`.")],
    "people": Annotated[int | None, typer.Option(help="Public number of people, for means under `/replace`.")],
    "by": Annotated[
        list[str] | None, typer.Option(help="Split by public keys: `region=north,south`. May be repeated.")
    ],
    "places": Annotated[
        Path | None,
        typer.Option(help="A CSV or Parquet file of public places, every level of --levels of which is released."),
    ],
    "levels": Annotated[
        str | None,
        typer.Option(help="Its columns from the top down; the last is the data's column: `country,state,county`."),
    ],
    "place_column": Annotated[
        str | None, typer.Option(help="The data's column with the place, if not called as the last of --levels.")
    ],
    "focus": Annotated[
        str | None,
        typer.Option(
            help="For which levels errors are made small: weights such as `county=2`, 1 for others; `nodes`: every "
            "place counts alike; `largest`: the largest error of a level is least."
        ),
    ],
    "total": Annotated[str | None, typer.Option(help="Add up longer periods, such as `1D` of hours.")],
    "peak": Annotated[
        str | None, typer.Option(help="Take the largest value within longer periods, such as `1D` of hours.")
    ],
    "trough": Annotated[str | None, typer.Option(help="Take the smallest value within longer periods.")],
    "max_groups": Annotated[int | None, typer.Option(help="In how many groups one person counts in a period.")],
    "discover": Annotated[
        str | None,
        typer.Option(help="Split by this column, whose keys nobody declared: those that enough people hold are found."),
    ],
    "max_keys": Annotated[
        int | None,
        typer.Option(help="With --discover and unit `user`: how many keys of one person count, over the whole series."),
    ],
    "discover_share": Annotated[
        float | None,
        typer.Option(
            help="Part of the price that finds keys; 0.2 if not given. 0, with --count and one period: published "
            "counts decide themselves."
        ),
    ],
    "discover_delta": Annotated[
        float | None,
        typer.Option(
            help="Probability that a key of one person alone is published; 0.4 of --delta if not given, needed without."
        ),
    ],
    "most_keys": Annotated[int | None, typer.Option(help="How many keys are published at most; 5000 if not given.")],
    "longest_key": Annotated[
        int | None,
        typer.Option(help="Bytes of the longest key; rows with a longer one are left out. 256 if not given."),
    ],
    "find": Annotated[
        list[str] | None,
        typer.Option(
            help="Find a bound privately: `clip`, `at_most`, `norm`, `edges`, `max_periods` or `max_groups`. May be "
            "repeated."
        ),
    ],
    "find_share": Annotated[float | None, typer.Option(help="Part of the price that finds bounds; 0.05 if not given.")],
    "find_between": Annotated[
        tuple[float, float] | None,
        typer.Option(help="Public ends of the largest size of one person in a period: two positive numbers."),
    ],
    "find_from_zero": Annotated[
        bool | None,
        typer.Option(
            "--find-from-zero", help="Totals below 0 count as 0: only the most of a person is found. Edges begin at 0."
        ),
    ],
    "missing": Annotated[
        float | None, typer.Option(help="Part of the price that releases how much the bounds removed, such as 0.05.")
    ],
    "missing_assume": Annotated[
        str | None,
        typer.Option(help="`none` (default): on average over all periods; `even-loss`: bands of each, if that is so."),
    ],
    "epsilon": Annotated[float | None, typer.Option(help="Epsilon of the release.")],
    "delta": Annotated[float | None, typer.Option(help="Delta of the release; 0 for a pure guarantee.")],
}
FILE_OPTIONS = {name: anything() for name in OPTIONS} | {
    name: elsewhere(f"the {words} named on the command line, by --{name}")
    for name, words in {"ledger": "ledger is", "keys": "owner's keys are"}.items()
}
"""The same in a TOML file; `TimeSeries` and its queries check what they say."""


def read_options(path: Path) -> Section:
    """Return the options in the file of --config."""
    return load_settings("config", path, FILE_OPTIONS)
