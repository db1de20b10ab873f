"""A whole secure aggregation within one process, drop-outs included."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial

from chronodp.federated.aggregation.client import AggregationClient
from chronodp.federated.aggregation.identity import Identity
from chronodp.federated.aggregation.masks import RingVector
from chronodp.federated.aggregation.server import AggregationServer, Total
from chronodp.federated.aggregation.terms import Context, Phase, Terms
from chronodp.privacy import check_kind, check_table

__all__ = ["aggregate"]


def aggregate(
    identities: Mapping[str, Identity],
    terms: Terms,
    context: Context,
    vector_of: Callable[[str], RingVector],
    *,
    silent: Mapping[str, Phase] | None = None,
) -> Total:
    """Return the sum of the holders' vectors, computed as if each were alone with its secrets.

    Args:
        identities: of all holders.
        terms: of the run.
        context: of this attempt.
        vector_of: gives a holder's vector when it is needed.
        silent: from which phase on a holder says nothing.

    Raises:
        TooFewHolders: fewer than the threshold are left in some phase.

    >>> import numpy as np
    >>> people = {name: Identity.create() for name in ("north", "south", "west")}
    >>> terms = Terms("try", "", tuple((name, one.public) for name, one in people.items()), 2, 2, 32)
    >>> context = Context(terms.digest, 1, 0, bytes(32))
    >>> total = aggregate(people, terms, context, lambda name: np.full(2, 2**31, "<u4"), silent={"west": Phase.MASK})
    >>> total.values.tolist(), total.survivors
    ([0, 0], ('north', 'south'))
    """
    ends = {} if silent is None else dict(check_table("silent", silent, "a phase by name"))
    check_table("identities", identities, "an Identity by name")
    server = AggregationServer(terms, context)
    clients = {
        name: AggregationClient(
            check_kind(f"identity of {name}", identities.get(name), Identity, "given"), name, terms, context
        )
        for name in terms.names
    }
    for phase in Phase:
        for name in server.members:
            if ends.get(name, Phase.UNMASK + 1) <= phase:
                continue
            server.receive(clients[name].answer(phase, server.told(name), partial(vector_of, name)))
        if phase is not Phase.UNMASK:
            server.advance()
    return server.total()
