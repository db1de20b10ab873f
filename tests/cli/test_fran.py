"""Aged answers on the command line: tuned, planned, run, and run again after a kill."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from chronodp.correlated import Mean, read_model, tuning
from chronodp.correlated.tuning import tune
from chronodp.ledger import Ledger
from tests.cli.conftest import pipe, run

COUPLED = {"transitions": [[0.9, 0.2], [0.1, 0.8]], "coupling": [[0.8, 0.2], [0.3, 0.7]]}
APART = {"transitions": [[0.95, 0.05], [0.05, 0.95]], "coupling": [[1.0, 0.0], [0.0, 1.0]]}
OPENING = ("--model", "model.json", "--dataset", "ward", "--ages", "1", "--epsilon", "1")
LINES = "0,1\n1,1\n1,0\n"


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("model.json").write_text(json.dumps(COUPLED), encoding="utf-8")
    Path("apart.json").write_text(json.dumps(APART), encoding="utf-8")
    run("budget", "open", "ward", "--epsilon", "4", "--unit", "window:1/replace")
    return tmp_path


def kept(find: Callable[..., object]) -> Callable[..., object]:
    """Return what gives each answer once and then the same again, as only one question is asked."""
    found: list[object] = []

    def give(*given: object, **told: object) -> object:
        if not found:
            found.append(find(*given, **told))
        return found[0]

    return give


def status() -> tuple[int, float]:
    found = json.loads(run("budget", "status", "ward", "--json"))
    return found["charges"], found["sums"][0]["left"]


def test_tuning_shows_every_age_and_marks_the_least() -> None:
    found = json.loads(run("fran", "tune", "apart.json", "--error", "0.1", "--oldest", "4", "--json"))
    best = tune(read_model("apart.json"), query=Mean(), error=0.1, oldest=4)
    assert found["best"]["ages"] == list(best.ages)
    assert found["best"]["leakage"] == best.leakage == min(one["leakage"] for one in found["tried"])
    text = run("fran", "tune", "apart.json", "--error", "0.1", "--oldest", "4")
    assert text.count("least") == 1
    assert f"--ages {best.ages[0]} --epsilon {best.epsilon!r}" in text


@pytest.mark.slow
def test_other_ways_of_tuning_and_the_page(monkeypatch: pytest.MonkeyPatch) -> None:
    each = json.loads(run("fran", "tune", "model.json", "--error", "0.1", "--way", "each", "--oldest", "2", "--json"))
    assert len(each["best"]["ages"]) == 2
    shrunk = run("fran", "tune", "model.json", "--error", "0.1", "--way", "shrunk", "--page", "tuned.html")
    assert "Then read mean + 0.2899" in shrunk
    assert "Leakage by age" in Path("tuned.html").read_text(encoding="utf-8")
    constant = run("fran", "tune", "model.json", "--error", "9", "--way", "shrunk")
    assert "a constant would do" in " ".join(constant.split())
    assert "Next" not in constant
    parts = ("fran", "tune", "apart.json", "--query", "sum", "--error", "1", "--way", "parts", "--oldest", "2")
    monkeypatch.setattr(tuning, "segment", kept(tuning.segment))  # shown twice, and found once
    found = json.loads(run(*parts, "--json"))
    assert found["groups"] == [[0], [1]]
    assert "Parts with noise of their own" in run(*parts)
    ages = ",".join(map(str, found["ages"]))
    price = ("--query", found["query"], "--ages", ages, "--epsilon", str(found["epsilon"]))
    planned = json.loads(run("fran", "plan", "apart.json", *price, "--json"))
    assert planned["present"]["knows_others"] == pytest.approx(found["leakage"], rel=1e-3)


def test_a_plan_is_free_and_says_what_is_paid() -> None:
    planned = json.loads(run("fran", "plan", "model.json", "--ages", "3", "--target", "0.25", "--json"))
    assert planned["present"]["knows_others"] <= 0.25
    assert planned["epsilon"] == pytest.approx(0.6659, abs=1e-3)
    text = " ".join(run("fran", "plan", "model.json", "--ages", "0,1", "--epsilon", "0.5,1").split())
    assert "states 0 to 1 periods old" in text
    assert "ε = 1, paid once" in text
    whole = run(
        "fran", "plan", "model.json", "--ages", "1", "--epsilon", "1", "--unit", "user/replace", "--horizon", "5"
    )
    assert "ε = 4, paid once" in whole
    assert status()[0] == 0


def test_answers_come_out_and_go_on_after_a_restart() -> None:
    first = pipe(LINES, "fran", "run", "alarms", *OPENING).splitlines()
    assert first[:2] == ["period,value", "0,"]
    assert len(first) == 4
    assert status() == (1, 3.0)
    again = [
        json.loads(line) for line in pipe(LINES + "0,0\n", "fran", "run", "alarms", "--replay", "--json").splitlines()
    ]
    assert [row["period"] for row in again] == [0, 1, 2, 3]
    assert [f"{row['period']},{row['value']!r}" for row in again[1:3]] == first[2:]  # as they were stored
    later = pipe("0,0\n", "fran", "run", "alarms").splitlines()
    assert later[1].startswith("4,")
    assert status() == (1, 3.0)


def test_a_step_that_was_stored_and_never_shown_is_told_again() -> None:
    from chronodp.correlated import Fran

    pipe("0,1\n", "fran", "run", "alarms", *OPENING)
    with Ledger("budget.db") as ledger:  # as where the process dies between the disk and the terminal
        lost = Fran.resume(ledger, "alarms").step([1, 1]).value
    assert pipe("0,1\n1,1\n", "fran", "run", "alarms", "--replay").splitlines()[2] == f"1,{lost!r}"


def test_several_queries_numbers_with_cuts_and_an_end() -> None:
    words = (*OPENING[:4], "--query", "mean max", "--ages", "0", "--epsilon", "0.5,1", "--horizon", "2")
    raw = "a,61,12\nb,140,12\nc,1,1\n"
    told = pipe(raw, "fran", "run", "both", *words, "--columns", "2,3", "--cuts", "90", "--cuts", "18").splitlines()
    assert told[0] == "period,value_1,value_2"
    assert [line.count(",") for line in told] == [2, 2, 2]
    assert status() == (1, 3.0)


GRID = ("--time", "at", "--every", "1h", "--start", "2026-01-01", "--end", "2026-01-02", "--states", "2")
SERIES = (*GRID, "--sequence", "pulse", "--sequence", "breath", "--model", "model.json")
PRICE = ("--ages", "2", "--epsilon", "1", "--dataset", "ward", "--request", "day")


@pytest.fixture
def table(home: Path) -> Path:
    named = ("--sequence", "pulse", "--sequence", "breath")
    run("chain", "simulate", "model.json", "--periods", "24", *named, "--out", "ward.csv")
    return home


@pytest.mark.slow
def test_a_table_is_released_once_and_comes_back_the_same(table: Path, refuse: Callable[..., str]) -> None:
    words = ("fran", "release", "ward.csv", *SERIES, *PRICE)
    assert "12 more rows" in run(*words, "--out", "day.csv")
    made = pd.read_csv(table / "day.csv")
    assert made["value"].isna().tolist() == [True] * 2 + [False] * 22
    again = json.loads(run(*words, "--json"))
    assert [row["value"] for row in again["series"]][2:] == pytest.approx(made["value"].tolist()[2:])
    run(*words, "--out", "day.json")
    run("key", "--out", "public.key")
    assert "Valid." in run("verify", "day.json", "--public-key", "public.key")
    assert status() == (1, 3.0)
    (table / "other.csv").write_text("at,pulse,breath\n2026-01-01,nan,zaphod\n", encoding="utf-8")
    other = ("fran", "release", "other.csv", *SERIES, *PRICE)
    assert "was made before for another plan, source or cost" in refuse(*other)
    run(*other[:-1], "odd")  # no row of a private table can cause a refusal
    for arguments, said in (
        ((*words, "--sequence", "heart", "--request", "b"), "sequence must be as many as the model has, 2 of 2 states"),
        ((*words, "--ages", "24", "--request", "b"), "ages must be below the horizon, 24"),
        ((*words, "--out", "day.txt"), "out must be a file that ends in"),
        ((*words, "--epsilon", "9", "--request", "b"), "cannot pay"),
        ((*words, "--ledger", "none.db"), "there is no ledger at none.db"),
        ((*words[:-1], "b", "--end", "2026-01-01T00:30"), "end must be"),
        (("fran", "release", "none.csv", *SERIES, *PRICE), "there is no file none.csv"),
    ):
        assert said in refuse(*arguments)
    assert status() == (2, 2.0)


REFUSED: list[tuple[str, tuple[str, ...], str]] = [
    (LINES, (), "model must be given: there is no stream 'alarms' to go on with"),
    (LINES, OPENING[:2], "dataset must be given"),
    (LINES, OPENING[:4], "epsilon must be given, or --target"),
    (LINES, (*OPENING, "--target", "1"), "epsilon must be given, or --target"),
    (LINES, (*OPENING, "--ages", "-1"), "ages must be one age such as 3"),
    (LINES, (*OPENING, "--ages", "old"), "ages must be one age such as 3"),
    (LINES, (*OPENING, "--ages", "1,2,3"), "ages must be one a sequence, 2, or one for all"),
    (LINES, (*OPENING, "--ages", "99999999999"), "ages must be a whole number from 0 to"),
    (LINES, (*OPENING, "--epsilon", "nan"), "epsilon must be a finite number above 0"),
    (LINES, (*OPENING, "--epsilon", "1,x"), "epsilon must be a number above 0, or several"),
    (LINES, (*OPENING, "--epsilon", "9"), "cannot pay"),
    (LINES, (*OPENING, "--query", ""), "query must be mean, sum, max"),
    (LINES, (*OPENING, "--unit", "user"), "unit must be Window(1, relation='replace')"),
    (LINES, (*OPENING, "--unit", "user/replace"), "horizon"),
    (LINES, (*OPENING, "--columns", "2"), "columns must be 2 fields, from 1, one a sequence"),
    (LINES, (*OPENING, "--columns", "0,1"), "columns must be 2 fields"),
    (LINES, (*OPENING, "--cuts", "1,2"), "cuts must be 1, for the 2 states of the model"),
    (LINES, (*OPENING, "--ledger", "none.db"), "there is no ledger at none.db"),
    (LINES, (*OPENING, "--model", "none.json"), "model must be a file that can be read"),
    (LINES, (*OPENING, "--dataset", "x"), "no budget is open for 'x'"),
    (LINES, (*OPENING, "--adversary", "all"), "adversary must be knows_others or knows_none"),
]


@pytest.mark.slow
def test_what_cannot_be_opened_spends_nothing(
    home: Path, refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    for text, arguments, said in REFUSED:
        monkeypatch.setattr(sys, "stdin", io.StringIO(text))
        assert said in refuse("fran", "run", "alarms", *arguments), arguments
    assert status()[0] == 0
    assert not (home / "none.db").exists()


def test_a_line_that_is_no_snapshot_is_not_repeated(
    refuse: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    pipe("1,1\n", "fran", "run", "alarms", *OPENING)
    for line in ("zaphod,1", "0", "0.5,1", "7,0", "nan,0", "-1,0", "\ud800,1"):
        monkeypatch.setattr(sys, "stdin", io.StringIO(f"{line}\n"))
        said = refuse("fran", "run", "alarms", "--json")
        assert "nothing was released for it" in said, line
        assert line not in said
    assert pipe("1,1\n", "fran", "run", "alarms").splitlines()[1].startswith("1,")


def test_refusals_are_one_sentence(refuse: Callable[..., str]) -> None:
    for arguments, said in [
        (("tune", "model.json", "--error", "0"), "error must be"),
        (("tune", "model.json", "--error", "1", "--oldest", "-1"), "oldest must be"),
        (("tune", "model.json", "--error", "1", "--way", "best"), "way must be one, each, shrunk or parts"),
        (("tune", "model.json", "--error", "1", "--way", "parts", "--query", "max"), "only a sum falls into parts"),
        (("tune", "model.json", "--error", "1", "--way", "each", "--page", "x.html"), "page must be left out"),
        (("tune", "model.json", "--error", "1", "--page", "x.png"), "page must be"),
        (("tune", "model.json", "--error", "1", "--way", "shrunk", "--query", "mean max"), "query must be a single"),
        (("plan", "model.json"), "epsilon must be given, or --target"),
        (("plan", "model.json", "--target", "0"), "target must be"),
        (("plan", "none.json", "--target", "1"), "model must be a file that can be read"),
    ]:
        assert said in refuse("fran", *arguments), arguments
