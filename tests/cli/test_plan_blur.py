"""Costs of blurring times on the command line."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from chronodp.cli.plan_blur import parse_analysis
from chronodp.temporal import UnitCosts, frequency_counting, moving_average, recommend
from tests.cli.conftest import run


def test_costs_are_those_that_are_recommended() -> None:
    found = json.loads(run("plan-blur", "--block", "20", "--epsilon", "5", "--json"))
    made = recommend(20, 5.0)
    assert [row["cost"] for row in found["mechanisms"]] == [one.cost for one in made.candidates]
    assert [row["mechanism"] for row in found["mechanisms"] if row["private"]] == ["block-shuffle"]
    assert found["unit_costs"] == {"missing": 20.0, "repeated": 20.0, "empty": 20.0, "delay": 1.0}
    text = run("plan-blur", "--block", "20", "--epsilon", "5")
    assert text.count("cheapest") == 1
    assert "threshold (10 empty)" in text
    assert "never" in text


@pytest.mark.slow
def test_several_budgets_and_the_page(tmp_path: Path) -> None:
    page = tmp_path / "costs.html"
    text = run(
        *("plan-blur", "--block", "20", "--epsilon", "1,5,20", "--analysis", "average:24,4", "--page", str(page))
    )
    assert "threshold (extended, 16 empty)" in text
    assert text.count("block-shuffle") == 3
    assert "Cost by epsilon" in page.read_text(encoding="utf-8")


def test_analyses_by_their_words() -> None:
    assert parse_analysis("relative", 10) == UnitCosts.relative(10)
    assert parse_analysis("relative:1,2,3,4", 10) == UnitCosts(10.0, 20.0, 30.0, 4.0)
    counting = frequency_counting(window=10, length=100, share=0.2, other_share=0.1)
    assert parse_analysis("counting:100,0.2,0.1", 10) == counting
    assert parse_analysis("average:24,4", 10) == moving_average(window=10, length=24, variance=4.0)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--block", "2", "--epsilon", "5"), "block must be a whole number from 3 to 1000"),
        (("--block", "99999999999999999999", "--epsilon", "5"), "block must be a whole number from 3 to 1000"),
        (("--block", "20", "--epsilon", "-1"), "epsilon must be a finite number from 0"),
        (("--block", "20", "--epsilon", "1,nan"), "epsilon must be a finite number from 0"),
        (("--block", "20", "--epsilon", "5;6"), "epsilon must be a number such as 5"),
        (("--block", "20", "--epsilon", ",".join(["1"] * 201)), "epsilon must be a number such as 5, or at most 200"),
        (("--block", "20", "--epsilon", "5", "--analysis", "median:3"), "analysis must be relative"),
        (("--block", "20", "--epsilon", "5", "--analysis", "average:2.5,1"), "analysis must be relative"),
        (("--block", "20", "--epsilon", "5", "--analysis", "average:inf,1"), "analysis must be relative"),
        (("--block", "20", "--epsilon", "5", "--analysis", "counting:9,2,0.1"), "share must be"),
        (("--block", "20", "--epsilon", "5", "--analysis", "relative:-1,1,1,1"), "missing must be"),
        (("--block", "20", "--epsilon", "5", "--page", "costs.png"), "page must be"),
    ],
)
def test_refusals_are_one_sentence(arguments: tuple[str, ...], said: str, refuse: Callable[..., str]) -> None:
    assert said in refuse("plan-blur", *arguments)
