"""People who are forgotten, two who are one, and a tally that was lost."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import numpy as np
import pytest
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument, TallyMismatch, UnknownDocument
from chronodp.lifetime.entries import Entries
from chronodp.lifetime.events import forget, pack_event, read_events, same
from chronodp.lifetime.rebuilding import rebuild
from chronodp.lifetime.tally import LifeTally
from tests.cases import raising
from tests.lifetime.test_tally import LIFE, SECRET, filled, steps_of, tally_in, used


def test_who_is_forgotten_is_used_up(tmp_path: Path) -> None:
    tally, _ = filled(tmp_path / "t", steps_of(5))
    for person in ((1, 7), (99, 99)):  # also one who never counted
        tally.write(tally._step + 1, forget(tally, person))
        tally.announce(tally._step + 1)
        assert used(tally, person) == [LIFE]


@given(st.integers(0, LIFE), st.integers(0, LIFE), st.booleans())
def test_two_who_are_one_have_used_what_both_have(a: int, b: int, squared: bool) -> None:
    class Known:
        life = LIFE

        def used(self, *_: object) -> object:
            return np.array([a, b])

    taken = same(cast(LifeTally, Known()), (1, 1), (2, 2), squared=squared)
    columns = zip(taken.high.tolist(), taken.spent.tolist(), strict=True)
    amounts: dict[int, int] = dict(columns)
    assert amounts.pop(1) == LIFE
    after = b + amounts.get(2, 0)
    more = after - a - b  # (√a + √b)² ≤ after, and not for after − 1: by squares, exactly
    if after < LIFE:
        assert more >= 0
        assert more**2 >= (4 * a * b if squared else 0)
        assert more == 0 or (more - 1) ** 2 < 4 * a * b
    else:
        assert after == LIFE
        assert not squared or a + b >= LIFE or (LIFE - 1 - a - b) ** 2 < 4 * a * b
        assert squared or a + b >= LIFE


def test_a_lost_tally_is_rebuilt_from_what_each_step_took(tmp_path: Path) -> None:
    steps = steps_of(1, 2, 3)
    tally, heads = filled(tmp_path / "t", steps)
    events: list[Entries] = [same(tally, (1, 7), (2, 7), squared=True)]
    heads.append(tally.write(4, events[0]))
    tally.announce(4)
    copies = [pack_event(4, events[0])]
    assert len(pack_event(5, forget(tally, (1, 7)))) == len(copies[0])

    def entries(step: int, before: LifeTally) -> Entries:
        assert used(before, (SECRET, SECRET)) == [step * (step - 1) // 2]  # as it stood
        return read_events(copies).get(step) or steps[step - 1]

    lost = tally_in(tmp_path / "u")
    rebuild(lost, 4, heads[4], entries)
    for one in (lost, tally_in(tmp_path / "u")):
        one.verify(4, heads[4])
        assert (
            used(one, (SECRET, SECRET), (1, 7), (2, 7)) == [6, LIFE, 6] == used(tally, (SECRET, SECRET), (1, 7), (2, 7))
        )
    with pytest.raises(InvalidArgument, match="new or empty"):
        rebuild(lost, 4, heads[4], entries)
    with pytest.raises(UnknownDocument, match="is damaged"):
        read_events([copies[0][:-1]])


def test_a_tally_rebuilt_from_other_tables_is_refused(tmp_path: Path) -> None:
    for wrong in [0, 1, 2]:
        steps = steps_of(1, 2, 3)
        _, heads = filled(tmp_path / f"t{wrong}", steps)
        steps[wrong] = steps_of(1, 2, 4)[2]  # one amount differs
        lost = tally_in(tmp_path / f"u{wrong}")
        with raising(TallyMismatch, match="the tables do not give what was booked", case=wrong):
            rebuild(lost, 3, heads[3], lambda step, _, steps=steps: steps[step - 1])  # type: ignore[misc]
        assert not list((tmp_path / f"u{wrong}").iterdir()), wrong
        with raising(TallyMismatch, match="is not that of the tally of 'load'", case=wrong):
            lost.verify(3, heads[3])
