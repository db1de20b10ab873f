"""Settings in TOML files: a room declares what its file may hold, and this one reader checks it.

A file is declared as data, ``{"name": text(needed=True), "source": table({"path": text()})}``. A key that is not known,
one that is missing and a value of another kind are refused with file, line and key. Nothing of the file is repeated but
its keys: it may be another file than was meant, one with secrets.
"""

from __future__ import annotations

import contextlib
import difflib
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from chronodp.errors import InvalidArgument
from chronodp.reading import check_path, line_of, parse_toml, read_text

__all__ = [
    "Place",
    "Schema",
    "Section",
    "Setting",
    "Settings",
    "anything",
    "each",
    "elsewhere",
    "load_settings",
    "number",
    "options",
    "parse_settings",
    "rows",
    "table",
    "text",
    "texts",
    "truth",
    "whole",
]

_NOWHERE: dict[str, Any] = {"not": {}}  # the JSON Schema of what nothing is
_BARE = re.compile(r"[\w-]+")

Schema: TypeAlias = Mapping[str, Any]


class Place(NamedTuple):
    """Where a key stands. A file has some for each of its keys, and hardly one is told.

    Attributes:
        file: the name of the file.
        text: of the file, in which lines are looked for.
        path: the tables around the key, and the key. Rows of ``[[sinks]]`` are numbered from 0.
    """

    file: str
    text: str
    path: tuple[str | int, ...] = ()

    def below(self, key: str | int) -> Place:
        """Return the place of a key in this table."""
        return Place(self.file, self.text, (*self.path, key))

    def wrong(self, given: object, allowed: str) -> InvalidArgument:
        """Return the refusal of what stands here."""
        return InvalidArgument(str(self), given, allowed).concealed()

    def __repr__(self) -> str:
        return f"Place(file={self.file!r}, path={self.path!r})"

    def __str__(self) -> str:
        shown = [part if _BARE.fullmatch(part) else repr(part) for part in self.path if isinstance(part, str)]
        return f"{self.file}, line {line_of(self.text, self.path)}: {'.'.join(shown) or 'the file'}"


@dataclass(frozen=True, slots=True)
class Setting:
    """What a key may hold.

    Attributes:
        read: returns the value, or raises what is wrong with it.
        missing: what must be given where the key is not there; None if it may be left out.
        default: what stands for it then, as it is read; None leaves it out, and of a table its own defaults stand.
        schema: the same as JSON Schema, for a file's content as JSON; it may let pass what ``read`` refuses.
    """

    read: Callable[[Any, Place], Any]
    missing: str | None = None
    default: Any = None
    schema: Schema = field(default_factory=dict)


Settings: TypeAlias = Mapping[str, Setting]


