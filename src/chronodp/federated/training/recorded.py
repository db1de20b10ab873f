"""Each person's gradient from one pass through a network whose weights all people share.

A linear layer's output is y = W x + b, so that a person's gradient of W is the sum of (∂loss/∂y) xᵀ over the calls and
periods of that person. One pass forward keeps every x and y, one pass back finds every ∂loss/∂y, and one product a
layer adds up by person. Nothing is copied for each person but the result.

It holds only where all parameters lie in linear layers and no operation of the network reaches over people, which
is read off the networks of this package (`NETWORKS`); others go by `chronodp.federated.training.copied`.
"""

from __future__ import annotations

import copy

import torch
from torch import nn

from chronodp.federated.models import Outcome, slope_of
from chronodp.federated.networks import ConvolutionNetwork, LinearNetwork, RecurrentNetwork

__all__ = ["NETWORKS", "RecordedPasses"]

_FEW = 3  # periods up to which products of vectors take less time than those of matrices
NETWORKS: tuple[type[nn.Module], ...] = (LinearNetwork, ConvolutionNetwork, RecurrentNetwork)


class RecordedPasses:
    """Gradients of a group, one row a person, of a network in `NETWORKS`.

    Args:
        network: whose copy is run; its own parameters are not touched.
        outcome: what it predicts.
        device: where it is run.
    """

    def __init__(self, network: nn.Module, outcome: Outcome, device: torch.device) -> None:
        self._network = copy.deepcopy(network).to(device).requires_grad_(False)
        if device.type == "cuda":  # the thread of passes back would warn if a product were the first thing it does
            one = torch.ones(1, device=device, requires_grad=True)
            torch.autograd.grad(one.square(), one)
        self._outcome = outcome
        self._size = sum(part.numel() for part in self._network.parameters())
        self._flat = torch.zeros(self._size, dtype=torch.float32, device=device)
        places, first = {}, 0
        for name, part in self._network.named_parameters():
            places[name] = first
            part.data = self._flat[first : first + part.numel()].view(part.shape)
            first += part.numel()
        self._layers = [
            _Layer(layer, weight=places[f"{name}.weight"], bias=places[f"{name}.bias"])
            for name, layer in self._network.named_modules()
            if isinstance(layer, nn.Linear)
        ]

    def put(self, parameters: torch.Tensor) -> None:
        """Take a flat array of parameters for the groups that follow."""
        self._flat.copy_(parameters)

    def gradients(self, series: torch.Tensor, wanted: torch.Tensor) -> torch.Tensor:
        """Return (people, parameters)."""
        for layer in self._layers:
            layer.calls.clear()
        answers = self._network(series)
        outputs = [output for layer in self._layers for _, output in layer.calls]
        slopes = iter(torch.autograd.grad(answers, outputs, slope_of(self._outcome, answers.detach(), wanted)))
        found = torch.empty((len(series), self._size), dtype=torch.float32, device=series.device)
        for layer in self._layers:
            layer.add_up([next(slopes) for _ in layer.calls], found)
        return found


class _Layer:
    """A linear layer, where its weights and biases stand among all, and what went in and came out of it."""

    def __init__(self, layer: nn.Linear, *, weight: int, bias: int) -> None:
        self._shape, self._weight, self._bias = layer.weight.shape, weight, bias
        self.calls: list[tuple[torch.Tensor, torch.Tensor]] = []
        layer.register_forward_hook(self._record)

    def _record(self, _: nn.Module, inputs: tuple[torch.Tensor], output: torch.Tensor) -> torch.Tensor:
        if not output.requires_grad:  # nothing before it has parameters: the pass back ends here
            output = output.detach().requires_grad_()
        self.calls.append((inputs[0].detach(), output))
        return output

    def add_up(self, slopes: list[torch.Tensor], found: torch.Tensor) -> None:
        """Write this layer's part of everybody's gradient."""
        people, (width, reach) = len(found), self._shape
        weights = found[:, self._weight : self._weight + width * reach].view(people, width, reach)
        biases = found[:, self._bias : self._bias + width]
        entered = _by_person([entered for entered, _ in self.calls])
        slope = _by_person(slopes)
        if entered.shape[1] > _FEW:
            weights.copy_(torch.bmm(slope.transpose(1, 2), entered))  # into a slice, a product takes ten times as long
        else:
            torch.mul(slope[:, 0].unsqueeze(2), entered[:, 0].unsqueeze(1), out=weights)
            for period in range(1, entered.shape[1]):
                weights.addcmul_(slope[:, period].unsqueeze(2), entered[:, period].unsqueeze(1))
        torch.sum(slope, 1, out=biases)


def _by_person(calls: list[torch.Tensor]) -> torch.Tensor:
    """Return (people, periods, numbers) of a layer that was called once for all periods, or once for each."""
    if len(calls) > 1:
        return torch.stack(calls, 1)
    return calls[0] if calls[0].dim() == 3 else calls[0].unsqueeze(1)
