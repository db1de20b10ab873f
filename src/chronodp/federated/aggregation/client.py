"""A holder's side of one secure aggregation: five messages, each sent once, in order.

The phases of "The protocol" in ``docs/explanation/proofs/secure-aggregation.md``. A holder reveals one share of a
holder, of one of its two secrets: *One survivor* and *One who fell silent* under "Why it holds".
"""

from __future__ import annotations

import secrets
from collections.abc import Callable
from typing import Self

import numpy as np
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from chronodp.errors import InvalidArgument, MessageRefused, RoundConflict, ServerInconsistent
from chronodp.federated.aggregation.agreement import exchange, mask_key, own_mask_key, read_letter, write_letter
from chronodp.federated.aggregation.content import (
    MASK_KEY,
    OWN_SEED,
    Advertisement,
    SharePair,
    commitment_to,
    read_names,
    view_digest,
)
from chronodp.federated.aggregation.envelope import open_envelope, seal
from chronodp.federated.aggregation.identity import Identity
from chronodp.federated.aggregation.masks import RingSum, RingVector
from chronodp.federated.aggregation.shamir import SHARE_BYTES, split
from chronodp.federated.aggregation.terms import RINGS, Context, Phase, Terms, check_name
from chronodp.federated.aggregation.wire import pack, pack_pairs, unpack, unpack_pairs
from chronodp.privacy import check_kind

__all__ = ["AggregationClient"]


