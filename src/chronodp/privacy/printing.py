"""How plans, certificates and statements are printed: a label, then its sentences, in lines of one width."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from textwrap import fill

from chronodp.display import facts_html, shown

__all__ = ["Shown", "counted", "labelled"]

_WIDTH, _INDENT, _WIDEST = 79, 13, 17


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
    told = list(rows)
    indent = min(_WIDEST, max([_INDENT, *(len(label) + 1 for label, _ in told)]))
    return "\n".join(
        fill(shown(f"{label:<{indent - 1}} {text}"), _WIDTH, subsequent_indent=" " * indent, break_on_hyphens=False)
        for label, text in told
    )


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
