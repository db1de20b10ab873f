"""A file given by mistake, such as one with private keys, stays closed: nothing of it comes out of any command."""

from __future__ import annotations

import json
import shutil
import traceback
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from chronodp import TimeSeries, User
from chronodp.cli.shell import app
from chronodp.ledger import Ledger
from tests.conftest import SCALE

MARKS = tuple(f"hunter{number}hunter" for number in range(1, 9))
CONTENTS = {
    "given.bin": f"{MARKS[0]}\n{MARKS[1]}\n",
    "given": f"{MARKS[0]}\n{MARKS[1]} {MARKS[2]}\n",
    "given.json": json.dumps({"kind": MARKS[0], "signing": MARKS[1], "token": [MARKS[2]], "epsilon": MARKS[3]}),
    "lines.json": f'{{"value": "{MARKS[0]}"}}\n["{MARKS[1]}"]\n"{MARKS[2]}"\n',
    "given.toml": (
        f'policy = "{MARKS[0]}"\nname = "{MARKS[1]}"\ndataset = "{MARKS[2]}"\n[source]\nkind = "{MARKS[3]}"\n'
        f'[plan]\nkind = "{MARKS[4]}"\n[run]\nname = "{MARKS[5]}"\n[holder]\nkind = "{MARKS[6]}"\n'
    ),
    "table.csv": f"{MARKS[0]},{MARKS[1]}\n{MARKS[2]},{MARKS[3]}\n",
    "times.csv": f"at,{MARKS[0]}\n{MARKS[1]},{MARKS[2]}\n2026-01-01,{MARKS[3]}\n",
    "given.pem": f"-----BEGIN PRIVATE KEY-----\n{MARKS[0]}\n-----END PRIVATE KEY-----\n",
    "query.toml": f'data = "x.csv"\ntime = "at"\nunit = "{MARKS[0]}"\nepsilon = "{MARKS[1]}"\nevery = "{MARKS[2]}"\n',
    "queries.toml": f'[queries.load]\ncount = true\nunit = "{MARKS[0]}"\nof = "{MARKS[1]}"\n',
    "live.toml": (
        f'name = "n"\ndataset = "meters"\nunit = "{MARKS[0]}"\n[source]\nkind = "{MARKS[1]}"\n'
        f'[fields]\ntime = "{MARKS[2]}"\n[windows]\nevery = "{MARKS[3]}"\ntimezone = "{MARKS[4]}"\n'
    ),
    "zone.toml": (
        f'name = "n"\ndataset = "meters"\n[source]\nkind = "files"\npath = "{MARKS[1]}"\n'
        f'[fields]\ntime = "{MARKS[2]}"\n[windows]\nevery = "1h"\ntimezone = "{MARKS[4]}"\n'
    ),
    "model.json": json.dumps({"transitions": MARKS[0], "coupling": [[MARKS[1]]]}),
    "costs.json": json.dumps([{"kind": "pure", "epsilon": MARKS[0]}, {"kind": "gaussian", "sigma": MARKS[1]}]),
    "twice.toml": f'{MARKS[0]} = "{MARKS[1]}"\n{MARKS[0]} = 2\n',
    "broken.toml": f'[datasets.meters]\nepsilon = "{MARKS[0]}"\n{MARKS[1]} = = "{MARKS[2]}"\n',
}
GRID = ("--time", "at", "--every", "1h", "--start", "2026-01-01", "--end", "2026-01-02")
SERIES = (*GRID, "--user", "who", "--max-periods", "1", "--epsilon", "1", "--count")
SPENDS = ("--dataset", "meters", "--request", "x")
SPECTRUM = (*GRID, "--value", "kwh", "--change", "1", "--lowest", "2", "--epsilon", "1", *SPENDS)
BLUR = ("--time", "at", "--value", "kwh", "--block", "2", "--epsilon", "1", *SPENDS)
FRAN = ("--epsilon", "1", "--dataset", "meters")
ONE = {"transitions": [[0.5, 0.5], [0.5, 0.5]], "coupling": [[1.0]]}
AGED = (*GRID, "--sequence", "kwh", "--states", "2", "--epsilon", "1", *SPENDS)
STREAM = ("s", "--dataset", "meters", "--horizon", "9", "--change", "1", "--epsilon", "1")
WATCH = ("a", "--dataset", "meters", "--above", "1", "--change", "1", "--epsilon", "1")
LIFE = ("--name", "load", "--tally", "load.tally")
ISSUE = (*LIFE, "--start", "2026-01-01", "--end", "2026-01-02", "--request", "x")
OPEN = (*SERIES, "--dataset", "lives", "--name", "other", "--tally", "other.tally")

