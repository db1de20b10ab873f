"""Which names may be given: nothing that could mislead whoever reads them in a list."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from chronodp.display import is_visible, shown
from chronodp.errors import InvalidArgument
from chronodp.ledger import Fulfilled, Ledger
from chronodp.ledger.names import check_name
from chronodp.privacy import User
from tests.hostile import HOSTILE, unseen
from tests.ledger.examples import CERTIFICATE, COST


def fulfil(ledger: Ledger, request: str, dataset: str = "meters") -> Fulfilled:
    return ledger.fulfil(
        dataset, request=request, cost=COST, unit=User(), plan="p", source="s", produce=lambda: ("[1]", CERTIFICATE)
    )


def test_letters_digits_and_a_few_signs_make_a_name() -> None:
    for name in ("load-2026-01", "ana/load", "owner:olga/x", "Zähler", "名前", "हिन्दी", "a" * 200, "_x, y"):
        check_name("request", unicodedata.normalize("NFC", name))


def test_whatever_could_mislead_is_no_name() -> None:
    names = [
        *("a\x1b[2J", "a\nb", "a\rb", "a\u202eb", "a\u200bb", "a\u2028b", "a\x9bm", "a\x7fb", "a\u00a0b", "\ufeffa"),
        *("a\u3164", "a\ufe0f", "a\U000e0041", "Za\u0308hler", "\u0301a"),  # unseen letters; not composed
        *("", " a", "a ", "a  b", "a//b", "/a", "a/", "../a", "a/../b", "-rf", "=1+1", "@sum", "+1", "a" * 201),
        *("<b>", "[red]", "a'b", 'a"b', "a;b", "a\\b", "a%00", "a|b", "a`b", "a$b", "😀"),
    ]
    for name in names:
        with pytest.raises(InvalidArgument) as refused:
            check_name("request", name)
        assert refused.value.name == "request", repr(name)
        assert unseen(str(refused.value)) == [], repr(name)


@given(st.text(max_size=30))
@pytest.mark.slow
def test_a_name_is_shown_as_it_is(text: str) -> None:
    assert is_visible(shown(text))
    with suppress(InvalidArgument):
        check_name("request", text)
        assert shown(text) == text
        assert unicodedata.normalize("NFC", text) == text


def test_nothing_is_stored_or_found_under_a_hostile_name(tmp_path: Path) -> None:
    with Ledger(tmp_path / "budget.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        stores: dict[str, Callable[[], object]] = {
            "dataset": lambda: ledger.open(HOSTILE, unit=User(), epsilon=1.0),
            "analyst": lambda: ledger.allot("meters", HOSTILE, epsilon=0.1),
            "request": lambda: fulfil(ledger, HOSTILE),
            "name": lambda: ledger.open_stream("meters", HOSTILE, cost=COST, unit=User(), plan="p", state=b""),
            "dataset of a status": lambda: ledger.status(HOSTILE),
            "name of a stream": lambda: ledger.resume_stream(HOSTILE),
        }
        for argument, store in stores.items():
            with pytest.raises(InvalidArgument) as refused:
                store()
            assert refused.value.name == argument.split()[0]
        with pytest.raises(InvalidArgument, match="request"):
            ledger.check_fits("meters", COST, unit=User(), request=HOSTILE)
        assert ledger.status("meters").charges == 0
        assert ledger.stored.streams() == []
        assert [name for name, _, _ in ledger.budgets()] == ["meters"]
