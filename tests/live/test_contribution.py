"""What one unit changes, by trying all neighbours of small sets of records, in all orders and cuts of arrival."""

from __future__ import annotations

import itertools
import json
import random
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag

from chronodp import EachPeriod, Event, Ledger, User, UserPeriod, Window
from chronodp.errors import InvalidArgument, MissingBound, StreamConflict, UnitMismatch
from chronodp.live import Limits, State, Windows, alert_design, open_streams, stream_design
from chronodp.live.contribution import terms_of
from chronodp.live.progress import Progress
from chronodp.live.records import Batch
from chronodp.live.releasing import Releases
from chronodp.live.structured_streaming.closer import Closer
from chronodp.live.structured_streaming.query import Told
from chronodp.live.structured_streaming.shares import Share, Terms, Tick, advance, read_arrivals
from chronodp.live.structured_streaming.stored_share import load, store
from chronodp.live.window_counts import WindowCounts
from chronodp.live.window_totals import WindowTotals
from chronodp.privacy import RecordUnit
from tests.conftest import SCALE, Trials
from tests.live.epochs import KEY, Case, all_limits, ledger_of, random_case, run_in_one_process
from tests.live.examples import NAME

GRID = Windows("1s", "2026-01-01", lateness="0s", skew="1s", count=4)
SEEN = 3  # windows that are closed
Visit = tuple[int, int, float, int, str]  # stage of arrival, window, value, place, id
Table = tuple[tuple[float, ...], ...]


def batch_of(limits: Limits, rows: Iterable[tuple[str, Visit]]) -> Batch:
    rows = list(rows)
    names = sorted({who for who, _ in rows})
    count = len(rows)
    return Batch(
        np.array([limits.windows.begins(visit[1]) + 1 for _, visit in rows], dtype=np.int64).reshape(count),
        np.array([names.index(who) if limits.people else 0 for who, _ in rows], dtype=np.int64).reshape(count),
        names if limits.people else [],
        np.array([visit[3] for _, visit in rows], dtype=np.int64).reshape(count),
        np.array([visit[2] for _, visit in rows], dtype=np.float64).reshape(count) if limits.clip else None,
        [visit[4] for _, visit in rows] if limits.ids else None,
        0,
    )


def totals(limits: Limits, rows: Iterable[tuple[str, Visit]], *, singly: bool = False) -> Table:
    """Count records stage by stage; the clock closes one window after each stage."""
    rows = list(rows)
    tally = WindowTotals(limits, KEY)
    used = WindowCounts()
    table = []
    for window in range(SEEN):
        stage = [row for row in rows if row[1][0] == window]
        for some in [[row] for row in stage] if singly else [stage]:
            tally.add(batch_of(limits, some), first=window, last=limits.windows.last_open(window))
        closing = tally.closing(window, used.of)
        used.add(closing.people)
        tally.forget(window + 1)
        table.append(tuple((closing.totals * limits.grid.step).tolist()))
    return tuple(table)


VALUES = (-1.0, 2.0, 5.0)
UNIVERSE: list[Visit] = [
    (stage, window, value, 0, "") for stage in range(SEEN) for window in range(4) for value in VALUES
]
PART = (1, 1, 1, 11) if SCALE >= 1 else (1, 1, 4, 97)  # of so many histories of each size one
HISTORIES = [history for size, part in enumerate(PART) for history in [*itertools.combinations(UNIVERSE, size)][::part]]
SUMS = Limits(User(), GRID, clip=(-1.0, 4.0), max_periods=2)


class Seen(dict[tuple[Visit, ...], Table]):
    """The totals of one person's histories, counted once each."""

    def __init__(self, limits: Limits) -> None:
        super().__init__()
        self.limits = limits

    def __missing__(self, history: tuple[Visit, ...]) -> Table:
        table = self[history] = totals(self.limits, [("ann", visit) for visit in history])
        return table


SEEN_SUMS = Seen(SUMS)


def worst(one: Table, two: Table) -> tuple[float, int]:
    """Return the largest change of a number, and in how many windows any number changes."""
    changes = [[abs(a - b) for a, b in zip(first, second, strict=True)] for first, second in zip(one, two, strict=True)]
    return max(max(row) for row in changes), sum(any(row) for row in changes)


