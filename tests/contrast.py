"""How well colours can be told apart, as WCAG 2 defines it: 3:1 is asked of whatever has to be seen and is no text."""

from __future__ import annotations

import re

__all__ = ["contrast"]


def contrast(one: str, other: str) -> float:
    """Return the ratio of two opaque colours, each as a browser computes it.

    >>> round(contrast("rgb(0, 0, 0)", "rgb(255, 255, 255)"), 9)
    21.0
    """
    dark, light = sorted((_luminance(one), _luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: str) -> float:
    found = re.fullmatch(r"rgb\((\d+), (\d+), (\d+)\)", colour)
    if found is None:
        raise ValueError(f"not an opaque colour: {colour}")
    parts = [int(part) / 255 for part in found.groups()]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]
