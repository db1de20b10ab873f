"""The file of results: each machine has its own table, and a run on one leaves the other's as it was."""

from __future__ import annotations

from benchmarks.__main__ import NAMES
from benchmarks.harness import ABSENT, EVERYWHERE, Topic
from benchmarks.results import MACHINES, RESULTS, Results

TEXT = RESULTS.read_text(encoding="utf-8")
EMPTY = Results({}, {})


def topic(figure: float, *notes: str, everywhere: bool = False) -> Topic:
    return Topic("Speed", "python -m it", ("what", "a second"), [("it", figure)], list(notes), everywhere)


def written(results: Results, found: Topic, machine: str, commit: str = "0") -> Results:
    after = results.with_topic("it.measure", found, where=machine, day="2026-11-17", commit=commit)
    again = Results.read(after.to_markdown(["it.measure"]))
    assert again == after
    return again


def test_the_file_is_what_it_is_written_as() -> None:
    assert Results.read(TEXT).to_markdown(list(NAMES)) == TEXT


def test_every_section_is_of_a_benchmark_and_says_where_and_when() -> None:
    results = Results.read(TEXT)
    assert set(results.sections) <= set(NAMES)
    assert set(results.machines) == set(MACHINES)
    for section in results.sections.values():
        assert [table.where for table in section.tables] in (
            [EVERYWHERE],
            *([machine] for machine in MACHINES),
            list(MACHINES),
        )


def test_a_run_writes_the_table_of_its_machine_alone() -> None:
    """And neither the other's figures nor its day, its commit or what it is."""
    first = written(EMPTY, topic(1.5, "turn by turn", "load 3"), "aarch64", "a")
    assert "Not measured on x86_64 yet." in first.to_markdown(["it.measure"])
    both = written(first, topic(2.5, "turn by turn", "load 1"), "x86_64", "b")
    tables = both.sections["it.measure"].tables
    assert [(table.where, table.commit, table.rows[0]["a second"]) for table in tables] == [
        ("x86_64", "b", "2.5"),
        ("aarch64", "a", "1.5"),
    ]
    text = both.to_markdown(["it.measure"])
    assert "Not measured" not in text
    assert text.count("turn by turn") == 1
    assert (text.index("load 1") < text.index("### aarch64") < text.index("load 3")) is True
    again = written(both, topic(3.5, "turn by turn"), "aarch64", "c").sections["it.measure"].tables
    assert again[0] == tables[0]
    assert (again[1].commit, again[1].rows) == ("c", [{"what": "it", "a second": "3.5"}])
    assert again[1].notes == ("turn by turn",)


def test_what_is_computed_stands_once() -> None:
    timed = written(written(EMPTY, topic(1.0), "aarch64"), topic(2.0), "x86_64")
    once = written(timed, topic(3.0, everywhere=True), "aarch64", "d")
    (table,) = once.sections["it.measure"].tables
    assert (table.where, table.commit) == (EVERYWHERE, "d")
    assert "Not measured" not in once.to_markdown(["it.measure"])
    assert [one.where for one in written(once, topic(4.0), "aarch64").sections["it.measure"].tables] == ["aarch64"]


def test_what_is_computed_with_fewer_libraries_takes_no_figure_away() -> None:
    known = written(EMPTY, topic(3.0, everywhere=True), "x86_64", "a")
    lacking = topic(3.0, everywhere=True)
    lacking.rows = [("it", ABSENT)]
    assert written(known, lacking, "aarch64", "b") == known
    assert written(written(EMPTY, lacking, "aarch64"), topic(3.0, everywhere=True), "x86_64", "a") == known
