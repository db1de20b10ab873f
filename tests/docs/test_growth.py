"""How cost grows with rows: the page and its picture show what the stored figures say."""

from __future__ import annotations

from xml.etree import ElementTree

from benchmarks.growth import known
from docs.pictures.growth import PAGE, PICTURE, draw, table, with_table

from tests.docs.pages import links


def test_the_page_has_the_stored_figures() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert with_table(page) == page, "run: python -m docs.pictures.growth"
    assert table() in page
    assert "../pictures/growth.svg" in links(PAGE)


def test_the_picture_is_the_one_that_its_command_draws() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert text == draw(), "run: python -m docs.pictures.growth"
    assert len(text) < 10_000
    assert "prefers-color-scheme: dark" in text
    assert ElementTree.fromstring(text).find("{http://www.w3.org/2000/svg}title") is not None


def test_every_size_was_run_by_both_and_ours_finished() -> None:
    figures = known()
    sizes = sorted({line.rows for line in figures})
    assert (sizes[0], sizes[-1]) == (10**6, 10**9)
    assert all(min(line.seconds, line.cpu, line.peak, line.table) > 0 for line in figures)
    for rows in sizes:
        by = {line.by: line for line in figures if line.rows == rows}
        assert set(by) == {"chronodp", "plain DuckDB"}
        assert by["chronodp"].finished
