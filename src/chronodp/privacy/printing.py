"""How plans, certificates and statements are printed: a label, then its sentences, in lines of one width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill

from chronodp.display import facts_html, shown

__all__ = ["Shown", "counted", "labelled"]

_WIDTH, _INDENT = 79, 13


def counted(number: int, noun: str) -> str:
    """Return so many of something in words.

    >>> counted(1, "period"), counted(8760, "period")
    ('1 period', '8,760 periods')
    """
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def labelled(rows: Iterable[tuple[str, str]]) -> str:
    """Return labels with their texts, wrapped and indented behind the labels; names in them are seen, not obeyed.

    >>> print(labelled([("Protects", "everything of one person"), ("Mechanism", "word " * 20)]))
    Protects     everything of one person
    Mechanism    word word word word word word word word word word word word word
                 word word word word word word word
    """
    return "\n".join(
        fill(shown(f"{_heading(label)} {text}"), _WIDTH, subsequent_indent=" " * _INDENT, break_on_hyphens=False)
        for label, text in rows
    )


def _heading(label: str) -> str:
    return f"{label:<{_INDENT - 1}}" if len(label) < _INDENT else f"{label}:"


class Shown:
    """Something that shows itself by what is public about it: labelled lines, and a list in a notebook."""

    __slots__ = ()

    @property
    def _facts(self) -> Sequence[tuple[str, str]]:
        """Labels with their texts. Nothing that was read from rows."""
        raise NotImplementedError

    def __str__(self) -> str:
        return labelled(self._facts)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return f"<div>{facts_html(self._facts)}</div>"
