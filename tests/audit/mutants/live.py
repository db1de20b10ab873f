"""Mistakes with live streams: who closes a window, which lines are read, how often a person counts, what is drawn."""

from __future__ import annotations

from chronodp.privacy import Claim, Event, LaplaceCost, User
from chronodp.randomness import Entropy
from tests.audit.mutants.mutant import Mutant
from tests.audit.mutants.noise import noisy

__all__ = ["MUTANTS"]

Arrivals = tuple[tuple[str, int, int], ...]
"""Records in the order of their arrival: who, the window the record is dated into, the hour the clock shows."""

_PAGE = "docs/explanation/proofs/live.md"
_WINDOWS = 2
_SCALE = 0.25


def close_by_the_clock(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Count records of two windows; a window closes when the public clock has passed it."""
    counts = [0] * _WINDOWS
    for _, window, hour in arrivals:
        if window < _WINDOWS and hour <= window:
            counts[window] += 1
    return noisy(counts, _SCALE, entropy)


def close_by_event_time(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Close a window once a record is dated after it: one record from the future drops everyone's that follow."""
    counts, newest = [0] * _WINDOWS, 0
    for _, window, _ in arrivals:
        newest = max(newest, window)
        if window < _WINDOWS and window >= newest:
            counts[window] += 1
    return noisy(counts, _SCALE, entropy)


def count_the_first_window(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Count each person once, in the first window they are in."""
    first: dict[str, int] = {}
    for who, window, _ in sorted(arrivals, key=lambda record: record[1]):
        first.setdefault(who, window)
    return noisy([list(first.values()).count(window) for window in range(_WINDOWS)], _SCALE, entropy)


def count_the_first_after_a_restart(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Forget at the end of each window who has counted, as a process does whose state is lost."""
    people = [{who for who, dated, _ in arrivals if dated == window} for window in range(_WINDOWS)]
    return noisy(map(len, people), _SCALE, entropy)


def count_what_a_file_holds(arrivals: Arrivals) -> list[int]:
    """Return the records of each window."""
    return [sum(dated == window for _, dated, _ in arrivals) for window in range(_WINDOWS)]


def read_an_exchanged_file_by_its_content(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Read a file of one line a record to its end, and all of the one that is in its place in the next hour."""
    return noisy(count_what_a_file_holds(arrivals), _SCALE, entropy)


def read_an_exchanged_file_by_its_length(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Take a file that is no shorter than what was read for the same one: one line more, and nobody's are read."""
    before = [record for record in arrivals if record[2] == 0]
    after = [record for record in arrivals if record[2] > 0]
    read = len(before) if len(after) >= len(before) else 0
    return noisy(count_what_a_file_holds((*before, *after[read:])), _SCALE, entropy)


def hand_on_what_was_drawn(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Release the first window; its batch runs again after a kill, and hands on what the ledger has of it."""
    released = noisy(count_what_a_file_holds(arrivals)[:1], _SCALE, entropy)
    return (*released, *released)


def draw_again_after_a_kill(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Release the first window, and again with noise of its own when its batch runs again: two looks at one price."""
    return noisy(2 * count_what_a_file_holds(arrivals)[:1], _SCALE, entropy)


def count_from_the_state_before(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Count a batch that runs again from the state that it began with."""
    counts = [0] * _WINDOWS
    for _ in ("killed", "again"):
        counts = count_what_a_file_holds(arrivals)
    return noisy(counts, _SCALE, entropy)


def count_from_the_state_after(arrivals: Arrivals, *, entropy: Entropy) -> tuple[int, ...]:
    """Count a batch that runs again on top of what it left before it was killed: every record twice."""
    counts = [0] * _WINDOWS
    for _ in ("killed", "again"):
        counts = [before + more for before, more in zip(counts, count_what_a_file_holds(arrivals), strict=True)]
    return noisy(counts, _SCALE, entropy)


_CROWD: Arrivals = (("ann", 0, 0), ("bo", 0, 0), ("cy", 0, 0))
_EXCHANGED: Arrivals = (*_CROWD, ("ann", 1, 1), ("bo", 1, 1))

MUTANTS: tuple[Mutant, ...] = (
    Mutant(
        name="windows closed by event time, so that a record from the future drops those of others",
        claim=Claim(Event(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _PAGE),
        sound=close_by_the_clock,
        broken=close_by_event_time,
        neighbours=((_CROWD, (("eve", 9, 0), *_CROWD)),),
    ),
    Mutant(
        name="a limit on a person's windows that a restart forgets",
        claim=Claim(User(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _PAGE),
        sound=count_the_first_window,
        broken=count_the_first_after_a_restart,
        neighbours=((_CROWD, (("eve", 0, 0), ("eve", 1, 1), *_CROWD)),),
    ),
    Mutant(
        name="a file that was exchanged told by its length, so that one line decides whether all others are read",
        claim=Claim(Event(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _PAGE),
        sound=read_an_exchanged_file_by_its_content,
        broken=read_an_exchanged_file_by_its_length,
        neighbours=((_EXCHANGED, (*_EXCHANGED, ("eve", 1, 1))),),
    ),
    Mutant(
        name="a window drawn again, at no price, when its batch runs again after a kill",
        claim=Claim(Event(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _PAGE),
        sound=hand_on_what_was_drawn,
        broken=draw_again_after_a_kill,
        neighbours=((_CROWD, (*_CROWD, ("eve", 0, 0))),),
    ),
    Mutant(
        name="a batch that runs again after a kill counted on top of itself",
        claim=Claim(Event(), LaplaceCost(sensitivity=1.0, scale=_SCALE), _PAGE),
        sound=count_from_the_state_before,
        broken=count_from_the_state_after,
        neighbours=((_CROWD, (*_CROWD, ("eve", 0, 0))),),
    ),
)
