"""A temporal convolution: causal filters, each layer looking twice as far back as the one before."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["ConvolutionNetwork"]


class ConvolutionNetwork(nn.Module):
    """Causal, dilated convolutions with a way around each, and an answer from the last period.

    A layer l looks (kernel - 1) 2^l periods back. Nothing is normalised over a batch.

    References:
        Bai, Kolter, Koltun (2018), An empirical evaluation of generic convolutional and recurrent networks.
    """

    def __init__(self, channels: int, features: int, layers: int, kernel: int, width: int) -> None:
        super().__init__()
        self.enter = nn.Linear(channels, features)
        self.filters = nn.ModuleList(nn.Linear(kernel * features, features) for _ in range(layers))
        self.kernel = kernel
        self.answer = nn.Linear(features, width)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        """Return (..., width) for series of the shape (..., periods, channels).

        What no layer hands on to the answer is not computed: a layer needs every second period of the one before, as
        seen from the last, and few of them.
        """
        reach = (self.kernel - 1) * (2 ** len(self.filters) - 1)
        state = self.enter(series[..., -1 - reach :, :].contiguous())  # products of slices take longer
        for look in self.filters:
            known, reach = state.shape[-2], (reach - self.kernel + 1) // 2
            seen = torch.relu(look(self._past(state, 2 * reach + self.kernel)))
            kept = slice(-min(reach + 1, (known + 1) // 2), None)  # no period before the first has a state
            state = state[..., (known - 1) % 2 :: 2, :][..., kept, :] + seen[..., kept, :]
        answer: torch.Tensor = self.answer(state[..., -1, :])
        return answer

    def _past(self, state: torch.Tensor, periods: int) -> torch.Tensor:
        """Return every second of the last periods beside those just before it, zeros before the first."""
        lacking = max(0, periods - state.shape[-2])
        zeros = state.new_zeros((*state.shape[:-2], lacking, state.shape[-1]))
        whole = torch.cat([zeros, state], dim=-2)[..., -periods:, :]
        newest = self.kernel - 1
        return torch.cat([whole[..., newest - back : periods - back : 2, :] for back in range(self.kernel)], dim=-1)
