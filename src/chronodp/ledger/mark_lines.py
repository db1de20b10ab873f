"""Lines of marks, as they are read from a file of them.

What counts is the highest number of each name, in whatever order lines come; one that was cut off says nothing, and
blanks say nothing either.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator, Mapping
from typing import Any

from chronodp.errors import UnknownDocument
from chronodp.reading import parse_json

__all__ = ["content_of", "highest_of", "numbers_of", "parsed_lines", "raise_to"]


def content_of(descriptor: int, size: int) -> bytes:
    """Return what an open file holds, from its beginning."""
    parts, place = [], 0
    while place < size and (part := os.pread(descriptor, size - place, place)):
        parts.append(part)
        place += len(part)
    return b"".join(parts)


def highest_of(content: bytes) -> dict[str, int]:
    """Return the highest number of each counter in a file's content."""
    highest: dict[str, int] = {}
    for line in parsed_lines(content):
        raise_to(highest, numbers_of(line))
    return highest


def parsed_lines(content: bytes) -> Iterator[Any]:
    """Yield what each line says; one that was cut off says nothing.

    Of lines that differ in their last number alone, which nearly all of a long file do, the highest stands for all.
    """
    highest: dict[bytes, int] = {}
    others: dict[bytes, None] = {}
    for bare in content.replace(b"\x00", b"\n").split(b"\n"):  # a failure of power may leave zeros at the end
        line = bare.strip()  # of a line, what is left of the room that was set aside for it
        before, _, number = line.rpartition(b":")
        if number.endswith(b"}}") and number[:-2].isdigit():
            highest[before] = max(int(number[:-2]), highest.get(before, 0))
        elif line:
            others[line] = None
    for line in (*others, *(b"%s:%d}}" % one for one in highest.items())):
        with contextlib.suppress(UnknownDocument):
            yield parse_json(line)


def numbers_of(line: Any) -> dict[str, int]:
    """Return the marks in a line."""
    saw = line.get("saw") if isinstance(line, dict) else None
    return {name: number for name, number in saw.items() if type(number) is int} if isinstance(saw, dict) else {}


def raise_to(highest: dict[str, int], numbers: Mapping[str, int]) -> None:
    """Raise each counter to the number that is given, if it is lower."""
    for name, number in numbers.items():
        highest[name] = max(number, highest.get(name, 0))
