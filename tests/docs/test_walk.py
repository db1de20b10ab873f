"""A newcomer walks each how-to: its commands are typed in order, in an empty folder with nothing but the data.

Whatever a command needs besides data, a budget or a file of settings, the page itself must show before.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import chronodp as cdp
from chronodp.cli.shell import app
from chronodp.cli.town import write_town
from chronodp.privacy import GaussianCost, dump
from tests.docs.pages import ROOT, blocks, typed

ELSEWHERE = {  # what runs until it is stopped, or for minutes, is run by the tests of its own
    "audit": "tests/cli/test_audit.py",
    "demo": "tests/cli/test_release.py",
    "federate": "tests/cli/test_federate_simulate.py",
    "lifetime": "tests/cli/test_lifetime.py",
    "live": "tests/cli/test_live.py",
    "curator": "tests/cli/test_serve.py",
    "serve": "tests/cli/test_serve.py",
    "token": "tests/cli/test_serve.py",
}
HOURS = pd.date_range("2026-01-01", "2026-02-01", freq="1h", inclusive="left", tz="UTC")
CHANCE = np.random.default_rng(1)


def first_script() -> None:
    """What the page's script leaves, which a test of its own runs: a budget that it opened."""
    with cdp.Ledger("budget.db") as ledger:
        ledger.open("flights", unit=cdp.User(), epsilon=4.0, delta=1e-5)


def demo() -> None:
    """What the command on the page makes, which a test of its own runs."""
    folder = Path("chronodp-demo")
    folder.mkdir()
    write_town(folder / "town-500.parquet", households=30, progress=lambda _: None)
    rows = pd.read_parquet(folder / "town-500.parquet").head(100)
    series = cdp.TimeSeries(
        rows,
        time="read_at",
        user="meter_id",
        every="1D",
        start="2026-01-01",
        end="2026-02-01",
        unit=cdp.User(),
        max_periods=31,
    )
    with cdp.Ledger(folder / "budget.db") as ledger:
        ledger.open("town", unit=cdp.User(), epsilon=1.0)
        series.count().plan(epsilon=1.0).release(ledger, dataset="town", request="days").save(folder / "release.json")


def visits() -> None:
    table = {"at": HOURS, "who": [f"p{n % 9}" for n in range(len(HOURS))], "site": "north", "minutes": 5.0}
    pd.DataFrame(table).to_parquet("visits.parquet")


def readings() -> None:
    pd.DataFrame({"at": HOURS, "who": [f"m{n % 9}" for n in range(len(HOURS))]}).to_csv("readings.csv", index=False)


def places() -> None:
    geo = pd.DataFrame([("Land", f"S{n // 4}", f"C{n}") for n in range(12)], columns=["country", "state", "county"])
    geo.to_csv("geo.csv", index=False)
    table = {"at": HOURS, "who": [f"p{n % 9}" for n in range(len(HOURS))], "county": "C1"}
    pd.DataFrame(table).to_parquet("visits.parquet")


def pulses() -> None:
    pd.DataFrame({"who": "ann", "at": range(40), "pulse": range(40)}).to_csv("pulse.csv", index=False)


def costs() -> None:
    Path("releases.json").write_text(dump(GaussianCost(1.0, 50.0)), encoding="utf-8")


def loads() -> None:
    values = np.abs(CHANCE.normal(size=(4, 60))).ravel()
    who = np.repeat([f"m{n}" for n in range(4)], 60)
    pd.DataFrame({"read_at": np.tile(np.arange(60), 4), "meter_id": who, "kwh": values}).to_csv(
        "loads.csv", index=False
    )
    Path("peaks.csv").write_text("morning,310\nevening,940\nnight,520\n", encoding="utf-8")
    hours = pd.date_range("2025-01-01", "2026-01-01", freq="1h", inclusive="left", tz="UTC")
    pd.DataFrame({"hour": hours, "visitors": CHANCE.poisson(30, len(hours))}).to_csv("hall.csv", index=False)


def model() -> None:
    coupled = {"transitions": [[0.9, 0.2], [0.1, 0.8]], "coupling": [[0.8, 0.2], [0.3, 0.7]]}
    Path("model.json").write_text(json.dumps(coupled), encoding="utf-8")


def beats() -> None:
    pd.DataFrame({"hour": HOURS, "load": 500.0}).to_csv("load.csv", index=False)


def counts() -> None:
    Path("counts.csv").write_text("12\n3\n4\n", encoding="utf-8")
    published = pd.DataFrame({"count": 1000 + CHANCE.poisson(9, 200)})
    published.to_csv("published-2025.csv", index=False)


def quiet() -> None:
    Path("load.csv").write_text("-5000\n-5000\n", encoding="utf-8")


def flights() -> None:
    days = pd.date_range("2013-01-01", "2013-03-01", freq="1D", inclusive="left")
    table = {
        "date": np.tile(days, 20),
        "tailnum": np.repeat([f"N{n}" for n in range(20)], len(days)),
        "distance": 700.0,
    }
    pd.DataFrame(table).to_csv("flights.csv", index=False)


