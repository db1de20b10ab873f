"""Names and texts that both databases can hold."""

from __future__ import annotations

from chronodp.errors import InvalidArgument

__all__ = ["check_account", "check_name", "check_text"]


def check_name(argument: str, name: object) -> None:
    """Raise unless ``name`` can name a budget, an analyst, a request or a stream."""
    if not _storable(name) or not str(name).strip() or len(str(name)) > 200:
        raise InvalidArgument(argument, name, "a name of 1 to 200 characters")


def check_account(dataset: object, analyst: object) -> None:
    """Raise unless a dataset and an analyst, or the empty text for none, can name an account."""
    check_name("dataset", dataset)
    if not isinstance(analyst, str) or analyst:
        check_name("analyst", analyst)


def check_text(argument: str, text: object) -> None:
    """Raise unless ``text`` is a text that both databases can hold."""
    if not _storable(text):
        raise InvalidArgument(argument, text, "a text", private=True)


def _storable(text: object) -> bool:
    """Whether it is a text that both databases hold: no NUL, and no half of a pair of UTF-16."""
    if not isinstance(text, str) or "\x00" in text:
        return False
    return text.isascii() or not any("\ud800" <= sign <= "\udfff" for sign in text)