@pytest.mark.slow
def test_nobody_changes_what_another_adds() -> None:
    crowd = [
        ("bo", (0, 0, 3.0, 0, "")),
        ("bo", (1, 1, -9.0, 0, "")),
        ("cy", (0, 1, 1.0, 0, "")),
        ("bo", (2, 2, 1.0, 0, "")),
    ]
    base = np.array(totals(SUMS, crowd))
    for history in HISTORIES[:: 1 if SCALE >= 1 else 3]:
        alone = np.array(SEEN_SUMS[history])
        together = np.array(totals(SUMS, [*[("ann", visit) for visit in history], *crowd]))
        assert np.array_equal(together, base + alone)


@pytest.mark.parametrize("relation", ["add_remove", "replace"])
@pytest.mark.slow
def test_a_user_stays_within_change_and_windows(relation: str) -> None:
    unit = User(relation=relation)  # type: ignore[arg-type]
    limits = replace(SUMS, unit=unit)
    for history in HISTORIES[::50]:
        assert Seen(limits)[history] == SEEN_SUMS[history]  # the relation changes what is claimed, and no number
    tables = {SEEN_SUMS[history] for history in HISTORIES}
    nothing: Table = ((0.0,),) * SEEN
    pairs = [(table, nothing) for table in tables] if relation == "add_remove" else itertools.combinations(tables, 2)
    changes = [worst(one, two) for one, two in pairs]
    assert max(change for change, _ in changes) == limits.change  # reached, and not passed
    most = 2 if relation == "add_remove" else SEEN
    assert max(windows for _, windows in changes) == most <= 2 * (limits.touched or 0)
    if relation == "replace":
        assert limits.change == 5.0
        held = {tuple(index for index, row in enumerate(table) if any(row)) for table in tables}
        assert max(map(len, held)) == 2


