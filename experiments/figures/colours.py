"""The house's colours, in the light and in the dark, as ``chronodp/report/house.css`` names them."""

from __future__ import annotations

from typing import Literal

__all__ = ["DARK", "LIGHT", "Colour"]

Colour = Literal["sheet", "ink", "soft", "rule", "line-1", "line-2", "line-3", "line-4", "line-5", "line-6"]

LIGHT: dict[Colour, str] = {
    "sheet": "#ffffff",
    "ink": "#1d2329",
    "soft": "#56616c",
    "rule": "#dfe3e7",
    "line-1": "#0072b2",
    "line-2": "#d55e00",
    "line-3": "#00855f",
    "line-4": "#b8578c",
    "line-5": "#a87400",
    "line-6": "#2b8cc4",
}
DARK: dict[Colour, str] = {
    "sheet": "#1a2027",
    "ink": "#e6eaee",
    "soft": "#a3aeb9",
    "rule": "#313a44",
    "line-1": "#4ea1dc",
    "line-2": "#f08a4b",
    "line-3": "#2fc195",
    "line-4": "#e39cc4",
    "line-5": "#e6ac2c",
    "line-6": "#a3d8f4",
}
