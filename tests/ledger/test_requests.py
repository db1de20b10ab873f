from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from chronodp import Event, User
from chronodp.errors import (
    BudgetConflict,
    BudgetExhausted,
    CertificateInvalid,
    InvalidArgument,
    LedgerUnavailable,
    RequestConflict,
)
from chronodp.ledger import Keys, Ledger, Link, SignedLink, verify, verify_chain
from chronodp.ledger.keyfile import create_keys, read_keys
from chronodp.privacy import Certificate, PureCost
from tests.conftest import SCALE
from tests.ledger.examples import CERTIFICATE, COST, fulfil


def test_a_request_is_drawn_once_and_returned_ever_after(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)
    first = fulfil(ledger, "january", text="first draw")
    again = fulfil(ledger, "january", text="second draw")
    assert (first.repeated, again.repeated) == (False, True)
    assert again.release == first.release == "first draw"
    assert again.signed == first.signed
    assert ledger.status("meters").charges == 1
    for other in ({"plan": "other"}, {"source": "other"}):
        with pytest.raises(RequestConflict, match="another plan, source or cost"):
            fulfil(ledger, "january", **other)
    assert ledger.status("meters").charges == 1


def test_what_is_refused_leaves_no_trace(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=0.2)
    fulfil(ledger, "january")
    with pytest.raises(BudgetExhausted):
        fulfil(ledger, "february")
    assert ledger.status("meters").unreleased == ()
    assert len(ledger.chain("meters")) == 1


def test_a_release_that_fails_after_its_debit_is_listed_and_never_drawn_again(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)

    def fails() -> tuple[str, Certificate]:
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        fulfil(ledger, "x", produce=fails)
    status = ledger.status("meters")
    assert status.unreleased == ("x",)
    assert status.charges == 1
    assert "Debited but never released: x" in str(status)
    with pytest.raises(RequestConflict, match="debited and never released"):
        fulfil(ledger, "x", produce=fails)
    assert ledger.status("meters").charges == 1


@pytest.mark.parametrize(
    "certificate",
    [
        None,
        replace(CERTIFICATE, claim=replace(CERTIFICATE.claim, cost=PureCost(0.01))),
        replace(
            CERTIFICATE,
            claim=replace(CERTIFICATE.claim, unit=Event()),
            guarantee=replace(CERTIFICATE.guarantee, unit=Event()),
        ),
    ],
    ids=["none", "another cost", "another unit"],
)
def test_only_what_was_debited_is_signed(ledger: Ledger, certificate: Any) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)
    with pytest.raises(InvalidArgument, match="certificate must be"):
        fulfil(ledger, "x", produce=lambda: ("r", certificate))
    assert ledger.chain("meters") == []
    assert ledger.status("meters").unreleased == ("x",)
    for wrong in ({"plan": 3}, {"source": None}, {"request": ""}):
        arguments: dict[str, Any] = {"request": "y", "plan": "p", "source": "s", **wrong}
        with pytest.raises(InvalidArgument):
            ledger.fulfil("meters", cost=COST, unit=User(), produce=lambda: ("r", CERTIFICATE), **arguments)
    assert ledger.status("meters").charges == 1


def test_closing_a_budget_does_not_lose_a_release_under_way(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)

    def closes() -> tuple[str, Certificate]:
        ledger.close("meters")
        return "drawn", CERTIFICATE

    made = fulfil(ledger, "x", produce=closes)
    assert made.release == "drawn"
    assert len(ledger.chain("meters")) == 1
    with pytest.raises(BudgetConflict, match="closed"):
        fulfil(ledger, "y")


