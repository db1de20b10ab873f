"""Shares as captions print them."""

from __future__ import annotations

__all__ = ["percent"]


def percent(share: float, digits: int = 0) -> str:
    """Return a share as per cent."""
    return f"{100 * share:.{digits}f} %"
