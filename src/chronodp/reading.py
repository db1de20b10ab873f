"""Files and texts that others wrote, read without trusting them: whatever is wrong in one is an error of ours.

Python's own readers answer some texts with errors that nobody expects: nesting too deep, numbers too long, half a
letter. JSON, TOML and arrays are read in this one place.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import re
import struct
import tomllib
import zlib
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import Any, NoReturn
from zipfile import BadZipFile

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, UnknownDocument

__all__ = ["check_path", "closed_file", "line_of", "parse_arrays", "parse_json", "parse_toml", "read_text"]


# Complaints of the reader of TOML that repeat a key or a letter of the text.
_REPEATING = ("Cannot ", "Duplicate ", "Illegal character", "Found invalid character")
_DEEPEST_KEY = 32  # parts of a key of TOML, as `a.b.c` has three

# A text or a comment is taken as one mark, closed or not, and never looked at twice: the time stays linear.
_TOML_MARKS = re.compile(
    r'''"""(?:[^"\\]|\\.|"(?!""))*+(?:"{3,5})?|'{3}(?:[^']|'(?!''))*+(?:'{3,5})?'''
    r"""|"(?:[^"\\\n]|\\[^\n])*+"?|'[^'\n]*+'?|\#[^\n]*+|[.\n=,\[\]{}]""",
    re.DOTALL,
)
_BETWEEN_KEYS = "\n=,[]{}"
_HEADER = re.compile(r"^\s*+(?P<brackets>\[{1,2})\s*+(?P<path>[^\]]*[^\]\s])\s*+\]{1,2}\s*(#.*)?$")
_KEY = re.compile(r"""^\s*(?P<path>(?:[\w-]+|"[^"]*"|'[^']*')(?:\s*\.\s*(?:[\w-]+|"[^"]*"|'[^']*'))*)\s*=""")
_PART = re.compile(r"""[\w-]+|"[^"]*"|'[^']*'""")


def parse_json(text: str | bytes) -> Any:
    r"""Return what a JSON text says, if every part of it can be written again.

    NaN, numbers beyond all floats and halves of letters (``"\ud800"``) are none that JSON can carry elsewhere.

    >>> parse_json('{"a": [1, 1e999]}')
    Traceback (most recent call last):
        ...
    chronodp.errors.UnknownDocument: not a JSON document: it holds a number beyond all floats
    """
    try:
        content = json.loads(_decoded(text), parse_float=_finite, parse_constant=_refuse)
        _decoded(json.dumps(content, ensure_ascii=False) if _has_escape(text) else "")
    except (ValueError, RecursionError) as error:
        raise UnknownDocument(f"not a JSON document: {_reason(error)}") from None
    return content


def parse_toml(argument: str, name: str, text: str) -> dict[str, Any]:
    """Return what a TOML text says; ``name`` is what it is called where it is refused."""
    _check_keys(argument, name, text)
    try:
        return tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(argument, name, f"a TOML file ({_reason(error)})", place=True) from None


def _check_keys(argument: str, name: str, text: str) -> None:
    """Refuse keys of many parts: Python's reader takes time and memory by the square of them, and by each line below.

    Up to the first error, where that reader stops, it sees the same texts and comments as are skipped here.
    """
    dots = 0
    for mark in _TOML_MARKS.finditer(text):
        dots = dots + 1 if mark[0] == "." else 0 if mark[0] in _BETWEEN_KEYS else dots
        if dots >= _DEEPEST_KEY:
            allowed = f"a TOML file (a key in it has more than {_DEEPEST_KEY} parts)"
            raise InvalidArgument(argument, name, allowed, place=True)


def line_of(text: str, path: tuple[str | int, ...]) -> int:
    r"""Return the line, from 1, of a key in a TOML text, or of the nearest table or key around it.

    Tables of one name in double brackets are told apart by their number, from 0.

    >>> line_of("[meters]\nepsilon = 4\n[[sinks]]\n[[sinks]]\nkind = 1\n", ("sinks", 1, "kind"))
    5
    """
    lines = _first_lines(text)
    while path:
        if path in lines:
            return lines[path]
        path = path[:-1]
    return 1


def parse_arrays(content: bytes, *names: str) -> list[NDArray[Any]]:
    """Return arrays of an NPZ file by their names, each no larger than the machine can hold."""
    try:
        with np.load(io.BytesIO(content), allow_pickle=False) as found:
            return [found[name] for name in names]
    except (ValueError, KeyError, TypeError, RuntimeError, OSError, EOFError, ArithmeticError, MemoryError) as error:
        raise UnknownDocument(f"not a file of arrays ({type(error).__name__})") from None
    except (BadZipFile, zlib.error, struct.error) as error:
        raise UnknownDocument(f"not a file of arrays ({type(error).__name__})") from None


@contextlib.contextmanager
def closed_file() -> Iterator[None]:
    """Name what is wrong in a file and how to mend it, and repeat nothing of what stands there.

    The file may be another than was meant: one with keys or tokens.
    """
    try:
        yield
    except (InvalidArgument, UnknownDocument) as error:
        raise error.concealed() from None


def check_path(argument: str, path: object) -> Path:
    """Return what names a file or folder, whether it exists or not."""
    if not isinstance(path, str | Path) or "\x00" in str(path):
        raise InvalidArgument(argument, path, "the path of a file or folder")
    return Path(path)


def read_text(argument: str, path: object) -> str:
    """Return the text in a file."""
    try:
        return check_path(argument, path).read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise InvalidArgument(argument, str(path), f"a text file ({_reason(error)})", place=True) from None
    except (OSError, UnicodeEncodeError):
        raise InvalidArgument(argument, str(path), "a file that can be read", place=True) from None


@lru_cache(maxsize=1)  # a long file may be asked about once for each of its tables
def _first_lines(text: str) -> dict[tuple[str | int, ...], int]:
    """Return the first line of every table and key, and of all that stands below it."""
    first: dict[tuple[str | int, ...], int] = {}
    for path, line in _lines_of(text).items():
        for length in range(1, len(path) + 1):
            first[path[:length]] = min(line, first.get(path[:length], line))
    return first


def _lines_of(text: str) -> dict[tuple[str | int, ...], int]:
    """Return the line of every table and key that begins one."""
    table: tuple[str | int, ...] = ()
    newest: dict[tuple[str | int, ...], int] = {}  # which of the tables in double brackets is being written
    found: dict[tuple[str | int, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            *around, last = _parts(header["path"]) or ("",)
            table = ()
            for part in around:
                table = (*table, part)
                table += (newest[table],) if table in newest else ()
            table = (*table, last)
            if header["brackets"] == "[[":
                newest[table] = newest.get(table, -1) + 1
                table = (*table, newest[table])
            found.setdefault(table, number)
        elif key := _KEY.match(line):
            found.setdefault((*table, *_parts(key["path"])), number)
    return found


def _parts(path: str) -> tuple[str, ...]:
    return tuple(part.strip("\"'") for part in _PART.findall(path))


def _decoded(text: str | bytes) -> str:
    if isinstance(text, bytes):
        return text.decode("utf-8")
    text.encode("utf-8")
    return text


def _has_escape(text: str | bytes) -> bool:
    return (b"\\u" if isinstance(text, bytes) else "\\u") in text  # type: ignore[operator]  # each with its own kind


def _finite(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise _BeyondFloatsError
    return number


def _refuse(_word: str) -> NoReturn:
    raise _BeyondFloatsError


class _BeyondFloatsError(ValueError):
    pass


def _reason(error: Exception) -> str:
    """Return what is wrong, in words that hold nothing of the text."""
    match error:
        case json.JSONDecodeError():
            return str(error)
        case tomllib.TOMLDecodeError() if str(error).startswith(_REPEATING):
            place = re.search(r"at line \d+, column \d+|at end of document", str(error))
            return f"a key is given twice, or holds a letter that cannot be ({place.group() if place else 'somewhere'})"
        case tomllib.TOMLDecodeError():
            return str(error)
        case UnicodeError():
            return "it is not UTF-8"
        case _BeyondFloatsError():
            return "it holds a number beyond all floats"
        case RecursionError():
            return "it is nested too deep"
    return "it holds a number or date that cannot be read"
