"""Text that others wrote, as it is shown: on terminals, in logs, on pages and in messages.

Names, ids, keys and words of files may hold what a terminal obeys instead of showing (ESC), what ends a line, and what
turns the order of letters around (U+202E). Whatever stands for itself is shown as it is; the rest is escaped.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from html import escape
from typing import Any

__all__ = ["amount", "facts_html", "in_json", "is_visible", "scrolled", "shown", "shown_html", "shown_lines"]

# Letters and marks by their category, of which nothing is seen: fillers, joiners and selectors of variants.
_UNSEEN = re.compile("[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]")


def amount(number: float, digits: int = 4) -> str:
    """Return a number as people write it: so many digits that count, thousands apart, powers of ten at the far ends.

    >>> amount(75512.3), amount(8.98722), amount(0.00012345), amount(1.5e20)
    ('75,510', '8.987', '0.0001234', '1.5e+20')
    """
    short = f"{number:.{digits}g}"
    if "e" not in short:
        whole, dot, part = short.partition(".")
        return f"{int(whole):,}{dot}{part}" if len(whole.lstrip("-")) > 3 else short
    size = abs(number)
    return f"{float(short):,.0f}" if 1 <= size < 1e15 else short


def is_visible(text: str) -> bool:
    """Return whether every sign of a text stands for itself: no control, format, line-break or unseen sign."""
    return text.isprintable() and (text.isascii() or not _UNSEEN.search(text))


def shown(text: object) -> str:
    r"""Return a text that is seen and not obeyed, on one line: what does not stand for itself is escaped.

    >>> shown("café \x1b[2J\u202e\n")
    'café \\x1b[2J\\u202e\\n'
    """
    words = str(text)
    return words if is_visible(words) else "".join(map(_escaped, words))


def shown_lines(text: object) -> str:
    """Return a text of ours, whose line breaks are meant: every line of it is seen and not obeyed."""
    return "\n".join(map(shown, str(text).split("\n")))


def shown_html(text: object) -> str:
    """Return the same for HTML.

    >>> shown_html("<b>")
    '&lt;b&gt;'
    """
    return escape(shown(text))


def facts_html(facts: Iterable[tuple[str, str]]) -> str:
    """Return labels with their texts as a list for a notebook."""
    return f"<ul>{''.join(f'<li><b>{shown_html(label)}</b>: {shown_html(text)}</li>' for label, text in facts)}</ul>"


def scrolled(table: str) -> str:
    """Return HTML of a table that keeps within the page, however wide it is, and goes by keyboard too."""
    return f'<div style="overflow-x:auto" tabindex="0">{table}</div>'


def in_json(content: Any, *, indent: int | None = None) -> str:
    r"""Return JSON that a terminal can show, and that reads back the same: what is not visible is escaped in it.

    >>> in_json({"name": "café\u202e\x9b"})
    '{"name": "café\\u202e\\u009b"}'
    """
    text = json.dumps(content, ensure_ascii=False, indent=indent)
    return text if is_visible(text) else "".join(sign if sign == "\n" else _coded(sign) for sign in text)


def _escaped(sign: str) -> str:
    if is_visible(sign):
        return sign
    # As Python writes it, which leaves letters alone that are not seen.
    return repr(sign)[1:-1] if not sign.isprintable() else _coded(sign)


def _coded(sign: str) -> str:
    return sign if is_visible(sign) else json.dumps(sign)[1:-1]
