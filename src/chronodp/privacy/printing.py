"""How plans, certificates and statements are printed: a label, then its sentences, in lines of one width."""

from __future__ import annotations

from collections.abc import Iterable
from textwrap import fill

__all__ = ["labelled"]

_WIDTH, _INDENT = 79, 13


def labelled(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels with their texts, wrapped and indented behind the labels.

    >>> print(labelled([("Protects", "everything of one person"), ("Unprotected", "word " * 20)]))
    Protects     everything of one person
    Unprotected  word word word word word word word word word word word word word
                 word word word word word word word
    """
    return "\n".join(
        fill(f"{label:<{_INDENT - 1}} {text}", _WIDTH, subsequent_indent=" " * _INDENT, break_on_hyphens=False)
        for label, text in rows
    )
