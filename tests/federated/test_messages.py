"""Messages that were changed, replayed, forged or come from elsewhere, and servers that lie."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from chronodp.errors import FederationError, MessageRefused, ServerInconsistent
from chronodp.federated.aggregation import AggregationClient, AggregationServer, Phase
from chronodp.federated.aggregation.envelope import seal
from chronodp.federated.aggregation.wire import pack, pack_pairs, unpack, unpack_pairs
from tests.conftest import Trials
from tests.federated.crowd import Meeting, PeopleIndex


def flipped(message: bytes, bit: int) -> bytes:
    changed = bytearray(message)
    changed[bit // 8] ^= 1 << bit % 8
    return bytes(changed)


@pytest.mark.parametrize("phase", list(Phase))
def test_a_server_refuses_a_message_with_any_bit_changed(phase: Phase, trials: Trials) -> None:
    meeting = Meeting(PeopleIndex(3))
    meeting.go_to(phase)
    message = meeting.answer("h01")
    bits = np.random.default_rng(1).permutation(8 * len(message))[: trials(8 * len(message), least=400)]
    for bit in bits.tolist():
        with pytest.raises(MessageRefused):
            meeting.server.receive(flipped(message, bit))
    for length in (0, 10, 200, len(message) - 1):
        with pytest.raises(MessageRefused):
            meeting.server.receive(message[:length])
    with pytest.raises(MessageRefused):
        meeting.server.receive(message + b"\0")
    assert meeting.server.receive(message) == "h01"


@pytest.mark.parametrize("phase", [Phase.SHARE, Phase.MASK, Phase.CONSENT, Phase.UNMASK])
def test_a_client_refuses_what_it_is_told_with_any_bit_changed(phase: Phase) -> None:
    meeting = Meeting(PeopleIndex(3))
    meeting.go_to(phase)
    told = meeting.server.told("h01")
    kept = dict(vars(meeting.clients["h01"]))
    random = np.random.default_rng(2)
    for bit in random.permutation(8 * len(told))[:300].tolist():
        client = meeting.clients["h01"]
        vars(client).update({key: dict(value) if isinstance(value, dict) else value for key, value in kept.items()})
        with pytest.raises(FederationError):
            meeting.answer("h01", flipped(told, bit))
        assert client._next is None


def test_letters_of_its_own_or_for_another_holder_are_refused() -> None:
    meeting = Meeting(PeopleIndex(3))
    meeting.go_to(Phase.MASK)
    letters = unpack_pairs(meeting.server.told("h01"))
    with pytest.raises(ServerInconsistent, match="to itself"):
        meeting.answer("h01", pack_pairs({**letters, "h01": letters["h00"]}))
    meeting = Meeting(PeopleIndex(4))
    meeting.go_to(Phase.MASK)
    letters = unpack_pairs(meeting.server.told("h01"))
    swapped = {**letters, "h00": letters["h02"], "h02": letters["h00"]}
    with pytest.raises(MessageRefused, match="a letter of h00 to h01 was forged"):
        meeting.answer("h01", pack_pairs(swapped))


def test_messages_of_elsewhere_and_second_words_are_refused() -> None:
    crowd = PeopleIndex(3)
    server = AggregationServer(crowd.terms, crowd.context)
    for change, said in (
        ({"round_number": 2}, "another round: 2, not 3"),
        ({"attempt": 0}, "another attempt: 0, not 1"),
        ({"parameters": b"\1" * 32}, "another model: its sender started from other parameters"),
    ):
        message = crowd.client("h00", replace(crowd.context, **change)).advertise()
        with pytest.raises(MessageRefused, match=said):
            server.receive(message)
    other = replace(crowd.terms, threshold=2)
    stranger = AggregationClient(crowd.identities["h00"], "h00", other, replace(crowd.context, run=other.digest))
    with pytest.raises(MessageRefused, match="another run, or of a run with other terms"):
        server.receive(stranger.advertise())
    forged = seal(crowd.identities["h01"], "h00", crowd.context, Phase.ADVERTISE, bytes(96))
    with pytest.raises(MessageRefused, match="h00 was forged or changed"):
        server.receive(forged)
    nobody = seal(crowd.identities["h01"], "h99", crowd.context, Phase.ADVERTISE, bytes(96))
    with pytest.raises(MessageRefused, match="not in the roster"):
        server.receive(nobody)
    crowd = PeopleIndex(3)
    server = AggregationServer(crowd.terms, crowd.context)
    server.receive(crowd.client("h00").advertise())
    with pytest.raises(MessageRefused, match="said something else before"):
        server.receive(crowd.client("h00").advertise())


def test_contents_of_the_wrong_kind_are_refused() -> None:
    crowd = PeopleIndex(3)
    cases = {
        Phase.ADVERTISE: [b"", bytes(95)],
        Phase.SHARE: [b"", pack_pairs({"h01": bytes(82)}), pack_pairs({"h01": bytes(82), "h02": bytes(81)}), b"\0"],
        Phase.MASK: [b"", bytes(19), bytes(24)],
        Phase.CONSENT: [b"", bytes(32)],
        Phase.UNMASK: [
            b"",
            pack_pairs(dict.fromkeys(crowd.terms.names, b"s" + b"\xff" * 33)),
            pack_pairs({"h00": b"s"}),
        ],
    }
    for phase, contents in cases.items():
        meeting = Meeting(crowd)
        meeting.go_to(phase)
        for content in contents:
            with pytest.raises(MessageRefused):
                meeting.server.receive(seal(crowd.identities["h00"], "h00", crowd.context, phase, content))
    assert unpack(pack([b"", b"abc"])) == [b"", b"abc"]
    for wrong in (b"\0", b"\0\0\0\5abc", pack([b"a"]) + b"\0\0"):
        with pytest.raises(MessageRefused):
            unpack(wrong)
    for pairs in ([b"b", b"", b"a", b""], [b"a"], [b"a", b"", b"a", b""], [b"\xff", b""]):
        with pytest.raises(MessageRefused):
            unpack_pairs(pack(pairs))


def test_a_server_that_lies_about_survivors_gets_no_share() -> None:
    """Told to half of them that h00 fell out and to the rest that it did not, no client reveals anything."""
    crowd = PeopleIndex(8, threshold=6)
    meeting = Meeting(crowd)
    meeting.go_to(Phase.CONSENT)
    names = crowd.terms.names
    everyone = pack(name.encode() for name in names)
    without = pack(name.encode() for name in names if name != "h00")
    signed = {name: meeting.answer(name, without if name in names[4:] else everyone) for name in names}
    meeting.server.phase = Phase.UNMASK
    half = {"all": names[:4], "some": names[4:]}
    for group, others in ((half["all"], half["some"]), (half["some"], half["all"])):
        attempts = [dict(zip(group, (signed[name] for name in group), strict=True)), signed]
        attempts.append({name: signed[name] for name in (*group, *others[:2])})
        for attempt, name in zip(attempts, group, strict=False):
            with pytest.raises(ServerInconsistent):
                meeting.answer(name, pack_pairs(attempt))


def test_a_server_that_follows_gets_exactly_one_share_of_each() -> None:
    crowd = PeopleIndex(5, threshold=3)
    meeting = Meeting(crowd)
    meeting.go_to(Phase.UNMASK, silent=frozenset({"h04"}))
    revealed = unpack_pairs(
        meeting.answer("h00")[len(seal(crowd.identities["h00"], "h00", crowd.context, Phase.UNMASK, b"")) :]
    )
    assert {name: text[:1] for name, text in revealed.items()} == {
        **dict.fromkeys(("h00", "h01", "h02", "h03"), b"s"),
        "h04": b"k",
    }
    assert all(len(text) == 34 for text in revealed.values())
    with pytest.raises(FederationError):
        meeting.answer("h00")


def test_a_server_cannot_swap_keys_or_leave_holders_out() -> None:
    crowd = PeopleIndex(4)
    for change, said in (
        (lambda known, _: {**known, "h02": known["h03"]}, "passed a message of h03 off as one of h02"),
        (lambda known, other: {**known, "h01": other}, "keys that are not their holders' own"),
        (lambda known, _: {name: known[name] for name in ("h01", "h02")}, "fewer than 3"),
        (lambda known, _: {name: known[name] for name in ("h00", "h02", "h03")}, "leaves out h01"),
    ):
        meeting = Meeting(crowd)
        meeting.go_to(Phase.SHARE)
        known = unpack_pairs(meeting.server.told("h01"))
        told = change(known, crowd.client("h01").advertise())
        with pytest.raises(ServerInconsistent, match=said):
            meeting.answer("h01", pack_pairs(told))
