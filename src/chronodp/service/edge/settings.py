"""How much the edge lets in: ``[service.edge]`` of a policy."""

from __future__ import annotations

import ipaddress
from dataclasses import dataclass
from typing import Any

from chronodp.settings import Place, Setting, number, table, whole

__all__ = ["EDGE", "EdgeLimits"]


@dataclass(frozen=True, slots=True)
class EdgeLimits:
    """What each worker lets in.

    Attributes:
        connections: that may be open at a time.
        per_caller: of these, how many one token, or one address without a token, may hold.
        head: seconds for the head of a request, and before it for TLS.
        body: seconds for a body, beside what it takes at 16 KiB a second; and for 64 KiB of an answer to be taken.
        strangers: calls a second of one address without a token; None for the policy's `rate`.
        proxies: addresses, or networks, whose word is taken for where a call comes from.
    """

    connections: int = 500
    per_caller: int = 100
    head: float = 10.0
    body: float = 20.0
    strangers: float | None = None
    proxies: tuple[str, ...] = ()


def _proxies(value: Any, place: Place) -> tuple[str, ...]:
    allowed = 'a list of addresses or networks such as ["127.0.0.1", "10.0.0.0/8"]'
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise place.wrong(value, allowed)
    for one in value:
        try:
            ipaddress.ip_network(one)
        except ValueError:
            raise place.wrong(value, allowed) from None
    return tuple(value)


_USUAL = EdgeLimits()
_TABLE = table(
    {
        "connections": whole(least=8, default=_USUAL.connections),
        "per_caller": whole(least=1, default=_USUAL.per_caller),
        "head": number(least=0.1, most=600, default=_USUAL.head),
        "body": number(least=0.1, most=3600, default=_USUAL.body),
        "strangers": number(least=0.1),
        "proxies": Setting(_proxies, schema={"type": "array", "items": {"type": "string"}}),
    }
)

EDGE = Setting(lambda value, place: EdgeLimits(**_TABLE.read(value, place)), default={}, schema=_TABLE.schema)
