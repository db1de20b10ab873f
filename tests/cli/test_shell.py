from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import chronodp
from chronodp.cli.account import parse_release
from chronodp.cli.shell import _PANELS, _pairs_apart, app
from chronodp.cli.terminal import table_of, terminal
from chronodp.errors import InvalidArgument
from chronodp.privacy import ApproximateCost, GaussianCost, LaplaceCost, RepeatedCost, SequenceCost, dump
from chronodp.schemas import json_schema, schema_names
from tests import forkserver
from tests.cli.conftest import run
from tests.conftest import Trials

DAY = "approximate:epsilon=0.05,delta=1e-8,times=1440"


def every_command(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command by its words, those of groups included."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from every_command(command, (*before, name))
        else:
            yield (*before, name), command


@pytest.mark.slow
def test_version_and_help(trials: Trials) -> None:
    """Every command has an example, and those that are asked show it."""
    assert run("--version") == f"chronodp {chronodp.__version__}\n"
    commands = dict(every_command(typer.main.get_command(app)))
    assert len(commands) > 15
    overview = run("--help")
    for words, command in commands.items():
        assert words[0] in overview
        assert "Example" in command.help
        assert f"chronodp {' '.join(words)}" in command.help
    for words in trials.some(list(commands), 8):
        assert f"chronodp {' '.join(words)}" in run(*words, "--help")


@pytest.mark.slow
def test_the_module_runs_as_a_program() -> None:
    finished = subprocess.run(
        [Path(sys.executable).with_name("chronodp"), "--version"], capture_output=True, text=True, check=True
    )
    assert chronodp.__version__ in finished.stdout


@pytest.mark.slow
def test_account_from_flags() -> None:
    text = run("account", "-r", DAY, "--slack", "1e-7")
    for number in ("72.0000", "14.4642", "11.1603", "1,440 releases"):
        assert number in text
    text = run("account", "-r", "gaussian:sigma=50,times=1440", "--delta", "1e-5")
    assert "3.1895" in text
    assert "133.8893" in text
    table = json.loads(run("account", "-r", DAY, "--slack", "1e-7", "--json"))
    found = {row["theorem"]: row for row in table["bounds"]}
    assert round(found["optimal"]["epsilon"], 4) == 11.1603
    assert found["basic"]["adaptive"] is True
    assert table["releases"] == 1440
    assert table["best_adaptive"] == "zCDP"


def test_account_from_a_file_and_in_short(tmp_path: Path) -> None:
    file = tmp_path / "releases.json"
    cost = SequenceCost((GaussianCost(1.0, 50.0), LaplaceCost(1.0, 20.0)))
    file.write_text(f"[{dump(cost)}, {dump(RepeatedCost(GaussianCost(1.0, 50.0), 3))}]", encoding="utf-8")
    assert json.loads(run("account", str(file), "--delta", "1e-6", "--json"))["releases"] == 5
    file.write_text(dump(cost), encoding="utf-8")
    assert "2 releases" in run("account", str(file), "--delta", "1e-6")
    assert parse_release("laplace:scale=3") == LaplaceCost(1.0, 3.0)
    assert parse_release(" gaussian : sigma = 2 , sensitivity=4, times=2".replace(" :", ":")) == RepeatedCost(
        GaussianCost(4.0, 2.0), 2
    )
    assert parse_release(DAY) == RepeatedCost(ApproximateCost(0.05, 1e-8), 1440)


def test_refusals_are_one_sentence_and_exit_code_two(refuse: Callable[..., str]) -> None:
    for arguments, message in [
        (("account", "--delta", "1e-6"), "release must be given at least once"),
        (("account", "-r", "gaussian:sigma=5"), "delta must be given with --delta, or --slack"),
        (("account", "-r", "magic:sigma=5", "--delta", "1e-6"), "unknown kind 'magic' here; known: approximate,"),
        (("account", "-r", "gaussian:sigma=0", "--delta", "1e-6"), "sigma must be a finite number above 0; got 0.0"),
        (("account", "-r", "gaussian:sigma", "--delta", "1e-6"), "release must be KIND:name=value"),
        (("account", "-r", "gaussian:sigma=x", "--delta", "1e-6"), "sigma must be a number; got 'x'"),
        (("account", "-r", "pure:epsilon=nan", "--delta", "1e-6"), "epsilon must be a finite number above 0; got nan"),
        (("account", "-r", "pure:epsilon=1,times=0", "--delta", "1e-6"), "times must be a whole number of at least 1"),
        (("account", "-r", "pure:epsilon=1", "--delta", "0"), "delta must be a number strictly between 0 and 1"),
        (("account", "-r", "pure:epsilon=1", "--delta", "1"), "delta must be a number strictly between 0 and 1"),
        (("explain", "--epsilon", "0"), "epsilon must be a finite number above 0; got 0.0"),
        (("explain", "--epsilon", "-1"), "epsilon must be"),
        (("explain", "--epsilon", "1", "--delta", "1"), "delta must be a number from 0"),
        (("demo", "--epsilon", "inf"), "epsilon must be a finite number above 0"),
        (("demo", "--delta", "1"), "delta must be"),
        (("demo", "--households", "0"), "households must be"),
    ]:
        assert message in refuse(*arguments), arguments
    for given in [["100"], ["100", "--epsilon", "1"], ["0,100"], ["0", "--count"], []]:
        assert "two numbers, the least and the most, such as --clip 0 100" in refuse(
            "plan", "x.csv", "--clip", *given
        ), given


def test_bad_files(tmp_path: Path, refuse: Callable[..., str]) -> None:
    for content, message in [
        ("{", "is not JSON"),
        ("[]", "lists no release"),
        ('{"kind": "secret"}', "unknown kind; known: approximate,"),  # the kind is not repeated: it stands in a file
        ("[1]", "unknown kind; known: approximate,"),
        ('{"kind": "user"}', "unknown kind; known: approximate,"),
    ]:
        file = tmp_path / "bad.json"
        file.write_text(content, encoding="utf-8")
        assert message in refuse("account", str(file), "--delta", "1e-6"), content
    (tmp_path / "x.json").write_text('{"release": "", "link": {}}', encoding="utf-8")
    said = refuse("verify", str(tmp_path / "x.json"))
    assert "given, as --public-key: the issuer has it from `chronodp key`" in said
    assert "NoneType" not in said
    for content in ["", "\n\n"]:
        (tmp_path / "empty.csv").write_text(content, encoding="utf-8")
        grid = ("--time", "at", "--user", "who", "--every", "1D", "--start", "2026-01-01", "--end", "2026-01-03")
        said = refuse("diagnose", str(tmp_path / "empty.csv"), *grid, "--max-periods", "1", "--count")
        assert "empty.csv has no columns" in said, content


def test_explain_in_words_and_numbers() -> None:
    text = " ".join(run("explain", "--epsilon", "1", "--delta", "1e-5").split())
    assert "at most 73.11% of the time" in text
    assert "no promise" in text
    assert "16.1" in text
    pure = run("explain", "--epsilon", "0.5")
    assert "never move by more than a factor e^ε = 1.649" in pure
    facts = json.loads(run("explain", "--epsilon", "0.1", "--delta", "1e-5", "--json"))
    assert round(facts["tails"][0]["gaussian_over_delta"]) == 111
    assert facts["tails"][0]["any_mechanism"] is None
    assert json.loads(run("explain", "--epsilon", "1000", "--json"))["odds_factor"] is None


@pytest.mark.kill
def test_the_help_shows_panels_in_their_order() -> None:
    said = forkserver.run("-m", "chronodp", "--help").stdout
    headings = re.findall(r"─ ([A-Z][a-z ]+) ─", said)
    assert headings == ["Options", *_PANELS]


def test_a_pair_with_a_comma_is_two_words() -> None:
    assert _pairs_apart(["plan", "--clip=-60,300", "--sum", "v"]) == ["plan", "--clip", "-60", "300", "--sum", "v"]
    for left_alone in (["--clip", "-60", "300"], ["--clip=3"], ["--edges=0,1"], ["--clip=1,2,3"]):
        assert _pairs_apart(left_alone) == left_alone


def test_schemas_are_listed_and_printed() -> None:
    listed = CliRunner().invoke(app, ["schema"])
    assert [line.split()[0] for line in listed.stdout.splitlines()] == list(schema_names())
    for name in schema_names():
        assert json.loads(CliRunner().invoke(app, ["schema", name]).stdout) == json_schema(name)


def test_an_unknown_schema_is_refused_with_the_names_of_all() -> None:
    refused = CliRunner().invoke(app, ["schema", "nothing"])
    assert isinstance(refused.exception, InvalidArgument)
    assert "one of answers, budget, certificate, chain" in str(refused.exception)
    assert not refused.stdout
    with pytest.raises(InvalidArgument):
        json_schema("nothing")


ODD = "[/a] [red]b :house:"


def test_names_are_shown_as_they_are(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    terminal().print(table_of(pd.DataFrame({ODD: [ODD, "plain"], "value": [1.5, 2.5]}), f"title {ODD}"))
    shown = capsys.readouterr().out
    assert shown.count(ODD) == 3
    assert "1.5" in shown
