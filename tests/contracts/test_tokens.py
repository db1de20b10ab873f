"""Tokens have one form, and open what they were given out for."""

from __future__ import annotations

import hashlib
import hmac
import re
from pathlib import Path

import pytest
from tests.service.town import write_policy

from chronodp import tokens
from chronodp.errors import NotSignedIn
from chronodp.ledger.accounts import now
from chronodp.service.curator import Curator
from chronodp.service.policy_file import read_policy
from chronodp.service.tokens import add_token, check_token

FORM = re.compile(r"cdp_[0-9a-f]{12}_[\w-]{43}")
TOKEN = "cdp_5f0c3a9be172_Jm0Gk1tqUOV3oHjVx0b3cXQ9mE5TzYl2sWc7aNfR8Ik"
DIGEST = "a314525f9161ca2de8537daadcb04d8ec0f347c40cf46764b59e7134c231ae68"


def test_a_digest_is_kept_of_a_token() -> None:
    assert tokens.digest_of(TOKEN) == DIGEST == hashlib.sha256(TOKEN.encode()).hexdigest()
    assert tokens.matches(TOKEN, DIGEST)
    assert not tokens.matches(TOKEN, None)
    assert not tokens.matches(TOKEN, DIGEST[:-1] + "x")
    assert not tokens.matches("\ud800", DIGEST)


def test_a_new_token_is_told_once() -> None:
    made = tokens.issue()
    assert FORM.fullmatch(made.token)
    assert (tokens.id_of(made.token), made.digest) == (made.id, tokens.digest_of(made.token))
    assert made.token not in repr(made)
    assert tokens.issue().token != made.token
    assert tokens.id_of("of another form") == ""


def test_tokens_end_when_their_days_are_over() -> None:
    ends = tokens.expiry(0.5, since=1_000)
    assert ends == 1_000 + 43_200_000_000
    assert not tokens.has_expired(ends, now=ends - 1)
    assert tokens.has_expired(ends, now=ends)
    assert not tokens.has_expired(tokens.expiry(1))


def test_every_comparison_takes_its_whole_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    compare = hmac.compare_digest

    def counted(first: bytes, second: bytes) -> bool:
        compared.append((first, second))
        return compare(first, second)

    made = tokens.issue()
    monkeypatch.setattr(hmac, "compare_digest", counted)
    assert tokens.matches(made.token, made.digest)
    assert len(compared) == 1
    assert not tokens.matches(made.token, None)
    assert len(compared) == 2


def test_the_services_tokens_are_known_by_their_digest(tmp_path: Path) -> None:
    curator = Curator(read_policy(write_policy(tmp_path)), str(tmp_path / "budget.db"))
    with curator.store.transaction() as transaction:
        transaction.run(
            "INSERT INTO service_tokens (id, digest, name, role, made, expires) VALUES (?, ?, ?, ?, ?, ?)",
            ("5f0c3a9be172", DIGEST, "ana", "analyst", 0, now() + 10**9),
        )
    assert check_token(curator.store, TOKEN).name == "ana"
    made = add_token(curator.store, "ben", "analyst")
    assert FORM.fullmatch(made)
    assert check_token(curator.store, made).name == "ben"
    for wrong in (TOKEN[:-1], TOKEN[17:], "", "cdp__"):
        with pytest.raises(NotSignedIn):
            check_token(curator.store, wrong)
    curator.close()
