"""The gradient of each person's own loss, computed so that no bit of it depends on who else is in the sample.

People go through the network in groups of one fixed size, filled up with nobody. A group's shape never tells of the
data, and a check at the start makes sure that on this machine a row's bits depend on that row alone; otherwise people
go one by one.

"No bit depends on the others" in ``docs/explanation/proofs/private-training.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn
from torch.func import functional_call, vmap

from chronodp.federated.models.layers import check_layers
from chronodp.federated.models.outcomes import Outcome, loss_of

__all__ = ["PersonGradients", "put"]

_LARGEST = 2**26  # numbers in the gradients of a group: 256 MB


class PersonGradients:
    """Gradients of a network, one row a person.

    Args:
        network: what is trained; its layers are checked.
        outcome: what it predicts.
        example: the shape of one person's input, (periods, channels).
        expected: how many people a sample has in the mean, a public number, by which groups are made.
    """

    def __init__(self, network: nn.Module, outcome: Outcome, example: tuple[int, int], *, expected: float = 40) -> None:
        check_layers(network)
        self._outcome = outcome
        self._shapes = {name: tuple(part.shape) for name, part in network.named_parameters()}
        self.size = sum(part.numel() for part in network.parameters())
        self._answers = vmap(lambda parameters, series: functional_call(network, parameters, (series,)))
        most = math.ceil((expected + 3 * math.sqrt(expected)) / 16) * 16  # nearly every sample is one group
        together = max(8, min(most, 1024, _LARGEST // self.size))
        self.together = together if self._rows_stand_alone(example, together) else 1

    def rows(
        self, parameters: NDArray[np.float32], inputs: NDArray[np.float32], targets: NDArray[np.float32]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the gradients of people, in their order, a group at a time."""
        placed = self._placed(parameters)
        for first in range(0, len(inputs), self.together):
            group = slice(first, first + self.together)
            yield self._group(placed, inputs[group], targets[group], self.together)

    def _group(
        self, placed: dict[str, torch.Tensor], inputs: NDArray[np.float32], targets: NDArray[np.float32], together: int
    ) -> NDArray[np.float32]:
        series = np.zeros((together, *inputs.shape[1:]), dtype=np.float32)
        wanted = np.full((together, targets.shape[1]), np.nan, dtype=np.float32)
        series[: len(inputs)], wanted[: len(inputs)] = inputs, targets
        # Each person gets parameters of its own, equal at the start: the gradient of the sum falls apart by person.
        own = {name: part.expand(together, *part.shape).clone().requires_grad_() for name, part in placed.items()}
        losses = loss_of(self._outcome, self._answers(own, torch.from_numpy(series)), torch.from_numpy(wanted))
        found = torch.autograd.grad(losses.sum(), list(own.values()))
        joined: NDArray[np.float32] = torch.cat([part.reshape(together, -1) for part in found], 1).numpy()
        return joined[: len(inputs)]

    def _placed(self, parameters: NDArray[np.float32]) -> dict[str, torch.Tensor]:
        return dict(_parts(parameters, self._shapes))

    def _rows_stand_alone(self, example: tuple[int, int], together: int) -> bool:
        """Return whether a person's bits stay the same in every place of a group and beside anybody."""
        chance = np.random.default_rng(0)
        placed = self._placed(chance.normal(0, 0.3, self.size).astype(np.float32))
        people = chance.normal(0, 1, (together, *example)).astype(np.float32)
        wanted = chance.integers(0, 2, (together, self._outcome.width)).astype(np.float32)
        others = chance.normal(0, 1, people.shape).astype(np.float32)
        whole = self._group(placed, people, wanted, together)
        for turn in (1, together // 2 - 3):
            turned = self._group(placed, np.roll(people, turn, 0), np.roll(wanted, turn, 0), together)
            if not np.array_equal(np.roll(whole, turn, 0), turned):
                return False
        half = np.arange(together) % 2 == 0
        mixed = self._group(placed, np.where(half[:, None, None], people, others), wanted, together)
        return np.array_equal(mixed[half], whole[half])


def put(network: nn.Module, parameters: NDArray[np.float32]) -> nn.Module:
    """Put a flat array of parameters into a network, and return it."""
    shapes = {name: tuple(part.shape) for name, part in network.named_parameters()}
    network.load_state_dict(dict(_parts(parameters, shapes)))
    return network


def _parts(parameters: NDArray[np.float32], shapes: dict[str, tuple[int, ...]]) -> Iterator[tuple[str, torch.Tensor]]:
    flat = torch.from_numpy(np.array(parameters, dtype=np.float32))
    first = 0
    for name, shape in shapes.items():
        count = int(np.prod(shape, dtype=np.int64))
        yield name, flat[first : first + count].reshape(shape)
        first += count
