"""What the README shows is what its commands make: the picture and the figures."""

from __future__ import annotations

import re

import pytest
from benchmarks.__main__ import NAMES
from benchmarks.harness import ABSENT
from benchmarks.results import RESULTS, Results
from benchmarks.summary import ERRORS, SPEEDS, column, duels, least, summary, unfounded, with_summary
from docs.pictures.release import PICTURE, draw

from tests.docs.pages import ROOT, links, pages

README = ROOT / "README.md"


@pytest.mark.filterwarnings("ignore::chronodp.errors.UnreadRows")  # rows of the town without a number
@pytest.mark.slow
def test_the_picture_is_the_one_that_its_command_draws() -> None:
    assert PICTURE.read_text(encoding="utf-8") == draw(), "run: python -m docs.pictures.release"
    assert str(PICTURE.relative_to(ROOT)) in links(README)


def test_the_figures_are_those_of_the_results() -> None:
    readme, results = README.read_text(encoding="utf-8"), RESULTS.read_text(encoding="utf-8")
    assert readme == with_summary(readme, results), "run: python -m benchmarks --readme"
    assert summary(results) in readme
    prose = readme.partition("## Measured")[2].partition("<!--")[0]
    assert not re.search(r"\d", prose)  # no figure is written by hand beside the table


def test_every_line_is_measured_by_a_benchmark() -> None:
    results = RESULTS.read_text(encoding="utf-8")
    for line in (*SPEEDS, *ERRORS):
        assert line.topic in NAMES, line
        assert least(results, line) > 0, line


def test_the_worst_row_of_either_machine_shows() -> None:
    """No line picks a row: whatever falls behind is in the table."""
    text = RESULTS.read_text(encoding="utf-8")
    (training,) = (line for line in SPEEDS if line.topic == "training.measure")
    table = next(iter(Results.read(text).sections["training.measure"].tables))
    place = table.lines[0].split("| ").index("ratio ")
    for row in table.lines[2:]:
        cells = row.split("| ")
        slower = "| ".join([*cells[:place], "0.0123 ", *cells[place + 1 :]])
        worse = text.replace(row, slower)
        assert least(worse, training) == 0.0123
        assert "| 0.012 to" in summary(worse)


def test_a_peer_that_was_not_there_is_no_figure() -> None:
    rows = [
        {"by": "ours", "n": "1", "seconds": "2"},
        {"by": "theirs", "n": "1", "seconds": ABSENT},
        {"by": "ours", "n": "2", "seconds": "2"},
        {"by": "theirs", "n": "2", "seconds": "3"},
    ]
    assert list(duels("by", ("ours",), "theirs", cost=("seconds",), same=("n",))(rows)) == [1.5]
    assert list(column("seconds", by="theirs")(rows)) == [3.0]


@pytest.mark.slow
def test_as_fast_as_is_said_of_what_is_so_in_every_row_on_both_machines() -> None:
    results = RESULTS.read_text(encoding="utf-8")
    for page in pages():
        if page == RESULTS:  # whose rows are what is measured
            continue
        assert not unfounded(page.read_text(encoding="utf-8"), results), page
    assert unfounded("noise as fast as numpy's", results)
    assert unfounded("as fast as nobody", results)
    assert not unfounded("twice as fast as before, as fast as it goes", results)
    tables = (
        f"### {name} · 2026-11-17 · 0\n\n| ratio |\n| --- |\n| {ratio} |\n\n"
        for name, ratio in (("x86_64", 0.9), ("aarch64", 1.2))
    )
    both = "\n".join(["<!-- training.measure -->\n## Training\n\n`it`\n", *tables])
    assert not unfounded("training as fast as Opacus", both)
    assert unfounded("training as fast as Opacus", both.replace("1.2", "0.89"))
    assert unfounded("training as fast as Opacus", both.partition("### aarch64")[0])
