"""The law of a mechanism that only reorders: one walk serves every input of that length.

A mechanism that draws its order without looking at values has one law of orders. The law of its output on any values
follows by putting them in each order; so blocks of seven are compared without walking each input's paths again. That
values have no say is not taken on trust: the walk is repeated on a second, very different series and must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from chronodp.audit.case import Unfit
from chronodp.audit.exact import Outcomes, outcomes
from chronodp.randomness import Entropy

__all__ = ["Orders"]

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Orders:
    """The orders that a mechanism puts ``length`` values into.

    Attributes:
        mechanism: called as ``mechanism(values, entropy=entropy)``, returning as many values in another order.
        length: how many.
        most_runs: paths that may be walked.
    """

    mechanism: Callable[..., Values]
    length: int
    most_runs: int = 1_000_000

    def __call__(self, values: Values, *, entropy: Entropy) -> Values:
        """Run the mechanism once."""
        return self.mechanism(values, entropy=entropy)

    @cached_property
    def orders(self) -> Outcomes:
        """How likely each order is: place i of the output holds the value that came at order[i]."""
        places = tuple(range(self.length))
        found = self._walk(places)
        # On values that fall instead of rising, and lie elsewhere, the same places must be chosen as often.
        turned = self._walk(tuple(-7 * place - 3 for place in places))
        if {_places(order): chance for order, chance in turned.probabilities.items()} != found.probabilities:
            raise Unfit("its order depends on the values, so one walk does not serve them all")
        return found

    def law(self, values: Values) -> Outcomes:
        """Return the law of the output on values."""
        law = self.orders
        made: dict[Hashable, Fraction] = {}
        for order, chance in law.probabilities.items():
            output = tuple(values[place] for place in _items(order))
            made[output] = made.get(output, Fraction(0)) + chance
        return Outcomes.of(made, law.unresolved)

    def _walk(self, values: Values) -> Outcomes:
        def run(entropy: Entropy) -> object:
            return self.mechanism(values, entropy=entropy)

        return outcomes(run, most_runs=self.most_runs)


def _places(order: Hashable) -> Values:
    return tuple((value + 3) // -7 for value in _items(order))


def _items(order: Hashable) -> Values:
    if not isinstance(order, tuple):
        raise Unfit("it returns no tuple of values")
    return order
