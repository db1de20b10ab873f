"""Parquet files in groups that store the wanted columns alike.

Read together, files would agree on one type for each column: one file with times of another kind could change how the
times of all others are read. Each group is read by its own types.

*Files* under "Why it holds" in ``docs/explanation/proofs/reading.md``.
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
        texts: columns of texts.
        partitions: wanted columns that are told by the folders' names, such as region=north.
        paths: of the files.
    """

    columns: dict[tuple[Role, str], str]
    names: tuple[str, ...]
    ticks: dict[str, Stored]
    texts: tuple[str, ...]
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
        """Return a scanner of the files by Arrow, in which such times are whole numbers and texts are bytes."""
        import pyarrow as pa
        import pyarrow.compute as pc
        import pyarrow.dataset as ds

        partitioning = ds.partitioning(pa.schema([(name, pa.string()) for name in self.partitions]), flavor="hive")
        files = ds.dataset(self.paths, format="parquet", partitioning=partitioning if self.partitions else None)
        columns = {name: pc.field(name) for name in dict.fromkeys(self.columns.values())}
        columns |= {name: pc.field(name).cast(pa.int64()) for name in self.ticks}
        columns |= {name: pc.field(name).cast(pa.large_string()).cast(pa.large_binary()) for name in self.texts}
        return files.scanner(columns=columns)  # type: ignore[arg-type]  # its stubs know no expressions

    def select_from(self, scanned: str) -> str:
        """Return the SQL of all rows of what the scanner is registered as; bytes that are no text are left out."""
        quoted = ['"' + name.replace('"', '""') + '"' for name in self.texts]
        decoded = ", ".join(f"TRY(decode({name})) AS {name}" for name in quoted)
        return f"SELECT * REPLACE ({decoded}) FROM {scanned}" if decoded else f"SELECT * FROM {scanned}"


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
            texts = tuple(name for name, kind in inside.items() if _is_text(kind))
            groups[identity] = ParquetGroup(columns, tuple(schema.names), ticks, texts, partitions)
        groups[identity].paths.append(path)
    return list(groups.values())


def _ticks(kind: Any) -> Stored | None:
    import pyarrow as pa

    if not pa.types.is_timestamp(kind) or kind.unit not in _TICKS:
        return None
    return Stored("clock" if kind.tz is None else "instant", str(kind), ticks=_TICKS[kind.unit])


def _is_text(kind: Any) -> bool:
    import pyarrow as pa

    value = kind.value_type if pa.types.is_dictionary(kind) else kind
    return pa.types.is_string(value) or pa.types.is_large_string(value) or pa.types.is_string_view(value)


def _folders(path: str) -> list[str]:
    """Return the columns that the names of folders tell, such as region=north."""
    return [part.partition("=")[0] for part in Path(path).parent.parts if "=" in part]
