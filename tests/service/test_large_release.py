"""A release of more than a million numbers from a curator: as Arrow, verified here, and never as one JSON."""

from __future__ import annotations

import io
from pathlib import Path

import pandas
import pytest

import chronodp as cdp
from chronodp.errors import ChronodpError
from tests.service.town import API, open_house, write_policy

pytestmark = pytest.mark.slow
MINUTES = 1_051_200


def minutes(folder: Path) -> Path:
    """Write a policy of two years by the minute."""
    policy = write_policy(folder)
    text = policy.read_text(encoding="utf-8")
    one, rest = text.split("[datasets.other]")
    one = one.replace('every = "1h"', 'every = "1min"').replace('end = "2026-01-03"', 'end = "2028-01-01"')
    one = one.replace('grids = ["1h", "1D"]', 'grids = ["1min"]\ncells = 2000000')
    one = one.replace("{ 1h = [0.0, 5.0], 1D = [0.0, 5.0] }", "[0.0, 5.0]")
    policy.write_text(f"{one}[datasets.other]{rest}", encoding="utf-8")
    return policy


def test_a_large_release_travels_as_arrow(tmp_path: Path) -> None:
    with open_house(minutes(tmp_path), str(tmp_path / "budget.db")) as house:
        token = house.tokens["ana"]
        with cdp.Client(str(house.http.base_url), token=token, timeout=120.0) as client:
            plan = client.dataset("meters").count().plan(epsilon=0.5, delta=1e-7)
            made = plan.release(request="large")
            assert isinstance(made, cdp.Release)
            assert len(made.to_pandas()) == MINUTES
            days = made.resample("1D").change(baseline=("2026-01-01", "2026-01-07"))
            assert days.size == MINUTES // 1440
            stored = house.curator.ledger.stored.release("meters", 1)
            assert stored is not None
            assert (made.text, made.signed) == (stored.text, stored.signed)
            saved = made.save(tmp_path / "large.arrow")
        headers = {"Authorization": f"Bearer {token}"}
        at = f"{API}/datasets/meters/releases/1"
        whole = house.http.get(at, headers=headers).json()
        assert whole["beside"] == MINUTES
        assert len(whole["release"]) < 10_000
        file = house.http.get(f"{at}/file", headers=headers)
        assert file.headers["content-type"] == "application/vnd.apache.arrow.file"
        assert file.content == saved.read_bytes()
        refused = house.http.get(f"{at}/table", headers=headers)
        assert refused.status_code == 422
        assert "csv or parquet above 1,048,576 values; this table has 1,051,200" in refused.text
        asked = "view=resample&every=1D&baseline=2026-01-01&baseline=2026-01-07"
        told = house.http.get(f"{at}/table?{asked}", headers=headers, timeout=60.0).json()
        assert [row[4] for row in told["rows"]] == days.to_pandas()["kind"].tolist()
        many = house.http.get(f"{at}/table?relative=0.1&format=parquet", headers=headers, timeout=60.0)
        assert "at most 1,048,576 cells, these are 1,051,200" in many.text
        table = house.http.get(f"{at}/table?format=parquet", headers=headers, timeout=60.0)
        pandas.testing.assert_frame_equal(pandas.read_parquet(io.BytesIO(table.content)), made.to_pandas())


def test_a_large_rehearsal_is_refused_and_a_small_release_is_one_json(tmp_path: Path) -> None:
    with open_house(minutes(tmp_path), str(tmp_path / "budget.db")) as house:
        with cdp.Client(str(house.http.base_url), token=house.tokens["ana"], timeout=120.0) as client:
            plan = client.dataset("meters").count().plan(epsilon=0.5, delta=1e-7)
            with pytest.raises(ChronodpError, match=r"of at most 1,048,576 numbers to be tried.*1,051,200 numbers"):
                plan.rehearse()
            small = client.dataset("meters", end="2026-01-02").count().plan(epsilon=0.5, delta=1e-7)
            made = small.release(request="small")
        headers = {"Authorization": f"Bearer {house.tokens['ana']}"}
        file = house.http.get(f"{API}/datasets/meters/releases/1/file", headers=headers)
        assert file.headers["content-type"] == "application/json"
        assert file.content == made.save(tmp_path / "small.json").read_bytes()
