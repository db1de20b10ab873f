"""Single private checks on the command line."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import pipe, run

ASKED = ("watch", "--check", "--above", "500", "--change", "1", "--epsilon", "0.5")
PAID = (*ASKED, "--dataset", "meters", "--request", "today")


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    run("budget", "open", "meters", "--epsilon", "1", "--unit", "user")
    return tmp_path


def charges() -> int:
    found: int = json.loads(run("budget", "status", "meters", "--json"))["charges"]
    return found


def test_a_check_is_paid_once_and_repeats_itself(home: Path) -> None:
    assert "Fires: the number seems to lie at or above 500." in pipe("900\n", *PAID, "--out", "answer.json")
    again = json.loads(pipe("900\n", *PAID, "--json"))
    saved = json.loads((home / "answer.json").read_text())
    assert again == {"fired": True, "sure_from": pytest.approx(4.60517), **saved}
    assert charges() == 1
    run("key", "--out", "public.key")
    assert "Valid." in run("verify", "answer.json", "--public-key", "public.key")
    below = ("watch", "--check", "--below", *ASKED[3:], "--noise", "laplace", *PAID[-4:-1], "other")
    assert "Quiet: the number does not seem to lie at or below 500." in pipe("900\n", *below)


@pytest.mark.usefixtures("home")
def test_a_plan_says_how_sharp_an_answer_is_and_costs_nothing() -> None:
    assert "right 95% of the time for a number 4.605 or more from the threshold" in run(*ASKED, "--plan")
    assert json.loads(run(*ASKED, "--plan", "--json"))["scale"] == 2.0
    assert charges() == 0


REFUSED: list[tuple[str, tuple[str, ...], str]] = [
    ("1\n", ASKED, "dataset must be given: a budget pays for every check; or --plan"),
    ("1\n", PAID[:-2], "request must be given"),
    ("", PAID, "number must be one number in one line"),
    ("1\n2\n", PAID, "number must be one number in one line"),
    ("zaphod\n", PAID, "a finite number"),
    ("nan\n", PAID, "a finite number"),
    ("1\n", (*PAID, "--below", "3"), "threshold must be given as above or as below"),
    ("1\n", (*PAID, "--above", "nan"), "above must be"),
    ("1\n", (*PAID, "--change", "0"), "change must be"),
    ("1\n", (*PAID, "--epsilon", "2"), "cannot pay"),
    ("1\n", (*PAID, "--epsilon", "1e-40"), "epsilon must be"),
    ("1\n", (*PAID, "--noise", "gaussian"), "noise must be"),
    ("1\n", (*PAID, "--unit", "swap:3"), "unit must be"),
    ("1\n", (*PAID, "--dataset", "x"), "no budget is open for 'x'"),
    ("1\n", (*PAID, "--ledger", "none.db"), "there is no ledger at none.db"),
    ("1\n", (*PAID, "--out", "answer.txt"), "out must be a file that ends in .json"),
    ("1\n", (*PAID, "--max-alerts", "3"), "max_alerts must be left out"),
    ("1\n", (*PAID, "--plan"), "dataset must be left out"),
    ("1\n", (*PAID[:1], *PAID[2:]), "request must be left out"),
    ("1\n", ("watch", "--check", "--above", "5"), "change must be given"),
]


def test_refusals_spend_nothing_and_repeat_no_number(
    home: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, arguments, said in REFUSED:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        answer = refuse(*arguments)
        assert said in answer, arguments
        assert "zaphod" not in answer
    assert charges() == 0
    assert not (home / "none.db").exists()
    pipe("900\n", *PAID)
    monkeypatch.setattr(sys, "stdin", io.StringIO("901\n"))
    assert "was made before" in refuse(*PAID)
