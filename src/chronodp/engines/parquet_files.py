"""Parquet files in groups that store the wanted columns alike.

Read together, files would agree on one type for each column: one file with times of another kind could change how the
times of all others are read. Each group is read by its own types.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chronodp.engines.reading import Role, Stored, Wanted, match_column

__all__ = ["ParquetGroup", "group_parquet_files"]

_TICKS = {"s": 1_000_000_000, "ms": 1_000_000}  # units in which times reach beyond microseconds of 64 bits


@dataclass(frozen=True, slots=True)
class ParquetGroup:
    """Files that store the wanted columns under the same names in the same types.

    Attributes:
        columns: how each wanted column is spelled there, by role and name.
        names: all columns of the first file.
        ticks: columns of times that are read as plain numbers, and their kind.
        partitions: wanted columns that are told by the folders' names, such as region=north.
        paths: of the files.
    """

    columns: dict[tuple[Role, str], str]
    names: tuple[str, ...]
    ticks: dict[str, Stored]
    partitions: tuple[str, ...]
    paths: list[str] = field(default_factory=list)

    @property
    def times_far_away(self) -> bool:
        """Whether the files can hold times that DuckDB cannot."""
        return bool(self.ticks)

    def select(self) -> str:
        """Return the SQL of all rows of the files."""
        paths = ", ".join("'" + path.replace("'", "''") + "'" for path in self.paths)
        folders = "true, hive_types_autocast = false" if self.partitions else "false"
        return f"SELECT * FROM read_parquet([{paths}], hive_partitioning = {folders})"

    def scanner(self) -> Any:
        """Return a scanner of the files in which such times are whole numbers."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        partitioning = ds.partitioning(pa.schema([(name, pa.string()) for name in self.partitions]), flavor="hive")
        files = ds.dataset(self.paths, format="parquet", partitioning=partitioning if self.partitions else None)
        spelled = dict.fromkeys(self.columns.values())
        columns = {name: pc.field(name).cast(pa.int64()) if name in self.ticks else pc.field(name) for name in spelled}
        return files.scanner(columns=columns)  # type: ignore[arg-type]  # its stubs know no expressions


def group_parquet_files(paths: Sequence[str], wanted: Sequence[Wanted]) -> list[ParquetGroup]:
    """Return files in groups whose wanted columns are stored alike."""
    import pyarrow.parquet

    groups: dict[tuple[object, ...], ParquetGroup] = {}
    for path in paths:
        schema = pyarrow.parquet.read_schema(path)
        folders = [name for name in _folders(path) if name not in schema.names]
        columns: dict[tuple[Role, str], str] = {}
        for _, role, column in wanted:
            spelled = match_column(
                [*schema.names, *(key for key in folders if key not in schema.names)], column, place=Path(path).name
            )
            if spelled is not None:
                columns[role, column] = spelled
        inside = {name: schema.field(name).type for name in columns.values() if name in schema.names}
        partitions = tuple(name for name in dict.fromkeys(columns.values()) if name not in schema.names)
        identity = (tuple(columns.items()), tuple((name, str(kind)) for name, kind in inside.items()), partitions)
        if identity not in groups:
            ticks = {name: stored for name, kind in inside.items() if (stored := _ticks(kind)) is not None}
            groups[identity] = ParquetGroup(columns, tuple(schema.names), ticks, partitions)
        groups[identity].paths.append(path)
    return list(groups.values())


def _ticks(kind: Any) -> Stored | None:
    import pyarrow as pa

    if not pa.types.is_timestamp(kind) or kind.unit not in _TICKS:
        return None
    return Stored("clock" if kind.tz is None else "instant", str(kind), ticks=_TICKS[kind.unit])


def _folders(path: str) -> list[str]:
    """Return the columns that the names of folders tell, such as region=north."""
    return [part.partition("=")[0] for part in Path(path).parent.parts if "=" in part]
