"""Choosing one of several candidates, and single private checks, on the command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import charges, pipe, run

NAMES = ("morning", "evening", "night")
ASKED = ("choose", *NAMES, "--change", "1", "--epsilon", "0.5")
PAID = (*ASKED, "--dataset", "meters", "--request", "peak")
CHECK = ("watch", "--check", "--above", "500", "--change", "1", "--epsilon", "0.5")
CHECKED = (*CHECK, "--dataset", "meters", "--request", "today")
LINES = "evening,94000\nmorning,310\n\nnight,520\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "meters", "--epsilon", "1", "--unit", "user")
    return tmp_path


def test_a_choice_is_paid_once_and_repeats_itself(home: Path) -> None:
    text = pipe(LINES, *PAID, "--monotone", "--out", "choice.json", "--purpose", "peaks of people")
    assert "94000" not in text
    assert "one of 3 candidates by peaks of people" in " ".join(text.split())
    again = json.loads(pipe(LINES, *PAID, "--monotone", "--purpose", "peaks of people", "--json"))
    assert again["winner"] == "evening"
    assert {key: again[key] for key in ("release", "link")} == json.loads((home / "choice.json").read_text())
    assert charges("meters") == 1
    run("key", "--out", "public.key")
    assert "Valid." in run("verify", "choice.json", "--public-key", "public.key")
    other = (*PAID[:-1], "other", "--mechanism", "exponential")
    assert json.loads(pipe(LINES, *other, "--json"))["winner"] == "evening"


def test_a_plan_says_how_far_behind_a_choice_may_be() -> None:
    assert "at most 7.378 below the best" in run(*ASKED, "--monotone", "--plan")
    assert json.loads(run(*ASKED, "--plan", "--json"))["behind"] == pytest.approx(14.7555, abs=1e-3)
    assert charges("meters") == 0


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


def test_a_check_is_paid_once_and_repeats_itself(home: Path) -> None:
    assert "Fires: the number seems to lie at or above 500." in pipe("900\n", *CHECKED, "--out", "answer.json")
    again = json.loads(pipe("900\n", *CHECKED, "--json"))
    saved = json.loads((home / "answer.json").read_text())
    assert again == {"fired": True, "sure_from": pytest.approx(4.60517), **saved}
    assert charges("meters") == 1
    run("key", "--out", "public.key")
    assert "Valid." in run("verify", "answer.json", "--public-key", "public.key")
    below = ("watch", "--check", "--below", *CHECK[3:], "--noise", "laplace", *CHECKED[-4:-1], "other")
    assert "Quiet: the number does not seem to lie at or below 500." in pipe("900\n", *below)


def test_a_plan_says_how_sharp_an_answer_is_and_costs_nothing() -> None:
    assert "right 95% of the time for a number 4.605 or more from the threshold" in run(*CHECK, "--plan")
    assert json.loads(run(*CHECK, "--plan", "--json"))["scale"] == 2.0
    assert charges("meters") == 0


UNCHECKED: list[tuple[str, tuple[str, ...], str]] = [
    ("1\n", CHECK, "dataset must be given: a budget pays for every check; or --plan"),
    ("1\n", CHECKED[:-2], "request must be given"),
    ("", CHECKED, "number must be one number in one line"),
    ("1\n2\n", CHECKED, "number must be one number in one line"),
    ("zaphod\n", CHECKED, "a finite number"),
    ("nan\n", CHECKED, "a finite number"),
    ("1\n", (*CHECKED, "--below", "3"), "threshold must be given as above or as below"),
    ("1\n", (*CHECKED, "--above", "nan"), "above must be"),
    ("1\n", (*CHECKED, "--change", "0"), "change must be"),
    ("1\n", (*CHECKED, "--epsilon", "2"), "cannot pay"),
    ("1\n", (*CHECKED, "--epsilon", "1e-40"), "epsilon must be"),
    ("1\n", (*CHECKED, "--noise", "gaussian"), "noise must be"),
    ("1\n", (*CHECKED, "--unit", "swap:3"), "unit must be"),
    ("1\n", (*CHECKED, "--dataset", "x"), "no budget is open for 'x'"),
    ("1\n", (*CHECKED, "--ledger", "none.db"), "there is no ledger at none.db"),
    ("1\n", (*CHECKED, "--out", "answer.txt"), "out must be a file that ends in .json"),
    ("1\n", (*CHECKED, "--max-alerts", "3"), "max_alerts must be left out"),
    ("1\n", (*CHECKED, "--plan"), "dataset must be left out"),
    ("1\n", (*CHECKED[:1], *CHECKED[2:]), "request must be left out"),
    ("1\n", ("watch", "--check", "--above", "5"), "change must be given"),
]


def test_refusals_spend_nothing_and_repeat_no_line(
    home: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, arguments, said in REFUSED + UNCHECKED:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        answer = refuse(*arguments)
        assert said in answer, arguments
        assert "zaphod" not in answer
    assert charges("meters") == 0
    assert not (home / "none.db").exists()
    pipe("900\n", *CHECKED)
    monkeypatch.setattr(sys, "stdin", io.StringIO("901\n"))
    assert "was made before" in refuse(*CHECKED)
