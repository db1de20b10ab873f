"""What an owner says about how a table's cells are written, where that is not the default."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from chronodp.engines.reading.grammar import EPOCHS, Format, parse_format
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_kind, check_word, document

__all__ = ["Reading", "check_reading"]

Encoding: TypeAlias = Literal["utf-8", "latin-1", "utf-16"]


@document("reading")
@dataclass(frozen=True, slots=True)
class Reading:
    """How cells are written. It is part of the plan: declared before any data is read, and told in the certificate.

    Args:
        time_format: how times are written that are stored as texts or numbers: 'iso' (2026-01-31T12:00, with or without
            an offset), a unit 's', 'ms', 'us' or 'ns' of numbers counted from 1970 UTC, or a pattern such as
            '%d.%m.%Y %H:%M', or '%Y%m%d', which also reads whole numbers such as 20260131 by their digits.
        decimal: the sign before the fraction of numbers that are stored as texts.
        separator: between the fields of a CSV file; None if the first line shall decide.
        encoding: of a CSV file.
        line_breaks: whether fields of a CSV file in double quotes may hold line breaks. Then one quote that is never
            closed takes other people's rows with it, so the promise holds only for files in which every quote closes.

    >>> print(Reading(time_format="%d.%m.%Y", decimal=","))
    times as %d.%m.%Y, numbers with a decimal ','
    """

    time_format: str = "iso"
    decimal: str = "."
    separator: str | None = None
    encoding: Encoding = "utf-8"
    line_breaks: bool = False

    def __post_init__(self) -> None:
        check_kind("time_format", self.time_format, str, "a text")
        if self.time_format != "iso" and self.time_format not in EPOCHS:
            parse_format(self.time_format)
        check_word("decimal", self.decimal, (".", ","))
        check_word("encoding", self.encoding, ("utf-8", "latin-1", "utf-16"))
        check_kind("line_breaks", self.line_breaks, bool, "True or False")
        if self.separator is not None and (
            not isinstance(self.separator, str)
            or len(self.separator) != 1
            or not self.separator.isascii()
            or self.separator.isalnum()
            or self.separator in '"\r\n\0'
        ):
            raise InvalidArgument("separator", self.separator, "one sign such as ',', ';', '|' or a tab")
        if self.separator is not None and self.separator == self.decimal:
            raise InvalidArgument("separator", self.separator, "another sign than the decimal one")

    @property
    def epoch(self) -> int | None:
        """Nanoseconds of one unit, where times are numbers counted from 1970."""
        return EPOCHS.get(self.time_format)

    @property
    def numbered(self) -> bool:
        """Whether times may be stored as numbers: counted from 1970, or with the digits of a date."""
        return self.time_format != "iso"

    @property
    def format(self) -> Format | None:
        """The pattern of times, where there is one."""
        return None if self.time_format == "iso" or self.time_format in EPOCHS else parse_format(self.time_format)

    def __str__(self) -> str:
        words = {
            "time_format": f"times in {self.time_format} since 1970" if self.epoch else f"times as {self.time_format}",
            "decimal": f"numbers with a decimal {self.decimal!r}",
            "separator": f"fields separated by {self.separator!r}",
            "encoding": f"text in {self.encoding}",
            "line_breaks": "line breaks inside quotes (assuming that every quote closes)",
        }
        changed = [words[part.name] for part in fields(self) if getattr(self, part.name) != part.default]
        return ", ".join(changed) or "cells as they are by default"


def check_reading(value: object) -> Reading:
    """Return ``value`` if it is a `Reading`; None stands for the default."""
    return Reading() if value is None else check_kind("reading", value, Reading, "Reading(...)")
