"""Secure aggregation: what the server sums up, and what it sees on the way."""

from __future__ import annotations

from functools import cache, partial

import numpy as np
from numpy.typing import NDArray

from chronodp.federated.aggregation import (
    AggregationClient,
    AggregationServer,
    Context,
    Identity,
    Phase,
    Terms,
    usual_threshold,
)
from chronodp.federated.aggregation.content import read_vector
from chronodp.federated.aggregation.envelope import open_envelope
from experiments.claims import Claim, Pair, below, computation, equal, every

__all__ = ["secure_sum_claims"]

HOLDERS, SIZE, BITS = ("east", "north", "south", "west"), 1000, 32


@computation()
def sums_right() -> float:
    """Return the share of numbers at which the sum that the server finds is that of the updates, bit for bit."""
    _, total = _session()
    return float(np.mean(total == np.sum([_update(name) for name in HOLDERS], axis=0, dtype="<u4")))


@computation(all_of_it=lambda _: lambda: 1.0)
def numbers_seen() -> float:
    """Return the largest share of a holder's numbers that the server receives as they are."""
    received, _ = _session()
    return max(float(np.mean(received[name] == _update(name))) for name in HOLDERS)


def secure_sum_claims() -> list[Claim]:
    """Return the claims on secure aggregation."""
    return [
        Claim(
            id="A22",
            source="applications",
            place="Applications, Federated Learning",
            says="Secure aggregation keeps the server from single noisy updates.",
            rule=every(equal, below),
            stated=("the sum is that of the updates, bit for bit", 0.01),
            readings={
                "four holders, 1,000 numbers of 32 bits; share of an update that the server sees": lambda: (
                    [Pair(sums_right(), 1.0, "share of sums that are right")],
                    numbers_seen(),
                )
            },
            tokens=("Secure Aggregation to prevent the central server from viewing even the noisy individual updates",),
            parameters="ours: four holders, 1,000 numbers each",
        )
    ]


def _update(name: str) -> NDArray[np.uint32]:
    return np.random.default_rng(HOLDERS.index(name)).integers(0, 2**BITS, SIZE, dtype="<u4")


@cache
def _session() -> tuple[dict[str, NDArray[np.unsignedinteger]], NDArray[np.unsignedinteger]]:
    """Return the vectors that the server receives, and the sum that it finds."""
    people = {name: Identity.create() for name in HOLDERS}
    roster = tuple((name, one.public) for name, one in people.items())
    terms = Terms("try", "", roster, usual_threshold(len(HOLDERS)), SIZE, BITS)
    context = Context(terms.digest, 1, 0, bytes(32))
    server = AggregationServer(terms, context)
    clients = {name: AggregationClient(one, name, terms, context) for name, one in people.items()}
    received = {}
    for phase in Phase:
        for name in server.members:
            message = clients[name].answer(phase, server.told(name), partial(_update, name))
            if phase is Phase.MASK:
                received[name] = read_vector(open_envelope(message, terms, context, phase)[1], terms)
            server.receive(message)
        if phase is not Phase.UNMASK:
            server.advance()
    return received, server.total().values
