"""Releases of more numbers than a text lists: stored in parts, read again, refused where a plan is too large."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conftest import SCALE

import chronodp as cdp
from chronodp.dataset import Aggregate, ReleaseTogether, plan_together
from chronodp.errors import CertificateInvalid, InvalidArgument
from chronodp.ledger import MOST_CELLS, MOST_LISTED, Ledger
from chronodp.randomness import seeded
from chronodp.series import Release

LISTED = MOST_LISTED if SCALE >= 1 else 2**14
MANY = LISTED + 5


@pytest.fixture(autouse=True)
def fewer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where only few are asked for, texts list fewer numbers and parts hold fewer: what is told of them is the same."""
    listed = "ledger.numbers.MOST_LISTED", "dataset.joint.release.MOST_LISTED"
    for name in (*listed, "ledger.numbers.PART", "series.shown_view._MOST_AT_ONCE"):
        monkeypatch.setattr(f"chronodp.{name}", LISTED)


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    ledger = Ledger(tmp_path / "budget.db")
    ledger.open("meters", unit=cdp.Event(), epsilon=100.0)
    return ledger


def totals(count: int, *, first: float = 0.0) -> Aggregate:
    return Aggregate(first + np.arange(count, dtype=float), change=1.0, unit=cdp.Event())


def released(ledger: Ledger, count: int, request: str) -> Release:
    plan = totals(count).plan(epsilon=1.0)
    return plan.release(ledger, dataset="meters", request=request, entropy=seeded(1), progress=lambda _: None)


@pytest.mark.slow
def test_a_text_lists_numbers_up_to_the_limit_and_names_parts_above(ledger: Ledger) -> None:
    small, large = released(ledger, LISTED, "small"), released(ledger, MANY, "large")
    assert isinstance(json.loads(small.text)["noisy"], list)
    described = json.loads(large.text)["noisy"]
    assert (described["kind"], described["cells"], len(described["sha256"])) == ("numbers", MANY, 2)
    assert len(large.text) < 5000


@pytest.mark.slow
def test_a_large_release_is_what_was_drawn(ledger: Ledger, tmp_path: Path) -> None:
    plan = totals(MANY).plan(epsilon=1.0)
    numbers = plan.read(key="", progress=lambda _: None)
    drawn = plan.draw(numbers, seeded(1))
    made = released(ledger, MANY, "large")
    assert made.text == drawn.text
    values = made.to_pandas()["value"].to_numpy()
    steps = np.concatenate(list(drawn.unpack()))
    np.testing.assert_array_equal(values, steps * plan.design.noises[0].step)
    assert abs(values[10] - 10) < 60  # Laplace noise of scale 1
    again = Release.load(made.save(tmp_path / "large.arrow"))
    np.testing.assert_array_equal(again.to_pandas()["value"].to_numpy(), values)
    repeated = released(ledger, MANY, "large")
    np.testing.assert_array_equal(repeated.to_pandas()["value"].to_numpy(), values)


def test_a_part_that_was_changed_in_the_ledger_is_never_shown(ledger: Ledger) -> None:
    released(ledger, MANY, "large")
    with ledger._store.transaction() as transaction:
        ((content,),) = transaction.run("SELECT content FROM parts WHERE number = 1")
        changed = bytes([content[0] ^ 1]) + content[1:]
        transaction.run("UPDATE parts SET content = ? WHERE number = 1", (changed,))
    with pytest.raises(CertificateInvalid, match="part 2 of 2 of the numbers is not the one that was signed"):
        released(ledger, MANY, "large").to_pandas()


@pytest.mark.slow
def test_several_queries_share_the_limit_of_the_text(ledger: Ledger, tmp_path: Path) -> None:
    half = LISTED // 2
    for request, last in (("listed", half), ("named", half + 1)):
        plan = plan_together({"b": totals(half), "a": totals(last, first=1e6)}, epsilon=1.0)
        made = plan.release(ledger, dataset="meters", request=request, progress=lambda _: None)
        kinds = {type(part["noisy"]) for part in json.loads(made.text)["parts"].values()}
        assert kinds == ({list} if request == "listed" else {dict})
        again = ReleaseTogether.load(made.save(tmp_path / request))
        frame = again.to_pandas()
        assert len(frame) == half + last
        for name, first, count in (("a", 1e6, last), ("b", 0.0, half)):
            values = frame[frame["query"] == name]["value"].to_numpy()
            assert len(values) == count
            assert abs(values.mean() - first - (count - 1) / 2) < 1


def hours(periods: int) -> cdp.TimeSeries:
    return cdp.TimeSeries(
        "nowhere.parquet", time="t", user="u", every="1h", start="2026-01-01",
        end=str(np.datetime64("2026-01-01T00", "h") + np.timedelta64(periods, "h")), unit=cdp.User(), max_periods=2,
    )  # fmt: skip


@pytest.mark.parametrize(
    ("measure", "periods", "kinds"), [("count", 4097, 1), ("mean", 2049, 2), ("variance", 1366, 3)]
)
def test_what_cannot_be_stored_is_refused_in_the_plan(measure: str, periods: int, kinds: int) -> None:
    keys = [str(number) for number in range(2**15)]

    def plan(length: int) -> object:
        series = hours(length)
        asked: dict[str, Callable[[], Any]] = {
            "count": series.count,
            "mean": lambda: series.mean("kwh", clip=(0.0, 1.0), of="people"),
            "variance": lambda: series.variance("kwh", clip=(0.0, 1.0)),
        }
        return asked[measure]().by(place=keys, max_groups=1).plan(epsilon=1.0)

    assert plan(periods - 1)
    cells = periods * len(keys) * kinds
    with pytest.raises(
        InvalidArgument, match=rf"at most {MOST_CELLS:,} cells .*fewer keys or longer.*'{cells:,} cells'"
    ):
        plan(periods)


def test_queries_together_are_counted_together() -> None:
    keys = [str(number) for number in range(2**14)]
    series = hours(2192)
    asked = [series.count().by(focus=None, max_groups=1, **{name: keys}) for name in ("a", "b", "c", "d")]
    assert plan_together(asked[:3], epsilon=1.0).cells == 3 * 2192 * 2**14
    with pytest.raises(InvalidArgument, match=r"queries must be.*at most 134,217,728 together.*143,654,912 cells"):
        plan_together(asked, epsilon=1.0)


def test_stretches_of_ratios_keep_their_kinds_and_reasons(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    import pandas

    monkeypatch.setattr("chronodp.series.shown_view._MOST_AT_ONCE", 4)
    release = released(ledger, 30, "small")
    for view in (release.ratio(release), release.publish(relative=0.2)):
        pieces = pandas.concat([one.to_pandas() for one in view.stretches()], ignore_index=True)
        pandas.testing.assert_frame_equal(pieces, view.to_pandas())
        assert "why" in pieces
