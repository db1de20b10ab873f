"""Which layers leave each person a gradient of its own, and what to use in place of the others."""

from __future__ import annotations

from torch import nn

from chronodp.errors import InvalidArgument

__all__ = ["check_layers"]

_MIXES = "it mixes the people of a batch"
_FUSED = "its gradient is computed for all people at once"
_DRAWS = "it draws from torch's own generator"
_REFUSED: tuple[tuple[type[nn.Module], str, str], ...] = (
    (nn.modules.batchnorm._BatchNorm, _MIXES, "nn.GroupNorm or nn.LayerNorm"),
    (nn.modules.instancenorm._InstanceNorm, "it may keep running statistics of people", "nn.GroupNorm"),
    (nn.GRU, _FUSED, "chronodp.federated.models.recurrent.RecurrentNetwork or opacus.layers.DPGRU"),
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
