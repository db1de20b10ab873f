"""A gated recurrent network made of plain linear layers, so that each person has a gradient of its own."""

from __future__ import annotations

import torch
from torch import nn

__all__ = ["RecurrentNetwork"]


class RecurrentNetwork(nn.Module):
    """Reads a stretch period by period into ``hidden`` numbers, and answers from the last of them.

    The equations are those of ``torch.nn.GRU`` with one layer and its gates in the same order; what differs is that
    torch's own cannot tell one person's gradient from another's.

    References:
        Cho et al. (2014), Learning phrase representations using RNN encoder-decoder, section 2.3.
    """

    def __init__(self, channels: int, hidden: int, width: int) -> None:
        super().__init__()
        self.hidden = hidden
        self.entering = nn.Linear(channels, 3 * hidden)
        self.returning = nn.Linear(hidden, 3 * hidden)
        self.answer = nn.Linear(hidden, width)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        """Return (..., width) for series of the shape (..., periods, channels)."""
        state = series.new_zeros((*series.shape[:-2], self.hidden))
        parts = [2 * self.hidden, self.hidden]
        # Whole tensors are taken apart at once: the pass back of a slice would fill and add one of full size a period.
        for new in self.entering(series).unbind(-2):
            new_gates, new_candidate = torch.split(new, parts, -1)
            gates, candidate = torch.split(self.returning(state), parts, -1)
            reset, keep = torch.sigmoid(new_gates + gates).chunk(2, -1)
            fresh = torch.tanh(new_candidate + reset * candidate)
            state = fresh + keep * (state - fresh)
        answer: torch.Tensor = self.answer(state)
        return answer
