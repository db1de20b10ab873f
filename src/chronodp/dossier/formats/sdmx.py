"""Released numbers as SDMX-CSV 2.0, which statistics offices exchange: one observation a line.

Numbers without times, such as spectra and steps of streams, have no place there. The columns' meanings are in the data
structure of `structure`, which the lines name.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from chronodp.dossier.facts import Facts
from chronodp.dossier.formats.columns import COLUMNS, LEVEL, TOTAL, UNSAID
from chronodp.dossier.formats.measured import Measured, duration, measured
from chronodp.dossier.published import Published
from chronodp.report import frame_as_csv

if TYPE_CHECKING:
    import pandas

__all__ = ["has_observations", "sdmx"]

_STRUCTURE = "CHRONODP:NUMBERS(1.0)"
_ROWS = 50_000  # that are written at a time
_NEEDED = ("time", "value", "lower", "upper")


def sdmx(facts: Facts) -> Iterator[str] | None:
    """Return the lines in pieces; None where no number has a time."""
    return _pieces(facts) if has_observations(facts) else None


def has_observations(facts: Facts) -> bool:
    """Return whether there is any number with a time and an interval."""
    return any(_is_series(one) for one in facts.published)


def _pieces(facts: Facts) -> Iterator[str]:
    known = measured(facts)
    yield ",".join(one.name for one in COLUMNS) + "\n"
    for one in filter(_is_series, facts.published):
        for frame in one.tables():
            for start in range(0, len(frame), _ROWS):
                piece = frame.iloc[start : start + _ROWS]
                yield frame_as_csv(_observations(one, piece, known[one.number]), header=False)


def _is_series(one: Published) -> bool:
    first = one.first_rows(1)
    return first is not None and set(_NEEDED) <= set(first.columns)


def _observations(one: Published, table: pandas.DataFrame, known: dict[str, Measured]) -> pandas.DataFrame:
    import pandas

    frame = table[table["time"].notna()]  # a spectrum that was released together with series has no times
    names = [str(name) for name in frame.columns[: list(frame.columns).index("value")] if name != "time"]
    queries = frame["query"] if one.kind == "together" else pandas.Series("", index=frame.index)
    times = {time: time.isoformat().replace("+00:00", "Z") for time in frame["time"].unique()}
    units = {name: asked.unit or UNSAID for name, asked in known.items()}
    lengths = {name: duration(asked.every) for name, asked in known.items()}
    columns = {
        "STRUCTURE": "datastructure",
        "STRUCTURE_ID": _STRUCTURE,
        "RELEASE": one.number,
        "SERIES": list(_series(frame, names)) if names else TOTAL,
        "TIME_PERIOD": frame["time"].map(times),
        "OBS_VALUE": frame["value"],
        "LOWER_BOUND": frame["lower"],
        "UPPER_BOUND": frame["upper"],
        "CONF_LEVEL": LEVEL,
        "UNIT_MEASURE": queries.map(units),
        "PERIOD_LENGTH": queries.map(lengths),
    }
    repeated = {column.name: "category" for column in COLUMNS if column.kind in ("string", "datetime")}
    return pandas.DataFrame(columns, index=frame.index)[[column.name for column in COLUMNS]].astype(repeated)


def _series(frame: pandas.DataFrame, names: list[str]) -> Iterator[str]:
    """Yield to which groups each row belongs; a question that was asked together with others has not all of theirs."""
    groups = frame[names]
    rows = groups.itertuples(index=False, name=None), groups.notna().itertuples(index=False, name=None)
    for cells, there in zip(*rows, strict=True):
        said = zip(names, cells, there, strict=True)
        yield ", ".join(f"{name}={cell}" for name, cell, is_there in said if is_there) or TOTAL
