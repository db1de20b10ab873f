from __future__ import annotations

import base64
import hashlib
import os
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chronodp.display import shown as shown_as
from chronodp.errors import InvalidArgument
from chronodp.report import Page, render, write_page
from tests.report.examples import HOSTILE, hours, page, rows
from tests.report.reader import Reader


def test_says_everything_without_its_scripts() -> None:
    shown = page(hours("north"), warning="A seeded run.")
    reader = Reader(render(shown))
    for part in (shown.title, shown.promise, shown.certificate, "A seeded run.", "Typical error", "±9.5 people", "UTC"):
        assert part in reader.text
    for cell in ("2026-01-05 00:00", "north", "33.33", "23.83", "−66.67"):
        assert cell in reader.text
    assert reader.text.index("A seeded run.") < reader.text.index(shown.promise)
    headings = [int(tag[1]) for tag, _ in reader.tags if re.fullmatch(r"h\d", tag)]
    assert headings == [1, 2, 2, 2, 2]
    assert ("html", {"lang": "en"}) in reader.tags


def test_fetches_nothing_and_forbids_it() -> None:
    reader = Reader(render(page(hours("north"))))
    for tag, attributes in reader.tags:
        assert tag not in {"link", "img", "iframe", "object", "embed", "base", "form", "a"}
        assert not {"src", "href", "srcset", "action"} & attributes.keys(), tag
        assert not any(name.startswith("on") for name in attributes), tag
    assert "url(" not in render(page(hours("north"))).split("</style>")[0]
    policy = reader.policy()
    assert policy.startswith("default-src 'none';")
    assert "http" not in policy
    assert "connect-src" not in policy


@pytest.mark.slow
def test_runs_its_own_scripts_only() -> None:
    reader = Reader(render(page(hours("north"))))
    kinds = [attributes.get("type") for tag, attributes in reader.tags if tag == "script"]
    assert kinds == ["application/json", "application/json", None, None]
    for script in reader.scripts[2:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in reader.policy()
    assert "unsafe-eval" not in reader.policy()
    many = page(*(hours(name, count=4_001) for name in ("north", "south", "east", "west", "centre")))
    assert "'unsafe-eval'" in Reader(render(replace(many, rows=[]))).policy()  # by the points of the chart alone


def test_hostile_text_stays_text() -> None:
    shown = page(hours(HOSTILE, count=3), title=HOSTILE, warning=HOSTILE, name=HOSTILE)
    fields = {name: getattr(shown, name) for name in Page.__slots__}
    fields |= {"promise": HOSTILE, "facts": ((HOSTILE, HOSTILE),), "certificate": HOSTILE, "columns": (HOSTILE,) * 5}
    reader = Reader(render(Page(**fields)))
    assert "img" not in {tag for tag, _ in reader.tags}
    assert len(reader.scripts) == 4
    # Title and heading, warning, promise, chart, label and text of a fact, five columns, three cells, certificate.
    assert reader.text.count(shown_as(HOSTILE)) == 2 + 1 + 1 + 1 + 2 + 5 + 3 + 1
    for data in reader.scripts[:2]:
        assert "<" not in data
        assert "\u2028" not in data


@pytest.mark.slow
def test_counts_its_rows_and_shows_the_first_of_many() -> None:
    for count, shown in [(0, "0 rows."), (1, "1 row."), (40, "40 rows."), (2_000, "2,000 rows.")]:
        reader = Reader(render(page(hours("north", count=count))))
        assert f"\n{shown}" in reader.text, count
        assert [tag for tag, _ in reader.tags].count("tr") == count + 1, count
        assert ("On paper: the first 40." in reader.text) == (count > 40), count
    reader = Reader(render(page(hours("north", count=2_345))))
    assert "The first 2,000 of 2,345 rows; the CSV has the other 345 too." in reader.text
    assert [tag for tag, _ in reader.tags].count("tr") == 2_001


def test_a_failed_write_leaves_the_old_page_and_no_scraps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(source: Any, target: Any) -> None:
        assert Path(source).read_bytes().endswith(b"</html>\n")
        assert Path(target).read_text() == "the old page"
        raise OSError(28, "No space left on device")

    target = tmp_path / "release.html"
    target.write_text("the old page")
    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(InvalidArgument, match="No space left on device"):
        write_page(page(hours("north", count=3)), target)
    assert target.read_text() == "the old page"
    assert list(tmp_path.iterdir()) == [target]


def test_places_that_cannot_be_written_are_refused(tmp_path: Path) -> None:
    shown = page(hours("north", count=3))
    (tmp_path / "file").touch()
    for place in (tmp_path / "missing" / "a.html", tmp_path, tmp_path / "file" / "a.html", "", "a\0b.html"):
        with pytest.raises(InvalidArgument, match="path must be a file in a folder that may be"):
            write_page(shown, place)
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_rows_of_another_width_and_other_figures_are_refused() -> None:
    shown = page(hours("north", count=3))
    fields = {name: getattr(shown, name) for name in Page.__slots__}
    with pytest.raises(InvalidArgument, match="rows must be as long as there are columns, 2, in row 0; got 5"):
        Page(**fields | {"columns": ("time", "value")})
    with pytest.raises(InvalidArgument, match="figure must be a plotly figure"):
        Page(**fields | {"figure": "chart", "rows": rows()})
