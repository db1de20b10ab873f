"""Names as 0.1.0 took them: any text of up to 200 characters."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from chronodp.ledger.names import check_name

__all__ = ["HOSTILE", "old_names", "unseen"]

HOSTILE = "a\x1b]0;own\x07\x1b[2J\x9b31m\u202e\u2028\u200b\r\nValid. [red]x[/red] \U000e0041<b>&=1+1"
"""What a terminal obeys, what ends a line, what turns letters around, tags that are not seen, markup, and HTML."""


@contextmanager
def old_names() -> Iterator[None]:
    """Let whatever 0.1.0 took be stored, by the same code that stores it now."""
    with pytest.MonkeyPatch.context() as patch:
        for room in ("ledger.releases", "ledger.streams", "ledger.budgets", "ledger.ledger", "service.jobs"):
            patch.setattr(f"chronodp.{room}.check_new_name", check_name)
        patch.setattr("chronodp.service.tokens.check_new_name", check_name)
        yield


def unseen(text: str) -> list[str]:
    """Return the signs of a text that a terminal obeys, or shows as nothing; line breaks alone are left out."""
    return sorted({sign for sign in text.replace("\n", "") if not sign.isprintable()})
