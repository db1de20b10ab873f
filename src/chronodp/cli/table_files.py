"""Tables as files: CSV that no spreadsheet runs, and Parquet, piece by piece."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from chronodp.report import arrow_of, frame_as_csv, with_covers

if TYPE_CHECKING:
    import pandas

__all__ = ["TABLES", "write_table"]

TABLES = (".csv", ".parquet")


def write_table(frames: Iterable[pandas.DataFrame], path: Path) -> None:
    """Write a table that comes in pieces, as the ending of the path says."""
    if path.suffix.lower() == ".csv":
        with path.open("w", encoding="utf-8", newline="") as file:
            for number, frame in enumerate(frames):
                file.write(frame_as_csv(with_covers(frame), header=not number))
    else:
        _write_parquet(iter(frames), path)


def _write_parquet(frames: Iterator[pandas.DataFrame], path: Path) -> None:
    import pyarrow.parquet

    tables = map(arrow_of, frames)
    first = next(tables)
    with pyarrow.parquet.ParquetWriter(path, first.schema) as writer:
        writer.write_table(first)
        for table in tables:
            writer.write_table(table)
