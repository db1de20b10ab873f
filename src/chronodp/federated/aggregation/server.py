"""The server's side of one secure aggregation: it passes messages on, and learns a sum.

What it learns is claim 1 of ``docs/explanation/proofs/secure-aggregation.md``; `AggregationServer.total` is claim 3,
*Correctness*, and *Bad shares*.
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from chronodp.errors import MessageRefused, RoundConflict, TooFewHolders
from chronodp.federated.aggregation.agreement import LETTER_BYTES, exchange, mask_key, own_mask_key
from chronodp.federated.aggregation.content import (
    MASK_KEY,
    OWN_SEED,
    Advertisement,
    SharePair,
    commitment_to,
    read_reveals,
    read_vector,
    view_digest,
)
from chronodp.federated.aggregation.envelope import open_envelope
from chronodp.federated.aggregation.masks import RingSum, RingVector
from chronodp.federated.aggregation.shamir import join, weights_at_zero
from chronodp.federated.aggregation.terms import Context, Phase, Terms
from chronodp.federated.aggregation.wire import pack, pack_pairs, unpack_pairs
from chronodp.privacy import check_kind

__all__ = ["AggregationServer", "Total"]


@dataclass(frozen=True, slots=True)
class Total:
    """The sum of the survivors' vectors in the ring.

    Attributes:
        values: the sum.
        survivors: whose vectors are in it.
    """

    values: RingVector
    survivors: tuple[str, ...]


class AggregationServer:
    """One attempt at one round. Messages come in by `receive`; `advance` ends a phase and drops who was silent.

    Attributes:
        phase: what is waited for.
        members: from whom a message of this phase is expected.
    """

    def __init__(self, terms: Terms, context: Context) -> None:
        self._terms = check_kind("terms", terms, Terms, "Terms")
        self._context = check_kind("context", context, Context, "a Context")
        self.phase = Phase.ADVERTISE
        self.members: tuple[str, ...] = terms.names
        self._heard: dict[str, bytes] = {}
        self._advertised: dict[str, bytes] = {}
        self._letters: dict[str, dict[str, bytes]] = {}
        self._sharing: tuple[str, ...] = ()
        self._total = RingSum(terms.size, terms.bits)
        self._survivors: tuple[str, ...] = ()
        self._consents: dict[str, bytes] = {}
        self._reveals: dict[str, dict[str, tuple[bytes, int]]] = {}

    @property
    def missing(self) -> tuple[str, ...]:
        """Who has not spoken in this phase."""
        return tuple(name for name in self.members if name not in self._heard)

    def receive(self, message: bytes) -> str:
        """Take a message of this phase and return its sender. The same message once more changes nothing.

        Raises:
            MessageRefused: it is not genuine, does not belong here, or its sender said something else before.
        """
        sender, content = open_envelope(message, self._terms, self._context, self.phase)
        if sender not in self.members:
            raise MessageRefused(f"{sender} was silent in an earlier phase and is out until the next round")
        digest = hashlib.sha256(message).digest()
        if sender in self._heard:
            if self._heard[sender] != digest:
                raise MessageRefused(f"{sender} said something else before in this phase")
            return sender
        match self.phase:
            case Phase.ADVERTISE:
                Advertisement.from_bytes(content)
                self._advertised[sender] = message
            case Phase.SHARE:
                self._letters[sender] = self._checked_letters(sender, content)
            case Phase.MASK:
                self._total.add(read_vector(content, self._terms))
            case Phase.CONSENT:
                if content != self._view():
                    raise MessageRefused(f"{sender} has seen other keys or survivors than this server knows of")
                self._consents[sender] = message
            case Phase.UNMASK:
                self._reveals[sender] = self._checked_reveals(sender, content)
        self._heard[sender] = digest
        return sender

    def told(self, name: str) -> bytes:
        """Return what a member is told in this phase."""
        match self.phase:
            case Phase.ADVERTISE:
                return b""
            case Phase.SHARE:
                return pack_pairs(self._advertised)
            case Phase.MASK:
                return pack_pairs({one: self._letters[one][name] for one in self._sharing if one != name})
            case Phase.CONSENT:
                return pack(one.encode() for one in self._survivors)
            case Phase.UNMASK:
                # More than the threshold would prove no more.
                enough = sorted(self._consents)[: self._terms.threshold]
                return pack_pairs({one: self._consents[one] for one in enough})

    def advance(self) -> None:
        """End this phase with those who have spoken.

        Raises:
            TooFewHolders: they are fewer than the threshold.
        """
        self._check_enough()
        if self.phase is Phase.UNMASK:
            raise RoundConflict("the last phase is over: ask for the total")
        here = tuple(sorted(self._heard))
        match self.phase:
            case Phase.SHARE:
                self._sharing = here
            case Phase.MASK:
                self._survivors, self._letters = here, {}
            case _:
                pass
        self.members, self._heard, self.phase = here, {}, Phase(self.phase + 1)

    def total(self) -> Total:
        """Return the sum, once enough holders have brought their shares.

        Raises:
            TooFewHolders: they have not.
            MessageRefused: a holder gave the others shares of something else than its secrets; nobody can tell the sum.
        """
        if self.phase is not Phase.UNMASK:
            raise RoundConflict("the total is known after the last phase only")
        self._check_enough()
        chosen = sorted(self._reveals)[: self._terms.threshold]
        points = self._terms.points
        weights = weights_at_zero([points[name] for name in chosen])
        total = RingSum(self._terms.size, self._terms.bits)
        total.add(self._total.value)
        keys = {name: self._keys_of(name) for name in self._sharing}
        for name in self._sharing:
            found = join([self._reveals[one][name][1] for one in chosen], weights)
            if found >= 2**256:  # the prime is a little larger than all secrets: such a number was never shared
                raise _false_shares(name)
            secret = found.to_bytes(32, "big")
            if name in self._survivors:
                if commitment_to(secret) != keys[name].commitment:
                    raise _false_shares(name)
                total.subtract_mask(own_mask_key(secret, self._context, name))
                continue
            private = X25519PrivateKey.from_private_bytes(secret)
            if private.public_key().public_bytes_raw() != keys[name].masks:
                raise _false_shares(name)
            for other in self._survivors:  # undo what each survivor did with the mask it has in common with this one
                key = mask_key(exchange(private, keys[other].masks), self._context, name, other)
                (total.subtract_mask if other < name else total.add_mask)(key)
        return Total(total.value, self._survivors)

    def _keys_of(self, name: str) -> Advertisement:
        content = open_envelope(self._advertised[name], self._terms, self._context, Phase.ADVERTISE)[1]
        return Advertisement.from_bytes(content)

    def _view(self) -> bytes:
        return view_digest(pack_pairs(self._advertised), self._sharing, self._survivors)

    def _checked_letters(self, sender: str, content: bytes) -> dict[str, bytes]:
        letters = unpack_pairs(content)
        wrong = any(len(letter) != SharePair.BYTES + LETTER_BYTES for letter in letters.values())
        if wrong or set(letters) != set(self._advertised) - {sender}:
            raise MessageRefused(f"{sender} must write one letter to every other holder")
        return letters

    def _checked_reveals(self, sender: str, content: bytes) -> dict[str, tuple[bytes, int]]:
        reveals = read_reveals(content)
        kinds = {name: OWN_SEED if name in self._survivors else MASK_KEY for name in self._sharing}
        if {name: kind for name, (kind, _) in reveals.items()} != kinds:
            raise MessageRefused(f"{sender} must reveal one share for every holder, of the secret that was asked for")
        return reveals

    def _check_enough(self) -> None:
        needed = self._terms.threshold
        if len(self._heard) < needed:
            raise TooFewHolders(
                f"{len(self._heard)} of {len(self._terms.roster)} holders answered in phase {self.phase.name.lower()} "
                f"of round {self._context.round_number}, and {needed} are needed: the sum stays hidden"
            )


def _false_shares(name: str) -> MessageRefused:
    return MessageRefused(f"{name} gave the others shares of something else than its secrets: take it off the roster")
