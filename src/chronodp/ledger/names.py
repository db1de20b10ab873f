"""Names of budgets, analysts, requests, streams and tokens: which may be given, and which may be looked up.

A new name holds nothing that could mislead whoever reads it in a list. Names that 0.1.0 took are looked up as they are,
so that a request of then is still answered with the release that was paid for; they are shown escaped.
"""

from __future__ import annotations

import re
import unicodedata

from chronodp.display import is_visible
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_text

__all__ = ["check_account", "check_name", "check_new_name"]

_NAME = "a name of 1 to 200 characters"
_NEW = (
    "a name of 1 to 200 letters, digits and signs among . _ : @ + = , - whose words, parted by one space or one slash, "
    "begin with a letter or a digit"
)
_SIGNS = frozenset("._:@+=,- /")
_BETWEEN = re.compile("[ /]")


def check_name(argument: str, name: object) -> None:
    """Raise unless something of ``name`` could be stored: a budget, an analyst, a request or a stream, of any age."""
    text = check_text(argument, name, _NAME)
    if not text.strip() or len(text) > 200:
        raise InvalidArgument(argument, name, _NAME)


def check_new_name(argument: str, name: object) -> None:
    r"""Raise unless ``name`` may be given to something new.

    Letters and digits are those of every script, composed (NFC), so that what looks the same is mostly the same.

    >>> check_new_name("request", "ana/Zähler 2026-01")
    >>> check_new_name("request", "a\x1b[2J")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    chronodp.errors.InvalidArgument: request must be a name of 1 to 200 letters, ...
    """
    check_name(argument, name)
    text = str(name)
    plain = is_visible(text) and unicodedata.is_normalized("NFC", text)
    known = all(sign in _SIGNS or unicodedata.category(sign)[0] in "LMN" for sign in text)
    if not plain or not known or not all(map(_begins_well, _BETWEEN.split(text))):
        raise InvalidArgument(argument, name, _NEW)


def check_account(dataset: object, analyst: object) -> None:
    """Raise unless a dataset and an analyst, or the empty text for none, can name an account."""
    check_name("dataset", dataset)
    if not isinstance(analyst, str) or analyst:
        check_name("analyst", analyst)


def _begins_well(word: str) -> bool:
    # So no word looks like an option, a formula or a way up through folders, and none is empty.
    return bool(word) and (word[0] == "_" or unicodedata.category(word[0])[0] in "LN")
