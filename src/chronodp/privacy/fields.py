"""Frozen dataclasses keep what was checked: the one place where a field is set after it was given."""

from __future__ import annotations

__all__ = ["settle"]


def settle(record: object, **checked: object) -> None:
    """Let fields of a frozen dataclass hold their checked form, while it is being made.

    One call sets its fields after all of its checks have passed.

    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Clock:
    ...     hours: float
    ...
    ...     def __post_init__(self) -> None:
    ...         settle(self, hours=float(self.hours))
    >>> Clock(3)
    Clock(hours=3.0)
    """
    for name, value in checked.items():
        object.__setattr__(record, name, value)
