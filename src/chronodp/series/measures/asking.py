"""How a measure is asked for, described once beside it: for the API, the command line, policies and the page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

from chronodp.series.measures.base import Measure

__all__ = ["Argument", "Asking"]

Kind: TypeAlias = Literal["column", "clip", "clips", "edges", "fractions", "whole", "word", "length", "number", "truth"]


@dataclass(frozen=True, slots=True)
class Argument:
    """One thing that is said beside the kind of a measure.

    Attributes:
        name: of it, in JSON, as an option of commands and as a field of the page.
        kind: a column's name, two numbers in order, these alone or for each key of a column, a list of ascending
            numbers, or of such fractions, a whole number from 1 on, one of some words, a length of time such as 7D, a
            number above 0, or true or false.
        about: what it says; empty where its kind says all.
        default: what it is where it is left out.
        needed: whether it must be said.
        on_page: whether the page's form has it.
        words: those that it may be, the one first that the page offers first.
        found: whether a private step can find it, so that it may be left out.
    """

    name: str
    kind: Kind
    about: str = ""
    default: int | None = None
    needed: bool = True
    on_page: bool = True
    words: tuple[str, ...] = ()
    found: bool = False


@dataclass(frozen=True, slots=True)
class Asking:
    """A kind of question about each period.

    Attributes:
        kind: its name in JSON, commands and policies.
        title: its name on the page.
        about: what is asked, in a sentence.
        arguments: what must or may be said beside it.
        make: the measure, from the arguments by name.
    """

    kind: str
    title: str
    about: str
    arguments: tuple[Argument, ...]
    make: Callable[..., Measure]
