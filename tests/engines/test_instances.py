"""Nothing of a question is left in the instance of DuckDB that the next one is given."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator

import duckdb
import pyarrow
import pytest

from chronodp.engines import instances
from chronodp.engines.instances import opened

OPTIONS = {"memory_limit": "61MiB", "threads": 1}


@pytest.fixture(autouse=True)
def none_waiting() -> Iterator[None]:
    """Others' instances are not looked at, and none is left to others."""
    kept = instances._waiting[:]
    instances._waiting.clear()
    yield
    for _, instance in instances._waiting:
        instance.close()
    instances._waiting[:] = kept


def test_the_next_question_finds_an_empty_database() -> None:
    with opened(tempfile.gettempdir(), **OPTIONS) as first:
        first.register("part", pyarrow.table({"person": ["ann"]}))
        first.execute("CREATE VIEW seen AS SELECT * FROM part")
        first.execute("CREATE TABLE kept AS SELECT * FROM seen")
        first.execute("CREATE TEMP TABLE brief AS SELECT * FROM seen")
        first.execute("SET TimeZone = 'America/New_York'")
        zone = first.execute("SELECT current_setting('TimeZone')").fetchall()
    (waiting,) = instances._waiting
    with opened(tempfile.gettempdir(), **OPTIONS) as second:
        assert not instances._waiting, "the same instance is used"
        assert second.execute("SELECT * FROM duckdb_tables()").fetchall() == []
        assert second.execute("SELECT * FROM duckdb_views() WHERE NOT internal").fetchall() == []
        assert second.execute("SELECT current_setting('TimeZone')").fetchall() != zone
        for name in ("part", "seen", "kept", "brief"):
            with pytest.raises(duckdb.CatalogException):
                second.execute(f"SELECT * FROM {name}")
    assert instances._waiting == [waiting]


def test_two_at_a_time_have_two() -> None:
    with opened(tempfile.gettempdir(), **OPTIONS) as one, opened(tempfile.gettempdir(), **OPTIONS) as other:
        one.execute("CREATE TABLE mine AS SELECT 1")
        with pytest.raises(duckdb.CatalogException):
            other.execute("SELECT * FROM mine")
    assert len(instances._waiting) == 2


def test_another_memory_means_another_instance() -> None:
    with opened(tempfile.gettempdir(), **OPTIONS):
        pass
    with opened(tempfile.gettempdir(), memory_limit="122MiB", threads=1) as other:
        assert other.execute("SELECT current_setting('memory_limit')").fetchall() == [("122.0 MiB",)]
        assert len(instances._waiting) == 1


def test_one_that_failed_or_is_being_read_is_not_kept() -> None:
    with pytest.raises(duckdb.BinderException), opened(tempfile.gettempdir(), **OPTIONS) as connection:
        connection.execute("SELECT nothing")
    assert not instances._waiting
    with opened(tempfile.gettempdir(), **OPTIONS) as connection:
        batches = connection.sql("SELECT range FROM range(10_000_000)").to_arrow_reader(1000)
        next(iter(batches))
    assert not instances._waiting


@pytest.mark.slow
def test_what_does_not_fit_goes_to_the_folder_of_its_own_question() -> None:
    for _ in range(2):
        with tempfile.TemporaryDirectory() as place, opened(place, **OPTIONS) as connection:
            connection.execute("CREATE TABLE large AS SELECT range AS number, random() AS order_ FROM range(5_000_000)")
            assert os.listdir(place)


def test_those_that_wait_longest_make_room_for_others() -> None:
    for threads in range(1, instances._MOST + 2):
        with opened(tempfile.gettempdir(), memory_limit="61MiB", threads=threads):
            pass
    assert [dict(options)["threads"] for options, _ in instances._waiting] == [2, 3, 4, 5]


@pytest.mark.slow
def test_a_forked_process_has_instances_of_its_own() -> None:
    with opened(tempfile.gettempdir(), **OPTIONS):
        pass
    child = os.fork()
    if child == 0:
        with opened(tempfile.gettempdir(), **OPTIONS) as connection:
            os._exit(0 if connection.execute("SELECT 42").fetchall() == [(42,)] else 1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(instances._waiting) == 1
