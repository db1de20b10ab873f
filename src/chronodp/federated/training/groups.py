"""Groups in which people go through a network, and the check that nobody in one changes another's bits.

"No bit depends on the others" in ``docs/explanation/proofs/private-training.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Protocol

import numpy as np
import torch
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument

__all__ = ["Passes", "choose_device", "group_sizes_for", "room_for", "run_group", "stands_alone"]

_LARGEST = 2**26  # numbers in the gradients of a group: 256 MB
_STEP = 16  # between sizes
_ROOM = 4  # the largest is a multiple of it
_SIZES = 16  # so many sizes at most: each is checked
_TURNS = range(1, 16)  # below the height of a matrix kernel, in which a row may lie anywhere

Rows = NDArray[np.float32]


class Passes(Protocol):
    """A way to everybody's gradients."""

    def put(self, parameters: torch.Tensor) -> None:
        """Take a flat array of parameters for the groups that follow."""

    def gradients(self, series: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Return (people, parameters), one row a person."""


def choose_device(device: object) -> torch.device:
    """Return the device of this name, if torch can compute there."""
    if device == "cpu" or (device == "cuda" and torch.cuda.is_available()):
        return torch.device(str(device))
    here = "cpu or cuda" if torch.cuda.is_available() else "cpu: torch finds no cuda device here"
    raise InvalidArgument("device", device, here)


def room_for(expected: float) -> int:
    """Return how many people nearly every sample of so many in the mean has at most."""
    return math.ceil((expected + 3 * math.sqrt(expected)) / _ROOM) * _ROOM


def group_sizes_for(expected: float, parameters: int, choice: str) -> tuple[int, ...]:
    """Return the sizes of groups, rising; nearly every sample fits into the largest, where that is not too large."""
    if choice not in ("one", "several"):
        raise InvalidArgument("group_sizes", choice, "one or several")
    largest = max(8, min(room_for(expected), 1024, _LARGEST // parameters))
    if choice == "one":
        return (largest,)
    step = math.ceil(largest / (_SIZES * _STEP)) * _STEP
    return (*range(step, largest, step), largest)


def run_group(passes: Passes, device: torch.device, inputs: Rows, targets: Rows, size: int) -> Rows:
    """Return the gradients of a group that is filled up with nobody, whose rows are 0."""
    people = len(inputs)
    series = np.zeros((size, *inputs.shape[1:]), dtype=np.float32)
    wanted = np.full((size, targets.shape[1]), np.nan, dtype=np.float32)
    series[:people], wanted[:people] = inputs, targets
    placed = torch.from_numpy(series).to(device), torch.from_numpy(wanted).to(device)
    found: Rows = passes.gradients(*placed).cpu().numpy()
    found[people:] = 0  # they are, or not a number
    return found


def stands_alone(passes: Passes, device: torch.device, sizes: tuple[int, ...], inputs: Rows, targets: Rows) -> bool:
    """Return whether a person's bits stay the same in every place of a group of any size, and beside anybody.

    Args:
        passes: what is checked, with parameters put.
        device: where.
        sizes: of groups, rising.
        inputs: of made-up people, twice as many as the largest group has.
        targets: of theirs.
    """
    most = sizes[-1]
    people, wanted, others = inputs[:most], targets[:most], inputs[most:]
    whole = run_group(passes, device, people, wanted, most)
    return all(
        np.array_equal(found, expected)
        for found, expected in _trials(passes, device, sizes, people, wanted, others, whole)
    )


def _trials(
    passes: Passes, device: torch.device, sizes: tuple[int, ...], people: Rows, wanted: Rows, others: Rows, whole: Rows
) -> Iterator[tuple[Rows, Rows]]:
    """Yield rows of the same people, found in other ways, and as they were found first."""
    most = sizes[-1]
    for turn in _TURNS:
        turned = run_group(passes, device, np.roll(people, turn, 0), np.roll(wanted, turn, 0), most)
        yield turned, np.roll(whole, turn, 0)
    kept = np.arange(most) % 2 == 0
    for strangers in (others, np.float32(1e30) * others, np.zeros_like(others)):
        mixed = run_group(passes, device, np.where(kept[:, None, None], people, strangers), wanted, most)
        yield mixed[kept], whole[kept]
    for size in sizes:
        half = size // 2
        yield run_group(passes, device, people[:size], wanted[:size], size), whole[:size]
        yield run_group(passes, device, people[:half], wanted[:half], size)[:half], whole[:half]
        # One person in all places at once.
        alike = run_group(passes, device, np.repeat(people[:1], size, 0), np.repeat(wanted[:1], size, 0), size)
        yield alike, np.repeat(whole[:1], size, 0)
