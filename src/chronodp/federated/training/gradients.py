"""The gradient of each person's own loss, computed so that no bit of it depends on who else is in the sample.

People go through the network in groups of fixed sizes, filled up with nobody. A check at the start makes sure that on
this machine a row's bits depend on that row alone; otherwise there is one size, then a slower way, and in the end
people go one by one.

"No bit depends on the others" in ``docs/explanation/proofs/private-training.md``.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from chronodp.errors import InvalidArgument
from chronodp.federated.models import Outcome
from chronodp.federated.networks import check_layers
from chronodp.federated.training.copied import CopiedPasses
from chronodp.federated.training.groups import Passes, choose_device, group_sizes_for, room_for, run_group, stands_alone
from chronodp.federated.training.recorded import NETWORKS, RecordedPasses

__all__ = ["PersonGradients", "put"]

_FEW = 8
_NEAR = 2.0**-16  # of the longest gradient: above what orders of addition do, and below what numbers of 11 bits do


class PersonGradients:
    """Gradients of a network, one row a person.

    Args:
        network: what is trained; its layers are checked.
        outcome: what it predicts.
        example: the shape of one person's input, (periods, channels).
        expected: how many people a sample has in the mean, a public number, by which groups are made.
        group_sizes: ``one``, so that a step takes as long whoever was sampled, or ``several``, which takes less time.
        device: where gradients are computed, ``cpu`` or ``cuda``.
    """

    def __init__(
        self,
        network: nn.Module,
        outcome: Outcome,
        example: tuple[int, int],
        *,
        expected: float = 40,
        group_sizes: str = "one",
        device: str = "cpu",
    ) -> None:
        self._network, self._outcome, self._example = check_layers(network), outcome, example
        self.size = sum(part.numel() for part in network.parameters())
        self._wanted_sizes = group_sizes_for(expected, self.size, group_sizes)
        # With one size there are always as many groups as nearly every sample needs.
        self._least = room_for(expected) if group_sizes == "one" else 0
        self._device = choose_device(device)
        self._settle()

    @property
    def together(self) -> int:
        """The largest group."""
        return self.sizes[-1]

    def groups(
        self, parameters: NDArray[np.float32], inputs: NDArray[np.float32], targets: NDArray[np.float32]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the gradients of people, in their order, a group at a time; rows of nobody are 0.

        With one size of groups, some may be of nobody: there are as many whoever was sampled.
        """
        if torch.get_num_threads() != self._threads:  # products are cut up among threads
            self._settle()
        self._passes.put(self._placed(parameters))
        first = 0
        while first < max(len(inputs), self._least):
            size = next((size for size in self.sizes if size >= len(inputs) - first), self.together)
            group = slice(first, first + size)
            yield run_group(self._passes, self._device, inputs[group], targets[group], size)
            first += size

    def rows(
        self, parameters: NDArray[np.float32], inputs: NDArray[np.float32], targets: NDArray[np.float32]
    ) -> Iterator[NDArray[np.float32]]:
        """Yield the same without the rows of nobody."""
        left = len(inputs)
        for found in self.groups(parameters, inputs, targets):
            if left > 0:
                yield found[:left]
            left -= len(found)

    def _settle(self) -> None:
        """Find a way and sizes with which rows stand alone, here and with as many threads as now."""
        self._threads = torch.get_num_threads()
        parameters, inputs, targets = self._made_up()
        for passes, sizes in self._ways():
            passes.put(self._placed(parameters))
            if stands_alone(passes, self._device, sizes, inputs, targets):
                break
        else:
            sizes = (1,)  # who is alone depends on nobody
        self._passes, self.sizes = passes, sizes
        if self._device.type != "cpu":
            few = min(_FEW, self.together)
            self._compare(parameters, inputs[:few], targets[:few])

    def _ways(self) -> Iterator[tuple[Passes, tuple[int, ...]]]:
        """Yield ways with sizes, the fastest first."""
        ways: list[Passes] = [CopiedPasses(self._network, self._outcome)]
        if type(self._network) in NETWORKS:
            ways.insert(0, RecordedPasses(self._network, self._outcome, self._device))
        for way in ways:
            yield way, self._wanted_sizes
            if len(self._wanted_sizes) > 1:
                yield way, self._wanted_sizes[-1:]

    def _compare(
        self, parameters: NDArray[np.float32], inputs: NDArray[np.float32], targets: NDArray[np.float32]
    ) -> None:
        """Refuse a device whose gradients are others than the processor's, beyond the order of additions."""
        found = run_group(self._passes, self._device, inputs, targets, self.together)[: len(inputs)]
        check = CopiedPasses(self._network, self._outcome)
        check.put(torch.from_numpy(parameters))
        expected = run_group(check, torch.device("cpu"), inputs, targets, len(inputs))
        if not np.abs(found - expected).max() <= _NEAR * np.linalg.norm(expected, axis=1).max():
            allowed = (
                "one that computes as the processor does, to a part in 65,536: use cpu, or switch off "
                "torch.backends.cuda.matmul.allow_tf32 if it is on"
            )
            raise InvalidArgument("device", str(self._device), allowed)

    def _made_up(self) -> tuple[NDArray[np.float32], NDArray[np.float32], NDArray[np.float32]]:
        """Return parameters and twice as many people as go together."""
        chance, count = np.random.default_rng(0), 2 * self._wanted_sizes[-1]
        # As large as those that training starts from: larger ones make long series chaotic, and last bits the first.
        shapes = [tuple(part.shape) or (1,) for part in self._network.parameters()]
        parts = [chance.normal(0, shape[-1] ** -0.5, math.prod(shape)) for shape in shapes]
        parameters = np.concatenate(parts).astype(np.float32)
        inputs = chance.normal(0, 1, (count, *self._example)).astype(np.float32)
        return parameters, inputs, chance.integers(0, 2, (count, self._outcome.width)).astype(np.float32)

    def _placed(self, parameters: NDArray[np.float32]) -> torch.Tensor:
        return torch.from_numpy(np.array(parameters, dtype=np.float32)).to(self._device)


def put(network: nn.Module, parameters: NDArray[np.float32]) -> nn.Module:
    """Put a flat array of parameters into a network, and return it."""
    flat = torch.from_numpy(np.array(parameters, dtype=np.float32))
    parts = torch.split(flat, [part.numel() for part in network.parameters()])
    named = zip(network.named_parameters(), parts, strict=True)
    network.load_state_dict({name: part.view(own.shape) for (name, own), part in named})
    return network
