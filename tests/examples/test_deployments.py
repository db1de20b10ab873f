"""Every deployment runs, on made-up data and on a table of one's own, and publishes no group of one person."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests import warm

import chronodp as cdp

pytestmark = pytest.mark.processes

ROOT = Path(__file__).parents[2]
PROGRAMS = {path.stem: path for path in sorted((ROOT / "examples/deployments").glob("[!_]*.py"))}

# What is said at the end, the release that must be there, its column of groups, and one that many people hold.
TOLD = {
    "audience_engagement": ("20 largest of February 2026", "2026-02.json", "article", "2026-02/1"),
    "pageviews": ("of all views are of pages that were found", "views.json", "page", "Article 1"),
    "shared_mobility": ("of all trips are between pairs that were found", "trips.json", "trip", "zone 0 to zone 1"),
}


def run(name: str, folder: Path, *options: str) -> str:
    """Run a deployment as a script, with warnings as errors."""
    code = (
        "import runpy, sys, warnings\n"
        "warnings.simplefilter('error')\n"
        "del sys.argv[0]\n"
        "runpy.run_path(sys.argv[0], run_name='__main__')\n"
    )
    program = warm.start(
        *("-c", code, str(PROGRAMS[name]), *options, "--folder", "out"), cwd=folder, environment={"TMPDIR": str(folder)}
    )
    told, said = program.communicate()
    assert program.wait() == 0, said
    return told


def test_every_deployment_is_expected_and_listed() -> None:
    assert set(TOLD) == set(PROGRAMS)
    listed = (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
    for name, path in PROGRAMS.items():
        assert f"deployments/{name}.py" in listed
        text = path.read_text(encoding="utf-8")
        assert "**What they did.**" in text
        assert "**What is different here.**" in text


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_publishes_what_many_hold(name: str, tmp_path: Path) -> None:
    sentence, file, column, popular = TOLD[name]
    told = run(name, tmp_path)
    assert sentence in told
    release = cdp.Release.load(tmp_path / "out" / file)
    assert release.keys is not None
    assert popular in release.keys
    assert set(release.to_pandas()[column]) == set(release.keys)
    assert release.certificate.guarantee.epsilon == 1.0
    # Run again, it goes on with what was released: nothing is drawn or paid twice.
    run(name, tmp_path)
    assert cdp.Release.load(tmp_path / "out" / file).text == release.text


def test_no_page_of_one_device(tmp_path: Path) -> None:
    run("pageviews", tmp_path)
    seen = pd.read_parquet(tmp_path / "out/views.parquet").groupby("page")["device"].nunique()
    keys = cdp.Release.load(tmp_path / "out/views.json").keys
    assert keys
    assert (seen == 1).sum() > 100
    assert seen[list(keys)].min() > 5


def test_views_of_ones_own(tmp_path: Path) -> None:
    at = pd.Timestamp("2026-04-01") + pd.to_timedelta(np.arange(2_000) % 48, unit="h")
    rows = {"device": np.arange(2_000), "at": at, "country": "FR", "page": "Paris"}
    pd.DataFrame(rows).to_csv(tmp_path / "own.csv", index=False)
    days = ("--start", "2026-04-01", "--end", "2026-04-03")
    told = run("pageviews", tmp_path, "--data", "own.csv", *days, "--countries", "FR")
    assert "1 pages in 1 countries" in told
    assert "of all views" not in told


def test_trips_of_ones_own_that_nobody_shares(tmp_path: Path) -> None:
    rider = np.arange(50)
    zones = [f"zone {number}" for number in rider]
    rows = {"rider": rider, "started_at": pd.Timestamp("2026-04-01"), "origin": zones, "destination": zones}
    pd.DataFrame(rows).to_parquet(tmp_path / "own.parquet")
    days = ("--start", "2026-04-01", "--end", "2026-04-15")
    told = run("shared_mobility", tmp_path, "--data", "own.parquet", *days)
    assert "0 pairs of zones" in told


def test_engagement_of_ones_own(tmp_path: Path) -> None:
    member = np.arange(3_000)
    at = pd.Timestamp("2026-03-01") + pd.to_timedelta(member % 31, unit="D")
    rows = {"member": member, "at": at, "article": [f"article {number % 3}" for number in member]}
    pd.DataFrame(rows).to_parquet(tmp_path / "own.parquet")
    months = ("--first", "2026-03-01", "--months", "1", "--k", "2")
    assert "The 2 largest of March 2026" in run("audience_engagement", tmp_path, "--data", "own.parquet", *months)
