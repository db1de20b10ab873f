"""Each person's gradient from a copy of the parameters of its own: the way for any network whose layers are allowed.

`torch.func.vmap` runs the network for one person at a time, whatever its operations are; a layer becomes a product of
small matrices for each person, which takes longer than `chronodp.federated.training.recorded`.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.func import functional_call, vmap

from chronodp.federated.models import Outcome, loss_of

__all__ = ["CopiedPasses"]


class CopiedPasses:
    """Gradients of a group, one row a person, of any network.

    Args:
        network: what is run; its own parameters are not touched.
        outcome: what it predicts.
    """

    def __init__(self, network: nn.Module, outcome: Outcome) -> None:
        self._outcome = outcome
        self._shapes = {name: part.shape for name, part in network.named_parameters()}
        self._placed: dict[str, torch.Tensor] = {}
        self._answers = vmap(lambda parameters, series: functional_call(network, parameters, (series,)))

    def put(self, parameters: torch.Tensor) -> None:
        """Take a flat array of parameters for the groups that follow."""
        parts = torch.split(parameters, [shape.numel() for shape in self._shapes.values()])
        self._placed = {name: part.view(shape) for (name, shape), part in zip(self._shapes.items(), parts, strict=True)}

    def gradients(self, series: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Return (people, parameters)."""
        people = len(series)
        # Each person gets parameters of its own, equal at the start: the gradient of the sum falls apart by person.
        own = {name: part.expand(people, *part.shape).clone().requires_grad_() for name, part in self._placed.items()}
        losses = loss_of(self._outcome, self._answers(own, series), wanted)
        found = torch.autograd.grad(losses.sum(), list(own.values()))
        return torch.cat([part.reshape(people, -1) for part in found], 1)
