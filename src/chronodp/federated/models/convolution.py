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
        """Return (..., width) for series of the shape (..., periods, channels)."""
        state = self.enter(series)
        for layer, look in enumerate(self.filters):
            state = state + torch.relu(look(self._past(state, 2**layer)))
        answer: torch.Tensor = self.answer(state[..., -1, :])
        return answer

    def _past(self, state: torch.Tensor, apart: int) -> torch.Tensor:
        """Return each period beside those that lie 1, 2, ... times ``apart`` before it, zeros before the first."""
        periods = state.shape[-2]
        parts = [state]
        for back in range(apart, apart * self.kernel, apart):
            lacking = min(back, periods)
            zeros = state.new_zeros((*state.shape[:-2], lacking, state.shape[-1]))
            parts.append(torch.cat([zeros, state[..., : periods - lacking, :]], dim=-2))
        return torch.cat(parts, dim=-1)