def winter() -> None:
    days = pd.date_range("2026-01-01", periods=63, freq="1D")
    rows = {"at": np.repeat(days, 20), "who": np.tile(np.arange(20), 63), "place": np.tile(["hall", "park"], 630)}
    unit = cdp.UserPeriod("1D")
    series = cdp.TimeSeries(
        pd.DataFrame(rows), time="at", user="who", every="1D", start=days[0], end="2026-03-05", unit=unit
    )
    with cdp.Ledger("winter.db") as ledger:
        ledger.open("visits", unit=unit, epsilon=1.0)
        plan = series.count().by(place=["hall", "park"]).plan(epsilon=1.0)
        plan.release(ledger, dataset="visits", request="winter").save("winter.json")


def published() -> None:
    rows = pd.DataFrame({"at": HOURS[:3], "who": ["a", "b", "c"], "kwh": 0.5})
    series = cdp.TimeSeries(
        rows, time="at", user="who", every="1h", start="2026-01-01", end="2026-01-02", unit=cdp.User(), max_periods=24
    )
    with cdp.Ledger("budget.db") as ledger:
        ledger.open("meters", unit=cdp.User(), epsilon=1.0)
        series.count().plan(epsilon=1.0).release(ledger, dataset="meters", request="load-2026-01")


def lives() -> None:
    rows = pd.DataFrame({"meter": range(40), "at": pd.Timestamp("2026-01-01"), "kwh": 0.5, "region": "north"})
    rows.to_parquet("2026-01.parquet")
    rows.head(5).to_parquet("late.parquet")
    Path("erased.txt").write_text("7\n", encoding="utf-8")


def monthly() -> None:
    table = {"at": HOURS, "who": [f"p{n % 9}" for n in range(len(HOURS))]}
    pd.DataFrame(table).to_parquet("visits-2026-01.parquet")


def nothing() -> None:
    """Some pages need no data."""


DATA: dict[str, Callable[[], None]] = {
    "README.md": first_script,
    "docs/start/check-us.md": demo,
    "docs/start/collect-and-train.md": nothing,
    "docs/start/publish-a-table.md": demo,
    "docs/start/research.md": nothing,
    "docs/start/run-a-stream.md": nothing,
    "docs/how-to/account-for-releases.md": costs,
    "docs/how-to/blur-times.md": pulses,
    "docs/how-to/choose-a-model.md": loads,
    "docs/how-to/collect-from-devices.md": nothing,
    "docs/how-to/count-active-people.md": visits,
    "docs/how-to/find-bounds.md": flights,
    "docs/how-to/give-a-dossier.md": published,
    "docs/how-to/keep-a-budget.md": readings,
    "docs/how-to/measure-leakage.md": model,
    "docs/how-to/publish-for-ever.md": lives,
    "docs/how-to/publish-places.md": places,
    "docs/how-to/publish-ratios.md": winter,
    "docs/how-to/release-a-series.md": visits,
    "docs/how-to/release-a-spectrum.md": beats,
    "docs/how-to/run-every-month.md": monthly,
    "docs/how-to/smooth-a-release.md": winter,
    "docs/how-to/watch-a-stream.md": counts,
    "docs/how-to/watch-for-alerts.md": quiet,
}


def type_in(line: list[list[str]]) -> None:
    """Type one line; what stands before a pipe gives the input."""
    given = ""
    for words in line:
        if words[0] == "chronodp" and words[1] not in ELSEWHERE:
            result = CliRunner().invoke(app, words[1:], input=given, catch_exceptions=False)
            assert result.exit_code == 0, result.output
            given = result.output
        elif words[0] in {"cat", "tail"}:
            given = Path(words[-1]).read_text(encoding="utf-8")
            if "+2" in words:  # from the second line on, after the names of columns
                given = given.partition("\n")[2]
        elif words[0] == "echo":
            given = f"{words[1]}\n"
        elif words[0] == "printf":
            given = words[1].replace("\\n", "\n")


@pytest.mark.parametrize("name", DATA)
@pytest.mark.slow
def test_the_commands_of_a_page_run_in_order(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    DATA[name]()
    for block in blocks(ROOT / name):
        if block.language == "toml" and block.text.startswith("# "):  # its first line says what the file is called
            Path(block.text.splitlines()[0].removeprefix("# ")).write_text(block.text, encoding="utf-8")
    lines = typed(ROOT / name)
    assert lines
    for line in lines:
        type_in(line)


def test_every_page_with_commands_is_walked_or_runs_elsewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*/*.md"))]:
        used = {words[1] for line in typed(page) for words in line if words[0] == "chronodp"}
        assert str(page.relative_to(ROOT)) in DATA or used <= ELSEWHERE.keys() | {"budget"}, page
    for test in ELSEWHERE.values():
        assert (ROOT / test).is_file()
