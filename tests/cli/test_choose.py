"""Choosing one of several candidates on the command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import pipe, run

NAMES = ("morning", "evening", "night")
ASKED = ("choose", *NAMES, "--change", "1", "--epsilon", "0.5")
PAID = (*ASKED, "--dataset", "meters", "--request", "peak")
LINES = "evening,94000\nmorning,310\n\nnight,520\n"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "meters", "--epsilon", "1", "--unit", "user")
    return tmp_path


def charges() -> int:
    found: int = json.loads(run("budget", "status", "meters", "--json"))["charges"]
    return found


def test_a_choice_is_paid_once_and_repeats_itself(home: Path) -> None:
    text = pipe(LINES, *PAID, "--monotone", "--out", "choice.json", "--purpose", "peaks of people")
    assert "94000" not in text
    assert "one of 3 candidates by peaks of people" in " ".join(text.split())
    again = json.loads(pipe(LINES, *PAID, "--monotone", "--purpose", "peaks of people", "--json"))
    assert again["winner"] == "evening"
    assert {key: again[key] for key in ("release", "link")} == json.loads((home / "choice.json").read_text())
    assert charges() == 1
    run("key", "--out", "public.key")
    assert "Valid." in run("verify", "choice.json", "--public-key", "public.key")
    other = (*PAID[:-1], "other", "--mechanism", "exponential")
    assert json.loads(pipe(LINES, *other, "--json"))["winner"] == "evening"


@pytest.mark.usefixtures("home")
def test_a_plan_says_how_far_behind_a_choice_may_be() -> None:
    assert "at most 7.378 below the best" in run(*ASKED, "--monotone", "--plan")
    assert json.loads(run(*ASKED, "--plan", "--json"))["behind"] == pytest.approx(14.7555, abs=1e-3)
    assert charges() == 0


REFUSED: list[tuple[str, tuple[str, ...], str]] = [
    (LINES, ASKED, "dataset must be given: a budget pays for every choice; or --plan"),
    (LINES, PAID[:-2], "request must be given"),
    ("", PAID, "number must be given for each candidate on standard input; morning has none"),
    ("zaphod,1\n", PAID, "line must be one of 3 candidates and its number"),
    ("evening,zaphod\n", PAID, "a finite number"),
    ("evening,1\nevening,2\n", PAID, "each once"),
    (LINES, (*PAID, "--epsilon", "2"), "cannot pay"),
    (LINES, (*PAID, "--change", "0"), "change must be"),
    (LINES, (*PAID, "--unit", "user/replace", "--monotone"), "must be"),
    (LINES, (*PAID, "--mechanism", "best"), "mechanism must be permute-and-flip"),
    (LINES, ("choose", "a", "a", *PAID[4:]), "candidates must be"),
    (LINES, (*PAID, "--ledger", "none.db"), "there is no ledger at none.db"),
    (LINES, (*PAID, "--out", "choice.txt"), "out must be a file that ends in .json"),
]


def test_refusals_spend_nothing_and_repeat_no_line(
    home: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, arguments, said in REFUSED:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        answer = refuse(*arguments)
        assert said in answer, arguments
        assert "zaphod" not in answer
    assert charges() == 0
    assert not (home / "none.db").exists()
