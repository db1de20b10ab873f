"""How cost grows with rows: a picture and a table show what the stored figures say."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks.growth import known
from docs.pictures.growth import draw, table


def test_the_picture_and_the_table_show_every_run() -> None:
    text = draw()
    assert "prefers-color-scheme: dark" in text
    assert ElementTree.fromstring(text).find("{http://www.w3.org/2000/svg}title") is not None
    assert len(table().splitlines()) == 2 + len(known())


def test_every_size_was_run_by_both_and_ours_finished() -> None:
    figures = known()
    sizes = sorted({line.rows for line in figures})
    assert (sizes[0], sizes[-1]) == (10**6, 10**9)
    assert all(min(line.seconds, line.cpu, line.peak, line.table) > 0 for line in figures)
    for rows in sizes:
        by = {line.by: line for line in figures if line.rows == rows}
        assert set(by) == {"chronodp", "plain DuckDB"}
        assert by["chronodp"].finished
