"""A stored release as what it is: numbers of each period, or quantiles of each."""

from __future__ import annotations

from chronodp.ledger import SignedLink
from chronodp.privacy import text_kind
from chronodp.series.quantiles.release import QuantileRelease
from chronodp.series.release import Release

__all__ = ["open_release"]


def open_release(text: str, signed: SignedLink, *, parts: tuple[bytes, ...] = ()) -> Release | QuantileRelease:
    """Return what a text releases, by its kind; what is neither is refused where it is read."""
    if text_kind(text) == "quantiles":
        return QuantileRelease(text, signed, parts=parts)
    return Release(text, signed, parts=parts)
