"""One table of a policy file, read key by key; a mistake names its line and the mend."""

from __future__ import annotations

import math
import sys
from pathlib import Path
from typing import Any

from chronodp.errors import InvalidArgument
from chronodp.service.toml_lines import line_of

__all__ = ["Section"]


class Section:
    """A table, where it stands, and which of its keys were read."""

    def __init__(
        self, content: object, path: tuple[str, ...], *, file: Path, lines: dict[tuple[str, ...], int]
    ) -> None:
        self.path, self._file, self._lines = path, file, lines
        if not isinstance(content, dict):
            raise self.wrong("", content, "a table")
        self.content: dict[str, Any] = content
        self._read: set[str] = set()

    def wrong(self, key: str, given: object, allowed: str) -> InvalidArgument:
        """Return the error that points at a key."""
        path = (*self.path, *([key] if key else []))
        line = line_of(self._lines, path)
        place = f"{self._file.name}, line {line}: {'.'.join(path) or 'the file'}"
        return InvalidArgument(place, given, allowed).concealed()  # the line tells where, and nothing is repeated

    def sections(self, key: str) -> dict[str, Section]:
        """Return the tables below a key, by name."""
        return {name: self.below(key).section(name) for name in self.below(key).content}

    def below(self, key: str) -> Section:
        """Return the table of a key; an empty one if it is not there."""
        self._read.add(key)
        return self._child(key, self.content.get(key, {}))

    def section(self, key: str) -> Section:
        """Return the table of a key that is there."""
        self._read.add(key)
        return self._child(key, self.content[key])

    def text(self, key: str, default: str | None = None, *, longest: int = 2000) -> str:
        """Return a text."""
        value = self._value(key, default)
        if value == "" and default == "":
            return ""
        if not isinstance(value, str) or not value.strip() or len(value) > longest or "\x00" in value:
            raise self.wrong(key, value, "a text")
        return value

    def optional_text(self, key: str) -> str | None:
        """Return a text, or None if it is not there."""
        return self.text(key) if key in self.content else None

    def number(self, key: str, default: float | None = None, *, least: float, most: float = math.inf) -> float:
        """Return a number within limits."""
        value = self._value(key, default)
        allowed = f"a number from {least:g} to {most:g}" if most < math.inf else f"a number of at least {least:g}"
        most = min(most, sys.float_info.max)  # TOML has infinities, and whole numbers beyond all floats
        if isinstance(value, bool) or not isinstance(value, int | float) or not least <= value <= most:
            raise self.wrong(key, value, allowed)
        return float(value)

    def whole(self, key: str, default: int | None = None, *, least: int) -> int:
        """Return a whole number."""
        value = self._value(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise self.wrong(key, value, f"a whole number of at least {least}")
        return value

    def truth(self, key: str, default: bool) -> bool:
        """Return true or false."""
        value = self._value(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, value, "true or false")
        return value

    def texts(self, key: str, default: tuple[str, ...], *, of: tuple[str, ...] | None = None) -> tuple[str, ...]:
        """Return a list of texts, each of a known list if there is one."""
        value = self._value(key, default)
        allowed = "a list of texts" if of is None else f"a list made of {', '.join(of)}"
        if not isinstance(value, list | tuple) or not value or not all(isinstance(part, str) for part in value):
            raise self.wrong(key, value, allowed)
        if of is not None and (unknown := [part for part in value if part not in of]):
            raise self.wrong(key, unknown[0], allowed)
        return tuple(value)

    def finish(self) -> None:
        """Raise if there is a key that nothing read."""
        for key in self.content:
            if key not in self._read:
                raise self.wrong(key, self.content[key], f"left out, or one of {', '.join(sorted(self._read))}")

    def value(self, key: str) -> Any:
        """Return whatever stands there; None if nothing does."""
        return self._value(key, None, needed=False)

    def _value(self, key: str, default: Any, *, needed: bool = True) -> Any:
        self._read.add(key)
        if key not in self.content:
            if default is None and needed:
                raise self.wrong(key, None, "given")
            return default
        return self.content[key]

    def _child(self, key: str, content: object) -> Section:
        return Section(content, (*self.path, key), file=self._file, lines=self._lines)
