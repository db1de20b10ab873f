"""One step of a blurred stream: state and a value in, state and what is released out.

A state is made of plain lists: values that wait, and for Threshold the slots that are taken. It is secret, since it
holds values and where they will go.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any, TypeAlias, assert_never

import numpy as np

from chronodp.randomness import Entropy
from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.mechanisms import Online
from chronodp.temporal.probabilities import MOST
from chronodp.temporal.published.backward import Backward
from chronodp.temporal.published.delays import draw_delays, window_odds
from chronodp.temporal.published.forward import Forward
from chronodp.temporal.published.juggling import steady_slots
from chronodp.temporal.published.threshold import Threshold

__all__ = ["Slot", "WaitingValues", "advance", "finish", "start"]

Slot: TypeAlias = list[Any]
"""Nothing yet, or one value; or two entries for a time that was taken before the stream began."""

_BEFORE: Slot = [None, None]


@dataclass(frozen=True, slots=True)
class WaitingValues:
    """Where a blurred stream stands. Secret.

    Attributes:
        step: the number of the next step, from 0.
        slots: BlockShuffle and Backward: the values so far of this block or window, oldest first. Forward and
            Threshold: the next times, each with the value it will show.
    """

    step: int
    slots: list[Slot]

    def __repr__(self) -> str:
        return f"WaitingValues(step={self.step})"


def start(mechanism: Online, entropy: Entropy) -> WaitingValues:
    """Return the state before the first step."""
    match mechanism:
        case BlockShuffle() | Backward():
            return WaitingValues(0, [])
        case Forward():
            return WaitingValues(0, [[] for _ in range(mechanism.window)])
        case Threshold(start="printed"):
            return WaitingValues(0, [[] for _ in range(mechanism.window)])
        case Threshold():
            empty = steady_slots(1, mechanism.window, mechanism.choice.threshold, entropy)[0]
            return WaitingValues(0, [[] if part else list(_BEFORE) for part in empty.tolist()])
        case never:
            assert_never(never)


def advance(
    mechanism: Online, state: WaitingValues, value: object, entropy: Entropy
) -> tuple[WaitingValues, list[Slot]]:
    """Return the state after the next value, and the slots that are released now, oldest first.

    >>> from chronodp.randomness import seeded
    >>> mechanism, bits = BlockShuffle(2, 1000.0), seeded(1)
    >>> state, first = advance(mechanism, start(mechanism, bits), "a", bits)
    >>> first, advance(mechanism, state, "b", bits)[1]
    ([], [['a'], ['b']])
    """
    match mechanism:
        case BlockShuffle():
            slots = [*state.slots, [value]]
            if len(slots) < mechanism.block:
                return WaitingValues(state.step + 1, slots), []
            return WaitingValues(state.step + 1, []), _shuffled(mechanism, slots, entropy)
        case Backward():
            slots = [*state.slots, [value]][-mechanism.window :]
            odds = window_odds(mechanism.window, mechanism.epsilon)
            delay = int(draw_delays(1, len(slots), odds, entropy)[0]) if len(slots) > 1 else 0
            return WaitingValues(state.step + 1, slots), [slots[-1 - delay]]
        case Forward():
            odds = window_odds(mechanism.window, mechanism.epsilon)
            slots = list(state.slots)
            slots[int(draw_delays(1, mechanism.window, odds, entropy)[0])] = [value]
            return WaitingValues(state.step + 1, [*slots[1:], []]), [_shown(slots[0])]
        case Threshold():
            slots = list(state.slots)
            _dispatch(mechanism, slots, value, entropy)
            return WaitingValues(state.step + 1, [*slots[1:], []]), [_shown(slots[0])]
        case never:
            assert_never(never)


def finish(mechanism: Online, state: WaitingValues, entropy: Entropy) -> tuple[WaitingValues, list[Slot]]:
    """Return the state after the end, and what was still to be released: a last block, or times yet to come."""
    match mechanism:
        case BlockShuffle():
            return replace(state, slots=[]), _shuffled(mechanism, state.slots, entropy)
        case Backward():
            return replace(state, slots=[]), []
        case Forward() | Threshold():
            return replace(state, slots=[]), [_shown(slot) for slot in state.slots[:-1]]
        case never:
            assert_never(never)


def _shuffled(mechanism: BlockShuffle, slots: list[Slot], entropy: Entropy) -> list[Slot]:
    order = mechanism.perturb(np.arange(len(slots)), entropy=entropy).values
    return [slots[place] for place in order.tolist()]


def _dispatch(mechanism: Threshold, slots: list[Slot], value: object, entropy: Entropy) -> None:
    choice = mechanism.choice
    empty = [place for place, slot in enumerate(slots) if not slot]
    # More are empty only after a printed start, as long as it lasts: the present slot is then one of many.
    if slots[0] or len(empty) > choice.threshold:
        slots[empty[int(entropy.integers(len(empty), 1)[0])]] = [value]
    elif not choice.extended or entropy.coins(math.floor(choice.keep * MOST), MOST, 1)[0]:
        slots[0] = [value]


def _shown(slot: Slot) -> Slot:
    return [] if len(slot) == 2 else slot
