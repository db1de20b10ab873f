"""Places on the command line: a file of public keys, its levels, and what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from chronodp.series import Release
from tests.cli.conftest import run

GEO = pd.DataFrame(
    [("UK", f"part {state}", f"t{state}{town}") for state in range(3) for town in range(4)],
    columns=["country", "part", "town"],
)
FLAGS = (
    *("visits.parquet", "--time", "at", "--user", "who"),
    *("--every", "1D", "--start", "2026-01-01", "--end", "2026-01-05"),
    *("--unit", "user_period:1D", "--count", "--epsilon", "2", "--delta", "1e-6"),
)
PLACES = ("--places", "geo.csv", "--levels", "country,part,town")


@pytest.fixture(autouse=True)
def land(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with visits to towns, the towns' parts in two kinds of files, and an open budget."""
    monkeypatch.chdir(tmp_path)
    dice = np.random.default_rng(1)
    days = [f"2026-01-0{day}" for day in dice.integers(1, 5, 800)]
    frame = pd.DataFrame({"at": days, "who": [f"p{who}" for who in dice.integers(0, 90, 800)]})
    frame.assign(town=dice.choice(GEO["town"], 800)).to_parquet("visits.parquet")
    frame.assign(home=dice.choice(GEO["town"], 800)).to_parquet("homes.parquet")
    GEO.to_csv("geo.csv", index=False)
    GEO.to_parquet("geo.parquet")
    run("budget", "open", "land", "--epsilon", "50", "--delta", "1e-4", "--unit", "user_period:1D@UTC")
    return tmp_path


@pytest.mark.slow
def test_a_file_of_places_is_planned_and_released(land: Path) -> None:
    said = json.loads(run("plan", *FLAGS, *PLACES, "--max-groups", "2", "--focus", "town=3", "--json"))
    levels = said["design"]["table"]["levels"]
    assert levels["names"] == ["country", "part", "town"]
    assert levels["weights"] == [1.0, 1.0, 3.0]
    assert said["design"]["table"]["max_groups"] == 2
    words = " ".join(run("plan", *FLAGS, *PLACES).split())
    assert "1 of country, 3 of part, 12 of town" in words
    run("release", *FLAGS, *PLACES, "--dataset", "land", "--request", "one", "--out", "one.json")
    frame = Release.load(land / "one.json").to_pandas()
    sums = frame.groupby(["time", "level"])["value"].sum().unstack()
    assert (sums["country"] == sums["part"]).all()
    assert (sums["part"] == sums["town"]).all()


def test_a_config_file_says_the_same(land: Path) -> None:
    (land / "ask.toml").write_text(
        'data = "visits.parquet"\ntime = "at"\nuser = "who"\nevery = "1D"\nstart = 2026-01-01\nend = 2026-01-05\n'
        'unit = "user_period:1D"\ncount = true\nepsilon = 2.0\ndelta = 1e-6\nplaces = "geo.csv"\n'
        'levels = ["country", "part", "town"]\nfocus = {town = 3.0}\n',
        encoding="utf-8",
    )
    flags = json.loads(run("plan", *FLAGS, *PLACES, "--focus", "town=3", "--json"))
    assert json.loads(run("plan", "--config", "ask.toml", "--json"))["design"] == flags["design"]
    flags = ("homes.parquet", *FLAGS[1:])
    parquet = ("--places", "geo.parquet", "--levels", "part,town", "--place-column", "home")
    said = json.loads(run("plan", *flags, *parquet, "--focus", "nodes", "--json"))
    levels = said["design"]["table"]["levels"]
    assert (levels["column"], levels["names"]) == ("home", ["all", "part", "town"])
    assert levels["weights"] == [1.0, 3.0, 12.0]


def test_what_does_not_fit_is_refused(land: Path, refuse: Callable[..., str]) -> None:
    for options, said in [
        (("--places", "geo.csv"), "levels must be given"),
        (("--levels", "part,town"), "levels must be left out unless --places is given"),
        (("--focus", "town=2"), "focus must be left out unless --places is given"),
        (("--places", "none.csv", "--levels", "part,town"), "places must be a file that can be read"),
        (("--places", "geo.csv", "--levels", "part,village"), "levels must be columns of the table"),
        (("--places", "bad.csv", "--levels", "part,town"), "rows as long as the header"),
        (("--places", "twice.csv", "--levels", "part,town"), "places must be keys that stand in one place each"),
        (("--places", "empty.csv", "--levels", "part,town"), "places must be a CSV or Parquet file"),
        (("--places", "odd.parquet", "--levels", "part,town"), "places must be a CSV or Parquet file"),
        ((*PLACES, "--focus", "town=high"), "focus must be weights of levels"),
        ((*PLACES, "--focus", "village=2"), "focus must be weights above 0 of country, part, town"),
        ((*PLACES, "--by", "town=t00"), "a column that Places does not split already"),
        ((*PLACES, "--missing", "0.1"), "missing must be left out with Places"),
        ((*PLACES, "--peak", "2D"), "left out with Places"),
    ]:
        (land / "bad.csv").write_text("part,town\na\n", encoding="utf-8")
        (land / "twice.csv").write_text("part,town\nsecret-a,hidden\nsecret-b,hidden\n", encoding="utf-8")
        (land / "empty.csv").write_text("", encoding="utf-8")
        (land / "odd.parquet").write_text("hidden", encoding="utf-8")
        told = " ".join(refuse("plan", *FLAGS, *options).split())
        assert said in told, options
        assert "hidden" not in told, options
        assert "secret" not in told, options