class Section(Mapping[str, Any]):
    """A table that was checked: its values by key, those left out with their defaults."""

    def __init__(self, values: dict[str, Any], place: Place, known: Iterable[str]) -> None:
        self.place = place
        self._values, self._known = values, frozenset(known)

    def __getitem__(self, key: str) -> Any:
        return self._values[key]

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of a key; most of those that may be left out are."""
        return self._values.get(key, default)

    def __contains__(self, key: object) -> bool:
        return key in self._values

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def wrong(self, key: str, allowed: str) -> InvalidArgument:
        """Return the refusal of what a key holds, or of its absence."""
        return self.place.below(key).wrong(self.get(key), allowed)

    @contextlib.contextmanager
    def pointing(self, *, but: Iterable[str] = ()) -> Iterator[None]:
        """Add file and line to refusals of arguments that are named as one key here or below.

        ``but`` names arguments that came from elsewhere, such as options of a command.
        """
        try:
            yield
        except InvalidArgument as error:
            places = [] if error.name in but else list(self._places(error.name))
            if not places and error.name in self._known and error.name not in but:
                places = [self.place.below(error.name)]
            if len(places) != 1:
                raise
            raise error.renamed(str(places[0])) from None

    def _places(self, key: str) -> Iterator[Place]:
        if key in self._values:
            yield self.place.below(key)
        for value in self._values.values():
            for section in value if isinstance(value, tuple) else (value,):
                if isinstance(section, Section):
                    yield from section._places(key)


def load_settings(argument: str, path: object, settings: Settings) -> Section:
    """Return what a TOML file says, if it is what was declared.

    Args:
        argument: how the caller names the file.
        path: of the file.
        settings: its keys.
    """
    file = check_path(argument, path)
    return _parsed(argument, str(file), read_text(argument, file), settings)


def parse_settings(argument: str, name: str, content: str, settings: Settings) -> Section:
    """Return what a TOML text says, if it is what was declared; ``name`` is what its file is called."""
    return _parsed(argument, name, content, settings)


def _parsed(argument: str, path: str, content: str, settings: Settings) -> Section:
    said = parse_toml(argument, path, content)
    return _read(said, settings, Place(Path(path).name, content))


def text(*, needed: bool | str = False, default: str | None = None, longest: int | None = None) -> Setting:
    """Declare a text; with ``longest``, one that says something within so many letters."""

    def accepts(value: object) -> bool:
        if not isinstance(value, str):
            return False
        return longest is None or value == default or (0 < len(value.strip()) <= len(value) <= longest)

    least = 0 if longest is None or default == "" else 1
    schema = {"type": "string"} if longest is None else {"type": "string", "minLength": least, "maxLength": longest}
    return _kind("a text", lambda value: accepts(value) and "\x00" not in value, needed, default, schema)


def number(
    *, least: float = -math.inf, most: float = math.inf, needed: bool | str = False, default: float | None = None
) -> Setting:
    """Declare a finite number within limits."""
    within = (
        f" from {least:g} to {most:g}" if most < math.inf else f" of at least {least:g}" if least > -math.inf else ""
    )
    # TOML has infinities, and whole numbers beyond all floats.
    lower, upper = max(least, -sys.float_info.max), min(most, sys.float_info.max)
    accepts = _kind(
        f"a number{within}",
        lambda value: isinstance(value, int | float) and not isinstance(value, bool) and lower <= value <= upper,
        needed,
        default,
        {"type": "number", **_limits(least, most)},
    )
    usual = None if default is None else float(default)
    return Setting(lambda value, place: float(accepts.read(value, place)), accepts.missing, usual, accepts.schema)


def whole(*, least: int | None = None, needed: bool | str = False, default: int | None = None) -> Setting:
    """Declare a whole number."""
    words = "a whole number" if least is None else f"a whole number of at least {least}"
    schema = {"type": "integer"} if least is None else {"type": "integer", "minimum": least}
    return _kind(words, lambda value: type(value) is int and (least is None or value >= least), needed, default, schema)


def truth(*, needed: bool | str = False, default: bool | None = None) -> Setting:
    """Declare true or false."""
    return _kind("true or false", lambda value: isinstance(value, bool), needed, default, {"type": "boolean"})


def texts(*, of: tuple[str, ...] | None = None, default: tuple[str, ...] | None = None) -> Setting:
    """Declare a list of texts, each of a known list if there is one; it is read as a tuple."""
    accepts = _kind(
        "a list of texts" if of is None else f"a list made of {', '.join(of)}",
        lambda value: (
            bool(value)
            and isinstance(value, list | tuple)
            and all(isinstance(part, str) and (of is None or part in of) for part in value)
        ),
    )
    one = {"type": "string"} if of is None else {"enum": list(of)}
    schema = {"type": "array", "items": one, "minItems": 1}
    return Setting(lambda value, place: tuple(accepts.read(value, place)), None, default, schema)


def anything(*, needed: bool | str = False, default: Any = None) -> Setting:
    """Declare what its room checks, in words of its own; `Section.pointing` adds the line to them."""
    return _kind("", lambda _value: True, needed, default)


def options(*, needed: bool | str = False) -> Setting:
    """Declare a table that is handed on as it stands."""
    return _kind("a table", lambda value: isinstance(value, dict), needed, schema={"type": "object"})


def table(
    settings: Settings | Callable[[Section], Settings], *, needed: bool = False, default: bool = False
) -> Setting:
    """Declare a table, its keys known, or decided by what it holds; with ``default``, as if empty where it is not."""

    def read(value: Any, place: Place) -> Section:
        if not isinstance(value, dict):
            raise place.wrong(value, f"a table [{_shown(place)}]")
        known = settings(Section(value, place, ())) if callable(settings) else settings
        return _read(value, known, place)

    schema = {"type": "object"} if callable(settings) else _table_schema(settings)
    return Setting(read, "a table [{}]" if needed else None, {} if default else None, schema)


def each(setting: Setting, *, needed: str | None = None) -> Setting:
    """Declare a table whose keys are names, each with the same kind of value; empty where it is not there."""

    def read(value: Any, place: Place) -> Section:
        if not isinstance(value, dict) or (needed is not None and not value):
            raise place.wrong(value, needed or f"a table [{_shown(place)}.NAME] for each")
        return Section({name: setting.read(one, place.below(name)) for name, one in value.items()}, place, ())

    schema = {"type": "object", "additionalProperties": setting.schema}
    return Setting(read, needed, {}, schema if needed is None else {**schema, "minProperties": 1})


def rows(setting: Setting) -> Setting:
    """Declare tables ``[[NAME]]``, any number of them; they are read as a tuple."""

    def read(value: Any, place: Place) -> tuple[Any, ...]:
        if not isinstance(value, list | tuple) or not all(isinstance(one, dict) for one in value):
            raise place.wrong(value, f"tables [[{_shown(place)}]], one for each")
        return tuple(setting.read(one, place.below(number)) for number, one in enumerate(value))

    return Setting(read, None, (), {"type": "array", "items": setting.schema})


def _kind(
    allowed: str,
    accepts: Callable[[Any], bool],
    needed: bool | str = False,
    default: Any = None,
    schema: Schema | None = None,
) -> Setting:
    def read(value: Any, place: Place) -> Any:
        if not accepts(value):
            raise place.wrong(value, allowed)
        return value

    missing = (needed if isinstance(needed, str) else "") if needed else None
    return Setting(read, missing, default, schema or {})


def elsewhere(words: str) -> Setting:
    """Declare a key that people look for here and that is given elsewhere, as the words say; no file may have it."""

    def read(value: Any, place: Place) -> Any:
        raise place.wrong(value, f"left out: {words}")

    return Setting(read, schema=_NOWHERE)


def _limits(least: float, most: float) -> Schema:
    return {name: edge for name, edge in (("minimum", least), ("maximum", most)) if math.isfinite(edge)}


def _table_schema(settings: Settings) -> Schema:
    needed = [key for key, setting in settings.items() if setting.missing is not None]
    schema = {"type": "object", "properties": {key: setting.schema for key, setting in settings.items()}}
    return {**schema, **({"required": needed} if needed else {}), "additionalProperties": False}


def _read(content: dict[str, Any], settings: Settings, place: Place) -> Section:
    held = [key for key, setting in settings.items() if setting.schema != _NOWHERE]
    unknown = {key: difflib.get_close_matches(key, held, n=1) for key in content if key not in settings}
    # A key that is misspelt comes first: it is why another one is missing.
    for key in sorted(unknown, key=lambda key: not unknown[key]):
        if not unknown[key]:
            _check_missing(content, settings, place)
        perhaps = f" (perhaps {unknown[key][0]})" if unknown[key] else ""
        raise place.below(key).wrong(content[key], f"one of {', '.join(held)}{perhaps}")
    _check_missing(content, settings, place)
    values = {}
    for key, setting in settings.items():
        if key in content or isinstance(setting.default, dict):
            values[key] = setting.read(content.get(key, setting.default), place.below(key))
        elif setting.default is not None:
            values[key] = setting.default
    return Section(values, place, held)


def _check_missing(content: dict[str, Any], settings: Settings, place: Place) -> None:
    for key, setting in settings.items():
        if setting.missing is not None and key not in content:
            words = setting.missing.replace("{}", _shown(place.below(key)))
            raise place.below(key).wrong(None, f"given: {words}" if words else "given")


def _shown(place: Place) -> str:
    return ".".join(part for part in place.path if isinstance(part, str))
