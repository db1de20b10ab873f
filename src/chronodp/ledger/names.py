"""Names that both databases can hold."""

from __future__ import annotations

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_text

__all__ = ["check_account", "check_name"]

_NAME = "a name of 1 to 200 characters"


def check_name(argument: str, name: object) -> None:
    """Raise unless ``name`` can name a budget, an analyst, a request or a stream."""
    text = check_text(argument, name, _NAME)
    if not text.strip() or len(text) > 200:
        raise InvalidArgument(argument, name, _NAME)


def check_account(dataset: object, analyst: object) -> None:
    """Raise unless a dataset and an analyst, or the empty text for none, can name an account."""
    check_name("dataset", dataset)
    if not isinstance(analyst, str) or analyst:
        check_name("analyst", analyst)
