"""Named computations that readings are made of, and broken twins that put in their place must turn some verdict.

A claim's reading calls computations; each call is looked up late, so that a twin reaches every reading that uses it.
Results are kept by their arguments together with the names of all computations that went into them: while one is
broken, only what does not rest on it is taken from what was kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np

from experiments.claims.values import Heights, Pair

__all__ = ["Twin", "broken", "computation", "computations", "inverted", "mapped", "rooted", "scaled", "squared", "used"]

P = ParamSpec("P")
R = TypeVar("R")

Twin = Callable[[Callable[..., Any]], Callable[..., Any]]


@dataclass
class _Computation:
    name: str
    function: Callable[..., Any]
    twins: Mapping[str, Twin]
    kept: dict[Any, tuple[Any, frozenset[str]]] = field(default_factory=dict)
    rests: set[str] = field(default_factory=set)  # the names of all that went into any result


_ALL: dict[str, _Computation] = {}
_UNDER_WAY: list[set[str]] = []


def computation(**twins: Twin) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Return a decorator that names a computation and gives it broken twins, by default those that scale its result."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        name = f"{function.__module__.removeprefix('experiments.')}.{function.__name__}"
        one = _ALL[name] = _Computation(name, function, twins or dict(_DEFAULT))

        @wraps(function)
        def call(*args: P.args, **kwargs: P.kwargs) -> R:
            key = _key(args, kwargs)
            try:
                kept = one.kept.get(key)
            except TypeError:  # arguments that cannot be a key: computed anew
                key, kept = None, None
            if kept is None:
                _UNDER_WAY.append({name})
                try:
                    result = one.function(*args, **kwargs)
                finally:
                    names = frozenset(_UNDER_WAY.pop())
                kept = (result, names)
                if key is not None:
                    one.kept[key] = kept
                    one.rests |= names
            if _UNDER_WAY:
                _UNDER_WAY[-1].update(kept[1])
            result_: R = kept[0]
            return result_

        return call

    return decorate


def computations() -> dict[str, Mapping[str, Twin]]:
    """Return the names of all computations, each with its twins."""
    return {name: one.twins for name, one in _ALL.items()}


@contextmanager
def used() -> Iterator[set[str]]:
    """Collect the names of the computations that are called inside."""
    _UNDER_WAY.append(set())
    try:
        yield _UNDER_WAY[-1]
    finally:
        names = _UNDER_WAY.pop()
        if _UNDER_WAY:
            _UNDER_WAY[-1].update(names)


@contextmanager
def broken(name: str, twin: Twin) -> Iterator[None]:
    """Put a twin in the place of a computation for a while."""
    whole = {other: one.kept for other, one in _ALL.items()}
    function = _ALL[name].function
    for one in _ALL.values():
        rests = name in one.rests
        one.kept = {key: kept for key, kept in one.kept.items() if name not in kept[1]} if rests else dict(one.kept)
    # What a twin changes is the whole function's result, and that may be known.
    _ALL[name].function = twin(_remembering(function, whole[name]))
    try:
        yield
    finally:
        _ALL[name].function = function
        for other, one in _ALL.items():
            one.kept = whole.get(other, {})


def _remembering(function: Callable[..., Any], kept: Mapping[Any, tuple[Any, frozenset[str]]]) -> Callable[..., Any]:
    def known(*args: Any, **kwargs: Any) -> Any:
        try:
            found = kept.get(_key(args, kwargs))
        except TypeError:
            found = None
        if found is None:
            return function(*args, **kwargs)
        _UNDER_WAY[-1].update(found[1])
        return found[0]

    return known


def _key(args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> Any:
    return args, tuple(sorted(kwargs.items()))


def mapped(change: Callable[[float], float]) -> Twin:
    """Return a twin that changes every number of the result; truth values are turned round."""

    def twin(function: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *args, **kwargs: _changed(function(*args, **kwargs), change)

    return twin


def _changed(value: Any, change: Callable[[float], float]) -> Any:
    match value:
        case bool() | np.bool_():
            return not value
        case int() | float() | np.number():
            return change(float(value))
        case np.ndarray():
            return np.vectorize(change, otypes=[float])(value) if value.dtype != bool else ~value
        case Pair():
            return replace(value, found=change(value.found))
        case Heights():
            return Heights(value.places, [change(height) for height in value.heights])
        case dict():
            return {key: _changed(one, change) for key, one in value.items()}
        case tuple() | list():
            return type(value)([_changed(one, change) for one in value])
        case _:
            raise TypeError(f"no twin for a result of type {type(value).__name__}: give the computation its own")


def scaled(factor: float) -> Twin:
    """Return a twin whose numbers are so many times too large."""
    return mapped(lambda number: factor * number)


rooted = mapped(lambda number: abs(number) ** 0.5)
squared = mapped(lambda number: number * number)
inverted = mapped(lambda number: 1 / number if number else 0.0)

_DEFAULT: dict[str, Twin] = {
    "ten times": scaled(10.0),
    "a tenth": scaled(0.1),
    "root": rooted,
    "square": squared,
    "inverse": inverted,
    "other sign": scaled(-1.0),
}
