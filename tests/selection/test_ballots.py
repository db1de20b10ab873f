"""Votes and clipped regrets: what one person can do to the sums, and what failed fits do."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as arrays

from chronodp.errors import InvalidArgument
from chronodp.selection import ClippedRegret, Scoring, Votes, tally
from chronodp.selection.ballots import ballots_of

ANY = st.floats(allow_nan=True, allow_infinity=True)
ROWS = arrays.arrays(np.float64, (5, 4), elements=ANY)
ROW = arrays.arrays(np.float64, (4,), elements=ANY)


@pytest.mark.parametrize("scoring", [Votes(), ClippedRegret(0.3), ClippedRegret(1e-50), ClippedRegret(1e50)], ids=str)
@given(rows=ROWS, row=ROW)
def test_one_more_person_raises_every_utility_by_at_most_one(
    scoring: Scoring, rows: np.ndarray[Any, Any], row: np.ndarray[Any, Any]
) -> None:
    before, after = tally(rows, scoring), tally(np.vstack((rows, row)), scoring)
    assert np.all(after >= before)
    assert np.all(after <= before + 1)
    # Sums are exact: people may come in any order.
    np.testing.assert_array_equal(tally(rows[::-1], scoring), before)
    ballots = ballots_of(rows, scoring)
    assert np.all((ballots >= 0) & (ballots <= 1))
    assert not ballots[~np.isfinite(rows)].any()


@given(rows=ROWS)
def test_everyone_has_one_vote_or_none(rows: np.ndarray[Any, Any]) -> None:
    cast = ballots_of(rows, Votes()).sum(axis=1)
    np.testing.assert_array_equal(cast, np.isfinite(rows).any(axis=1).astype(float))
    assert tally(np.zeros((0, 3))).tolist() == [0.0, 0.0, 0.0]
    for scoring in (Votes(), ClippedRegret(1.0)):
        assert tally(np.full((7, 3), np.inf), scoring).tolist() == [0.0, 0.0, 0.0]


def test_the_best_earns_one_and_the_rest_by_regret() -> None:
    losses = [[2.0, 2.1, 2.3, 5.0, math.inf, math.nan]]
    assert ballots_of(losses, ClippedRegret(0.4))[0].round(5).tolist() == [1.0, 0.75, 0.25, 0.0, 0.0, 0.0]
    assert ballots_of(losses, Votes())[0].tolist() == [1.0, 0.0, 0.0, 0.0, 0.0, 0.0]
    assert tally([[3.0, 3.0]]).tolist() == [1.0, 0.0]  # the first among equals


def test_losses_of_unequal_length_and_other_nonsense_are_refused(subtests: pytest.Subtests) -> None:
    wrong: list[Any] = [[[1.0, 2.0], [1.0]], [1.0, 2.0], [[]], [["a", "b"]], None]
    for losses in wrong:
        with subtests.test(losses=losses), pytest.raises(InvalidArgument, match="all rows of one length"):
            tally(losses)
    with pytest.raises(InvalidArgument, match="scoring must be"):
        tally([[1.0]], "votes")  # type: ignore[arg-type]  # on purpose
    for clip in (0.0, -1.0, math.nan):
        with pytest.raises(InvalidArgument, match="clip must be"):
            ClippedRegret(clip)
