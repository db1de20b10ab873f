"""A released table as text: cells that are easy to read, and a CSV that loses nothing and starts nothing.

Keys that were found are texts that people wrote. A spreadsheet takes a text that begins like a formula for one, and
runs it in the name of whoever opens the file: such a text gets an apostrophe before it, in CSV files alone.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import pandas
    import pyarrow

__all__ = [
    "Column",
    "arrow_of",
    "comma_separated",
    "covered",
    "frame_as_csv",
    "number_format",
    "number_text",
    "plain",
    "readable_column",
    "with_covers",
]

_MISSING = "–"
_DIGITS = 5  # of the largest number in a column: noise leaves no meaning in more
_MOST_DECIMALS = 9
# What makes a spreadsheet read a cell as a formula, or skip to one. Apostrophes before it count too: with one more,
# each text is still another than all others.
_FORMULA = re.compile(r"'*[=+\-@\t\r\n]")
_NUMBER = re.compile(r"[+-]?[0-9]+([.,][0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class Column:
    """The cells of one column as they are shown; ``note`` is what they all share, such as a time zone."""

    cells: tuple[str, ...]
    numeric: bool = False
    note: str = ""


def comma_separated(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    r"""Return the table as RFC 4180 asks: quoted where needed, numbers at full precision, nothing for what is missing.

    >>> comma_separated(("place", "value"), [("Oslo, north", 0.1 + 0.2), ("Rome", None)])
    'place,value\r\n"Oslo, north",0.30000000000000004\r\nRome,\r\n'
    """
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows([_exact(_no_formula(plain(cell))) for cell in row] for row in rows)
    return text.getvalue()


def covered(columns: Sequence[str]) -> dict[str, str]:
    """Return what the bands of a table cover, by the name under which files say it; nothing where it has none.

    >>> covered(["time", "value", "lower", "upper"])
    {'covers': 'noise only'}
    >>> covered(["value", "lower", "upper", "value_all", "lower_all", "upper_all"])["covers_all"]
    'noise and what limits removed'
    """
    suffixes = [name.removeprefix("lower") for name in columns if name == "lower" or name.startswith("lower_")]
    return {f"covers{suffix}": "noise and what limits removed" if suffix else "noise only" for suffix in suffixes}


def frame_as_csv(frame: pandas.DataFrame, *, header: bool = True) -> str:
    """Return a released table, or a later piece of one without its header, as pandas writes it, without formulas.

    >>> import pandas
    >>> frame_as_csv(pandas.DataFrame({"page": ["=1+1", "-5", "a"], "value": [-1.0, 2.0, 3.5]})).split()
    ['page,value', "'=1+1,-1.0", '-5,2.0', 'a,3.5']
    """
    # Other columns keep their types: how pandas writes times hangs on them.
    texts = {str(name): frame[name].map(_no_formula) for name in frame.select_dtypes(["object", "string", "category"])}
    # Lines end in \n, so a \r alone would stand there without quotes, and begin a line of its own for most readers.
    broken = any(isinstance(cell, str) and "\r" in cell for column in texts.values() for cell in column.unique())
    plain_texts = frame.assign(**texts)
    if broken:
        return plain_texts.to_csv(index=False, header=header, quoting=csv.QUOTE_NONNUMERIC)
    return plain_texts.to_csv(index=False, header=header)


def with_covers(frame: pandas.DataFrame) -> pandas.DataFrame:
    """Return a table with what its bands cover in columns of their own: CSV has no other place that all read."""
    return frame.assign(**_attrs(frame))


def arrow_of(frame: pandas.DataFrame) -> pyarrow.Table:
    """Return a released table as Arrow, with what its bands cover in the schema's metadata."""
    import pyarrow

    table = pyarrow.Table.from_pandas(frame, preserve_index=False)
    said: dict[bytes, bytes] = {name.encode(): words.encode() for name, words in _attrs(frame).items()}
    return table.replace_schema_metadata({**(table.schema.metadata or {}), **said})


def _attrs(frame: pandas.DataFrame) -> dict[str, str]:
    """Return what a table says that its bands cover."""
    return {name: str(words) for name, words in frame.attrs.items() if isinstance(name, str) and name[:6] == "covers"}


