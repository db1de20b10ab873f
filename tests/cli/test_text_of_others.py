"""What others wrote, on the terminal: every command shows it, and none obeys it."""

from __future__ import annotations

import io
import json
import logging
import shutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.main import get_command

import chronodp as cdp
from chronodp.cli import main
from chronodp.cli.live_view import LineView, ScreenView
from chronodp.cli.shell import app
from chronodp.dossier import write_dossier
from chronodp.errors import ChronodpError
from chronodp.ledger import Ledger
from chronodp.live import Progress
from chronodp.service import add_token, open_tables
from chronodp.service.failures import note_failure, start_log
from tests.cli.test_file_contents import POLICY
from tests.cli.test_shell import every_command
from tests.hostile import HOSTILE, unseen
from tests.ledger.examples import CERTIFICATE, COST

NAME = "others"
KEY = "k\x1b[31m\u202e\u200b\x9bx"
COLUMN = "c\x1b[2J\u202e\nValid. [red]x"
WIDE: dict[str, Any] = {
    "time": "at",
    "user": "who",
    "every": "1D",
    "start": "2026-01-01",
    "end": "2026-01-03",
    "unit": cdp.User(),
}
GRID = ("--time", "at", "--user", "who", "--every", "1D", "--start", "2026-01-01", "--end", "2026-01-03")
ASKED = (*GRID, "--count", "--by", f"{COLUMN}={KEY},north", "--max-periods", "2")
PRICE = ("--epsilon", "1", "--delta", "1e-7")
LIFE = ("--epsilon", "1", "--delta", "1e-7", "--max-periods", "12")
PAID = ("--epsilon", "1", "--dataset", NAME)
TABLE = ("rows.parquet", "--time", "at")
PAYS = ("--dataset", NAME, "--tally", "other")
NAMED = ("--name", NAME, "--tally", "tally")
DATES = ("--start", "2026-01-01", "--end", "2026-01-02")