# Every option that names a file to be read, as the command's words with FILE in its place.
JOB = """
data = "x.csv"
time = "at"
every = "1D"
user = "who"
max_periods = 3
count = true
epsilon = 1.0
[job]
dataset = "meters"
request = "{period}"
"""
POLICY = """
[datasets.meters]
source = "x.csv"
time = "at"
user = "who"
every = "1D"
start = "2026-01-01"
end = "2026-01-02"
unit = "user"
epsilon = 1.0
"""
READS: dict[tuple[str, str], tuple[str, ...]] = {
    ("plan", "data"): ("FILE", *SERIES),
    ("plan", "config"): ("--config", "FILE"),
    ("plan", "places"): ("x.csv", *SERIES, "--places", "FILE", "--levels", "state,town"),
    ("plan", "rehearse"): ("--rehearse", "FILE", "--unit", "window:2", "--epsilon", "1"),
    ("read", "file"): ("FILE",),
    ("diagnose", "data"): ("FILE", *SERIES),
    ("diagnose", "config"): ("--config", "FILE"),
    ("diagnose", "places"): ("x.csv", *SERIES, "--places", "FILE", "--levels", "state,town"),
    ("release", "data"): ("FILE", *SERIES, *SPENDS),
    ("release", "config"): ("--config", "FILE", *SPENDS),
    ("release", "places"): ("x.csv", *SERIES, *SPENDS, "--places", "FILE", "--levels", "state,town"),
    ("start", "data"): ("FILE",),
    ("run", "job"): ("FILE", "--for", "2026-01"),
    ("lifetime open", "config"): ("--config", "FILE", *OPEN[-6:]),
    ("lifetime open", "places"): (*OPEN, "--places", "FILE", "--levels", "state,town"),
    ("lifetime issue", "data"): ("FILE", *ISSUE),
    ("lifetime forget", "ids"): (*LIFE, "--ids", "FILE"),
    ("spectrum", "data"): ("FILE", *SPECTRUM),
    ("blur-times", "data"): ("FILE", *BLUR),
    ("chain fit", "data"): ("FILE", *AGED),
    ("chain simulate", "model"): ("FILE", "--out", "drawn.csv"),
    ("fran tune", "model"): ("FILE", "--error", "0.1"),
    ("fran plan", "model"): ("FILE", "--epsilon", "1"),
    ("fran release", "data"): ("FILE", *AGED, "--model", "one.json"),
    ("fran release", "model"): ("x.csv", *AGED, "--model", "FILE"),
    ("fran run", "model"): ("alarms", "--model", "FILE", *FRAN),
    ("live", "settings"): ("FILE",),
    ("leakage", "model"): ("FILE", "--epsilon", "1"),
    ("account", "file"): ("FILE",),
    ("collect", "plan"): ("FILE", "FILE"),
    ("collect", "reports"): ("plan.json", "FILE"),
    ("serve", "policy"): ("--policy", "FILE"),
    ("serve", "witness"): ("--policy", "policy.toml", "--witness", "FILE", "--ledger", "budget.db"),
    ("serve", "tls_cert"): ("--policy", "policy.toml", "--tls-cert", "FILE", "--tls-key", "FILE"),
    ("serve", "tls_key"): ("--policy", "policy.toml", "--tls-cert", "FILE", "--tls-key", "FILE"),
    ("verify", "file"): ("FILE", "--public-key", "x"),
    ("verify", "public_key"): ("chain.json", "--public-key", "FILE"),
    ("dossier", "owner"): ("meters", "--out", "new", "--owner", "FILE"),
    ("budget restore", "witness"): ("--yes", "--witness", "FILE"),
    ("device start", "plan"): ("FILE",),
    ("device start", "state"): ("plan.json", "--state", "FILE"),
    ("device send", "plan"): ("FILE", "--slot", "1"),
    ("device send", "state"): ("plan.json", "--slot", "1", "--state", "FILE"),
    ("federate simulate", "run"): ("FILE",),
    ("curator check", "policy"): ("FILE",),
    ("curator hold", "ledger"): ("meters", "--ledger", "FILE"),
    ("curator check", "ledger"): ("checked.toml", "--ledger", "FILE"),
    ("curator resume", "ledger"): ("x", "--ledger", "FILE"),
    ("token add", "ledger"): ("ana", "--ledger", "FILE"),
    ("token list", "ledger"): ("--ledger", "FILE"),
    ("token revoke", "ledger"): ("x", "--ledger", "FILE"),
    **{
        (command, option): (*words, f"--{option}", "FILE")
        for command, words in {
            "run": ("job.toml", "--for", "2026-01"),
            "release": ("x.csv", *SERIES, *SPENDS),
            "key": (),
            "dossier": ("meters", "--out", "new"),
            "budget open": ("meters", "--epsilon", "1"),
            "budget status": (),
            "budget history": ("meters",),
            "budget close": ("meters", "--yes"),
            "budget export": ("meters",),
            "budget restore": ("--yes",),
            "stream": STREAM,
            "watch": WATCH,
            "spectrum": ("x.csv", *SPECTRUM),
            "blur-times": ("x.csv", *BLUR),
            "chain fit": ("x.csv", *AGED),
            "fran release": ("x.csv", *AGED, "--model", "one.json"),
            "fran run": ("alarms", "--model", "one.json", *FRAN),
            "choose": ("a", "b", "--change", "1", "--epsilon", "1", *SPENDS),
            "serve": ("--policy", "policy.toml"),
            "lifetime open": OPEN,
            "lifetime issue": ("x.csv", *ISSUE),
            "lifetime status": ("--name", "load"),
            "lifetime verify": LIFE,
            "lifetime forget": (*LIFE, "--ids", "x.csv"),
        }.items()
        for option in ("keys", "ledger")
    },
}
WRITES = {"out", "page", "tally", "folder", "path"}


