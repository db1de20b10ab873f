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

from chronodp.errors import MessageRefused
from chronodp.federated.aggregation import AggregationClient, Phase
from chronodp.federated.aggregation.agreement import exchange, mask_key, own_mask_key, read_letter, write_letter
from chronodp.federated.aggregation.content import MASK_KEY, OWN_SEED, SharePair
from chronodp.federated.aggregation.envelope import HEADER_BYTES, seal
from chronodp.federated.aggregation.masks import RingSum, RingVector
from chronodp.federated.aggregation.shamir import PRIME, SHARE_BYTES, join, split, weights_at_zero
from chronodp.federated.aggregation.wire import pack_pairs
from chronodp.federated.quantise import Quantiser
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


class RevealsBoth(AggregationClient):
    """A mutant that hands out shares of both secrets of every holder: enough to undo all masks of one."""

    def both(self) -> dict[str, SharePair]:
        return dict(self._shares)


def attack(meeting: Meeting, masked_vector: RingVector, shares: list[dict[str, dict[bytes, int]]]) -> RingVector | None:
    """What a server does that holds shares of the holders' secrets: take every mask off h00's vector if it can."""
    crowd, target = meeting.crowd, "h00"
    needed = crowd.terms.threshold
    known: dict[bytes, bytes] = {}
    for kind in (MASK_KEY, OWN_SEED):
        owned = [(place, held[target][kind]) for place, held in enumerate(shares, start=1) if kind in held[target]][
            :needed
        ]
        if len(owned) < needed:
            return None
        points = [place for place, _ in owned]
        known[kind] = join([share for _, share in owned], weights_at_zero(points)).to_bytes(32, "big")
    total = RingSum(crowd.terms.size, crowd.terms.bits)
    total.add(masked_vector)
    total.subtract_mask(own_mask_key(known[OWN_SEED], crowd.context, target))
    private = X25519PrivateKey.from_private_bytes(known[MASK_KEY])
    for name in crowd.terms.names[1:]:
        public = meeting.server._keys_of(name).masks
        total.subtract_mask(mask_key(exchange(private, public), crowd.context, target, name))
    return total.value


def test_revealing_both_shares_gives_an_update_away_and_one_does_not() -> None:
    crowd = PeopleIndex(4)
    meeting = Meeting(crowd)
    meeting.clients = {
        name: RevealsBoth(crowd.identities[name], name, crowd.terms, crowd.context) for name in crowd.terms.names
    }
    meeting.go_to(Phase.MASK)
    vectors = {name: meeting.answer(name) for name in crowd.terms.names}
    seen = np.frombuffer(vectors["h00"][HEADER_BYTES:], "<u4")
    pairs = [meeting.clients[name].both() for name in crowd.terms.names]  # type: ignore[attr-defined]
    both = [{owner: {MASK_KEY: p.mask_key, OWN_SEED: p.own_seed} for owner, p in held.items()} for held in pairs]
    found = attack(meeting, seen, both)
    assert found is not None
    assert found.tolist() == crowd.vectors["h00"].tolist()
    for message in vectors.values():
        meeting.server.receive(message)
    meeting.server.advance()
    meeting.go_to(Phase.UNMASK)
    honest = []
    for name in crowd.terms.names:
        meeting.server.receive(meeting.answer(name))
        revealed = meeting.server._reveals[name]
        honest.append({owner: {kind: share} for owner, (kind, share) in revealed.items()})
    assert attack(meeting, seen, honest) is None
    assert meeting.server.total().values.tolist() == crowd.plain(crowd.terms.names)


def test_a_client_that_reveals_both_is_refused_by_the_server() -> None:
    crowd = PeopleIndex(3)
    meeting = Meeting(crowd)
    meeting.go_to(Phase.UNMASK)
    twice = pack_pairs({name: OWN_SEED + bytes(2 * SHARE_BYTES) for name in crowd.terms.names})
    with pytest.raises(MessageRefused):
        meeting.server.receive(seal(crowd.identities["h00"], "h00", crowd.context, Phase.UNMASK, twice))


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