# What each command is called with; those that print nothing of what others wrote say why.
CALLS: dict[str, tuple[tuple[str, ...], ...]] = {
    "budget open": ((NAME, "--epsilon", "9", "--delta", "1e-5"), (NAME, "--epsilon", "7"), (KEY, "--epsilon", "1")),
    "budget status": ((), ("--json",), (NAME, "--analyst", NAME), (KEY,)),
    "budget history": ((NAME,), (NAME, "--json"), (KEY,)),
    "budget export": ((NAME,), (KEY,)),
    "budget close": ((KEY, "--yes"),),
    "budget restore": (("--ledger", KEY, "--yes"),),
    "token add": ((KEY,),),
    "token list": ((), ("--json",)),
    "token revoke": ((KEY,),),
    "verify": (
        ("chain.json", "--public-key", "key"),
        ("release.json", "--public-key", "key"),
        ("release.json", "--public-key", KEY),
        ("told", "--public-key", "key"),
        ("told", "--json"),
        ("changed",),
    ),
    "dossier": (
        (NAME, "--out", "dossier"),
        (NAME, "--request", KEY, "--out", "other"),
        ("--out", "shelf", "--json"),
        (KEY, "--out", "dossier"),
    ),
    "key": ((), ("--json",)),
    "plan": (("rows.parquet", *ASKED, *PRICE), ("rows.parquet", *ASKED, *PRICE, "--json")),
    "diagnose": (("rows.parquet", *ASKED, *PRICE),),
    "release": (
        ("rows.parquet", *ASKED, *PRICE, "--dataset", NAME, "--request", KEY),
        ("rows.parquet", *ASKED, *PRICE, "--dataset", NAME, "--request", "new", "--page", "page.html"),
        ("rows.parquet", *ASKED, *PRICE, "--dataset", NAME, "--request", "new", "--json"),
    ),
    "start": (("rows.parquet",), (KEY,)),
    "run": (("live.toml", "--for", "2026-01"), ("job.toml", "--for", KEY), (KEY, "--for", "2026-01")),
    "read": (
        ("release.json",),
        ("release.json", "--json"),
        ("release.json", "--at", f"{COLUMN}={KEY}"),
        ("release.json", "--at", f"{COLUMN}=no\x1b"),
    ),
    "stream": (
        (NAME, "--replay"),
        (KEY, "--horizon", "2"),
        (f"new{KEY}", "--dataset", NAME, "--horizon", "2", "--change", "1", "--epsilon", "0.1", "--unit", "event"),
        ("new", "--dataset", f"no{KEY}", "--horizon", "2", "--change", "1", "--epsilon", "0.1", "--unit", "event"),
    ),
    "watch": (
        (KEY,),
        (NAME, "--replay"),
        (f"new{KEY}", "--dataset", NAME, "--above", "3", "--change", "1", "--epsilon", "1"),
        ("--check", "--above", "1", "--change", "1", "--request", KEY, *PAID),
    ),
    "lifetime open": (
        (*ASKED[:-2], *LIFE, *PAYS, "--name", NAME, "--dry-run"),
        (*ASKED[:-2], *LIFE, *PAYS, "--name", KEY),
    ),
    "lifetime issue": (
        ("rows.parquet", *NAMED, *DATES, "--request", KEY),
        ("rows.parquet", *NAMED, *DATES, "--request", "new"),
    ),
    "lifetime status": (("--name", NAME), ("--name", NAME, "--json"), ("--name", KEY)),
    "lifetime verify": ((*NAMED, "--compact"), ("--name", NAME, "--tally", "nothing\x1b")),
    "lifetime forget": ((*NAMED, "--ids", "people.csv"), (*NAMED, "--ids", "people.csv", "--same")),
    "live": (("live.toml", "--windows", "1"),),
    "curator check": (("policy.toml",), ("checked.toml", "--ledger", "budget.db")),
    "curator hold": ((NAME, "--why", KEY), (NAME,), (NAME, "--json"), (f"no{KEY}",)),
    "curator resume": ((KEY,),),
    "spectrum": (
        (*TABLE, "--value", KEY, *GRID[4:], "--change", "1", "--whole", "--request", KEY, *PAID),
        (*TABLE, "--value", "kwh", *GRID[4:], "--change", "1", "--whole", "--request", KEY, *PAID),
    ),
    "blur-times": (
        (*TABLE, "--value", KEY, "--block", "2", "--request", "blur", *PAID),
        (*TABLE, "--value", COLUMN, "--block", "2", "--request", "blur", *PAID),
        (*TABLE, "--value", COLUMN, "--block", "2", "--request", "blur", *PAID, "--json"),
    ),
    "choose": ((KEY, "b", "--change", "1", "--request", KEY, *PAID),),
    "chain fit": (
        (*TABLE, "--sequence", KEY, *GRID[4:], "--states", "2", "--request", "chain", *PAID),
        (*TABLE, "--sequence", COLUMN, *GRID[4:], "--states", "2", "--request", "chain", *PAID),
        (*TABLE, "--sequence", "kwh", *GRID[4:], "--states", "2", "--public"),
    ),
    "chain simulate": (("live.toml", "--out", "drawn.csv"), (KEY, "--out", "drawn.csv")),
    "collect": (("release.json", "release.json"),),
    "device plan": ((KEY, "--epsilon", "1", "--protocol", "fresh:30", "--choices", "3", "--out", "device.json"),),
    "federate simulate": (("live.toml",), (KEY,)),
    "fran plan": (("live.toml", "--epsilon", "1"), (KEY, "--epsilon", "1")),
    "fran release": ((*TABLE, "--model", KEY, "--sequence", KEY, *GRID[4:], "--states", "2", "--request", KEY, *PAID),),
    "fran run": ((KEY,), (NAME, "--replay"), (f"new{KEY}", "--model", KEY, *PAID)),
    "fran tune": (("live.toml", "--error", "1"), (KEY, "--error", "1")),
    "leakage": (("live.toml", "--epsilon", "1"), (KEY, "--epsilon", "1")),
}
SILENT = {
    "account": "prints costs that were typed",
    "audit": "prints our own claims",
    "curator init": "makes up all names",
    "demo": "makes up all names",
    "device fleet": "makes up all names",
    "device send": "prints a report",
    "device start": "prints a path that was typed",
    "explain": "prints numbers",
    "schema": "prints our own schemas",
    "serve": "its log is below",
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A ledger with hostile keys, columns and purposes, and files with hostile words."""
    folder = tmp_path_factory.mktemp("others")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        rows = {"at": pd.Timestamp("2026-01-01"), "who": [f"p{n}" for n in range(6)], "kwh": 1.0, COLUMN: KEY}
        pd.DataFrame(rows).to_parquet("rows.parquet")
        with Ledger("budget.db") as ledger:
            _store(ledger)
            Path("chain.json").write_text(json.dumps(ledger.export(NAME)), encoding="utf-8")
            Path("key").write_text(ledger.public_key, encoding="utf-8")
            write_dossier(ledger, NAME, "told")
            shutil.copytree("told", "changed")
            Path("changed", KEY.replace("/", "")).touch()
        store = open_tables("budget.db")
        add_token(store, NAME, "analyst")
        store.close()
        for name in ("live.toml", "policy.toml"):
            Path(name).write_text(f"name = {json.dumps(KEY)}\n[{json.dumps(KEY)}]\nx = 1\n", encoding="utf-8")
        job = {"time": KEY, "data": KEY, "every": KEY, "epsilon": KEY, "user": KEY, "count": True}
        lines = [f"{name} = {json.dumps(value)}" for name, value in job.items()]
        named = [f"dataset = {json.dumps(KEY)}", f"request = {json.dumps(KEY + '{period}')}"]
        Path("job.toml").write_text("\n".join([*lines, "[job]", *named]), encoding="utf-8")
        Path("checked.toml").write_text(POLICY, encoding="utf-8")
        Path("people.csv").write_text(f"{KEY}\nx\n", encoding="utf-8")
        yield folder


def _store(ledger: Ledger) -> None:
    ledger.open(NAME, unit=cdp.User(), epsilon=9.0, delta=1e-5)
    ledger.allot(NAME, NAME, epsilon=1.0, delta=1e-6)
    ledger.open("empty", unit=cdp.User(), epsilon=1.0)
    query = cdp.TimeSeries("rows.parquet", max_periods=2, **WIDE).count().by({COLUMN: [KEY, "north"]})
    query.plan(epsilon=1.0, delta=1e-7).release(ledger, dataset=NAME, request=NAME).save("release.json")
    ledger.spend(NAME, COST, unit=cdp.User(), purpose=HOSTILE)
    ledger.open_stream(NAME, "door", cost=COST, unit=cdp.User(), plan="p", state=b"")
    with pytest.raises(RuntimeError):
        ledger.fulfil(NAME, request="lost", cost=COST, unit=cdp.User(), plan="p", source="s", produce=_die)
    series = cdp.TimeSeries("rows.parquet", max_periods=2, **WIDE).count().by({COLUMN: [KEY, "north"]})
    life = series.lifetime(epsilon=1.0, delta=1e-7, max_periods=12).open(ledger, dataset=NAME, name=NAME, tally="tally")
    life.issue("rows.parquet", start="2026-01-01", end="2026-01-02", request="life", progress=lambda _: None)


def _die() -> tuple[str, cdp.privacy.Certificate]:
    raise RuntimeError(CERTIFICATE.mechanism)


@pytest.fixture
def say(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Run a command, whether it is refused or not, and return all that it says."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "400")

    def call(*arguments: str) -> str:
        monkeypatch.setattr(sys, "argv", ["chronodp", *arguments])
        monkeypatch.setattr(sys, "stdin", io.StringIO("1\n"))
        with pytest.raises(SystemExit):
            main()
        said = capsys.readouterr()
        return said.out + said.err

    return call


@pytest.mark.parametrize("command", CALLS)
@pytest.mark.slow
def test_no_command_prints_what_a_terminal_obeys(say: Callable[..., str], command: str) -> None:
    for arguments in CALLS[command]:
        text = say(*command.split(), *arguments)
        assert text.strip(), arguments
        assert "Usage:" not in text, arguments
        assert unseen(text) == [], arguments
        assert "Traceback" not in text, arguments
        forged = [line for line in text.splitlines() if line.lstrip("│ ").startswith("Valid. [red]")]
        assert forged == [], arguments


def test_every_command_is_called_or_prints_nothing_of_others() -> None:
    known = {" ".join(words) for words, _ in every_command(get_command(app))}
    assert sorted(known) == sorted([*CALLS, *SILENT])


def test_json_on_the_terminal_reads_back_the_same(say: Callable[..., str]) -> None:
    entries = json.loads(say("budget", "history", NAME, "--json"))
    assert HOSTILE in {entry["purpose"] for entry in entries}
    assert json.loads(say("budget", "export", NAME))["dataset"] == NAME


def test_pages_and_notebooks_hold_no_markup_and_nothing_unseen_of_others(folder: Path) -> None:
    release = cdp.Release.load(folder / "release.json")
    page = folder / "release.html"
    release.report(page)
    for text in (page.read_text(encoding="utf-8"), release._repr_html_(), str(release)):
        written = text.partition("<script>")[0]  # what follows is plotly's own, and JSON in ASCII
        assert unseen(written) == []
        assert "<b>&=" not in written


@pytest.mark.parametrize("as_json", [False, True])
def test_keys_of_live_streams_are_seen_and_not_obeyed(capsys: pytest.CaptureFixture[str], as_json: bool) -> None:
    row: dict[str, Any] = {"window": 1, COLUMN: HOSTILE, "value": 1.0}
    lines, screen = LineView(as_json=as_json), ScreenView(HOSTILE)
    for view in (lines, screen):
        view.tell([row])
        view.say(HOSTILE)
        view.close(Progress(next_window=2, share=0.5))
    said = capsys.readouterr()
    assert unseen(said.out + said.err) == []
    if as_json:
        assert json.loads(said.out.splitlines()[0]) == row


def test_the_log_has_a_line_for_each_failure(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(logging.root, "handlers", [])
    start_log()
    note_failure(ChronodpError(HOSTILE))
    logging.getLogger("chronodp.service").warning("%s", HOSTILE)
    text = capsys.readouterr().err
    assert len(text.splitlines()) == 2
    assert unseen(text) == []
