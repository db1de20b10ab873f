"""What the server sees is noise to it; and what it would see if a mistake were made."""

from __future__ import annotations

import functools
import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from hypothesis import given, strategies as st
from numpy.typing import NDArray
from scipy import stats

from chronodp.errors import FederationError, MessageRefused, ServerInconsistent
from chronodp.federated.aggregation import AggregationClient, AggregationServer, Phase
from chronodp.federated.aggregation.agreement import exchange, mask_key, own_mask_key, read_letter, write_letter
from chronodp.federated.aggregation.content import MASK_KEY, OWN_SEED, read_reveals
from chronodp.federated.aggregation.envelope import HEADER_BYTES, seal
from chronodp.federated.aggregation.masks import RingSum, RingVector
from chronodp.federated.aggregation.shamir import PRIME, SHARE_BYTES, join, split, weights_at_zero
from chronodp.federated.aggregation.wire import pack, pack_pairs, unpack, unpack_pairs
from chronodp.federated.quantise import Quantiser
from tests.conftest import Trials
from tests.federated.crowd import Meeting, PeopleIndex

SIZE = 100_000


def looks_uniform(words: RingVector) -> bool:
    """Chi-square over the bytes; a uniform vector fails once in 1e9."""
    counts = np.bincount(np.frombuffer(words.tobytes(), np.uint8), minlength=256)
    return float(stats.chisquare(counts).statistic) < stats.chi2.isf(1e-9, 255)


def masked(crowd: PeopleIndex, name: str = "h00") -> RingVector:
    meeting = Meeting(crowd)
    meeting.go_to(Phase.MASK)
    return np.frombuffer(meeting.answer(name)[HEADER_BYTES:], "<u4")


def gaussian_updates(crowd: PeopleIndex) -> NDArray[np.float64]:
    update = np.random.default_rng(4).normal(0, 0.3, SIZE)
    crowd.vectors = dict.fromkeys(crowd.vectors, Quantiser(1.0, 32, len(crowd.vectors)).encode(update))
    return update


def test_a_masked_update_is_uniform_and_an_open_one_is_not() -> None:
    crowd = PeopleIndex(3, size=SIZE)
    gaussian_updates(crowd)
    seen = masked(crowd)
    assert looks_uniform(seen)
    assert not looks_uniform(crowd.vectors["h00"])
    assert looks_uniform(seen - crowd.vectors["h00"])
    half = seen.copy()
    half[::2] = crowd.vectors["h00"][::2]
    assert not looks_uniform(half)


def test_attempts_rounds_and_runs_share_no_mask() -> None:
    crowd = PeopleIndex(3, size=SIZE)
    first = masked(crowd)
    for change in ({"attempt": 2}, {"round_number": 4}, {}):
        again = replace(crowd.context, **change)  # type: ignore[arg-type]
        crowd.context = again
        difference = masked(crowd) - first
        assert looks_uniform(difference)
        assert np.count_nonzero(difference == 0) < 10  # 100,000 words agree by chance with probability 2^-32 each
    assert not looks_uniform(first - first)


def test_keys_are_bound_to_everything() -> None:
    crowd = PeopleIndex(2)
    one, two = X25519PrivateKey.generate(), X25519PrivateKey.generate()
    shared = exchange(one, two.public_key().public_bytes_raw())
    assert shared == exchange(two, one.public_key().public_bytes_raw())
    assert mask_key(shared, crowd.context, "a", "b") == mask_key(shared, crowd.context, "b", "a")
    contexts = [
        crowd.context,
        replace(crowd.context, attempt=7),
        replace(crowd.context, round_number=7),
        replace(crowd.context, parameters=b"\1" * 32),
        replace(crowd.context, run=b"\1" * 32),
    ]
    keys = [mask_key(shared, context, "a", other) for context in contexts for other in ("b", "c")]
    keys += [own_mask_key(shared, context, "a") for context in contexts]
    assert len(set(keys)) == len(keys)
    letter = write_letter(shared, crowd.context, "a", "b", b"shares")
    assert read_letter(shared, crowd.context, "a", "b", letter) == b"shares"
    for context, sender, receiver in (*((c, "a", "b") for c in contexts[1:]), (contexts[0], "b", "a")):
        with pytest.raises(MessageRefused, match="was forged or changed"):
            read_letter(shared, context, sender, receiver, letter)
    with pytest.raises(MessageRefused, match="a key that is none"):
        exchange(one, bytes(32))  # a point of small order would make the secret known to all


