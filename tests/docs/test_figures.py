"""Figures that are shown were measured: the file of results, what the README shows of it, and what was measured of
published numbers."""

from __future__ import annotations

import json
import re
import subprocess
from itertools import product

import pytest
from benchmarks import peers
from benchmarks.__main__ import NAMES
from benchmarks.coverage import LEVELS, NOISES, READINGS, SIZES, exact
from benchmarks.harness import ABSENT, EVERYWHERE, Topic
from benchmarks.results import MACHINES, RESULTS, Results
from benchmarks.stays import WAYS
from benchmarks.summary import ERRORS, SPEEDS, column, duels, least, summary, unfounded, with_summary
from benchmarks.suppression import POPULATIONS
from docs.pictures.release import PICTURE, draw

from tests.conftest import GOLDEN
from tests.docs.pages import ROOT, links, pages

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


FOUND = Results.read(RESULTS.read_text(encoding="utf-8")).sections


def table(topic: str) -> list[dict[str, str]]:
    """Return the rows of what is the same on every machine, or of the last machine that measured it."""
    return max(FOUND[topic].tables, key=lambda one: one.day).rows


def shares(cell: str) -> list[float]:
    return [float(one) for one in cell.split(" / ")]


def test_sets_hold_within_half_a_part_in_a_hundred() -> None:
    rows = {(one["reading"], one["noise"]): one for one in table("coverage.measure")}
    for (law, shape), reading in product(NOISES, READINGS):
        row = rows[reading, f"{law}, {shape}"]
        assert row["exact"] == ("yes" if exact(law, shape, reading) else "no"), row
        for size in SIZES:
            for held, level in zip(shares(row[f"{size:g} deviations"]), LEVELS, strict=True):
                assert held >= level - 0.005, row
                assert held <= level + 0.005 or row["exact"] == "no", row
        if reading == "ratio of two groups" and law == "gaussian":
            assert shares(row["delta method for 95 %"])[0] == pytest.approx(0.685, abs=0.01), row
        if (
            reading.startswith("change against the mean")
            and (law, shape) != ("gaussian", "white")
            and law == "gaussian"
        ):
            assert max(shares(row["without covariance for 95 %"])) < 0.94, row


def test_few_of_the_published_miss() -> None:
    rows = table("suppression.measure")
    assert {(row["true numbers"], row["noise"]) for row in rows} == {
        (name, law) for name in POPULATIONS for law in ("gaussian", "laplace")
    }
    for row in rows:
        assert float(row["false coverage rate"]) <= 0.05 + 0.005
        if row["hold, given publication"] != "–":
            assert float(row["hold, given publication"]) == pytest.approx(0.95, abs=0.005)
        if float(row["published"]) > 0.05:
            assert float(row["hold, decided on other noise"]) == pytest.approx(0.95, abs=0.005)
    assert min(float(row["hold, as they were"]) for row in rows if row["hold, as they were"] != "–") < 0.1


def test_active_people_err_less_than_white_noise() -> None:
    rows = {row["unit and way"]: row for row in table("stays.measure")}
    assert list(rows) == list(WAYS)
    white, taken = rows["a person, nobody cut: white noise"], rows["a person, nobody cut: what the plan takes"]
    assert float(taken["last 28 days"]) <= 0.6 * float(white["last 28 days"])
    assert all(float(taken[window]) <= float(white[window]) for window in white if window.startswith("last"))
    for name, expected in (
        ("a person, nobody cut: white noise", (19.1, 19.1, 19.1, 19.1)),
        ("a person, nobody cut: noise on comings and goings", (28.6, 17.8, 11.1, 7.2)),
        ("a person, first 4 stays", (6.6,) * 4),
        ("a person, first stay", (3.5,) * 4),
        ("a person's day: white noise", (1.0, 2.6, 5.3, 9.5)),
        ("a person's day: noise on comings and goings", (1.8, 2.6, 3.0, 3.3)),
    ):
        found = [float(cell) for head, cell in rows[name].items() if head.startswith("last")]
        # Those are of the square root; a plan may find buffers that err a little less, and rounds half a digit.
        assert all(one <= other + 0.05 for one, other in zip(found, expected, strict=True))
        assert found == pytest.approx(expected, rel=0.04)


def test_a_year_with_caps_errs_less_than_white_noise() -> None:
    for row in table("stays.measure_year"):
        white = float(row["white, nobody cut"])
        assert float(row["plan, nobody cut"]) <= white
        assert float(row["error"]) <= white
        if row["window"] != "last 1 day":
            assert float(row["error so"]) < float(row["plan, nobody cut"])


def test_quantiles_err_little_more_than_the_best_way_known() -> None:
    known = json.loads((GOLDEN / "published/quantiles.json").read_text(encoding="utf-8"))
    for epsilon, bins, count in product((0.1, 1.0), (20, 200, 2_000, 10_000), (1, 9, 99)):
        asked = (f"{epsilon:.3g}", str(bins), str(count))
        (row,) = (one for one in table("quantiles.measure") if (one["ε"], one["bins"], one["quantiles"]) == asked)
        error = float(row["error"])
        assert float(row["ratio"]) <= 1.2
        ways = ("recursive_em_pure", "recursive_em_delta1e6_gdp", "square_root_gaussian", "tree_laplace")
        found = [
            min(one[way] for way in ways)
            for one in known["many"]
            if (one["eps"], one["bins"], one["quantiles"]) == (epsilon, bins, count)
        ]
        if bins == 20 and count == 1:  # of so few bins one quantile alone was published
            found = [
                min(pair[0] for name, pair in one.items() if isinstance(pair, list))
                for one in known["one"]
                if (one["eps"], one["bins"]) == (epsilon, bins)
            ]
        assert all(error <= 1.2 * least for least in found)
        assert found or bins == 20


def test_places_err_hardly_more_than_the_least() -> None:
    rows = {row["tree"]: float(row["over the least"]) for row in table("places.measure") if row["m"] == "1"}
    assert rows.pop("counties of the USA") <= 1.03
    assert len(rows) >= 3
    assert max(rows.values()) <= 1.01


def test_large_trees_are_made_to_add_up_in_seconds() -> None:
    for found in FOUND["places.measure_time"].tables:
        (row,) = (one for one in found.rows if one["what"] == "two passes and rounding")
        assert float(row["seconds of a processor"]) < 8
        (memory,) = re.findall(r"([\d.]+) GiB at most", " ".join(found.notes))
        assert float(memory) < 2


def test_a_peer_that_cannot_be_had_stops_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def pip(command: list[str], **_: object) -> subprocess.CompletedProcess[str]:
        asked.append(command[-1])
        return subprocess.CompletedProcess(command, int(len(asked) == 2), "", "ERROR: there is none\n")

    monkeypatch.setattr(subprocess, "run", pip)
    assert peers.install() == [list(peers.names())[1]]
    assert asked == list(peers.names().values())
