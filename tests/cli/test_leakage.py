"""Leakage on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import run

LAZY = {"transitions": [[0.99, 0.5], [0.01, 0.5]], "coupling": [[1.0, 0.0], [0.0, 1.0]]}


@pytest.fixture
def model(tmp_path: Path) -> str:
    path = tmp_path / "model.json"
    path.write_text(json.dumps(LAZY), encoding="utf-8")
    return str(path)


def test_the_table_says_what_is_true_and_what_the_paper_says(model: str) -> None:
    text = run("leakage", model, "--epsilon", "1", "--ages", "0:3")
    assert "0.6031" in text
    assert "0.49" in text
    assert "neither is a bound" in " ".join(text.split())
    assert "At age 3 and at any older one: at most" in " ".join(text.split())
    assert "Beside it" not in text
    single = run("leakage", model, "--epsilon", "1", "--ages", "1")
    for name in ("group ceiling", "age-dependent", "dependent", "plain Laplace", "refuted"):
        assert name in single


def test_json_holds_everything_and_both_adversaries(model: str) -> None:
    found = json.loads(run("leakage", model, "--epsilon", "1", "--ages", "1,2", "--json"))
    assert [row["age"] for row in found["ages"]] == [1, 2]
    first = found["ages"][0]["knows_others"]
    assert round(first["exact"], 4) == 0.6031
    assert first["record"] == 1.0
    assert first["certified_by"] == "exact"
    assert found["ages"][0]["knows_none"]["adversary"] == "knows_none"
    assert first["certified"] <= found["ages"][0]["any_pair"] >= found["ages"][1]["any_pair"]
    weighted = json.loads(
        run("leakage", model, "--epsilon", "1", "--ages", "1", "--query", "weighted:1,2", "--releases", "2", "--json")
    )
    assert weighted["ages"][0]["knows_others"]["series"] == 2.0


@pytest.mark.slow
def test_baselines_stand_beside_every_age(model: str, tmp_path: Path) -> None:
    words = ("leakage", model, "--epsilon", "1", "--ages", "0:2", "--baselines", "--releases", "3")
    text = run(*words)
    for name in ("group ceiling", "plain Laplace", "age-dependent", "dependent", "Temporal leakage"):
        assert name in text
    found = json.loads(run(*words, "--json"))["baselines"]
    assert [row["age"] for row in found["by_age"]] == [0, 1, 2]
    aged = {one["name"]: one["epsilon"] for one in found["by_age"][1]["definitions"]}
    assert round(aged["leakage, all others known"], 4) == 0.6031
    assert found["over_time"][0]["bounds_present"] is False
    assert found["notes"] == []
    one = tmp_path / "one.json"
    one.write_text(json.dumps({"transitions": [[0.7, 0.3], [0.3, 0.7]], "coupling": [[1.0]]}), encoding="utf-8")
    text = " ".join(run("leakage", str(one), "--epsilon", "1", "--ages", "1", "--releases", "24").split())
    assert "noise of scale 6.724 is enough where a record changes 1; without it 24." in text


@pytest.mark.slow
def test_the_plot_is_a_page_that_stands_alone(model: str, tmp_path: Path) -> None:
    page = tmp_path / "leakage.html"
    text = run("leakage", model, "--epsilon", "1", "--baselines", "--page", str(page))
    assert str(page) in text.replace("\n", "")
    text = page.read_text(encoding="utf-8")
    assert "Leakage by age" in text
    assert "Theorem 1 (no bound)" in text
    assert "age-dependent (no bound)" in text
    assert "Released with differential privacy" not in text


def test_refusals_are_one_sentence(model: str, refuse: Callable[..., str], tmp_path: Path) -> None:
    for arguments, said in [
        (("none.json", "--epsilon", "1"), "model must be a file that can be read"),
        (("MODEL", "--epsilon", "0"), "epsilon must be"),
        (("MODEL", "--epsilon", "1", "--ages", "3:1"), "ages must be"),
        (("MODEL", "--epsilon", "1", "--ages", "old"), "ages must be"),
        (("MODEL", "--epsilon", "1", "--ages", "0:99999999999999"), "ages must be"),
        (("MODEL", "--epsilon", "1", "--query", "mode"), "query must be mean, sum, max"),
        (("MODEL", "--epsilon", "1", "--query", "weighted:1,x"), "query must be"),
        (("MODEL", "--epsilon", "1", "--query", "weighted:1"), "weights must be one a sequence, 2"),
        (("MODEL", "--epsilon", "1", "--page", "x.png"), "page must be"),
    ]:
        assert said in refuse("leakage", *(model if part == "MODEL" else part for part in arguments)), arguments
    path = tmp_path / "model.json"
    path.write_text(json.dumps({"transitions": [[0.7, 0.3], [0.2, 0.8]], "coupling": [[1.0]]}), encoding="utf-8")
    assert "transitions[:, 0] must be a column that sums to one" in refuse("leakage", str(path), "--epsilon", "1")
