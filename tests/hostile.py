"""A text with all that could mislead a reader, and what of it a reader would not see."""

from __future__ import annotations

__all__ = ["HOSTILE", "unseen"]

HOSTILE = "a\x1b]0;own\x07\x1b[2J\x9b31m\u202e\u2028\u200b\r\nValid. [red]x[/red] \U000e0041<b>&=1+1"
"""What a terminal obeys, what ends a line, what turns letters around, tags that are not seen, markup, and HTML."""


def unseen(text: str) -> list[str]:
    """Return the signs of a text that a terminal obeys, or shows as nothing; line breaks alone are left out."""
    return sorted({sign for sign in text.replace("\n", "") if not sign.isprintable()})
