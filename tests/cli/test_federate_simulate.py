"""The rehearsal of training on the command line."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.federated.training import make_trainer, read_plan
from tests.cli.clinics import MODEL, TOP, write_clinic
from tests.cli.conftest import run


@pytest.fixture
def clinics(tmp_path: Path) -> Path:
    """Two clinics' tables and the plan's file."""
    holders = write_clinic(tmp_path, "north", 100, 0) + write_clinic(tmp_path, "south", 120, 1)
    (tmp_path / "run.toml").write_text(f'{TOP}{MODEL}{holders}[held_out]\ndata = "south.csv"\n', encoding="utf-8")
    return tmp_path


def change(clinics: Path, *changes: tuple[str, str]) -> None:
    """Put other words into the plan's file."""
    text = (clinics / "run.toml").read_text(encoding="utf-8")
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    (clinics / "run.toml").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_run_is_told_by_round_and_repeated(clinics: Path) -> None:
    arguments = ("federate", "simulate", str(clinics / "run.toml"), "--folder", str(clinics / "out"), "--json")
    first = json.loads(run(*arguments).splitlines()[-1])
    assert [row["round"] for row in first["rounds"]] == [1, 2]
    assert first["rounds"][-1]["epsilon"] == first["epsilon"]
    assert first["epsilon"] <= 1.0 < first["ledger_epsilon"] * 2
    assert "OWNER ONLY" in first["measured"]
    page = (clinics / "out" / "run.html").read_text(encoding="utf-8")
    assert "FOR THE OWNER ONLY" in page
    assert "<title>Training across 2 holders: run</title>" in page
    assert "Trained with differential privacy" in page
    assert "One point a round, counted from 1" in page
    assert all(f">{label}<" in page for label in ("round", "ε so far", "held-out loss", "area under the curve"))
    assert "differentially private for everything of one person" in page
    model = (clinics / "out" / "model.npy").read_bytes()
    again = json.loads(run(*arguments, "--aggregation", "plain").splitlines()[-1])
    assert (first["aggregation"], again["aggregation"]) == ("secure", "plain")
    assert again["rounds"] == first["rounds"]
    assert (clinics / "out" / "model.npy").read_bytes() == model


@pytest.mark.slow
def test_forecasts_are_read_from_the_end_of_a_series(clinics: Path) -> None:
    outcome = 'outcome = "forecast"\ncolumn = "pulse"\nhorizon = 3'
    change(clinics, ("prevalence = 0.2", outcome), ("length = 12", "length = 8"))
    shown = run(
        "federate", "simulate", str(clinics / "run.toml"), "--group-sizes", "several", "--folder", str(clinics / "out")
    )
    assert "round 2 of 2" in shown
    assert "area" not in shown.split("round 2 of 2")[1].splitlines()[0]


@pytest.mark.slow
def test_training_stops_at_the_budget(clinics: Path, refuse: Callable[..., str]) -> None:
    change(clinics, ("epsilon = 1.0", "epsilon = 1.0\nbudget = 1.6"))
    with contextlib.redirect_stdout(io.StringIO()):
        told = refuse("federate", "simulate", str(clinics / "run.toml"), "--folder", str(clinics / "out"), "--json")
    assert "cannot pay" in told
    assert "this needs" in told
    assert "at most 1.09558 fits" in told


@pytest.mark.slow
def test_bad_files_are_refused(clinics: Path, refuse: Callable[..., str]) -> None:
    text = (clinics / "run.toml").read_text(encoding="utf-8")
    for words, complaint in [
        (("batch = 20", "batch = 200"), "batch must be fewer than the 100 people"),
        (('"linear"', '"gru"'), "architecture must be one of"),
        (("pulse = [40, 160]", "pulse = 40"), "columns.pulse must be two public bounds"),
        (
            ("pulse = [40, 160]", "puls = [40, 160]"),
            "a table with the columns of the plan; value: the table has no column 'puls'",
        ),
        (('"north.csv"', '"nowhere.csv"'), "a CSV or Parquet file"),
        (("people = 100", ""), "holders.north.people must be given"),
        (("[held_out]\ndata", "[held]\ndata"), "held must be one of"),
        (("[held_out]", "[[held_out]]"), "held_out must be a table"),
        (("[holders.north]", '[holders."ward 7"]'), "holders must be a name of up to 64"),
    ]:
        change(clinics, words)
        told = refuse("federate", "simulate", str(clinics / "run.toml"), "--folder", str(clinics / "out"))
        assert complaint in told, words
        (clinics / "run.toml").write_text(text, encoding="utf-8")


@pytest.mark.slow
def test_a_holder_elsewhere_is_made_from_the_same_file(clinics: Path) -> None:
    plan = read_plan(clinics / "run.toml").plan
    (clinics / "south.csv").unlink()  # the other holder's data is not here
    with cdp.Ledger(clinics / "own.db") as ledger:
        ledger.open("north", unit=cdp.User(), epsilon=plan.ledger_epsilon, delta=plan.delta, rule="renyi")
    file, own = str(clinics / "run.toml"), str(clinics / "own.db")
    holder = make_trainer(name="north", task=plan.task(), plan=file, ledger=own)
    assert holder.update(1, plan.model.first_parameters()).any()
    with pytest.raises(InvalidArgument, match="plans differ"):
        make_trainer(name="north", task=replace(plan.task(), model="another"), plan=file, ledger=own)
    with pytest.raises(InvalidArgument, match="one of north, south"):
        make_trainer(name="west", task=plan.task(), plan=file, ledger=own)


def test_a_file_or_the_demo_but_not_both(refuse: Callable[..., str]) -> None:
    assert "a TOML file, or --demo" in refuse("federate", "simulate")
    assert "a TOML file, or --demo" in refuse("federate", "simulate", "run.toml", "--demo")