def test_certificates_verify_offline_and_chains_show_every_change(ledger: Ledger) -> None:
    ledger.open("meters", unit=User(), epsilon=1.0)
    releases = [fulfil(ledger, name, text=name) for name in ("a", "b", "c")]
    export = json.loads(json.dumps(ledger.export("meters")))
    chain = [SignedLink(**link) for link in export["links"]]
    key, head = export["public_key"], export["head"]
    links = verify_chain(chain, key, head=head)
    assert [link.request for link in links] == ["a", "b", "c"]
    assert verify(chain[0], key, release="a").certificate == CERTIFICATE

    other = Keys.create()
    forged = SignedLink(chain[0].body.replace("0.125", "0.025"), chain[0].signature)
    resigned = SignedLink(forged.body, other.sign(forged.body.encode()))
    strangers = SignedLink(chain[0].body.replace('"meters"', '"others"'), "")
    strangers = SignedLink(strangers.body, ledger.keys.sign(strangers.body.encode()))
    for changed, message in (
        ([forged, *chain[1:]], "link 1: the signature does not match"),
        ([resigned, *chain[1:]], "link 1: the signature does not match"),
        (chain[1:], "link 1 is numbered 2: a link before it is missing"),
        ([chain[0], chain[2]], "link 2 is numbered 3: a link before it is missing"),
        ([chain[1], chain[0], chain[2]], "link 1 is numbered 2"),
        ([chain[0], chain[0], chain[1]], "link 2 is numbered 1: a link is repeated or out of order"),
        ([chain[0], strangers], "link 2 is of another dataset's chain: it was added"),
    ):
        with pytest.raises(CertificateInvalid, match=message):
            verify_chain(changed, key)
    with pytest.raises(CertificateInvalid, match="newer links are missing"):
        verify_chain(chain[:2], key, head=head)
    with pytest.raises(CertificateInvalid, match="signature does not match"):
        verify(chain[0], other.public)
    with pytest.raises(CertificateInvalid, match="belongs to another release"):
        verify(chain[0], key, release=releases[1].release)
    with pytest.raises(InvalidArgument, match="public_key must be an Ed25519 public key"):
        verify(chain[0], "abc")


def test_an_exchanged_link_is_noticed(tmp_path: Path) -> None:
    """Two live copies of one ledger, keys and all: a link of one does not fit the other's chain."""
    with Ledger(tmp_path / "one.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        public = ledger.public_key
    shutil.copy(tmp_path / "one.db", tmp_path / "two.db")
    shutil.copy(tmp_path / "one.db.keys", tmp_path / "two.db.keys")
    chains = []
    for name in ("one", "two"):
        with Ledger(tmp_path / f"{name}.db") as ledger:
            for request in ("a", "b"):
                fulfil(ledger, request, text=name + request)
            chains.append(ledger.chain("meters"))
    with pytest.raises(CertificateInvalid, match="link 2 does not follow link 1"):
        verify_chain([chains[0][0], chains[1][1]], public)


@pytest.mark.slow
def test_any_flipped_bit_is_noticed(tmp_path: Path) -> None:
    with Ledger(tmp_path / "b.db") as ledger:
        ledger.open("meters", unit=User(), epsilon=1.0)
        signed = fulfil(ledger, "a").signed
        public = ledger.keys.public
    for field in ("body", "signature"):
        text = getattr(signed, field)
        for place in range(len(text)):
            for bit in range(7) if SCALE >= 1 else [place % 7]:
                flipped = text[:place] + chr(ord(text[place]) ^ (1 << bit)) + text[place + 1 :]
                parts = {"body": signed.body, "signature": signed.signature, field: flipped}
                with pytest.raises(CertificateInvalid):
                    verify(SignedLink(**parts), public)


def test_links_that_are_no_links(tmp_path: Path) -> None:
    keys = Keys.create()
    for body in ("{}", "[]", "x", '{"kind":"user","relation":"add_remove"}', '{ "kind": "link" }'):
        with pytest.raises(CertificateInvalid, match="not a certificate"):
            verify(SignedLink(body, keys.sign(body.encode())), keys.public)
    link = Link("d", 1, "0" * 64, "r", 5, "0" * 64, "never", CERTIFICATE)
    loose = json.dumps(json.loads(SignedLink(_dump(link), "").body), indent=1)
    with pytest.raises(CertificateInvalid, match="canonical"):
        verify(SignedLink(loose, keys.sign(loose.encode())), keys.public)
    (tmp_path / "keys").write_text("not keys")
    with pytest.raises(LedgerUnavailable, match="does not hold a ledger's keys"):
        read_keys(tmp_path / "keys")


def _dump(link: Link) -> str:
    from chronodp.privacy import dump

    return dump(link)


def test_keys_are_kept_from_others_and_out_of_print(tmp_path: Path) -> None:
    file = create_keys(tmp_path / "keys", "an id")
    assert read_keys(tmp_path / "keys") == file
    assert create_keys(tmp_path / "keys", "another id") == file
    assert (file.ledger, file.used) == ("an id", False)
    keys = file.keys
    assert (tmp_path / "keys").stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["keys"]
    assert keys.signing.hex() not in repr(keys)
    assert "signing" not in repr(keys)
    with pytest.raises(LedgerUnavailable, match="was changed, or sealed with other keys"):
        Keys.create().unseal(keys.seal(b"secret", "here"), "here")
    with pytest.raises(LedgerUnavailable, match="sealed state of there"):
        keys.unseal(keys.seal(b"secret", "here"), "there")