def readable_column(cells: Iterable[object]) -> Column:
    """Return the cells as a reader wants them: numbers with equal decimals, times no finer than they need be.

    >>> readable_column([1234.5, -7, None]).cells
    ('1,234.5', '−7.0', '–')
    """
    given = [plain(cell) for cell in cells]
    known = [cell for cell in given if cell is not None]
    numbers = [cell for cell in known if _is_number(cell)]
    if numbers and len(numbers) == len(known):
        form = number_format(numbers)
        return Column(tuple(_MISSING if cell is None else number_text(cell, form) for cell in given), numeric=True)
    moments = [cell for cell in known if isinstance(cell, datetime)]
    if moments and len(moments) == len(known):
        return _moments(given, moments)
    return Column(tuple(_MISSING if cell is None else _exact(cell) for cell in given))


def number_format(numbers: Iterable[object]) -> str:
    """Return one format for numbers shown together: no more decimals than the numbers have, or than matter.

    >>> number_format([1.5, 2.25]), number_format([10.0, 20.0]), number_format([1 / 3, 1000])
    (',.2f', ',.0f', ',.1f')
    """
    values = np.asarray([float(number) for number in numbers], dtype=np.float64)  # type: ignore[arg-type]  # any library's
    values = values[np.isfinite(values)]
    largest = float(np.abs(values).max(initial=0.0))
    if not largest:
        return ",.0f"
    most = _DIGITS - 1 - math.floor(math.log10(largest))
    if not -10 < most <= _MOST_DECIMALS + 2:
        return f".{_DIGITS}g"
    most = min(max(most, 0), _MOST_DECIMALS)
    enough = (decimals for decimals in range(most) if np.array_equal(np.round(values, decimals), values))
    return f",.{next(enough, most)}f"


def number_text(number: object, form: str) -> str:
    """Return a number in the given format, with a true minus sign.

    >>> number_text(-1234.5, ",.1f"), number_text(float("inf"), ",.1f"), number_text(-0.01, ",.1f")
    ('−1,234.5', '∞', '0.0')
    """
    value = float(number)  # type: ignore[arg-type]  # any library's
    if math.isnan(value):
        return _MISSING
    text = "∞" if math.isinf(value) else format(abs(value), form)
    # What rounds to zero has no sign.
    return f"−{text}" if value < 0 and text.strip("0.,") else text


def plain(cell: object) -> object:
    """Return a Python value for a scalar of any library, and None for what each of them calls missing."""
    if isinstance(cell, str):
        return cell
    try:
        missing = cell is None or bool(cell != cell)  # noqa: PLR0124 (only what is missing differs from itself)
    except TypeError:  # pandas.NA refuses even to say that
        missing = True
    if missing:
        return None
    if isinstance(cell, np.datetime64):
        return cell.astype("datetime64[us]").item()  # of nanoseconds, item() would make a bare integer
    return cell.item() if isinstance(cell, np.generic) else cell


def _no_formula(cell: object) -> object:
    """Return a text that no spreadsheet runs; every other cell as it is. A number is none, whatever its sign."""
    if isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell):
        return f"'{cell}"
    return cell


def _exact(cell: object) -> str:
    if cell is None:
        return ""
    return cell.isoformat() if isinstance(cell, date) else str(cell)


def _is_number(cell: object) -> bool:
    return isinstance(cell, int | float | Decimal) and not isinstance(cell, bool)


def _moments(given: Sequence[object], moments: Sequence[datetime]) -> Column:
    zones = {moment.strftime("%z") for moment in moments}
    note = ""
    if len(zones) == 1:
        zone = zones.pop()
        note = "UTC" if zone == "+0000" else f"UTC{zone[:3]}:{zone[3:]}" if zone else ""
        moments = [moment.replace(tzinfo=None) for moment in moments]
    if all(moment.time() == time() for moment in moments):
        texts = [moment.date().isoformat() for moment in moments]
    else:
        whole = all(moment.second == moment.microsecond == 0 for moment in moments)
        texts = [moment.isoformat(" ", "minutes" if whole else "auto") for moment in moments]
    shown = iter(texts)
    return Column(tuple(_MISSING if cell is None else next(shown) for cell in given), note=note)
