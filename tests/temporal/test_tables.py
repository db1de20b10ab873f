"""Tables of many people: exact values, even times, and a budget that pays."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

import chronodp as cdp
from chronodp.audit.exact import compare_outcomes, examine
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
from chronodp.privacy import Swap, dump, load
from chronodp.randomness import Entropy, seeded
from chronodp.temporal import (
    Backward,
    BlockShuffle,
    Forward,
    Mechanism,
    NoisySort,
    Threshold,
    UnitCosts,
    blur_times,
    frequency_counting,
    moving_average,
    recommend,
    release_times,
)
from chronodp.temporal.grids import resample
from chronodp.temporal.pages import report_times
from chronodp.temporal.probabilities import MOST, odds_below
from tests.cases import case
from tests.conftest import SCALE

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


def test_people_keep_their_own_values_and_channels_stay_together() -> None:
    for mechanism in ALL:
        with case(mechanism):
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


def test_tables_that_cannot_be_blurred(ledger: cdp.Ledger) -> None:
    change: Any
    for change, said in [
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
    ]:
        with case(change, said):
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


def test_columns_and_files_that_cannot_be_told_apart_are_refused(tmp_path: Path) -> None:
    for values in ([], "pulse", ["pulse", "pulse"], ["at"]):
        wrong: Any = values
        with pytest.raises(InvalidArgument, match="values must be"):
            blur_times(people(), BlockShuffle(4, 1.0), time="at", user="who", values=wrong)
    wrong = "shuffle"
    with pytest.raises(InvalidArgument, match="mechanism must be"):
        blur_times(people(), wrong, time="at", user="who", values=["pulse"])
    table = pd.DataFrame([[1, 2, 3]], columns=["t", "t", "v"])
    with pytest.raises(UnsuitableColumn, match="more than one column 't'"):
        blur_times(table, BlockShuffle(2, 1.0), time="t", values=["v"])
    source = tmp_path / "in.csv"
    source.write_text("t,v,w\n1,5,7,\n2,6,8,\n", encoding="utf-8")
    with pytest.raises(UnreadableSource):
        blur_times(str(source), BlockShuffle(2, 1.0), time="t", values=["v"])
    source.write_text("t,v,w\n1,5,ann\n2,6,\n", encoding="utf-8")
    with pytest.raises(InvalidArgument, match="user must be given"):
        blur_times(str(source), BlockShuffle(2, 1.0), time="t", user="w", values=["v"])


def test_the_owners_page_shows_before_and_after_and_warns(tmp_path: Path) -> None:
    for mechanism in ALL:
        with case(mechanism):
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


def both(first: pd.DataFrame, second: pd.DataFrame, mechanism: Mechanism, entropy: Entropy) -> object:
    made = (blur_times(part, mechanism, time="t", values=["v"], entropy=entropy) for part in (first, second))
    return tuple(tuple(one.frame["v"]) for one in made)


def numbered(values: tuple[int, ...]) -> pd.DataFrame:
    return pd.DataFrame({"t": range(len(values)), "v": values})


def test_overlapping_cuts_do_not_compose_and_the_auditor_sees_it() -> None:
    mechanism = BlockShuffle(2, 0.5)

    def run(values: tuple[int, ...], /, *, entropy: Entropy) -> object:
        return both(numbered(values), numbered(values).iloc[1:], mechanism, entropy)

    assert examine(run, [((1, 2, 3), (2, 1, 3))]).epsilon == np.inf


def test_a_table_that_grew_inside_a_block_does_not_compose() -> None:
    def run(values: tuple[int, ...], /, *, entropy: Entropy) -> object:
        return both(numbered(values).iloc[:2], numbered(values), BlockShuffle(3, 0.5), entropy)

    assert examine(run, [((1, 2, 3), (1, 3, 2))]).epsilon == np.inf


@pytest.mark.slow
@pytest.mark.parametrize("block", [2, 3] if SCALE >= 1 else [2])
def test_whole_blocks_released_twice_cost_twice(block: int) -> None:
    def run(values: tuple[int, ...], /, *, entropy: Entropy) -> object:
        # The second table begins a block later; one that counted blocks from its first row would cut as well here.
        table = numbered(values)
        made = []
        for first, last in ((0, 2 * block), (block, 2 * block)):
            one = blur_times(
                table, BlockShuffle(block, 0.5), time="t", values=["v"], start=first, end=last, entropy=entropy
            )
            made.append(tuple(one.frame["v"]))
        return tuple(made)

    whole = tuple(range(2 * block))
    late, early = (*whole[:-2], whole[-1], whole[-2]), (whole[block - 1], *whole[1 : block - 1], 0, *whole[block:])
    twice, once = examine(run, [(whole, late), (whole, early)]).pairs
    assert compare_outcomes([twice]).epsilon == pytest.approx(1.0, abs=1e-12)
    assert compare_outcomes([once]).epsilon == pytest.approx(0.5, abs=1e-12)


@pytest.mark.slow
def test_blocks_lie_at_the_same_times_whatever_the_table_begins_with() -> None:
    for first in range(-4, 5):
        with case(first):
            # Sixty people with one series are sixty draws.
            times = pd.date_range("1970-01-01", periods=9, freq="1h") + pd.Timedelta(hours=first)
            rows = {
                "t": np.tile(times, 60),
                "v": np.tile(np.arange(first, first + 9), 60),
                "who": np.repeat(np.arange(60), 9),
            }
            made = blur_times(
                pd.DataFrame(rows), BlockShuffle(4, 0.0), time="t", user="who", values=["v"], entropy=seeded(first + 4)
            )
            seen = made.frame.groupby("t")["v"].agg(set)
            for place, values in enumerate(seen.tolist(), start=first):
                assert values == {other for other in range(first, first + 9) if other // 4 == place // 4}


def test_edges_inside_a_block_are_refused_with_the_borders_beside_them(ledger: cdp.Ledger) -> None:
    options: dict[str, Any] = {"time": "at", "user": "who", "values": ["pulse"]}
    with pytest.raises(InvalidArgument, match="nearest are 2026-01-01T04:00:00 or 2026-01-01T08:00:00"):
        blur_times(people(), BlockShuffle(4, 1.0), start="2026-01-01T05:00", **options)
    part = release_times(
        people(),
        BlockShuffle(4, 1.0),
        start="2026-01-01T04:00",
        end="2026-01-01T13:00+01:00",
        ledger=ledger,
        dataset="watch",
        request="part",
        **options,
    )
    assert part.frame.groupby("who").size().to_dict() == {"ann": 8, "bo": 8, "cy": 3}
    assert "whole and alike" in str(part.promise).replace("\n             ", " ")
    alone = str(blur_times(people(), BlockShuffle(4, 1.0), **options).promise).replace("\n             ", " ")
    assert "blocks of 4 periods counted from 1970-01-01 UTC, first and last block as covered; stands alone" in alone
    for wrong in ("soon", 4, "12"):
        edge: Any = wrong
        with pytest.raises(InvalidArgument, match="end must be a time"):
            blur_times(people(), BlockShuffle(4, 1.0), end=edge, **options)
    with pytest.raises(InvalidArgument, match="end must be after start"):
        blur_times(numbered((1, 2, 3)), BlockShuffle(2, 1.0), time="t", values=["v"], start=2, end="2")
    with pytest.raises(InvalidArgument, match="nobody has two rows"):
        blur_times(numbered((1,)), BlockShuffle(2, 1.0), time="t", values=["v"], start=0)


def test_nothing_lies_under_an_empty_cell() -> None:
    kind: Any
    for kind in ["int64", "Int64", "UInt64", "Float64"]:
        with case(kind):
            table = pd.DataFrame({"t": range(40), "v": pd.Series([7] * 40).astype(kind)})
            cells: Any = blur_times(table, Forward(4, 0.0), time="t", values=["v"], entropy=seeded(1)).frame["v"].array
            assert cells._mask.any()
            assert not np.any(cells._data[cells._mask] == 7)


def test_times_and_people_that_cannot_be_read() -> None:
    columns: Any
    for columns, said in [
        ({"t": pd.array([1, None, 3], dtype="Int64")}, "time must be given in every row"),
        ({"t": np.array([2**63, 2**63 + 1, 2**63 + 2], dtype=np.uint64)}, "beyond 2\\^62"),
        ({"t": np.array([-(2**63), 0, 2**62])}, "beyond 2\\^62"),
        ({"t": np.array(["9999-01-01", "9999-01-02", "9999-01-03"], dtype="datetime64[s]")}, "years 1678 to 2261"),
        ({"t": ["2500-01-01", "2500-01-02", "2500-01-03"]}, "years 1678 to 2261"),
        ({"who": [["zaphod"], ["zaphod"], ["zaphod"]]}, "names no person"),
        ({"who": ["zaphod", "", "zaphod"]}, "user must be given in every row"),
    ]:
        with case(columns, said):
            table = pd.DataFrame({"t": [1, 2, 3], "who": "ann", "v": 0} | columns)
            with pytest.raises(ChronodpError, match=said) as refused:
                blur_times(table, BlockShuffle(2, 1.0), time="t", user="who", values=["v"])
            assert "zaphod" not in str(refused.value)


def test_periods_are_named_in_the_columns_own_zone_and_plain_numbers_have_none() -> None:
    berlin = pd.date_range("2026-03-28 00:30", periods=4, freq="12h", tz="Europe/Berlin")
    options: dict[str, Any] = {"time": "t", "user": None, "values": ["v"], "every": "1D"}
    made = resample(pd.DataFrame({"t": berlin, "v": range(4)}), **options)
    assert str(made["t"].dt.tz) == "Europe/Berlin"
    assert made["t"].iloc[0] == pd.Timestamp("2026-03-27", tz="UTC")
    texts = resample(pd.DataFrame({"t": ["2026-03-28T00:30+01:00", "2026-03-29T00:30+01:00"], "v": [1, 2]}), **options)
    assert str(texts["t"].dt.tz) == "UTC"
    plain = resample(pd.DataFrame({"t": ["2026-03-28T00:30", "2026-03-29"], "v": [1, 2]}), **options)
    assert plain["t"].dt.tz is None
    with pytest.raises(UnsuitableColumn, match="put into periods"):
        resample(pd.DataFrame({"t": ["1", "2", "3"], "v": [1, 2, 3]}), **options)


KINDS: list[Any] = [BlockShuffle, Backward, Forward, Threshold, NoisySort]


def test_sizes_and_budgets_that_are_none_are_refused() -> None:
    kind: Any
    size: object
    for kind in KINDS:
        for size in [0, -1, 1.5, "3", None, True, 2**40]:
            with case(kind, size), pytest.raises(InvalidArgument, match=r"(block|window) must be a whole number"):
                kind(size, 1.0)
    for kind in [BlockShuffle, Backward, Forward, Threshold]:
        with case(kind), pytest.raises(InvalidArgument, match=r"(block|window) must be a whole number from [23] to"):
            kind(1, 1.0)
    epsilon: object
    for kind in KINDS:
        for epsilon in [-1.0, 1e300, math.nan, math.inf, "1", None]:
            with case(kind, epsilon), pytest.raises(InvalidArgument, match="epsilon must be a"):
                kind(5, epsilon)
    with pytest.raises(InvalidArgument, match="epsilon must be at least"):
        NoisySort(1000, 1e-9)
    with pytest.raises(InvalidArgument, match="steps must be"):
        NoisySort(3, 1.0, steps=2**30)
    with pytest.raises(InvalidArgument, match="epsilon"):
        NoisySort(3, 0.0)


def test_a_window_longer_than_the_series_is_served() -> None:
    for mechanism in ALL:
        with case(mechanism):
            for length in range(4):
                blurred = mechanism.perturb(np.arange(length), entropy=seeded(1))
                assert blurred.values.shape == (length,)
                panel = mechanism.perturb_panel(np.zeros((2, length)), entropy=seeded(1))
                assert panel.values.shape == (2, length)
            assert mechanism.perturb_panel(np.zeros((0, 5))).values.shape == (0, 5)


def test_values_are_never_changed() -> None:
    for mechanism in ALL:
        with case(mechanism):
            numbers = np.array([1.5, math.nan, math.inf, -0.0, math.nan, 2.5, 1e-320, 7.0] * 5)
            blurred = mechanism.perturb(numbers, entropy=seeded(2))
            held = blurred.source >= 0
            assert np.array_equal(
                blurred.values.data[held].view(np.int64), numbers[blurred.source[held]].view(np.int64)
            )
            assert np.array_equal(np.ma.getmaskarray(blurred.values), ~held)
            texts = mechanism.perturb(np.array(["a", "b", "c"] * 9), entropy=seeded(2)).values.compressed()
            assert set(texts) <= {"a", "b", "c"}
            pairs = mechanism.perturb(np.stack([numbers, numbers], axis=1), entropy=seeded(2)).values
            assert pairs.shape == (40, 2)
            cube = mechanism.perturb_panel(np.arange(60).reshape(2, 10, 3), entropy=seeded(3)).values
            for row in cube.reshape(-1, 3):
                assert np.ma.getmaskarray(row).all() or (np.diff(row) == 1).all()


def test_refuses_values_that_are_no_series() -> None:
    values: Any
    for mechanism in ALL:
        for values in [5, np.zeros((2, 2, 2)), [[1], [2, 3]]]:
            with case(mechanism, values):
                with pytest.raises(InvalidArgument, match="values must be one value a time, or times by channels"):
                    mechanism.perturb(values)
                with pytest.raises(InvalidArgument, match="values must be persons by times"):
                    mechanism.perturb_panel([1, 2])
                with pytest.raises(InvalidArgument, match="without a mask"):
                    mechanism.perturb(np.ma.masked_equal([1, 2, 3], 2))


def test_nothing_secret_is_printed_and_seeded_runs_are_marked() -> None:
    for mechanism in ALL:
        with case(mechanism):
            blurred = mechanism.perturb([987654321] * 9, entropy=seeded(1))
            assert "987654321" not in repr(blurred)
            assert "source" not in repr(blurred)
            assert str(blurred.promise).startswith("SEEDED RUN")
            assert not str(mechanism.perturb([1, 2, 3]).promise).startswith("SEEDED")
            assert load(dump(mechanism), Mechanism) == mechanism
            assert load(dump(blurred.promise), type(blurred.promise)) == blurred.promise
            private = isinstance(mechanism, BlockShuffle | NoisySort)
            assert ("TLDP" in str(blurred.promise)) is private
            assert ("marginal dispatch budget" in str(blurred.promise)) is not private


def test_an_epsilon_of_nothing_shuffles_evenly() -> None:
    assert BlockShuffle(5, 0.0).loss == 0.0
    assert BlockShuffle(5, 0.0).kept == 0.2
    assert BlockShuffle(5, 0.0).certificate().guarantee.epsilon == 1e-60
    assert Backward(4, 0.0).expected.displacement == 1.5


@pytest.mark.slow
@pytest.mark.parametrize("epsilon", [44.0, 1e3, 4e59])
def test_a_huge_epsilon_changes_nothing_and_overflows_nowhere(epsilon: float) -> None:
    for kind in KINDS:
        assert kind(1000, epsilon).perturb(np.arange(3000), entropy=seeded(1)).values.shape == (3000,)
    for mechanism in (BlockShuffle(1000, epsilon), Backward(1000, 2 * epsilon), Forward(1000, 2 * epsilon)):
        assert np.array_equal(mechanism.perturb(np.arange(3000), entropy=seeded(1)).source, np.arange(3000))


@given(st.floats(0, 60), st.integers(1, 2**20))
def test_odds_stay_below_what_epsilon_allows(epsilon: float, alternatives: int) -> None:
    stay, move = odds_below(epsilon, alternatives)
    assert 1 <= move <= stay
    assert stay + move * alternatives <= MOST
    with mpmath.workprec(200):
        exact = mpmath.exp(mpmath.mpf(epsilon))
        assert mpmath.mpf(stay) / move <= exact
        if epsilon < 42:
            assert mpmath.mpf(stay) / move > exact * (1 - mpmath.mpf(2) ** -41)


def test_numbers_as_people_write_them_are_not_exceeded() -> None:
    with mpmath.workprec(300):
        for epsilon in (0.1, 0.3, 1.1, 5.7):
            stay, move = odds_below(epsilon, 19)
            written = mpmath.mpf(Fraction(repr(epsilon)).numerator) / Fraction(repr(epsilon)).denominator
            assert mpmath.mpf(stay) / move <= mpmath.exp(written)


def test_recommendations() -> None:
    names = {}
    for window, epsilon in itertools.product((5, 20, 150), (0.5, 2.0, 5.0, 12.0, 25.0)):
        names[window, epsilon] = type(recommend(window, epsilon).papers.mechanism).__name__
    assert names[20, 5.0] == names[20, 2.0] == names[20, 12.0] == "Threshold"
    assert names[20, 0.5] == names[150, 5.0] == names[5, 12.0] == names[20, 25.0] == "Backward"
    found = recommend(20, 25.0, unit_costs=UnitCosts(1.0, 2.0, 1.0, 1.0))
    assert isinstance(found.papers.mechanism, Forward)
    assert found.ours.private
    assert "marginal dispatch budget" in str(found)
    costs = [part.cost for part in found.candidates]
    assert costs == sorted(costs)
    wrong: Any = 3
    with pytest.raises(InvalidArgument, match="unit_costs must be"):
        recommend(20, 5.0, unit_costs=wrong)


def test_unit_costs_of_section_two() -> None:
    counting = frequency_counting(window=10, length=1000, share=0.5, other_share=0.4)
    assert counting.repeated == pytest.approx((0.1 * 500) ** 2)
    assert counting.empty == pytest.approx(250.0**2)
    assert counting.delay == pytest.approx((0.5 * 4.5) ** 2)
    average = moving_average(window=10, length=20, variance=4.0)
    assert (average.missing, average.repeated, average.empty, average.delay) == (4.0, 4.0, 0.0, 2.0)
    with pytest.raises(InvalidArgument, match="missing must be"):
        UnitCosts(-1.0, 0.0, 0.0, 0.0)
    with pytest.raises(InvalidArgument, match="share"):
        frequency_counting(window=10, length=1000, share=1.5, other_share=0.4)


def test_nothing_lies_under_a_mask() -> None:
    mechanism: Any
    kind: Any
    for kind in ["int64", "float64", "object", "U3", "datetime64[s]", "timedelta64[s]", "bool"]:
        for mechanism in [Forward(4, 0.0), Threshold(4, 1.0)]:
            with case(kind, mechanism):
                values = np.array([[1, 1]] * 30).astype(kind)
                blurred = mechanism.perturb(values, entropy=seeded(2))
                hidden = np.asarray(blurred.values)[np.ma.getmaskarray(blurred.values)]
                assert len(hidden)
                assert not any(cell == values[0, 0] for cell in hidden)
