"""What the collector counts and what it drops; plans and tallies on disk."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, MissingBound, UnknownDocument, UnreadableSource
from chronodp.local import (
    Collector,
    Estimates,
    Fresh,
    Hybrid,
    LaplaceNumber,
    LocalHashing,
    LocalPlan,
    Memoised,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
    ReportCounts,
    Slots,
    WindowBudget,
    WindowPopulation,
    best_window,
    estimate,
    project_rows,
    simulate,
)
from chronodp.local.device import to_json
from chronodp.local.identity import SeenIds
from chronodp.local.numbers import Number
from chronodp.randomness import seeded
from tests.cases import case
from tests.conftest import Trials

PLANS = [
    LocalPlan("response", RandomizedResponse(1.0, 5), Fresh(3)),
    LocalPlan("unary", OptimizedUnary(1.0, 5), Fresh(3)),
    LocalPlan("hashing", LocalHashing(1.0, 5), Fresh(3)),
    LocalPlan("bit", OneBit(1.0, (0.0, 4.0)), Fresh(3)),
    LocalPlan("pieces", Piecewise(1.0, (0.0, 4.0)), Fresh(3)),
    LocalPlan("hybrid", Hybrid(1.0, (0.0, 4.0)), Fresh(3)),
    LocalPlan("noise", LaplaceNumber(1.0, (0.0, 4.0)), Fresh(3)),
]


def fleet(devices: int, slots: int = 3) -> NDArray[np.int64]:
    return np.arange(devices * slots).reshape(devices, slots) % 5


def collected(plan: LocalPlan, records: NDArray[Any], **options: Any) -> ReportCounts:
    collector = Collector(plan, **options)
    collector.add(records)
    return collector.tally


def as_lines(plan: LocalPlan, records: NDArray[Any]) -> list[str]:
    return [
        to_json(
            {
                "version": int(row["version"]),
                "plan": plan.digest,
                "slot": int(row["slot"]),
                "id": row["id"].tobytes().hex(),
                "answer": np.atleast_1d(row["answer"]).tolist(),
            }
        )
        for row in records
    ]


def test_files_lines_and_arrays_give_the_same_counts(tmp_path: Path) -> None:
    for plan in PLANS:
        folder = tmp_path / plan.name
        folder.mkdir()
        with case(plan):
            records = simulate(plan, fleet(40), entropy=seeded(1))
            (folder / "reports.bin").write_bytes(records.tobytes())
            (folder / "reports.jsonl").write_text("\n".join(as_lines(plan, records)) + "\n\n", encoding="utf-8")
            expected = collected(plan, records)
            assert expected.reports.tolist() == [40, 40, 40]
            for name in ("reports.bin", "reports.jsonl"):
                told: list[float] = []
                collector = Collector(plan)
                collector.read(folder / name, progress=told.append)
                assert np.array_equal(collector.tally.sums, expected.sums)
                assert collector.tally.dropped.total == 0
                assert told[-1] <= 1.0


def test_replays_and_everything_malformed_is_dropped_and_counted(tmp_path: Path) -> None:
    plan = PLANS[1]
    records = simulate(plan, fleet(50), entropy=seeded(1))
    bad = records[:6].copy()
    bad["id"][:, 0] += 1
    bad["mark"][0] = 7
    bad["version"][1] = 2
    bad["plan"][2] = 5
    bad["slot"][3] = 3
    bad["answer"][4] = 0b0010_0000  # a bit beyond the alphabet
    both = np.concatenate((records, bad, records[:9]))
    collector = Collector(plan)
    collector.add(both)
    collector.add(records[:9])  # a batch of replays alone
    collector.add(records[:0])
    tally = collector.tally
    assert tally.reports.sum() == 150 + 1  # the sixth is another valid report
    assert (tally.dropped.malformed, tally.dropped.other_plan, tally.dropped.slot) == (2, 1, 1)
    assert (tally.dropped.answer, tally.dropped.duplicate) == (1, 18)
    (tmp_path / "cut.bin").write_bytes(records.tobytes()[:-5])
    collector = Collector(plan)
    collector.read(tmp_path / "cut.bin")
    assert collector.tally.reports.sum() == 149
    assert collector.tally.dropped.malformed == 1
    (tmp_path / "empty.bin").write_bytes(b"")
    collector.read(tmp_path / "empty.bin")
    with pytest.raises(UnreadableSource, match=r"none\.bin cannot be read"):
        collector.read(tmp_path / "none.bin")
    with pytest.raises(UnreadableSource, match=r"none\.jsonl cannot be read"):
        collector.read(tmp_path / "none.jsonl")


def test_lines_of_wrong_shape_are_dropped() -> None:
    wrong: dict[str, list[Any]] = {"id": ["00", "zz" * 16, 5], "plan": ["00"], "slot": [-1, 2**32, None]}
    wrong |= {"answer": [[1, 2], [], "1", [1.0], [True], [-1], [2**40]], "version": [300]}
    for change in ({field: value} for field, values in wrong.items() for value in values):
        with case(change):
            plan = PLANS[0]
            (line,) = as_lines(plan, simulate(plan, fleet(1)[:, :1], entropy=seeded(1)))
            collector = Collector(plan)
            collector.add_lines(
                [json.dumps({**json.loads(line), **change}), "", "not json", "[]", "3", '{"a": 1}', "[" * 5000]
            )
            assert collector.tally.reports.sum() == 0
            assert collector.tally.dropped.malformed == 6
            collector.add_lines([line])
            assert collector.tally.reports.sum() == 1


def test_parts_of_many_workers_add_up_to_one_tally() -> None:
    for plan in PLANS:
        with case(plan):
            records = simulate(plan, fleet(300), entropy=seeded(2))
            twice = np.concatenate((records, records))
            whole = collected(plan, records)
            parts = [collected(plan, twice, part=(number, 3)) for number in range(3)]
            merged = ReportCounts.from_bytes(parts[0].to_bytes()).merge(parts[2]).merge(parts[1])
            assert merged.reports.tolist() == whole.reports.tolist()
            assert np.allclose(merged.sums, whole.sums, rtol=1e-12)
            assert merged.dropped.duplicate == len(records)
            assert merged.part == ((0, 1, 2), 3)
            with pytest.raises(InvalidArgument, match="counted twice"):
                merged.merge(parts[1])
            with pytest.raises(InvalidArgument, match="the same plan"):
                merged.merge(whole)
            with pytest.raises(UnknownDocument, match="not a stored tally"):
                ReportCounts.from_bytes(b"PK nonsense")


def test_reports_that_come_in_many_batches_and_chunks_count_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = PLANS[0]
    records = simulate(plan, fleet(200), entropy=seeded(3))
    mixed = np.concatenate((records, records[::3], records[:50]))
    mixed["slot"][7::40] = 99
    whole = collected(plan, mixed)
    for name, size in (("_BATCH", 64), ("_CHUNK", 10), ("_COUNTED", 7)):
        monkeypatch.setattr(f"chronodp.local.collector.{name}", size)
    pieces = collected(plan, mixed)
    assert whole.dropped == pieces.dropped
    assert whole.dropped.duplicate > 200
    assert np.array_equal(whole.reports, pieces.reports)
    assert np.array_equal(whole.sums, pieces.sums)


@given(st.lists(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=12), max_size=6))
def test_ids_are_known_again_whatever_their_halves(batches: list[list[tuple[int, int]]]) -> None:
    seen, known = SeenIds(), set[tuple[int, int]]()
    for batch in batches:
        fresh = seen.take(seen.digests(np.array(batch, dtype=np.uint64).reshape(-1, 2)))
        for one, new in zip(batch, fresh.tolist(), strict=True):
            if new:
                assert one not in known
            known.add(one)
        assert len(seen) == len(known)


def test_what_a_collector_refuses() -> None:
    endless = LocalPlan("endless", RandomizedResponse(1.0, 5), WindowBudget(3))
    large = LocalPlan("large", LocalHashing(1.0, 2**30), Fresh(3))
    with pytest.raises(MissingBound, match="slots is missing: the plan has no end"):
        Collector(endless)
    with pytest.raises(MissingBound, match="candidates is missing"):
        Collector(large)
    with pytest.raises(InvalidArgument, match="slots must be a range of slots within 0 to 2"):
        Collector(PLANS[0], slots=range(4))
    with pytest.raises(InvalidArgument, match="part must be"):
        Collector(PLANS[0], part=(3, 3))
    with pytest.raises(InvalidArgument, match="candidates must be left out"):
        Collector(PLANS[0], candidates=[1])
    with pytest.raises(InvalidArgument, match="candidates must be left out"):
        Collector(PLANS[3], candidates=[1])
    with pytest.raises(InvalidArgument, match="records must be an array of this plan's reports"):
        Collector(PLANS[0]).add(np.zeros(3))
    with pytest.raises(InvalidArgument, match="tally must be of this plan"):
        estimate(PLANS[1], Collector(PLANS[0]).tally)
    with pytest.raises(InvalidArgument, match="at most 268435456 counts"):
        Collector(LocalPlan("x", OptimizedUnary(1.0, 2**16), Fresh(2**20)))


def test_nobody_and_one_user() -> None:
    for plan in PLANS:
        with case(plan):
            nobody = estimate(plan, Collector(plan).tally)
            assert np.isnan(nobody.values).all()
            lower, upper = nobody.interval()
            assert np.isneginf(lower).all()
            assert np.isposinf(upper).all()
            assert len(nobody.to_pandas()) == nobody.values.size
            assert best_window(nobody) == 1
            assert np.isnan(nobody.smoothed(3).values).all()
            one = estimate(plan, collected(plan, simulate(plan, fleet(1), entropy=seeded(1))))
            assert np.isfinite(one.values).all()
            assert (one.deviations > 0.5).all()


def test_plans_are_saved_and_read_and_altered_ones_refused(tmp_path: Path) -> None:
    plans = [*PLANS, LocalPlan("kept", RandomizedResponse(1.0, 5), Memoised(2.0, 9, max_values=2))]
    plans += [
        LocalPlan("w", OneBit(1.0, (0.0, 4.0)), WindowPopulation(4)),
        LocalPlan("s", PLANS[1].mechanism, Slots(9, 2)),
    ]
    for plan in plans:
        assert LocalPlan.load(plan.save(tmp_path / "plan.json")) == plan
        assert plan.certificate.guarantee.epsilon > 0
        assert "one report" in str(plan)
    path = plans[0].save(tmp_path / "plan.json")
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"keep": ', '"keep": 9'), encoding="utf-8")
    with pytest.raises(UnknownDocument, match="was altered"):
        LocalPlan.load(path)
    path.write_text("{}", encoding="utf-8")
    with pytest.raises(UnknownDocument, match="is no device plan"):
        LocalPlan.load(path)
    with pytest.raises(UnknownDocument, match="is no device plan"):
        LocalPlan.load(tmp_path / "none.json")


def test_tallies_damaged_anywhere_are_refused_or_read() -> None:
    stored = Collector(LocalPlan("x", RandomizedResponse(1.0, 5), Fresh(3))).tally.to_bytes()
    chance = np.random.default_rng(1)
    refused = 0
    for _ in range(400):
        damaged = bytearray(stored)
        for place in chance.integers(len(stored), size=3):
            damaged[place] ^= int(chance.integers(1, 256))
        try:
            ReportCounts.from_bytes(bytes(damaged))
        except UnknownDocument:
            refused += 1
    assert refused > 100


def test_tallies_of_other_candidates_stay_apart() -> None:
    plan = LocalPlan("word", LocalHashing(2.0, 1000), Fresh(1))
    one, other = (
        Collector(plan, candidates=asked, part=(place, 2)) for place, asked in enumerate(([777, 5], [5, 777]))
    )
    with pytest.raises(InvalidArgument, match="same candidates"):
        one.tally.merge(other.tally)
    again = ReportCounts.from_bytes(one.tally.to_bytes())
    assert again.counted.tolist() == [777, 5]
    made = estimate(plan, again)
    assert made.labels == (777, 5)
    with pytest.raises(InvalidArgument, match="all values"):
        made.projected()


def replicate(plan: LocalPlan, histories: NDArray[Any], runs: int) -> list[Estimates]:
    entropy = seeded(5)
    return [estimate(plan, collected(plan, simulate(plan, histories, entropy=entropy))) for _ in range(runs)]


COVERED = [
    (LocalPlan("response", RandomizedResponse(1.0, 4), Fresh(2)), np.repeat([0, 1, 2, 3], [400, 300, 200, 100])),
    (LocalPlan("unary", OptimizedUnary(1.0, 4), Fresh(2)), np.repeat([0, 1, 2, 3], [400, 300, 200, 100])),
    (LocalPlan("kept", RandomizedResponse(1.0, 4), Memoised(2.0, 2)), np.repeat([0, 1, 2, 3], [400, 300, 200, 100])),
    (LocalPlan("pieces", Piecewise(1.0, (0.0, 4.0)), Fresh(2)), np.repeat([0.0, 1.0, 4.0], [500, 300, 200])),
    (LocalPlan("hybrid", Hybrid(1.0, (0.0, 4.0)), Fresh(2)), np.repeat([0.0, 1.0, 4.0], [500, 300, 200])),
    (LocalPlan("noise", LaplaceNumber(1.0, (0.0, 4.0)), Fresh(2)), np.repeat([0.0, 1.0, 4.0], [500, 300, 200])),
    (LocalPlan("bit", OneBit(1.0, (0.0, 4.0)), Fresh(2)), np.full(1000, 3.0)),
]


@pytest.mark.parametrize(("plan", "values"), COVERED, ids=[plan.name for plan, _ in COVERED])
@pytest.mark.slow
def test_intervals_cover_the_truth_as_often_as_they_say(plan: LocalPlan, values: NDArray[Any], trials: Trials) -> None:
    runs = trials(4_000, least=150)
    made = replicate(plan, np.repeat(values[:, None], 2, axis=1), runs)
    numbers = isinstance(plan.mechanism, Number)
    truth = np.array([values.mean()]) if numbers else np.bincount(values) / len(values)
    for confidence in (0.8, 0.95):
        hits = np.array(
            [[(low <= truth) & (truth <= high)] for low, high in (one.interval(confidence) for one in made)]
        )
        covered = float(hits.mean())
        # Slots and columns of a run go together, so each run counts once.
        margin = 6.2 * math.sqrt(confidence * (1 - confidence) / runs)
        assert abs(covered - confidence) < max(margin, 0.01)
        if runs >= 4_000:
            assert abs(covered - confidence) < 0.01
    # The same check rejects intervals of half the width.
    narrow = np.array([np.abs(one.values - truth) < 0.98 * one.deviations for one in made])
    assert abs(float(narrow.mean()) - 0.95) > 6.2 * math.sqrt(0.0475 / runs)


@pytest.mark.slow
@pytest.mark.parametrize("protocol", [Slots(10, 1), WindowPopulation(10)], ids=str)
def test_random_parts_of_the_devices_widen_intervals(protocol: Slots | WindowPopulation, trials: Trials) -> None:
    plan = LocalPlan("part", RandomizedResponse(5.0, 2), protocol)
    runs, truth, hits = trials(4_000, least=300), np.array([0.5, 0.5]), []
    entropy = seeded(6)
    for _ in range(runs):
        tally = collected(
            plan,
            simulate(plan, np.repeat([[0], [1]], 300, axis=0).repeat(10, axis=1), entropy=entropy),
            slots=range(10),
        )
        lower, upper = estimate(plan, tally).interval(0.9)
        hits.append(((lower[0] <= truth) & (truth <= upper[0])).mean())
        assert tally.reports.sum() == 600
    assert float(np.mean(hits)) > 0.9 - 6.2 * math.sqrt(0.09 / runs)


@pytest.mark.slow
def test_changes_and_trends_have_known_deviations(trials: Trials) -> None:
    plan = LocalPlan("trend", RandomizedResponse(1.0, 2), Fresh(9))
    runs = trials(2_000, least=200)
    made = replicate(plan, np.zeros((200, 9), dtype=int), runs)
    reads = [[one.changes() for one in made], [one.changes(3) for one in made], [one.smoothed(3) for one in made]]
    for seen in reads:
        spread = np.array([one.values[:, 0] for one in seen]).var(axis=0)
        stated = np.mean([one.deviations[:, 0] ** 2 for one in seen], axis=0)
        assert np.all(np.abs(spread / stated - 1) < 6.5 * math.sqrt(2 / runs) + 0.02)
    kept = LocalPlan("kept", RandomizedResponse(1.0, 2), Memoised(1.0, 9))
    smooth = [one.smoothed(9) for one in replicate(kept, np.zeros((200, 9), dtype=int), runs)]
    spread = np.array([one.values[4, 0] for one in smooth]).var()
    assert abs(spread / smooth[0].deviations[4, 0] ** 2 - 1) < 6.5 * math.sqrt(2 / runs) + 0.1
    changed = [one.changes().values for one in replicate(kept, np.zeros((200, 9), dtype=int), 5)]
    assert not np.any(changed)  # kept answers of one level repeat
    with pytest.raises(InvalidArgument, match="an odd number"):
        made[0].smoothed(4)
    with pytest.raises(InvalidArgument, match="lag must be"):
        made[0].changes(9)


@pytest.mark.slow
def test_the_window_follows_the_noise() -> None:
    plan = LocalPlan("trend", RandomizedResponse(0.2, 2), Fresh(60))
    (noisy,) = replicate(plan, np.zeros((2_000, 60), dtype=int), 1)
    assert best_window(noisy) >= 15  # nothing moves: the wider the better
    sharp = LocalPlan("trend", RandomizedResponse(6.0, 2), Fresh(60))
    (clear,) = replicate(sharp, np.where(np.arange(60) % 20 < 10, 1, 0)[None, :].repeat(20_000, axis=0), 1)
    assert best_window(clear) == 1


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=6))
def test_projected_rows_are_the_nearest_frequencies(row: list[float]) -> None:
    (made,) = project_rows([row])
    assert made.min() >= 0
    assert made.sum() == pytest.approx(1.0)
    # The nearest point of a convex set: no corner lies in the direction of what was taken off.
    for corner in np.eye(len(row)):
        assert (np.array(row) - made) @ (corner - made) <= 1e-9


def test_projected_estimates_keep_their_shape() -> None:
    (made,) = replicate(COVERED[0][0], np.repeat(COVERED[0][1][:, None], 2, axis=1), 1)
    projected = made.projected()
    assert projected.values.min() >= 0
    assert projected.values.sum(axis=1) == pytest.approx([1.0, 1.0])
    assert np.array_equal(projected.deviations, made.deviations)
    means = replicate(COVERED[3][0], np.repeat(COVERED[3][1][:, None], 2, axis=1), 1)[0]
    with pytest.raises(InvalidArgument, match="frequencies"):
        means.projected()
    with pytest.raises(InvalidArgument, match="a table"):
        project_rows([0.5])


def test_tables_are_long_and_labelled() -> None:
    plan = PLANS[0]
    tally = collected(plan, simulate(plan, fleet(100), entropy=seeded(1)))
    table = estimate(plan, tally, labels=("a", "b", "c", "d", "e")).to_pandas()
    assert list(table.columns) == ["slot", "label", "value", "lower", "upper", "reports"]
    assert len(table) == 15
    with pytest.raises(InvalidArgument, match="labels must be 5 of them"):
        estimate(plan, tally, labels=("a",))
