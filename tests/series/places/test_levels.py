"""One level of places by itself, and pages of releases with more places than a page holds."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from tests.conftest import SCALE

import chronodp as cdp
from chronodp.errors import InvalidArgument
from chronodp.randomness import seeded
from chronodp.series import reporting

STATES, COUNTIES, DAYS = 40, 100, 28
GEO = [("land", f"s{state}", f"s{state}-{county}") for state in range(STATES) for county in range(COUNTIES)]
NODES = 1 + STATES + STATES * COUNTIES


@pytest.fixture(scope="module")
def release(tmp_path_factory: pytest.TempPathFactory) -> cdp.Release:
    dice = np.random.default_rng(5)
    rows = pd.DataFrame({"who": dice.integers(0, 900, 4000), "county": dice.choice([leaf for *_, leaf in GEO], 4000)})
    rows["at"] = pd.Timestamp("2026-03-02") + pd.to_timedelta(dice.integers(0, DAYS, 4000), unit="D")
    unit = cdp.UserPeriod("1D")
    days = cdp.TimeSeries(rows, time="at", user="who", every="1D", start="2026-03-02", end="2026-03-30", unit=unit)
    plan = days.count().by(cdp.Places(GEO, "country", "state", "county"), max_groups=3).plan(epsilon=1.0, delta=1e-6)
    with cdp.Ledger(tmp_path_factory.mktemp("levels") / "budget.db") as ledger:
        ledger.open("visits", unit=unit, epsilon=1.0, delta=1e-6)
        return plan.release(ledger, dataset="visits", request="tree", entropy=seeded("levels"), progress=lambda _: None)


@pytest.mark.slow
def test_one_level_is_that_of_the_whole_table(release: cdp.Release) -> None:
    whole, states = release.to_pandas(), release.at_level("state").to_pandas()
    wanted = whole[whole["level"] == "state"].reset_index(drop=True)
    assert list(states.columns) == ["time", "state", "value", "lower", "upper"]
    assert states["state"].tolist() == wanted["place"].tolist()
    for name in ("value", "lower", "upper"):
        np.testing.assert_allclose(states[name], wanted[name], rtol=1e-9, atol=1e-6)
    # All of a level together are the root, and their noise knows it.
    together, root = (view.to_pandas() for view in (release.at_level("state").over(), release.at(country="land")))
    for name in ("value", "lower", "upper"):
        np.testing.assert_allclose(together[name], root[name], rtol=1e-6, atol=1e-6)
    share = release.resample("7D").at_level("state").share().to_pandas()
    both = release.resample("7D").share().to_pandas()
    same = both[both["level"] == "state"]
    np.testing.assert_allclose(share["value"], same["value"], rtol=1e-9)
    assert release.at_level("state").at(state="s7").title.endswith("of level state, state s7")
    assert release.at_level("county").certificate.processing == ("of level county",)


@pytest.mark.slow
def test_a_level_that_is_not_there_is_refused(release: cdp.Release) -> None:
    with pytest.raises(InvalidArgument, match="level must be one of country, state, county; got 'town'"):
        release.at_level("town")
    with pytest.raises(InvalidArgument, match="no levels here"):
        release.at_level("state").at_level("state")


@pytest.mark.slow
def test_a_page_holds_the_upper_levels_and_says_what_it_leaves_out(release: cdp.Release, tmp_path: Path) -> None:
    page = release.report(tmp_path / "tree.html").read_text(encoding="utf-8")
    assert NODES * DAYS > reporting.MOST_ON_PAGE
    note = f"the 41 places of levels country and state, of {NODES:,} in all; those of county are left out"
    assert f"{41 * DAYS:,} rows. This page has {note}. The rest is in the release itself" in page
    assert "Download these rows as CSV" in page
    assert page.count("<tr>") == 1 + 41 * DAYS
    assert "s7-3" not in page
    assert len(page) < 7_000_000  # of which Plotly is 5
    # The same of what is made of it; and all of what fits.
    for view in (release.share(), release.publish(relative=0.5)):
        assert note in view.report(tmp_path / "view.html").read_text(encoding="utf-8")
    small = release.at_level("state").report(tmp_path / "states.html").read_text(encoding="utf-8")
    assert "Download all as CSV" in small
    assert "left out" not in small


def test_what_is_drawn_is_what_was_released(release: cdp.Release) -> None:
    whole, upper = release.to_pandas(), release.operand.uppermost(5_000).to_pandas()
    wanted = whole[whole["level"] != "county"].reset_index(drop=True)
    assert upper["place"].tolist() == wanted["place"].tolist()
    for name in ("value", "lower", "upper"):
        np.testing.assert_allclose(upper[name], wanted[name], rtol=1e-9, atol=1e-6)
    assert (
        release.each_period()
        .uppermost(5_000)
        .to_pandas()
        .equals(whole[whole["level"] != "county"].reset_index(drop=True))
    )


@pytest.mark.slow
def test_a_page_without_places_holds_the_first_rows(
    release: cdp.Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    view = release.at_level("county")
    assert view.size > reporting.MOST_ON_PAGE == 100_000
    most = 100_000 if SCALE >= 1 else 3_000  # a page of fewer rows is written the same way
    monkeypatch.setattr(reporting, "MOST_ON_PAGE", most)
    page = view.report(tmp_path / "many.html").read_text(encoding="utf-8")
    assert f"This page has the first {most:,} of {view.size:,} rows. The rest is in the release itself" in page
    csv = re.search(r'id="csv">"(.*?)"</script>', page)
    assert csv is not None
    assert csv[1].count("\\r\\n") == most + 1
