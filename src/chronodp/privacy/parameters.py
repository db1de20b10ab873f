"""The public numbers a guarantee is made of, checked once and the same way everywhere."""

from __future__ import annotations

import math
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path, PurePath
from typing import Any, TypeVar

from chronodp.errors import InvalidArgument

__all__ = [
    "check_column",
    "check_delta",
    "check_epsilon",
    "check_flag",
    "check_fraction",
    "check_kind",
    "check_listed",
    "check_number",
    "check_positive",
    "check_table",
    "check_text",
    "check_whole",
    "check_word",
]

Kind = TypeVar("Kind")

_SMALLEST, _LARGEST = 1e-60, 1e60  # ratios of two such numbers, and sums of their squares, stay finite


def check_number(name: str, value: object, allowed: str = "a finite number") -> float:
    """Return ``value`` as a float if it is a finite real number.

    >>> check_number("clip", float("nan"))
    Traceback (most recent call last):
        ...
    chronodp.errors.InvalidArgument: clip must be a finite number; got nan (float)
    """
    if type(value) is float:  # mostly it is, and to ask an abstract class takes longer than all of this
        number = value
    elif isinstance(value, bool) or not isinstance(value, Real):
        raise InvalidArgument(name, value, allowed)
    else:
        try:
            number = float(value)
        except OverflowError:
            raise InvalidArgument(name, value, allowed) from None
    if not math.isfinite(number):
        raise InvalidArgument(name, value, allowed)
    return number


def check_positive(name: str, value: object) -> float:
    """Return ``value`` as a float if it is above zero and neither so small nor so large that its powers overflow."""
    allowed = "a finite number above 0"
    number = check_number(name, value, allowed)
    if number <= 0:
        raise InvalidArgument(name, value, allowed)
    if not _SMALLEST <= number <= _LARGEST:
        raise InvalidArgument(name, value, f"a number from {_SMALLEST:g} to {_LARGEST:g}")
    return number


def check_epsilon(value: object, name: str = "epsilon") -> float:
    """Return a privacy parameter epsilon: finite and above zero.

    >>> check_epsilon(0)
    Traceback (most recent call last):
        ...
    chronodp.errors.InvalidArgument: epsilon must be a finite number above 0; got 0 (int)
    """
    return check_positive(name, value)


def check_fraction(name: str, value: object) -> float:
    """Return ``value`` as a float if it lies strictly between 0 and 1."""
    allowed = "a number strictly between 0 and 1"
    number = check_number(name, value, allowed)
    if not 0 < number < 1:
        raise InvalidArgument(name, value, allowed)
    return number


def check_delta(value: object, name: str = "delta") -> float:
    """Return a failure probability delta: at least 0 (a pure guarantee) and below 1."""
    allowed = "a number from 0 (pure) up to but below 1"
    number = check_number(name, value, allowed)
    if not 0 <= number < 1:
        raise InvalidArgument(name, value, allowed)
    return number


def check_whole(name: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """Return ``value`` as an int if it is a whole number from ``least`` to ``most``."""
    if type(value) is int and value >= least and (most is None or value <= most):
        return value
    allowed = f"a whole number from {least} to {most}" if most is not None else f"a whole number of at least {least}"
    if isinstance(value, bool) or not isinstance(value, Integral):
        raise InvalidArgument(name, value, allowed)
    number = int(value)
    if number < least or (most is not None and number > most):
        raise InvalidArgument(name, number, allowed)
    return number


def check_text(name: str, value: object, allowed: str = "a text", *, private: bool = False) -> str:
    """Return ``value`` if it is a text that files, databases and networks can carry: no NUL, no half of a letter."""
    halves = isinstance(value, str) and not value.isascii() and any("\ud800" <= one <= "\udfff" for one in value)
    if not isinstance(value, str) or "\x00" in value or halves:
        raise InvalidArgument(name, value, allowed, private=private)
    return value


def check_path(value: object, allowed: str = "where a file stands, as a text or a Path") -> Path:
    """Return the place of a file, if that is what ``value`` says."""
    if not isinstance(value, str | PurePath) or not str(value) or "\x00" in str(value):
        raise InvalidArgument("path", value, allowed)
    return Path(value)


def check_word(name: str, value: object, words: tuple[str, ...]) -> str:
    """Return ``value`` if it is one of several words."""
    if not isinstance(value, str) or value not in words:
        raise InvalidArgument(name, value, f"{', '.join(map(repr, words[:-1]))} or {words[-1]!r}")
    return value


def check_table(name: str, value: object, allowed: str) -> Mapping[Any, Any]:
    """Return ``value`` if it is a table of things by their names."""
    if not isinstance(value, Mapping):
        raise InvalidArgument(name, value, allowed, private=True)
    return value


def check_column(name: str, value: object) -> str:
    """Return ``value`` if it can name a column."""
    if not isinstance(value, str) or not value:
        raise InvalidArgument(name, value, "the name of a column")
    return value


def check_kind(name: str, value: object, kind: type[Kind], allowed: str) -> Kind:
    """Return ``value`` if it is a thing of a kind."""
    if not isinstance(value, kind):
        raise InvalidArgument(name, value, allowed, private=True)
    return value


def check_listed(name: str, value: object, kind: type[Kind], allowed: str) -> tuple[Kind, ...]:
    """Return the things of a kind in a list or tuple."""
    if not isinstance(value, list | tuple) or not all(isinstance(one, kind) for one in value):
        raise InvalidArgument(name, value, allowed, private=True)
    return tuple(value)


def check_flag(name: str, value: object) -> bool:
    """Return ``value`` if it is True or False."""
    if not isinstance(value, bool):
        raise InvalidArgument(name, value, "True or False")
    return value
