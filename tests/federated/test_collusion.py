"""Servers that lie, alone or with holders: what they get from us, and from a mutant that believes them."""

from __future__ import annotations

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from chronodp.errors import ServerInconsistent
from chronodp.federated.aggregation import AggregationClient, Phase
from chronodp.federated.aggregation.agreement import exchange, mask_key, own_mask_key
from chronodp.federated.aggregation.content import MASK_KEY, OWN_SEED, read_reveals
from chronodp.federated.aggregation.envelope import HEADER_BYTES
from chronodp.federated.aggregation.masks import RingSum, RingVector
from chronodp.federated.aggregation.shamir import join, weights_at_zero
from chronodp.federated.aggregation.wire import pack, pack_pairs
from tests.federated.crowd import Meeting, PeopleIndex

Shares = dict[str, dict[bytes, dict[str, int]]]  # by owner, by kind of secret, by who holds the share


class Spy:
    """A server that keeps all that it sees, and rebuilds every secret of which it has enough shares."""

    def __init__(self, crowd: PeopleIndex) -> None:
        self.meeting = Meeting(crowd)
        self.crowd = crowd
        self.shares: Shares = {name: {MASK_KEY: {}, OWN_SEED: {}} for name in crowd.terms.names}
        self.masked: dict[str, RingVector] = {}

    def collect_masked(self) -> None:
        self.meeting.go_to(Phase.MASK)
        for name in self.crowd.terms.names:
            message = self.meeting.answer(name)
            self.masked[name] = np.frombuffer(message[HEADER_BYTES:], "<u4")
            self.meeting.server.receive(message)
        self.meeting.server.advance()

    def take(self, holder: str, message: bytes) -> None:
        for owner, (kind, share) in read_reveals(message[HEADER_BYTES:]).items():
            self.shares[owner][kind][holder] = share

    def corrupt(self, holder: str) -> None:
        """A holder that works with the server hands over all shares it was given."""
        for owner, pair in self.meeting.clients[holder]._shares.items():
            self.shares[owner][MASK_KEY][holder] = pair.mask_key
            self.shares[owner][OWN_SEED][holder] = pair.own_seed

    def secret(self, owner: str, kind: bytes) -> bytes | None:
        held, points = self.shares[owner][kind], self.crowd.terms.points
        chosen = sorted(held)[: self.crowd.terms.threshold]
        if len(chosen) < self.crowd.terms.threshold:
            return None
        return join([held[name] for name in chosen], weights_at_zero([points[name] for name in chosen])).to_bytes(
            32, "big"
        )

    def sum_of(self, group: tuple[str, ...]) -> list[int] | None:
        """The sum over a group, if all masks on it can be taken off."""
        crowd = self.crowd
        total = RingSum(crowd.terms.size, crowd.terms.bits)
        for name in group:
            seed = self.secret(name, OWN_SEED)
            if seed is None:
                return None
            total.add(self.masked[name])
            total.subtract_mask(own_mask_key(seed, crowd.context, name))
            for other in set(crowd.terms.names) - set(group):
                one, two = (self.secret(who, MASK_KEY) for who in (other, name))
                if one is not None:
                    shared = exchange(
                        X25519PrivateKey.from_private_bytes(one), self.meeting.server._keys_of(name).masks
                    )
                elif two is not None:
                    shared = exchange(
                        X25519PrivateKey.from_private_bytes(two), self.meeting.server._keys_of(other).masks
                    )
                else:
                    return None
                key = mask_key(shared, crowd.context, name, other)
                (total.subtract_mask if name < other else total.add_mask)(key)
        return [int(value) for value in total.value]


class BelievesServer(AggregationClient):
    """A mutant that reveals shares without asking whether others were told of the same survivors."""

    def unmask(self, told: bytes) -> bytes:
        del told
        reveals = {
            name: OWN_SEED + pair.own_seed.to_bytes(33, "big")
            if name in self._survivors
            else MASK_KEY + pair.mask_key.to_bytes(33, "big")
            for name, pair in self._shares.items()
        }
        return self._end(Phase.UNMASK, pack_pairs(reveals))


# Everyone is told of three survivors, itself among them; yet three holders each call h02, h03 and h04 lost.
LIES = {
    "h00": ("h00", "h01", "h02"),
    "h01": ("h00", "h01", "h03"),
    "h02": ("h00", "h01", "h02"),
    "h03": ("h00", "h01", "h03"),
    "h04": ("h00", "h01", "h04"),
}


def test_without_consent_a_lying_server_gets_a_sum_of_two_where_three_are_the_least() -> None:
    crowd = PeopleIndex(5, threshold=3)
    spy = Spy(crowd)
    spy.meeting.clients = {
        name: BelievesServer(crowd.identities[name], name, crowd.terms, crowd.context) for name in crowd.terms.names
    }
    spy.collect_masked()
    for name, survivors in LIES.items():
        spy.meeting.clients[name].consent(pack(one.encode() for one in survivors))
        spy.take(name, spy.meeting.clients[name].unmask(b""))
    assert spy.sum_of(("h00", "h01")) == crowd.plain(("h00", "h01"))
    assert spy.sum_of(("h00",)) is None


def test_with_consent_it_gets_nothing() -> None:
    crowd = PeopleIndex(5, threshold=3)
    spy = Spy(crowd)
    spy.collect_masked()
    signed = {}
    for name, survivors in LIES.items():
        signed[name] = spy.meeting.clients[name].consent(pack(one.encode() for one in survivors))
    for name, survivors in LIES.items():
        told = {one: message for one, message in signed.items() if one in survivors}
        with pytest.raises(ServerInconsistent, match=r"told .* of other survivors"):
            spy.meeting.clients[name].unmask(pack_pairs(told))
    assert spy.sum_of(("h00", "h01")) is None


@pytest.mark.parametrize("corrupted", [1, 2])
def test_the_number_of_colluders_that_is_promised_is_the_largest(corrupted: int) -> None:
    """Four holders, threshold three: one colluder gets nothing, two read the update of a third."""
    crowd = PeopleIndex(4, threshold=3)
    assert crowd.terms.colluders == 1
    spy = Spy(crowd)
    spy.collect_masked()
    everyone, without = crowd.terms.names, ("h01", "h02", "h03")
    partners = everyone[-corrupted:]
    for name in partners:
        spy.corrupt(name)
    views = {"h00": everyone, "h01": without}
    if corrupted == 1:
        views["h02"] = without
    signed = {
        name: spy.meeting.clients[name].consent(pack(one.encode() for one in survivors))
        for name, survivors in views.items()
    }
    gained = 0
    for name, survivors in views.items():
        # Partners sign whatever they are asked to, and so both views.
        told = {one: message for one, message in signed.items() if views[one] == survivors}
        for partner in partners:
            clone = crowd.client(partner)
            vars(clone).update(vars(spy.meeting.clients[partner]))
            clone._next = Phase.CONSENT
            told[partner] = clone.consent(pack(one.encode() for one in survivors))
        try:
            spy.take(name, spy.meeting.clients[name].unmask(pack_pairs(told)))
            gained += 1
        except ServerInconsistent:
            continue
    found = spy.sum_of(("h00",))
    assert gained == 2  # h00 and h01, or h01 and h02, whose view their partner signed with them
    if corrupted > crowd.terms.colluders:
        assert found == crowd.plain(("h00",))
    else:
        assert found is None
        assert spy.secret("h00", MASK_KEY) is not None
        assert spy.secret("h00", OWN_SEED) is None
