"""On which line of a TOML file each key stands, so that a mistake can be pointed at."""

from __future__ import annotations

import re

__all__ = ["line_of", "toml_lines"]

_HEADER = re.compile(r"^\s*\[{1,2}\s*(?P<path>[^\]]+?)\s*\]{1,2}\s*(#.*)?$")
_KEY = re.compile(r"""^\s*(?P<path>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def toml_lines(text: str) -> dict[tuple[str, ...], int]:
    r"""Return the line, from 1, of every table and key that begins one.

    >>> toml_lines("[datasets.meters]\nepsilon = 4\n")[("datasets", "meters", "epsilon")]
    2
    """
    table: tuple[str, ...] = ()
    found: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            table = _parts(header["path"])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key["path"])), number)
    return found


def line_of(lines: dict[tuple[str, ...], int], path: tuple[str, ...]) -> int:
    """Return the line of a key, or of the nearest table or key around it."""
    while path:
        if path in lines:
            return lines[path]
        below = [line for known, line in lines.items() if known[: len(path)] == path]
        if below:
            return min(below)
        path = path[:-1]
    return 1


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(path))
