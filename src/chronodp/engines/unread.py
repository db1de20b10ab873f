"""How many rows a release cannot read, and why, in words: for the owner alone.

*The owner's line* in ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

from collections.abc import Mapping

from chronodp.engines.question import Question
from chronodp.engines.sources import Source

__all__ = ["unread_text"]

_LACK = {"user": "a name in", "time": "a time that can be read in", "value": "a number in"}


def unread_text(source: Source, question: Question, rows: int, lacking: Mapping[str, int], *, counts: bool) -> str:
    """Return what an owner is told of rows that lack what an argument names, or of which none ``counts``."""
    columns = {"user": question.user, "time": question.time, "value": question.value}
    said = [f"{count:,} without {_LACK[name]} {columns[name]!r}" for name, count in lacking.items() if count]
    left = sum(lacking.values())
    if counts and not left:
        return ""
    text = f"{source}: {rows - left:,} of {rows:,} rows were read"
    text += f", {left:,} left out: {', '.join(said)}" if left else ""
    return text if counts else f"{text}; none counts: look at periods, keys and filter"
