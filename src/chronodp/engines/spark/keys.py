"""Who holds which key of a Spark frame: candidates and sums come to the driver, people's rows stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.engines.held_keys import HeldKeys, KeysQuestion
from chronodp.engines.keys_statement import people_statement, weights_statement
from chronodp.engines.reading import Part

__all__ = ["held_keys_of_frame"]

Ask = Callable[[str, Mapping[str, Any]], list[tuple[Any, ...]]]
"""Runs a text beside named frames, and returns its rows."""


def held_keys_of_frame(session: Any, ask: Ask, part: Part, asked: KeysQuestion, *, key: str) -> HeldKeys:
    """Return who holds which key; ``ask`` runs a text about the frame.

    The driver holds every candidate. Weights, and the keys that are dropped, are sent to every task.
    """
    found = {
        bytes(text): int(people) for text, people in ask(people_statement(asked, [part], key=key, dialect="spark"), {})
    }
    texts = sorted(found)  # by bytes
    places = {text: place for place, text in enumerate(texts)}

    def weigh(weights: NDArray[np.int64], dropped: NDArray[np.bool_]) -> NDArray[np.int64]:
        gone = [(texts[place],) for place in np.flatnonzero(dropped).tolist()]
        held = list(enumerate(weights.tolist(), start=1))
        beside = {
            "dropped_": session.createDataFrame(gone, "key_ binary"),
            "weights_": session.createDataFrame(held, "held bigint, weight bigint"),
        }
        sums = np.zeros(len(texts), np.int64)
        for text, total in ask(weights_statement(asked, [part], key=key, dialect="spark"), beside):
            place = places.get(bytes(text))
            if place is not None:  # a row that came between the two readings makes no candidate
                sums[place] = int(total)
        return sums

    people = np.array([found[text] for text in texts], np.int64)
    return HeldKeys(tuple(text.decode() for text in texts), people, asked.most, weigh)
