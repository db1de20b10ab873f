"""Bounds that are found, and the figure of what they took away, on the command line."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import run

FLAGS = (
    *("rows.parquet", "--time", "at", "--user", "who", "--every", "1D", "--start", "2026-01-01", "--end", "2026-01-15"),
    *("--epsilon", "2", "--delta", "1e-6"),
)
FINDS = ("--sum", "kwh", "--find", "clip", "--find", "max_periods", "--find-between", "0.1", "50")
FILE = """
data = "rows.parquet"
time = "at"
user = "who"
every = "1D"
start = 2026-01-01
end = 2026-01-15
epsilon = 2.0
delta = 1e-6
sum = "kwh"
"""


@pytest.fixture(scope="module")
def stocked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with records and an open budget, as every test begins with."""
    folder = tmp_path_factory.mktemp("stocked")
    people, days = np.divmod(np.arange(300 * 14), 14)
    frame = pd.DataFrame(
        {"who": [f"p{who}" for who in people], "at": pd.Timestamp("2026-01-01") + days * pd.Timedelta("1D")}
    )
    frame["kwh"] = 1.0 + np.arange(len(frame)) % 5
    frame["region"] = np.where(np.arange(len(frame)) % 2, "north", "south")
    frame.to_parquet(folder / "rows.parquet")
    run("budget", "open", "people", "--epsilon", "20", "--delta", "1e-5", "--ledger", str(folder / "budget.db"))
    return folder


