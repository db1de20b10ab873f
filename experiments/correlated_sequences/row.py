"""A row of this paper's table."""

from __future__ import annotations

from functools import partial

from experiments.claims import Claim

__all__ = ["added", "row"]

row = partial(Claim, source="correlated")
added = partial(Claim, source="correlated", origin="ours")
