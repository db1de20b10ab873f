"""What options of a question say in texts: keys of columns, clips of keys, derived columns, lists of numbers."""

from __future__ import annotations

from chronodp.errors import InvalidArgument

__all__ = ["read_clips", "read_derived", "read_groups", "read_numbers"]


def read_groups(by: object) -> dict[str, list[object]]:
    """Return the keys of each column, from texts such as region=north,south or as a file has them."""
    if isinstance(by, dict):
        return by
    groups: dict[str, list[object]] = {}
    for text in by if isinstance(by, list | tuple) else []:
        column, _, keys = str(text).partition("=")
        if not column or not keys:
            raise InvalidArgument("by", text, "a column and its keys, such as region=north,south")
        groups[column] = list(keys.split(","))
    return groups


def read_clips(given: object) -> object:
    """Return the clip of each key, from texts such as north=0,50 or as a file has them."""
    if not isinstance(given, list | tuple):
        return given
    clips: dict[str, tuple[float, ...]] = {}
    for text in given:
        key, _, ends = str(text).rpartition("=")
        if not key or key in clips:
            raise InvalidArgument("clip_of", text, "a key, once, and its least and most, such as north=0,50")
        clips[key] = read_numbers("clip_of", ends)
    return clips


def read_derived(columns: object) -> dict[str, str]:
    """Return columns that are made of others, from texts such as late='dep_delay > 15' or as a file has them."""
    if isinstance(columns, dict):
        return columns
    derived: dict[str, str] = {}
    for text in columns if isinstance(columns, list | tuple) else []:
        name, _, expression = str(text).partition("=")
        name = name.strip()
        if not name or not expression or name in derived:
            raise InvalidArgument("column", text, "a name, once, and an expression, such as late='dep_delay > 15'")
        derived[name] = expression
    return derived


def read_numbers(name: str, text: object) -> tuple[float, ...]:
    """Return numbers, from a text such as 0.1,0.5,0.9 or as a file has them."""
    if isinstance(text, tuple):
        return text
    try:
        return tuple(float(part) for part in str(text).split(","))
    except ValueError:
        raise InvalidArgument(name, text, "numbers with commas between them, such as 0.1,0.5,0.9") from None
