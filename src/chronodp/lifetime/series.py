"""To come."""

from __future__ import annotations


class LifetimeSeries:
    """To come."""
