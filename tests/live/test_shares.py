"""People in shares, batch by batch, release what one process releases, to the last digit."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cryptography.exceptions import InvalidTag

from chronodp.errors import StreamConflict
from chronodp.live import State
from chronodp.live.progress import Progress
from chronodp.live.releasing import Releases
from chronodp.live.structured_streaming.closer import Closer
from chronodp.live.structured_streaming.query import Told
from chronodp.live.structured_streaming.shares import Share, Terms, Tick, advance, read_arrivals
from chronodp.live.structured_streaming.stored_share import load, store
from tests.conftest import Trials
from tests.live.epochs import KEY, Case, all_limits, ledger_of, random_case, run_in_one_process
from tests.live.examples import NAME

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