def test_one_share_fewer_than_needed_is_exactly_uniform() -> None:
    """All polynomials over 7 elements: whatever the secret, two of three shares take every pair once."""
    prime, threshold = 7, 3
    for points in itertools.combinations(range(1, 5), threshold - 1):
        laws = []
        for secret in range(prime):
            seen = Counter(
                tuple(split(secret, points, threshold, prime=prime, coefficients=coefficients))
                for coefficients in itertools.product(range(prime), repeat=threshold - 1)
            )
            laws.append(seen)
        assert all(law == laws[0] for law in laws)
        assert set(laws[0].values()) == {1}
    # Mutant: a highest coefficient that is never 0 rules secrets out.
    without = [
        {tuple(split(secret, (1, 2), 3, prime=7, coefficients=(a, b))) for a in range(7) for b in range(1, 7)}
        for secret in range(2)
    ]
    assert without[0] != without[1]


@given(st.integers(0, 2**256 - 1), st.integers(1, 12), st.data())
def test_enough_shares_give_the_secret_back(secret: int, threshold: int, data: st.DataObject) -> None:
    points = list(range(1, threshold + 5))
    shares = dict(zip(points, split(secret, points, threshold), strict=True))
    chosen = data.draw(st.permutations(points))[:threshold]
    assert join([shares[point] for point in chosen], weights_at_zero(chosen)) == secret


def test_the_field_is_one() -> None:
    assert PRIME == 2**256 + 297
    assert all(pow(base, PRIME - 1, PRIME) == 1 for base in range(2, 60))
    assert all(PRIME % small for small in range(2, 10_000))


def test_revealing_both_shares_gives_an_update_away_and_one_does_not() -> None:
    crowd = PeopleIndex(4)
    both, one = Spy(crowd), Spy(crowd)
    for spy in (both, one):
        spy.collect_masked()
    for name in crowd.terms.names:
        both.corrupt(name)
    assert both.sum_of(("h00",)) == crowd.plain(("h00",))
    one.meeting.go_to(Phase.UNMASK)
    for name in crowd.terms.names:
        message = one.meeting.answer(name)
        one.take(name, message)
        one.meeting.server.receive(message)
    assert one.sum_of(("h00",)) is None
    assert one.meeting.server.total().values.tolist() == crowd.plain(crowd.terms.names)


@functools.cache
def weak_masks() -> NDArray[np.uint32]:
    """A mutant's masks, one a row: they come from a short seed and a generator that is not one of cryptography."""
    generator, masks = np.random.RandomState(), []
    for seed in range(2**12):
        generator.seed(seed)
        masks.append(generator.randint(0, 2**32, 64, dtype=np.uint32))
    return np.array(masks, "<u4")


@pytest.mark.slow
def test_masks_from_short_seeds_are_guessed_and_ours_are_not() -> None:
    """Twelve bits stand for the 32 of a real mistake: guessing takes 4096 tries here."""
    crowd = PeopleIndex(3, size=64)
    grid = Quantiser(1.0, 32, 3)
    update = np.random.default_rng(8).normal(0, 0.01, 64)
    crowd.vectors["h00"] = grid.encode(update)

    def guess(seen: RingVector) -> list[NDArray[np.float64]]:
        guesses = (grid.decode(numbers) for numbers in seen - weak_masks())
        return [numbers for numbers in guesses if np.max(np.abs(numbers)) < 0.1]

    (found,) = guess(crowd.vectors["h00"] + weak_masks()[3171])
    assert np.allclose(found, update, atol=grid.step)
    assert guess(masked(crowd)) == []


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
            pack_pairs({name: OWN_SEED + bytes(2 * SHARE_BYTES) for name in crowd.terms.names}),  # shares of both
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