class AggregationClient:
    """One holder in one attempt at one round. Its keys are drawn anew and serve no other attempt.

    Guarantee: a server that follows the protocol and fewer than ``threshold`` holders see the sum of the survivors'
    vectors and nothing else; so do a server that lies and at most ``terms.colluders`` holders. The argument, and what
    it does not cover, stands in ``docs/explanation/proofs/secure-aggregation.md``.

    Each method takes what the server says in a phase and returns the message to answer with. What is out of order, or
    does not fit what was said before, is refused, and the client says nothing more.

    References:
        Bonawitz, Ivanov, Kreuter, Marcedone, McMahan, Patel, Ramage, Segal, Seth (2017), Practical secure aggregation
        for privacy-preserving machine learning.
    """

    def __init__(self, identity: Identity, name: str, terms: Terms, context: Context) -> None:
        check_kind("identity", identity, Identity, "an Identity")
        check_kind("terms", terms, Terms, "Terms")
        check_kind("context", context, Context, "a Context")
        if dict(terms.roster).get(check_name("name", name)) != identity.public:
            raise InvalidArgument("identity", name, "the one that the roster has for this holder")
        if context.run != terms.digest:
            raise InvalidArgument("context", "of another run", "of a run with these terms")
        self.name = name
        self._identity, self._terms, self._context = identity, terms, context
        self._letters, self._masks = X25519PrivateKey.generate(), X25519PrivateKey.generate()
        self._seed = secrets.token_bytes(32)
        self._next: Phase | None = Phase.ADVERTISE
        self._advertised = b""
        self._keys: dict[str, Advertisement] = {}
        self._secrets: dict[str, bytes] = {}
        self._shares: dict[str, SharePair] = {}
        self._survivors: tuple[str, ...] = ()

    @classmethod
    def restore(cls, state: bytes, identity: Identity, name: str, terms: Terms, context: Context) -> Self:
        """Return the client that said `state`, as it was then."""
        made = cls(identity, name, terms, context)
        parts = unpack(state)
        if len(parts) != 9:
            raise MessageRefused("a client's state is damaged")
        phase, letters, masks, made._seed, made._advertised, keys, agreed, shares, survivors = parts
        made._next = Phase(phase[0]) if phase else None
        made._letters, made._masks = map(X25519PrivateKey.from_private_bytes, (letters, masks))
        made._keys = {one: Advertisement.from_bytes(text) for one, text in unpack_pairs(keys).items()}
        made._secrets = unpack_pairs(agreed)
        made._shares = {one: SharePair.from_bytes(text) for one, text in unpack_pairs(shares).items()}
        made._survivors = read_names(unpack(survivors))
        return made

    def state(self) -> bytes:
        """Return all that it knows, for another process of this machine that goes on. It holds the attempt's keys."""
        return pack(
            [
                b"" if self._next is None else bytes([self._next]),
                self._letters.private_bytes_raw(),
                self._masks.private_bytes_raw(),
                self._seed,
                self._advertised,
                pack_pairs({name: one.to_bytes() for name, one in self._keys.items()}),
                pack_pairs(self._secrets),
                pack_pairs({name: one.to_bytes() for name, one in self._shares.items()}),
                pack(name.encode() for name in self._survivors),
            ]
        )

    def answer(self, phase: Phase, told: bytes, vector: Callable[[], RingVector]) -> bytes:
        """Return the message of a phase; the vector is asked for when it is needed."""
        match phase:
            case Phase.ADVERTISE:
                return self.advertise()
            case Phase.SHARE:
                return self.share(told)
            case Phase.MASK:
                return self.mask(told, vector())
            case Phase.CONSENT:
                return self.consent(told)
            case Phase.UNMASK:
                return self.unmask(told)

    def advertise(self) -> bytes:
        """Return this attempt's public keys."""
        self._begin(Phase.ADVERTISE)
        mine = Advertisement(
            self._letters.public_key().public_bytes_raw(),
            self._masks.public_key().public_bytes_raw(),
            commitment_to(self._seed),
        )
        self._keys[self.name] = mine
        return self._end(Phase.ADVERTISE, mine.to_bytes())

    def share(self, told: bytes) -> bytes:
        """Take everyone's keys; return shares of both secrets in letters to the others."""
        self._begin(Phase.SHARE)
        mine, terms = self._keys.pop(self.name), self._terms
        for name, message in unpack_pairs(told).items():
            sender, content = open_envelope(message, terms, self._context, Phase.ADVERTISE)
            if sender != name:
                raise ServerInconsistent(f"the server passed a message of {sender} off as one of {name}")
            self._keys[name] = Advertisement.from_bytes(content)
        self._check_list(tuple(self._keys), terms.names)
        public = {key for one in self._keys.values() for key in (one.letters, one.masks)}
        if self._keys[self.name] != mine or len(public) != 2 * len(self._keys):
            raise ServerInconsistent("the server passed on keys that are not their holders' own, or some twice")
        self._advertised = told
        names = sorted(self._keys)
        places = terms.points
        points = [places[name] for name in names]
        private = self._masks.private_bytes_raw()
        both = [split(int.from_bytes(secret, "big"), points, terms.threshold) for secret in (private, self._seed)]
        letters = {}
        for name, mask_share, seed_share in zip(names, *both, strict=True):
            pair = SharePair(mask_share, seed_share)
            if name == self.name:
                self._shares[name] = pair
                continue
            self._secrets[name] = exchange(self._letters, self._keys[name].letters)
            letters[name] = write_letter(self._secrets[name], self._context, self.name, name, pair.to_bytes())
        return self._end(Phase.SHARE, pack_pairs(letters))

    def mask(self, told: bytes, vector: RingVector) -> bytes:
        """Take the letters to this holder; return its vector under a mask with each writer and one of its own."""
        self._begin(Phase.MASK)
        terms, context = self._terms, self._context
        if not isinstance(vector, np.ndarray) or vector.dtype != RINGS[terms.bits] or vector.shape != (terms.size,):
            allowed = f"{terms.size:,} numbers of the ring 2^{terms.bits}"
            raise InvalidArgument("vector", vector, allowed, private=True)
        letters = unpack_pairs(told)
        if self.name in letters:
            raise ServerInconsistent(f"the server passed on a letter of {self.name} to itself, who wrote none")
        self._check_list((*letters, self.name), tuple(self._keys))
        for name, letter in letters.items():
            content = read_letter(self._secrets[name], context, name, self.name, letter)
            self._shares[name] = SharePair.from_bytes(content)
        total = RingSum(terms.size, terms.bits)
        total.add(vector)
        total.add_mask(own_mask_key(self._seed, context, self.name))
        for name in letters:
            key = mask_key(exchange(self._masks, self._keys[name].masks), context, self.name, name)
            # One of the two adds the mask and the other takes it away: in the sum of both it is 0 modulo 2^bits.
            (total.add_mask if self.name < name else total.subtract_mask)(key)
        return self._end(Phase.MASK, total.value.tobytes())

    def consent(self, told: bytes) -> bytes:
        """Take the list of those whose masked vectors arrived; return a signature of it and of all said before."""
        self._begin(Phase.CONSENT)
        survivors = read_names(unpack(told))
        self._check_list(survivors, tuple(self._shares))
        self._survivors = survivors
        return self._end(Phase.CONSENT, self._view())

    def unmask(self, told: bytes) -> bytes:
        """Take the signatures; return one share a holder: of the own mask of survivors, of the key of others."""
        self._begin(Phase.UNMASK)
        view = self._view()
        consents = unpack_pairs(told)
        for name, message in consents.items():
            sender, content = open_envelope(message, self._terms, self._context, Phase.CONSENT)
            if sender != name or content != view:
                raise ServerInconsistent(
                    f"the server told {name} of other survivors, or of other keys, than {self.name}"
                )
        if len(consents) < self._terms.threshold or not consents.keys() <= set(self._survivors):
            raise ServerInconsistent("the server asks for shares before enough survivors have signed who survived")
        reveals = {}
        for name, pair in self._shares.items():
            alive = name in self._survivors  # never both secrets of one holder: together they open its vector
            share = pair.own_seed if alive else pair.mask_key
            reveals[name] = (OWN_SEED if alive else MASK_KEY) + share.to_bytes(SHARE_BYTES, "big")
        self._shares = {}
        return self._end(Phase.UNMASK, pack_pairs(reveals))

    def _view(self) -> bytes:
        return view_digest(self._advertised, tuple(sorted(self._shares)), self._survivors)

    def _check_list(self, names: tuple[str, ...], allowed: tuple[str, ...]) -> None:
        if self.name not in names or not set(names) <= set(allowed) or len(names) < self._terms.threshold:
            raise ServerInconsistent(
                f"the server's list of holders leaves out {self.name}, has strangers, or fewer than "
                f"{self._terms.threshold}"
            )

    def _begin(self, phase: Phase) -> None:
        if self._next is not phase:
            raise RoundConflict(f"{self.name} was asked out of order, or has refused before: start another attempt")
        self._next = None  # until the answer stands; a refusal is for good

    def _end(self, phase: Phase, content: bytes) -> bytes:
        self._next = Phase(phase + 1) if phase < Phase.UNMASK else None
        return seal(self._identity, self.name, self._context, phase, content)

    def __repr__(self) -> str:
        return f"AggregationClient({self.name!r})"
