"""What one of those who are protected is called: a person, unless the owner says otherwise."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from chronodp.errors import InvalidArgument
from chronodp.privacy.units.base import Unit

__all__ = ["PERSON", "check_called", "uncalled"]

PERSON = "person"
_LONGEST = 40

Kind = TypeVar("Kind", bound=Unit)


def check_called(called: object) -> None:
    """Refuse what is no short name for one of those protected."""
    if called is None:
        return
    allowed = f"a short name for one of those protected, such as 'aircraft' (letters, digits, spaces; up to {_LONGEST})"
    if not isinstance(called, str) or not 0 < len(called) <= _LONGEST or called != called.strip():
        raise InvalidArgument("called", called, allowed)
    if not all(letter.isalnum() or letter in " -'" for letter in called):
        raise InvalidArgument("called", called, allowed)


def uncalled(unit: Kind) -> Kind:
    """Return a unit without the name of those protected: budgets compare units without it."""
    return unit if unit.called is None else replace(unit, called=None)  # type: ignore[type-var]  # such units are dataclasses
