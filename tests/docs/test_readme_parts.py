"""What the README shows is what its commands make: the picture and the figures."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest
from benchmarks.__main__ import TOPICS
from benchmarks.summary import RESULTS, ROWS, Row, sections, summary, with_summary
from docs.pictures.release import PICTURE, draw

from tests.docs.pages import ROOT, links

README = ROOT / "README.md"


@pytest.mark.long
def test_the_picture_is_the_one_that_its_command_draws() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(), "run: python -m docs.pictures.release"


def test_the_picture_is_small_and_shows_in_light_and_dark() -> None:
    text = PICTURE.read_text(encoding="utf-8")
    assert len(text) < 40_000
    assert "prefers-color-scheme: dark" in text
    assert ElementTree.fromstring(text).find("{http://www.w3.org/2000/svg}title") is not None
    assert str(PICTURE.relative_to(ROOT)) in links(README)


def test_the_figures_are_those_of_the_results() -> None:
    readme, results = README.read_text(encoding="utf-8"), RESULTS.read_text(encoding="utf-8")
    assert readme == with_summary(readme, results), "run: python -m benchmarks --readme"
    assert summary(results) in readme


def test_another_result_is_another_table() -> None:
    results = RESULTS.read_text(encoding="utf-8")
    name, text = next((name, text) for name, text in sections(results).items() if name == ROWS[0].topic)
    slower = results.replace(text, text.replace("| chronodp | ", "| chronodp | 99"))
    assert name == "engine.measure_large"
    assert summary(slower) != summary(results)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.topic)
def test_every_figure_is_measured_by_a_benchmark(row: Row) -> None:
    measured = {f"{measure.__module__}.{measure.__name__}".removeprefix("benchmarks.") for measure in TOPICS}
    assert row.topic in measured


def test_no_figure_is_written_by_hand_beside_the_table() -> None:
    prose = README.read_text(encoding="utf-8").partition("## Measured")[2].partition("<!--")[0]
    assert not re.search(r"\d", prose)
