"""Tables of many people: exact values, even times, and a budget that pays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import chronodp as cdp
from chronodp.errors import (
    BudgetExhausted,
    ChronodpError,
    InvalidArgument,
    RequestConflict,
    UnknownColumn,
    UnreadableSource,
    UnsuitableColumn,
)
from chronodp.ledger import verify_chain
from chronodp.privacy import Swap
from chronodp.randomness import seeded
from chronodp.temporal import (
    Backward,
    BlockShuffle,
    Forward,
    Mechanism,
    NoisySort,
    Threshold,
    blur_times,
    release_times,
)
from chronodp.temporal.grids import resample
from chronodp.temporal.pages import report_times

HOURS = pd.date_range("2026-01-01", periods=30, freq="1h")
ALL: list[Mechanism] = [BlockShuffle(4, 1.0), NoisySort(3, 1.0), Backward(4, 1.0), Forward(4, 1.0), Threshold(4, 1.0)]


def people() -> pd.DataFrame:
    rng = np.random.default_rng(1)
    parts = [
        pd.DataFrame({"who": name, "at": HOURS[:length], "pulse": rng.integers(50, 120, length), "note": list(names)})
        for name, length, names in (("ann", 30, "a" * 30), ("bo", 30, "b" * 30), ("cy", 7, "cdefghi"))
    ]
    return pd.concat(parts).sample(frac=1, random_state=2)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[cdp.Ledger]:
    with cdp.Ledger(tmp_path / "budget.db") as opened:
        opened.open("watch", unit=Swap(4), epsilon=2.0)
        yield opened


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_people_keep_their_own_values_and_channels_stay_together(mechanism: Mechanism) -> None:
    table = people()
    made = blur_times(table, mechanism, time="at", user="who", values=["pulse", "note"], entropy=seeded(1))
    assert list(made.frame.columns) == ["at", "who", "pulse", "note"]
    assert len(made.frame) == len(table)
    known = set(table[["who", "pulse", "note"]].itertuples(index=False, name=None))
    shown = made.frame.dropna(subset=["pulse"])
    assert set(shown[["who", "pulse", "note"]].itertuples(index=False, name=None)) <= known
    assert made.frame[["who", "at"]].equals(made.before.frame[["who", "at"]])
    assert made.damage is not None
    assert made.damage.empty == pytest.approx(made.frame["pulse"].isna().mean())
    if isinstance(mechanism, BlockShuffle | NoisySort):
        assert made.frame["pulse"].dtype == table["pulse"].dtype
        before, after = (frame.groupby("who")["pulse"].apply(sorted) for frame in (table, made.frame))
        assert before.to_dict() == after.to_dict()
    else:
        assert str(made.frame["pulse"].dtype) == ("Int64" if made.damage.empty else "int64")
    assert "BlurredTable(67 rows)" in repr(made)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_files_in_and_out_keep_every_value_to_the_letter(suffix: str, tmp_path: Path) -> None:
    source, target = tmp_path / f"in{suffix}", tmp_path / f"out{suffix}"
    if suffix == ".csv":
        rows = "".join(f"2026-01-01T{hour:02d}:00,{hour}.50,x{hour}\n" for hour in range(24))
        source.write_text("at,v,w\n" + rows, encoding="utf-8")
        expected: list[Any] = sorted(f"{hour}.50" for hour in range(24))
    else:
        pd.DataFrame({"at": HOURS[:24], "v": np.arange(24) / 3}).to_parquet(source)
        expected = sorted(np.arange(24) / 3)
    blur_times(str(source), BlockShuffle(6, 0.0), time="at", values=["v"]).write(target)
    read = pd.read_csv(target, dtype=str) if suffix == ".csv" else pd.read_parquet(target)
    assert list(read.columns) == ["at", "v"]
    assert sorted(read["v"]) == expected
    with pytest.raises(InvalidArgument, match=r"\.csv or \.parquet"):
        blur_times(str(source), BlockShuffle(6, 0.0), time="at", values=["v"]).write(tmp_path / "out.xlsx")


def test_a_release_is_paid_once_signed_and_repeated(ledger: cdp.Ledger) -> None:
    options: dict[str, Any] = {"time": "at", "user": "who", "values": ["pulse"], "ledger": ledger, "dataset": "watch"}
    first = release_times(people(), BlockShuffle(4, 1.5), request="one", **options)
    again = release_times(people().iloc[::-1], BlockShuffle(4, 1.5), request="one", **options)
    assert first.frame.equals(again.frame)
    assert again.damage is None
    assert ledger.status("watch").charges == 1
    verify_chain(ledger.chain("watch"), ledger.keys.public)
    assert "TLDP" in str(first.promise)
    with pytest.raises(RequestConflict, match="another plan, source or cost"):
        release_times(people().assign(pulse=1), BlockShuffle(4, 1.5), request="one", **options)
    with pytest.raises(BudgetExhausted):
        release_times(people(), BlockShuffle(4, 1.5), request="two", **options)
    paper: Any = Threshold(4, 0.1)
    with pytest.raises(InvalidArgument, match="marginal dispatch budget cannot be paid for"):
        release_times(people(), paper, request="three", **options)
    assert NoisySort(3, 0.25).claim.unit == Swap(4)
    release_times(people(), NoisySort(3, 0.25), request="four", **options)


def test_a_budget_that_renews_knows_the_days(ledger: cdp.Ledger) -> None:
    ledger.open("monthly", unit=Swap(4), epsilon=1.0, renews="1mo")
    options: dict[str, Any] = {"time": "at", "user": "who", "values": ["pulse"], "ledger": ledger}
    release_times(people(), BlockShuffle(4, 1.0), request="one", dataset="monthly", **options)
    assert ledger.status("monthly").period == "2026-01"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: pd.concat([t, t.iloc[:1]]), "different in every row of a person"),
        (lambda t: t[t["at"] != HOURS[3]], "evenly spaced, without gaps"),
        (lambda t: t.assign(at=t["at"] + pd.to_timedelta(t["pulse"], unit="s")), "evenly spaced"),
        (lambda t: t.assign(who=None), "user must be given in every row"),
        (lambda t: t.assign(who=["x", *range(len(t) - 1)]), "mixes types"),
        (lambda t: t.assign(at=pd.NaT), "time must be given in every row"),
        (lambda t: t.assign(at="zaphod"), "are no times"),
        (lambda t: t.assign(at=1.5), "times or whole numbers are needed"),
        (lambda t: t.drop(columns="pulse"), "no column 'pulse'"),
        (lambda t: t.to_dict(), "data must be"),
        (lambda _: "no-such-file.csv", "cannot be read"),
    ],
)
def test_tables_that_cannot_be_blurred(change: Any, said: str, ledger: cdp.Ledger) -> None:
    with pytest.raises(ChronodpError, match=said) as refused:
        release_times(
            change(people()),
            BlockShuffle(4, 1.0),
            time="at",
            user="who",
            values=["pulse"],
            ledger=ledger,
            dataset="watch",
            request="bad",
        )
    assert isinstance(refused.value, InvalidArgument | UnknownColumn | UnreadableSource | UnsuitableColumn)
    assert "zaphod" not in str(refused.value)
    assert "2026" not in str(refused.value).replace("2026-01-31T12:00", "")
    assert ledger.status("watch").charges == 0


def test_uneven_times_are_resampled_on_request() -> None:
    table = people()
    table = table[table["at"] != HOURS[3]]
    jitter = pd.to_timedelta(np.arange(len(table)) % 50, unit="min")
    uneven = pd.concat([table.assign(at=table["at"] + jitter), table.assign(pulse=7, at=table["at"])])
    even = resample(uneven, time="at", user="who", values=["pulse"], every="1h")
    assert len(even) == 67
    made = blur_times(even, BlockShuffle(4, 0.0), time="at", user="who", values=["pulse"])
    assert int(made.frame["pulse"].isna().sum()) == 3  # nothing was there, and nothing was invented
    for every in ("1 hour", "1mo", 3):
        wrong: Any = every
        with pytest.raises(InvalidArgument, match="every must be a period"):
            resample(uneven, time="at", user="who", values=["pulse"], every=wrong)
    with pytest.raises(UnsuitableColumn, match="put into periods"):
        resample(uneven.assign(at=1), time="at", user=None, values=["pulse"], every="1h")


def test_columns_must_be_told_apart() -> None:
    for values in ([], "pulse", ["pulse", "pulse"], ["at"]):
        wrong: Any = values
        with pytest.raises(InvalidArgument, match="values must be"):
            blur_times(people(), BlockShuffle(4, 1.0), time="at", user="who", values=wrong)
    wrong = "shuffle"
    with pytest.raises(InvalidArgument, match="mechanism must be"):
        blur_times(people(), wrong, time="at", user="who", values=["pulse"])


@pytest.mark.parametrize("mechanism", ALL, ids=str)
def test_the_owners_page_shows_before_and_after_and_warns(mechanism: Mechanism, tmp_path: Path) -> None:
    made = blur_times(people(), mechanism, time="at", user="who", values=["pulse"], entropy=seeded(1))
    text = report_times(made, tmp_path / "page.html").read_text(encoding="utf-8")
    assert "For the owner only" in text
    assert ">before<" in text
    assert ">after<" in text
    private = isinstance(mechanism, BlockShuffle | NoisySort)
    assert ("No differential privacy" in text) is not private


def test_tables_without_rows_and_with_whole_numbers_for_times() -> None:
    table = people().iloc[:0]
    assert len(blur_times(table, BlockShuffle(4, 1.0), time="at", user="who", values=["pulse"]).frame) == 0
    numbered = pd.DataFrame({"t": [3, 1, 2], "v": ["a", "b", "c"]})
    made = blur_times(numbered, BlockShuffle(3, 1e9), time="t", values=["v"])
    assert made.frame["v"].tolist() == ["b", "c", "a"]
