"""The table of records that engines are measured on: a hundred of each person, over a month of hours."""

from __future__ import annotations

__all__ = ["HOUR", "KEY", "PERIODS", "START", "STEP", "TOP", "make_records"]

PERIODS = 720
START, HOUR = 1_767_225_600_000_000, 3_600_000_000  # 2026-01-01 in UTC, and an hour, in microseconds
TOP, STEP, KEY = 5.0, 2.0**-16, "00" * 16


def make_records(path: str, events: int, groups: int = 0, *, people: int | None = None, first: int = 0) -> None:
    """Write so many records to a Parquet file, each in one of so many regions if there are any.

    A table in several files numbers its records on from ``first``, and says how many ``people`` it has in all.
    """
    import duckdb

    region = f", 'g' || (hash(i, 'region') % {groups}) AS region" if groups else ""
    with duckdb.connect(config={"memory_limit": "2GB", "preserve_insertion_order": False}) as connection:
        connection.execute("SET enable_progress_bar = false")
        connection.execute(
            f"""COPY (
                SELECT format('u{{:07d}}', hash(i) % {people or events // 100}) AS person,
                    make_timestamp({START} + (hash(i, 'time') % {PERIODS * HOUR})::BIGINT) AS moment,
                    {TOP} * (hash(i, 'value') % 1000000)::DOUBLE / 1000000 AS amount{region}
                FROM range({first}, {first + events}) AS numbers(i)
            ) TO '{path}' (FORMAT parquet)"""
        )
