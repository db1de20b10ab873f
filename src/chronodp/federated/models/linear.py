"""The baseline: one weight for every number of the stretch."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["LinearNetwork"]


class LinearNetwork(nn.Module):
    """A weighted sum of all channels of all periods."""

    def __init__(self, channels: int, length: int, width: int) -> None:
        super().__init__()
        self.answer = nn.Linear(length * channels, width)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        """Return (..., width) for series of the shape (..., periods, channels)."""
        answer: torch.Tensor = self.answer(series.flatten(-2))
        return answer
