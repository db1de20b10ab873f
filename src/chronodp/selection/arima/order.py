"""The order of an ARIMA model, and public lists of them."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole

__all__ = ["LARGEST_ORDER", "MOST_ORDERS", "Order", "check_orders", "orders_up_to"]

LARGEST_ORDER = 12
MOST_ORDERS = 512

_TEXT = re.compile(r"(?:ARIMA)?\(?\s*(\d{1,2})\s*,\s*(\d{1,2})\s*,\s*(\d{1,2})\s*\)?")


@dataclass(frozen=True, slots=True, order=True)
class Order:
    """How many past values, differences and past errors a model has.

    >>> print(Order(2, 0, 1)), Order.parse("2,0,1") == Order(2, 0, 1)
    ARIMA(2,0,1)
    (None, True)
    """

    autoregressive: int
    differences: int
    moving_average: int

    def __post_init__(self) -> None:
        check_whole("autoregressive", self.autoregressive, least=0, most=LARGEST_ORDER)
        check_whole("differences", self.differences, least=0, most=2)
        check_whole("moving_average", self.moving_average, least=0, most=LARGEST_ORDER)

    @classmethod
    def parse(cls, text: str) -> Order:
        """Return the order that a text such as ``2,0,1`` or ``ARIMA(2,0,1)`` names."""
        found = _TEXT.fullmatch(text.strip()) if isinstance(text, str) else None
        if found is None:
            raise InvalidArgument("orders", text, "p,d,q such as 2,0,1")
        return cls(*(int(part) for part in found.groups()))

    def __str__(self) -> str:
        return f"ARIMA({self.autoregressive},{self.differences},{self.moving_average})"


def check_orders(orders: Iterable[Order | tuple[int, int, int] | str]) -> tuple[Order, ...]:
    """Return a public list of orders, each given as an `Order`, three numbers or a text."""
    if isinstance(orders, str) or not isinstance(orders, Sequence) or not orders:
        raise InvalidArgument("orders", orders, "a list of at least one order such as (2, 0, 1)")
    found = tuple(_order(order) for order in orders)
    if len(found) > MOST_ORDERS:
        raise InvalidArgument("orders", len(found), f"at most {MOST_ORDERS} orders")
    if len(set(found)) < len(found):
        raise InvalidArgument("orders", "an order twice", "a list in which no order is repeated")
    return found


def orders_up_to(autoregressive: int, differences: int, moving_average: int) -> tuple[Order, ...]:
    """Return every order up to and with the given one, the smaller first.

    >>> len(orders_up_to(2, 1, 2))
    18
    """
    most = Order(autoregressive, differences, moving_average)
    ranges = (range(part + 1) for part in (most.autoregressive, most.differences, most.moving_average))
    return tuple(sorted(itertools.starmap(Order, itertools.product(*ranges)), key=_size))


def _order(order: object) -> Order:
    if isinstance(order, Order):
        return order
    if isinstance(order, str):
        return Order.parse(order)
    if isinstance(order, tuple | list) and len(order) == 3:
        return Order(*order)
    raise InvalidArgument("orders", order, "orders such as (2, 0, 1)")


def _size(order: Order) -> tuple[int, Order]:
    return order.autoregressive + order.differences + order.moving_average, order
