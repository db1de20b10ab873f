"""Names of budgets, analysts, requests, streams and tokens: nothing in them could mislead whoever reads a list."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from chronodp.display import is_visible
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_text

__all__ = ["check_account", "check_name"]

_ALLOWED = (
    "a name of 1 to 200 letters, digits and signs among . _ : @ + = , - whose words, parted by one space or one slash, "
    "begin with a letter or a digit"
)
_SIGNS = frozenset("._:@+=,- /")
_BETWEEN = re.compile("[ /]")


def check_name(argument: str, name: object) -> None:
    r"""Raise unless ``name`` may be that of a budget, an analyst, a request, a stream or a token.

    Letters and digits are those of every script, composed (NFC), so that what looks the same is mostly the same.

    >>> check_name("request", "ana/Zähler 2026-01")
    >>> check_name("request", "a\x1b[2J")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    chronodp.errors.InvalidArgument: request must be a name of 1 to 200 letters, ...
    """
    if not _is_name(check_text(argument, name, _ALLOWED)):
        raise InvalidArgument(argument, name, _ALLOWED)


def check_account(dataset: object, analyst: object) -> None:
    """Raise unless a dataset and an analyst, or the empty text for none, can name an account."""
    check_name("dataset", dataset)
    if not isinstance(analyst, str) or analyst:
        check_name("analyst", analyst)


@lru_cache(maxsize=4096)  # every debit names the same few
def _is_name(text: str) -> bool:
    if not 0 < len(text) <= 200 or not is_visible(text) or not unicodedata.is_normalized("NFC", text):
        return False
    known = all(sign in _SIGNS or unicodedata.category(sign)[0] in "LMN" for sign in text)
    return known and all(map(_begins_well, _BETWEEN.split(text)))


def _begins_well(word: str) -> bool:
    # So no word looks like an option, a formula or a way up through folders, and none is empty.
    return bool(word) and (word[0] == "_" or unicodedata.category(word[0])[0] in "LN")
