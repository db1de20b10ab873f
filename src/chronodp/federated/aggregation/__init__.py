"""Secure aggregation: a server learns the sum of the holders' vectors, and nothing else of them.

`AggregationClient` and `AggregationServer` are the two sides, as messages in and messages out; `aggregate` runs both in
one process, and `chronodp.federated.protocol` between places.
"""

from chronodp.federated.aggregation.client import AggregationClient
from chronodp.federated.aggregation.identity import Identity
from chronodp.federated.aggregation.server import AggregationServer, Total
from chronodp.federated.aggregation.session import aggregate
from chronodp.federated.aggregation.terms import Context, Phase, Terms, usual_threshold

__all__ = [
    "AggregationClient",
    "AggregationServer",
    "Context",
    "Identity",
    "Phase",
    "Terms",
    "Total",
    "aggregate",
    "usual_threshold",
]