def commands(group: Any = app, before: str = "") -> Iterator[tuple[str, Callable[..., Any]]]:
    for one in group.registered_commands:
        yield before + (one.name or one.callback.__name__).replace("_", "-"), one.callback
    for one in group.registered_groups:
        yield from commands(one.typer_instance, f"{before}{one.name} ")


def test_every_option_that_reads_a_file_is_tried() -> None:
    found = set()
    for name, callback in commands():
        for option, hint in typing.get_type_hints(callback, include_extras=True).items():
            kind, help_of = (*typing.get_args(hint), None, None)[:2] if option != "return" else (None, None)
            words = (getattr(help_of, "help", None) or "").lower()
            if ("Path" in str(kind) or "file" in words) and kind is not bool and option not in WRITES:
                found.add((name, option))
    assert found == READS.keys()


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What lies on every desk."""
    folder = tmp_path_factory.mktemp("laid")
    with Ledger(folder / "budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        ledger.open("lives", unit=User(), epsilon=9.0)
        day = TimeSeries(None, time="at", user="who", every="1D", start="2026-01-01", end="2026-01-02", unit=User())
        life = day.count().lifetime(epsilon=1.0, max_periods=1)
        life.open(ledger, dataset="lives", name="load", tally=folder / "load.tally")
        (folder / "chain.json").write_text(json.dumps(ledger.export("meters")), encoding="utf-8")
    (folder / "x.csv").write_text("at,who,kwh\n2026-01-01,a,1\n", encoding="utf-8")
    (folder / "policy.toml").write_text("", encoding="utf-8")
    (folder / "checked.toml").write_text(POLICY, encoding="utf-8")
    (folder / "job.toml").write_text(JOB, encoding="utf-8")
    (folder / "one.json").write_text(json.dumps(ONE), encoding="utf-8")
    return folder


def contents_for(command: str, option: str) -> list[str]:
    """Return the contents that an option is given: all, or some of them where other commands read it just alike.

    Ledgers and keys are opened by one function, whichever command asks. The first two commands are given everything.
    """
    alike = [one for one in READS if one[1] == option]
    place = alike.index((command, option))
    if SCALE >= 1 or option not in ("keys", "ledger") or place < 2:
        return list(CONTENTS)
    return list(CONTENTS)[place % 5 :: 5]


@pytest.mark.slow
@pytest.mark.parametrize("command", dict.fromkeys(command for command, _ in READS))
def test_nothing_of_a_file_comes_out(command: str, laid: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runner = CliRunner(env={"COLUMNS": "400", "TERM": "dumb", "NO_COLOR": "1"})
    for option in (option for reader, option in READS if reader == command):
        place = tmp_path / option
        shutil.copytree(laid, place)
        monkeypatch.chdir(place)
        for name in contents_for(command, option):
            file = place / name
            file.write_text(CONTENTS[name], encoding="utf-8")
            words = [str(file) if word == "FILE" else word for word in (*command.split(), *READS[command, option])]
            result = runner.invoke(app, words, input="1\n")
            said = result.output + (result.stderr or "")
            assert "Usage:" not in said, (words, said)  # it came to be read
            if result.exception is not None:  # with what it came from; lines of code beside it hold nothing of a file
                said += "".join(traceback.format_exception(result.exception, limit=0))
            assert not [mark for mark in MARKS if mark in said], (words, said[-2000:])


def test_the_keys_file_is_recognised(laid: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(laid)
    runner = CliRunner(env={"COLUMNS": "400", "TERM": "dumb", "NO_COLOR": "1"})
    result = runner.invoke(app, ["verify", "chain.json", "--public-key", "budget.db.keys"])
    assert "that file holds a ledger's private keys" in str(result.exception)
    assert "chronodp key --out public.key" in str(result.exception)
    content = (laid / "budget.db.keys").read_text(encoding="utf-8")
    secrets = [text for text in content.split('"') if len(text) > 40]
    assert len(secrets) >= 2
    assert not any(secret[:6] in str(result.exception) for secret in secrets)
