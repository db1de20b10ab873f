"""Secure aggregation: seconds and bytes of a whole round, beside a sum in the open."""

from __future__ import annotations

import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.harness import Topic, show
from chronodp.federated.aggregation import (
    AggregationClient,
    AggregationServer,
    Context,
    Identity,
    Phase,
    Terms,
    usual_threshold,
)
from chronodp.federated.aggregation.masks import RingVector

# Holders, parameters, holders that fall silent when their masked update is due.
CASES = (
    (4, 10**6, 0),
    (10, 10**6, 0),
    (10, 10**6, 3),
    (30, 10**6, 0),
    (100, 10**5, 0),
    (100, 10**6, 0),
    (100, 10**6, 33),
)


@dataclass
class Tally:
    """What a round took."""

    holders: float = 0.0
    server: float = 0.0
    sent: list[int] = field(default_factory=lambda: [0])
    heard: int = 0


def measure(cases: tuple[tuple[int, int, int], ...] = CASES) -> Topic:
    topic = Topic(
        "Secure aggregation, 32-bit ring, every holder and the server one after another on one core",
        "python -m benchmarks.federated",
        (
            "holders × parameters, silent",
            "seconds, all together",
            "seconds a holder",
            "seconds of the server",
            "MB a holder sends",
            "MB a holder is told",
            "bytes sent over those of the update",
            "time over a sum in the open",
        ),
    )
    for holders, size, silent in cases:
        vector = np.random.default_rng(1).integers(0, 2**32, size, dtype=np.uint32).astype("<u4")
        tally = run_round(holders, vector, silent)
        begun = time.perf_counter()
        total = np.zeros(size, "<u4")
        for _ in range(holders - silent):
            total += np.frombuffer(vector.tobytes(), "<u4")
        plain = time.perf_counter() - begun
        seconds, sent = tally.holders + tally.server, max(tally.sent)
        topic.rows.append(
            (
                f"{holders} × {size:,}" + (f", {silent} silent" if silent else ""),
                seconds,
                tally.holders / holders,
                tally.server,
                sent / 1e6,
                tally.heard / holders / 1e6,
                sent / (4 * size),
                seconds / plain,
            )
        )
    topic.notes = [
        "masks between all pairs, threshold above two thirds; messages signed, checked and encrypted as over HTTP; the "
        "parameters that a round starts from are not counted",
        "holders on their own machines work at the same time: a round then takes a holder's seconds and the server's",
    ]
    return topic


def run_round(holders: int, vector: RingVector, silent: int) -> Tally:
    people = {f"holder{place:03}": Identity.create() for place in range(holders)}
    roster = tuple((name, one.public) for name, one in people.items())
    terms = Terms("benchmark", "", roster, usual_threshold(holders), vector.size, 32)
    context, tally = Context(terms.digest, 0, 0, bytes(32)), Tally(sent=[0] * holders)
    server = AggregationServer(terms, context)
    clients = {name: AggregationClient(one, name, terms, context) for name, one in people.items()}
    away = set(terms.names[:silent])
    for phase in Phase:
        for place, name in enumerate(terms.names):
            if name not in server.members or (phase >= Phase.MASK and name in away):
                continue
            told = server.told(name)
            begun = time.perf_counter()
            message = clients[name].answer(phase, told, lambda: vector)
            between = time.perf_counter()
            server.receive(message)
            tally.server += time.perf_counter() - between
            tally.holders += between - begun
            tally.sent[place] += len(message)
            tally.heard += len(told)
        if phase is not Phase.UNMASK:
            server.advance()
    begun = time.perf_counter()
    total = server.total()
    tally.server += time.perf_counter() - begun
    if not np.array_equal(total.values, vector * np.uint32(holders - silent)):
        raise ArithmeticError("the sum is wrong")
    return tally


if __name__ == "__main__":
    show(measure)