@pytest.mark.parametrize(
    ("unit", "together"),
    [
        (Window(2), lambda window: (window, window + 1)),
        (UserPeriod("2s"), lambda window: (window // 2 * 2, window // 2 * 2 + 1)),
    ],
)
@pytest.mark.slow
def test_a_stretch_of_time_changes_its_own_windows_only(unit: RecordUnit, together: object) -> None:
    limits = Limits(unit, GRID, clip=(-1.0, 4.0))
    tables = Seen(limits)
    reached = 0.0
    for history in HISTORIES:
        table = tables[history]
        for window in range(SEEN):
            stretch = set(together(window))  # type: ignore[operator]
            rest = tuple(visit for visit in history if visit[1] not in stretch)
            if rest == history:
                continue
            change, _ = worst(table, tables[rest])
            changed = {at for at, (a, b) in enumerate(zip(table, tables[rest], strict=True)) if a != b}
            assert changed <= stretch
            reached = max(reached, change)
    assert reached == limits.change == 4.0


@pytest.mark.slow
def test_one_row_changes_one_number(trials: Trials) -> None:
    cases: list[tuple[bool, bool, float]] = [
        (True, False, 5.0),
        (False, False, 4.0),
        (False, True, 5.0),
        (True, True, 5.0),
    ]
    for people, ids, expected in cases:
        limits = Limits(Event(), GRID, clip=(-1.0, 4.0), people=people, ids=ids)
        assert limits.change == expected, (people, ids, expected)
        names = ("x", "y") if ids else ("",)
        universe: list[Visit] = [
            (0, window, value, 0, name) for window in (0, 1) for value in (-3.0, 2.0, 9.0) for name in names
        ]
        histories = [h for size in range(4) for h in itertools.combinations_with_replacement(universe, size)]
        tables = Seen(limits)
        reached = 0.0
        for history in trials.some(histories, 3):
            table = tables[history]
            for at in range(len(history)):
                change, windows = worst(table, tables[history[:at] + history[at + 1 :]])
                assert windows <= 1, (people, ids, expected)
                reached = max(reached, change)
        assert reached == expected, (people, ids, expected)


@pytest.mark.slow
def test_groups_are_chosen_within_a_person_and_window(trials: Trials) -> None:
    limits = Limits(User(), GRID, at_most=2, max_periods=1, groups=("a", "b", "c"), max_groups=2)
    universe: list[Visit] = [(0, window, 0.0, place, "") for window in (0, 1) for place in range(3)]
    histories = [h for size in range(5) for h in itertools.combinations_with_replacement(universe, size)]
    for history in trials.some(histories, 3):
        table = totals(limits, [("ann", visit) for visit in history])
        filled = [(window, place) for window, row in enumerate(table) for place, cell in enumerate(row) if cell]
        assert len(filled) <= 2
        assert len({window for window, _ in filled}) <= 1
        assert max(map(max, table)) <= limits.change


def test_missing_and_unfit_bounds_are_named() -> None:
    with pytest.raises(MissingBound, match="max_periods"):
        Limits(User(), GRID, at_most=1)
    with pytest.raises(MissingBound, match="user is missing"):
        Limits(User(), GRID, at_most=1, max_periods=1, people=False)
    with pytest.raises(MissingBound, match="horizon"):
        Limits(UserPeriod("1D"), Windows("1h", "2026-01-01"), at_most=1).touched  # noqa: B018
    for unit in (Event(), Window(2), UserPeriod("2s")):
        with pytest.raises(InvalidArgument, match="left out for"):
            Limits(unit, GRID, at_most=1, max_periods=1)
    with pytest.raises(InvalidArgument, match="lie across borders"):
        Limits(UserPeriod("2s"), replace(GRID, every="3s"), at_most=1, groups=("a", "b"))
    assert (
        Limits(UserPeriod("1D"), Windows("1h", "2026-10-24", timezone="Europe/Berlin", count=72), at_most=1).touched
        == 25
    )


@pytest.mark.slow
def test_a_civil_period_that_cuts_windows_has_the_wider_bound() -> None:
    grid = Windows("3s", "2026-01-01", count=2)
    limits = Limits(UserPeriod("2s"), grid, clip=(-1.0, 4.0))
    assert (limits.change, limits.touched) == (5.0, 2)

    @cache
    def count(rows: tuple[tuple[int, float], ...]) -> Table:
        tally = WindowTotals(limits, KEY)
        times = np.array([grid.begins(0) + second * 1_000_000 for second, _ in rows], dtype=np.int64)
        zeros = np.zeros(len(rows), np.int64)
        tally.add(Batch(times, zeros, ["ann"], zeros, np.array([value for _, value in rows]), None, 0), first=0, last=1)
        made = [tally.closing(window, WindowCounts().of).totals * limits.grid.step for window in range(2)]
        return tuple(tuple(row.tolist()) for row in made)

    reached = [0.0, 0]
    universe = [(second, value) for second in range(6) for value in (-5.0, 9.0)]
    for rows in itertools.chain.from_iterable(itertools.combinations(universe, size) for size in range(4)):
        for period in range(3):
            change, windows = worst(count(rows), count(tuple(row for row in rows if row[0] // 2 != period)))
            reached = [max(reached[0], change), max(reached[1], windows)]
    assert reached == [5.0, 2]


def test_windows_of_time_give_a_unit_its_meaning(tmp_path: Path) -> None:
    hours = Windows("1h", "2026-01-01", timezone="Asia/Tokyo", count=48)
    assert Limits(UserPeriod("1D"), hours, at_most=1).claimed == UserPeriod("1D", timezone="Asia/Tokyo")
    limits = Limits(Window(24), hours, at_most=1)
    design = stream_design(limits, workload=EachPeriod(), epsilon=1.0)
    assert design.unit == Window(24, every="1h")
    assert alert_design(limits, above=5.0, max_alerts=1, epsilon=1.0).unit == Window(24, every="1h")
    assert '"unit": {"kind": "window", "periods": 24, "relation": "add_remove"}' in terms_of(
        limits
    )  # as it was written
    with pytest.raises(InvalidArgument, match="unit must be of periods of this grid"):
        Limits(Window(24, every="1min"), hours, at_most=1)
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("visits", unit=Window(24), epsilon=9.0)
        (stream,) = open_streams({"hourly": design}, ledger=ledger, dataset="visits")
        assert "in any 24 consecutive hours" in " ".join(str(stream.certificate).split())
        with pytest.raises(UnitMismatch):
            open_streams({"other": replace(design, unit=Window(24))}, ledger=ledger, dataset="visits")


LIMITS = list(all_limits())


class Cluster:
    """What Spark does with batches, without it: messages cut at random, arrivals in any order, shares stored sealed."""

    def __init__(self, terms: Terms, chance: random.Random) -> None:
        self.terms, self.chance = terms, chance
        self.stored = [store(Share(), key=KEY, number=number) for number in range(terms.shares)]

    def run(self, lines: Sequence[str], tick: Tick | None) -> Told:
        messages = [line.encode() for line in lines]
        cut = self.chance.randint(0, len(messages))
        came = [one for piece in (messages[:cut], messages[cut:]) for one in read_arrivals(self.terms, piece)]
        self.chance.shuffle(came)
        yields, figures, spans = [], np.zeros(5, np.int64), set()
        for number, stored in enumerate(self.stored):
            share = load(stored, key=KEY, number=number)
            mine = [one for one in came if one.share == number]
            after, closed, counts = advance(self.terms, share, tick=tick, arrivals=mine)
            self.stored[number] = store(after, key=KEY, number=number)
            yields += [(one.window, number, one) for one in closed]
            figures += counts
            spans.add((share.tick.due, after.tick.due))
        ((first, due),) = spans
        return Told(first, due, tuple(one for *_, one in sorted(yields, key=lambda told: told[:2])), figures)


def closer_of(folder: Path, case: Case, ledger: Any, rows: list[Any]) -> tuple[Closer, State]:
    state = State(folder / "shares.db", keys=ledger.keys, name=NAME)
    releases = Releases(
        case.limits, case.streams(ledger), state=state, level=0.95, sinks=(), progress=Progress(), tell=rows.extend
    )
    return Closer(case.limits, releases=releases, state=state, key=KEY, reached=lambda _: None), state


def run_in_shares(folder: Path, case: Case, chance: random.Random) -> tuple[list[Any], list[int]]:
    rows: list[Any] = []
    figures = np.zeros(5, np.int64)
    cluster = Cluster(Terms(case.limits, case.fields, KEY, chance.choice((1, 3, 8))), chance)
    with ledger_of(folder, case) as ledger:
        closer, state = closer_of(folder, case, ledger, rows)
        for number, (moment, lines) in enumerate(case.epochs):
            told = cluster.run(lines, Tick(case.limits.windows.due(moment)))
            figures += told.figures
            for _ in range(chance.randint(1, 2)):  # a batch that runs again changes nothing
                closer.close(number, told)
        state.close()
    return rows, figures.tolist()


@pytest.mark.slow
@pytest.mark.parametrize("limits", LIMITS, ids=[str(number) for number in range(len(LIMITS))])
def test_shares_release_what_one_process_does(limits: Any, tmp_path: Path, trials: Trials) -> None:
    chance = random.Random(3)
    for number in range(trials(60, least=2)):
        case = random_case(chance, limits)
        (tmp_path / f"{number}").mkdir()
        (tmp_path / f"{number} shares").mkdir()
        alone, owner = run_in_one_process(tmp_path / f"{number}", case)
        shared, figures = run_in_shares(tmp_path / f"{number} shares", case, chance)
        assert json.dumps(shared) == json.dumps(alone)
        assert figures == [owner.counted, owner.late, owner.future, owner.elsewhere, owner.malformed]


def small() -> tuple[Case, Cluster]:
    case = random_case(random.Random(1), LIMITS[0])
    return case, Cluster(Terms(case.limits, case.fields, KEY, 2), random.Random(2))


def test_another_batch_in_the_place_of_one_that_was_begun_is_refused(tmp_path: Path) -> None:
    case, cluster = small()
    lines = [line for _, came in case.epochs for line in came]
    told = cluster.run(lines, Tick(2))
    other = Cluster(cluster.terms, random.Random(2)).run(lines[::2], Tick(2))
    assert told.yields != other.yields
    with ledger_of(tmp_path, case) as ledger:
        rows: list[Any] = []
        closer, state = closer_of(tmp_path, case, ledger, rows)
        closer.close(3, told)
        closer.close(3, told)
        assert [row["window"] for row in rows] == [0, 1]
        for number, wrong in ((3, other), (4, told)):
            with pytest.raises(StreamConflict, match="checkpoint is missing or was set back"):
                closer.close(number, wrong)
        with pytest.raises(StreamConflict, match="checkpoint is missing"):  # begun anew, before anything is due
            closer.close(0, Told(0, 0, (), told.figures))
        closer.close(4, Told(2, 2, (), told.figures))
        assert [row["window"] for row in rows] == [0, 1]
        state.close()


def test_what_is_stored_of_a_share_tells_nothing_and_cannot_be_exchanged() -> None:
    case, _ = small()
    share = Share(Tick(2, 3), {4: b"four", 5: b""}, {b"p" * 16: 7})
    stored = store(share, key=KEY, number=1)
    assert load(stored, key=KEY, number=1) == share
    assert b"four" not in stored[2]
    assert b"p" * 16 not in stored[3]
    with pytest.raises(InvalidTag):
        load(stored, key=KEY, number=0)
    with pytest.raises(InvalidTag):
        load((2, 3, stored[3], stored[2]), key=KEY, number=1)
    assert "the same" not in repr(Terms(case.limits, case.fields, KEY, 2))