@pytest.fixture(autouse=True)
def shop(stocked: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with records and an open budget."""
    place = tmp_path / "shop"
    shutil.copytree(stocked, place)
    monkeypatch.chdir(place)
    return place


def test_flags_and_file_find_the_same_bounds(shop: Path) -> None:
    (shop / "find.toml").write_text(
        f'{FILE}find = ["clip", "max_periods"]\nfind_share = 0.1\nfind_between = [0.1, 50]\nmissing = 0.1\n',
        encoding="utf-8",
    )
    said = json.loads(run("plan", *FLAGS, *FINDS, "--find-share", "0.1", "--missing", "0.1", "--json"))
    assert said == json.loads(run("plan", "-c", "find.toml", "--json"))
    assert said["design"]["finds"] == ["max_periods", "clip"]
    assert said["design"]["share"] == 0.1
    assert said["design"]["missing"]["assume"] is None  # nothing, unless it is said
    assert said["half_width"] is None
    assert said["alternatives"][-1]["max_periods"] == 14
    text = " ".join(run("plan", "-c", "find.toml").split())
    assert "10 % of the budget picks max_periods and clip" in text
    assert "What may be found" in text


@pytest.mark.slow
def test_a_release_tells_what_was_found_and_what_is_missing() -> None:
    command = ("release", *FLAGS, *FINDS, "--find-from-zero", "--missing", "0.05", "--dataset", "people")
    text = " ".join(run(*command, "--request", "one", "--out", "one.json", "--out", "one.csv").split())
    assert "Found: privately" in text
    assert "Missing: The limits removed between" in text
    assert "perhaps unevenly: no band for single days" in text
    assert {"value_all", "lower_all", "upper_all"} <= set(pd.read_csv("one.csv").columns)
    made = json.loads(run(*command, "--request", "one", "--json"))
    assert 1 <= made["found"]["max_periods"] <= 14
    assert 0.1 <= made["found"]["size"] <= 50
    assert made["missing"]["lower"] < made["missing"]["upper"]
    assert made["series"][0]["value_all"] is None
    assert json.loads(made["release"])["design"]["table"]["measure"]["clip"][0] == 0.0
    key = run("key", "--ledger", "budget.db").split()[-1]
    assert "Valid" in run("verify", "one.json", "--public-key", key)
    even = json.loads(run(*command, "--missing-assume", "even-loss", "--request", "two", "--json"))
    assert "value_all" not in even["series"][0]
    assert even["series"][0]["lower_if_even"] < even["series"][0]["upper_if_even"]
    assert even["missing"]["assume"] == "even loss"


@pytest.mark.slow
@pytest.mark.parametrize("options", [(), ("--of", "rows", "--find-from-zero", "--find-between", "0.1", "50")])
def test_edges_are_found_by_a_command(options: tuple[str, ...]) -> None:
    asked = (*FLAGS, "--histogram", "kwh", "--find", "edges", "--max-periods", "3", *options)
    assert "picks a typical size of a value" in " ".join(run("plan", *asked).split())
    made = json.loads(run("release", *asked, "--dataset", "people", "--request", "edges", "--json"))
    edges = made["found"]["edges"]
    assert len(edges) == 25
    assert edges[0] == (0.0 if options else -edges[-1])
    assert json.loads(made["release"])["design"]["table"]["measure"]["edges"] == edges
    assert len({row["bin_low"] for row in made["series"]}) == 24


def test_what_cannot_be_found_is_refused(refuse: Callable[..., str]) -> None:
    for options, said in [
        (("--sum", "kwh", "--find", "clip", "--clip", "0", "3", "--max-periods", "3"), "given or found, not both"),
        (("--count", "--find", "max_periods", "--max-periods", "3"), "given or found, not both"),
        (("--count", "--find", "at_most", "--at-most", "3", "--max-periods", "3"), "given or found, not both"),
        (("--count", "--find", "width"), "made of clip, at_most, norm, edges, max_periods, max_groups"),
        (("--count", "--find", "max_periods", "--find", "max_periods"), "each once"),
        (("--count", "--find", "max_periods", "--find-share", "0.9"), "find_share must be"),
        (("--count", "--find", "max_periods", "--find-between", "1", "2"), "find_between must be left out unless"),
        (("--count", "--find", "max_periods", "--find-from-zero"), "find_from_zero must be left out unless"),
        (("--sum", "kwh", "--find", "clip", "--find-between", "3", "1", "--max-periods", "3"), "find_between must be"),
        (("--count", "--find-share", "0.1", "--max-periods", "3"), "find must be given"),
        (("--mean", "kwh", "--of", "people", "--find", "clip", "--max-periods", "14"), "middle"),
        (("--count", "--find", "max_periods", "--find", "max_groups"), "nothing splits"),
        (("--mean", "kwh", "--of", "people", "--find", "clip", "--max-periods", "3"), "from 0 on"),
        (("--variance", "kwh", "--find", "clip", "--max-periods", "3"), "cannot be found for variance"),
        (("--sum", "kwh", "--find", "clip", "--norm", "find"), "clip must be left out of what is found beside norm"),
        (("--sum", "kwh", "--find", "clip", "--norm", "3"), "clip must be left out of what is found beside norm"),
        (("--count", "--find", "clip", "--max-periods", "3"), "cannot be found for count"),
        (("--sum", "kwh", "--clip", "0", "3", "--find", "edges", "--max-periods", "3"), "cannot be found for sum"),
        (("--quantiles", "kwh", "--fractions", "0.5", "--find", "edges", "--max-periods", "3"), "found for quantiles"),
        (("--histogram", "kwh", "--find", "edges", "--edges", "0,1", "--max-periods", "3"), "given or found, not both"),
        (("--histogram", "kwh", "--find", "edges", "--find", "max_periods"), "use .bounded(release.found)"),
        (("--sum", "kwh", "--find", "clip", "--find", "at_most", "--max-periods", "3"), "cannot be found for sum"),
        (("--sum", "kwh", "--find", "clip"), "max_periods"),
        (("--count", "--find", "max_periods", "--unit", "event"), "max_periods"),
        (("--count", "--max-periods", "3", "--missing", "1"), "missing must be"),
        (("--count", "--max-periods", "3", "--missing", "0.05", "--missing-assume", "hope"), "one of even-loss, none"),
        (("--count", "--max-periods", "3", "--missing-assume", "none"), "unless --missing is given"),
    ]:
        assert said in refuse("plan", *FLAGS, *options), options
    assert json.loads(run("diagnose", *FLAGS, *FINDS, "--json"))
    assert "found by the release" in refuse("diagnose", *FLAGS, *FINDS, "--bounds")


def test_several_queries_refuse_what_only_one_can_have(shop: Path, refuse: Callable[..., str]) -> None:
    shared = FILE.replace('sum = "kwh"\n', "")
    (shop / "w.toml").write_text(
        f'{shared}find = ["max_periods"]\n[queries.days]\ncount = true\npeak = "7D"\n', encoding="utf-8"
    )
    assert "plan the query that the block is made of" in refuse("plan", "w.toml")
    (shop / "m.toml").write_text(
        f"{shared}max_periods = 3\nmissing = 0.05\n[queries.days]\ncount = true\n", encoding="utf-8"
    )
    assert "planned together" in refuse("plan", "m.toml")
    (shop / "bad.toml").write_text(f'{FILE}find = ["clip", "max_periods"]\nfind_share = 0.9\n', encoding="utf-8")
    said = refuse("plan", "-c", "bad.toml")
    assert "find_share" in said
    assert "0.9" not in said


@pytest.mark.slow
def test_queries_of_one_file_find_what_they_share_once(shop: Path) -> None:
    shared = FILE.replace('sum = "kwh"\n', 'find = ["clip", "max_periods"]\nfind_between = [0.1, 50]\n')
    queries = '[queries.load]\nsum = "kwh"\n[queries.peak]\nof = "load"\npeak = "7D"\n'
    regions = '[queries.regions]\nsum = "kwh"\nby = {region = ["north", "south"]}\n'
    (shop / "all.toml").write_text(f"{shared}{queries}{regions}", encoding="utf-8")
    text = " ".join(run("plan", "all.toml").split())
    assert "5 % of the price finds max_periods and clip of load, regions, peak, once" in text
    run("release", "all.toml", "--dataset", "people", "--request", "all", "--out", "all.json")
    parts = json.loads((shop / "all.json").read_text(encoding="utf-8"))["release"]
    parts = json.loads(parts)["parts"]
    found = {json.dumps(part["design"]["found"]) for part in parts.values()}
    assert len(parts) == 3
    assert len(found) == 1


@pytest.mark.slow
def test_a_norm_is_given_or_found(shop: Path, refuse: Callable[..., str]) -> None:
    said = json.loads(run("plan", *FLAGS, "--sum", "kwh", "--norm", "40", "--no-signed", "--json"))
    assert said["design"]["table"]["measure"] == {"kind": "scaled_sum", "column": "kwh", "most": 40.0, "signed": False}
    (shop / "norm.toml").write_text(f"{FILE}norm = 40\nsigned = false\n", encoding="utf-8")
    assert said == json.loads(run("plan", "-c", "norm.toml", "--json"))
    found = json.loads(run("plan", *FLAGS, "--sum", "kwh", "--norm", "find", "--find-between", "1", "99", "--json"))
    assert found["design"]["finds"] == ["bound"]
    assert found["design"]["between"] == [1.0, 99.0]
    (shop / "found.toml").write_text(f'{FILE}find = ["norm"]\nfind_between = [1, 99]\n', encoding="utf-8")
    assert found == json.loads(run("plan", "-c", "found.toml", "--json"))
    flags = (*FLAGS, "--sum", "kwh", "--norm", "find", "--by", "region=north,south")
    run("release", *flags, "--dataset", "people", "--request", "norm", "--out", "norm.json")
    made = json.loads(json.loads((shop / "norm.json").read_text(encoding="utf-8"))["release"])
    assert made["design"]["table"]["measure"]["most"] == made["design"]["found"]["norm"] > 1
    for wrong, word in (
        (("--sum", "kwh"), "clip"),
        (("--sum", "kwh", "--norm", "far"), "find"),
        (("--sum", "kwh", "--norm", "-3"), "norm"),
        (("--sum", "kwh", "--norm", "40", "--clip", "0", "3"), "clip"),
        (("--sum", "kwh", "--norm", "40", "--find", "norm"), "given or found"),
        (("--sum", "kwh", "--clip", "0", "3", "--max-periods", "3", "--no-signed"), "signed"),
        (("--count", "--norm", "find"), "norm"),
        (("--sum", "kwh", "--norm", "40", "--by", "region=north,south", "--max-groups", "1"), "max_groups"),
        (("--sum", "kwh", "--norm", "40", "--unit", "event"), "whole history"),
    ):
        assert word in refuse("plan", *FLAGS, *wrong)


BY = ("--by", "region=north,south", "--max-periods", "7")


def test_flags_and_file_say_a_clip_for_each_key(shop: Path) -> None:
    by = 'by = { region = ["north", "south"] }\nmax_periods = 7\nclip = { north = [0, 2], south = [0, 5] }\n'
    (shop / "clips.toml").write_text(f"{FILE}{by}", encoding="utf-8")
    flags = ("--sum", "kwh", "--clip-of", "north=0,2", "--clip-of", "south=0,5")
    said = json.loads(run("plan", *FLAGS, *BY, *flags, "--json"))
    assert said == json.loads(run("plan", "-c", "clips.toml", "--json"))
    assert said["design"]["table"]["measure"]["clips"]["ends"] == [[0.0, 2.0], [0.0, 5.0]]
    paid = ("--dataset", "people", "--request", "by-key", "--json")
    rows = pd.DataFrame(json.loads(run("release", *FLAGS, *BY, *flags, *paid))["series"])
    wide = (rows["upper"] - rows["lower"]).groupby(rows["region"]).mean()
    assert abs(wide["south"] / wide["north"] - 2.5) < 1e-6


def test_clips_that_are_none_are_refused(refuse: Callable[..., str]) -> None:
    for flags, says in [
        (("--clip-of", "north=0,2", "--clip", "0", "5"), "left out beside --clip"),
        (("--clip-of", "0,2"), "a key, once"),
        (("--clip-of", "north=0,2", "--clip-of", "north=0,3"), "a key, once"),
        (("--clip-of", "north=much"), "numbers with commas"),
        (("--clip-of", "north=0,2"), "keys of one column"),
        (("--clip-of", "north=0,2", "--find", "clip"), "given or found"),
    ]:
        assert says in refuse("plan", *FLAGS, *BY, "--sum", "kwh", *flags), flags


@pytest.mark.slow
def test_people_who_were_active_lately(shop: Path) -> None:
    asked = FILE.replace('sum = "kwh"\n', 'active = "7D"\nmax_stays = 2\n')
    (shop / "active.toml").write_text(asked, encoding="utf-8")
    lately = (*FLAGS, "--active", "7D")
    said = json.loads(run("plan", *lately, "--max-stays", "2", "--json"))
    assert said == json.loads(run("plan", "-c", "active.toml", "--json"))
    assert said["design"]["table"]["measure"] == {"kind": "active", "max_stays": 2, "window": "7D"}
    assert said["alternatives"][0]["cap"] == "2 stays"
    both = json.loads(run("plan", *lately, "--max-stays", "2", "--max-periods", "1", "--json"))
    assert {row["cap"] for row in both["alternatives"]} == {"2 stays", "1 active periods", "nobody cut"}
    run("release", *lately, "--dataset", "people", "--request", "wau", "--out", "wau.json")
    assert "active" in (shop / "wau.json").read_text(encoding="utf-8")
