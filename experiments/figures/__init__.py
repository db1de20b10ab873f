"""Figures of the papers over their whole range: as data, and drawn as HTML, SVG and CSV."""

from __future__ import annotations

from experiments.figures.figure import Curve, Figure, Level, Panel, Stated

__all__ = ["Curve", "Figure", "Level", "Panel", "Stated"]
