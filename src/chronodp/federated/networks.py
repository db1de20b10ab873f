"""Networks whose layers are plain, so that each person has a gradient of its own, and what is refused of others."""

from __future__ import annotations

import torch
from torch import nn

from chronodp.errors import InvalidArgument

__all__ = ["ConvolutionNetwork", "LinearNetwork", "RecurrentNetwork", "check_layers"]

_MIXES = "it mixes the people of a batch"
_FUSED = "its gradient is computed for all people at once"
_DRAWS = "it draws from torch's own generator"
_REFUSED: tuple[tuple[type[nn.Module], str, str], ...] = (
    (nn.modules.batchnorm._BatchNorm, _MIXES, "nn.GroupNorm or nn.LayerNorm"),
    (nn.modules.instancenorm._InstanceNorm, "it may keep running statistics of people", "nn.GroupNorm"),
    (nn.GRU, _FUSED, "chronodp.federated.networks.RecurrentNetwork or opacus.layers.DPGRU"),
    (nn.LSTM, _FUSED, "opacus.layers.DPLSTM"),
    (nn.RNN, _FUSED, "opacus.layers.DPRNN"),
    (nn.MultiheadAttention, _FUSED, "opacus.layers.DPMultiheadAttention"),
    (nn.modules.dropout._DropoutNd, _DRAWS, "no dropout: the noise of training regularises already"),
)


def check_layers(network: object) -> nn.Module:
    """Return a network if private training can handle every layer of it.

    >>> check_layers(nn.Sequential(nn.Linear(3, 4), nn.Dropout()))                 # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    chronodp.errors.InvalidArgument: network must be free of Dropout at '1': it draws from torch's own generator; ...
    """
    if not isinstance(network, nn.Module):
        raise InvalidArgument("network", network, "a torch.nn.Module", private=True)
    for place, layer in network.named_modules():
        for kind, why, instead in _REFUSED:
            if isinstance(layer, kind):
                allowed = f"free of {type(layer).__name__} at {place or 'the top'!r}: {why}; use {instead}"
                raise InvalidArgument("network", network, allowed, private=True)
        if next(layer.buffers(recurse=False), None) is not None:
            allowed = (
                f"free of buffers such as those of {type(layer).__name__} at {place or 'the top'!r}: they may keep data"
            )
            raise InvalidArgument("network", network, allowed, private=True)
    if next(network.parameters(), None) is None:
        raise InvalidArgument("network", network, "a network with parameters", private=True)
    return network


class LinearNetwork(nn.Module):
    """A weighted sum of all channels of all periods."""

    def __init__(self, channels: int, length: int, width: int) -> None:
        super().__init__()
        self.answer = nn.Linear(length * channels, width)

    def forward(self, series: torch.Tensor) -> torch.Tensor:
        """Return (..., width) for series of the shape (..., periods, channels)."""
        answer: torch.Tensor = self.answer(series.flatten(-2))
        return answer


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
