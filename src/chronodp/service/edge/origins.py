"""Where a call comes from: the address of the connection, or what a declared proxy says of it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, MutableMapping
from functools import lru_cache
from typing import Any, TypeAlias

__all__ = ["Proxies", "origin_of"]

_Address: TypeAlias = ipaddress.IPv4Address | ipaddress.IPv6Address


def origin_of(host: str) -> str:
    """Return whom an address is counted with: itself, or of IPv6 the /64 of which everyone has a whole one.

    >>> origin_of("192.0.2.7"), origin_of("::ffff:192.0.2.7"), origin_of("2001:db8:0:1:2:3:4:5")
    ('192.0.2.7', '192.0.2.7', '2001:db8:0:1::/64')
    """
    if host.count(".") == 3 and host.replace(".", "").isdecimal():
        return host  # as the system writes it: to parse each of thousands of strangers takes longer than to refuse them
    return _network_of(host)


@lru_cache(maxsize=10_000)
def _network_of(host: str) -> str:
    address = _parsed(host)
    if address is None:
        return "nowhere"
    if isinstance(address, ipaddress.IPv6Address):
        return str(ipaddress.ip_network((address, 64), strict=False))
    return str(address)


class Proxies:
    """The proxies that the policy declares. Nobody else's word on where a call comes from is taken."""

    def __init__(self, declared: Iterable[str]) -> None:
        self._networks = [ipaddress.ip_network(one) for one in declared]

    def has(self, host: str) -> bool:
        """Whether an address is a declared proxy's."""
        address = _parsed(host) if self._networks else None
        return address is not None and any(address in network for network in self._networks)

    def resolve(self, scope: MutableMapping[str, Any]) -> None:
        """Put the caller's own address, and whether it came under TLS, into a request that a proxy hands on.

        The last address that no declared proxy has is the caller's: whatever stands before it may be made up.
        """
        client = scope.get("client")
        if not client or not self.has(client[0]):
            return
        hops = [hop.strip() for hop in _header(scope, b"x-forwarded-for").split(",")]
        caller = next((hop for hop in reversed(hops) if not self.has(hop)), "")
        if _parsed(caller) is not None:
            scope["client"] = (caller, 0)
        if _header(scope, b"x-forwarded-proto").strip().lower() == "https":
            scope["scheme"] = "https"


def _header(scope: MutableMapping[str, Any], name: bytes) -> str:
    return ",".join(value.decode("latin-1") for key, value in scope["headers"] if key == name)


@lru_cache(maxsize=10_000)
def _parsed(host: str) -> _Address | None:
    try:
        address = ipaddress.ip_address(host.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return address if mapped is None else mapped
