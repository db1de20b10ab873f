"""How a budget decides: native sums in whole numbers, compared with a limit fixed when the budget opens.

Three kinds. *Pure*: epsilons add. *Gaussian*: mu^2 adds; or, as long as no noise is Gaussian, epsilons do. *Renyi*:
divergences add at each of a fixed set of orders. One sum within its limit suffices. Deltas that costs bring along,
those of failures too, add up to their own limit, the reserve. Amounts are rounded up, limits down, to a decimal quantum
of the limit; sums of whole numbers are exact. What floats make infinite costs more than any budget holds.

Why these, and why the reserve is fixed at opening: "Deciding" in ``docs/explanation/proofs/ledger.md``. Its *Rounding*
is `_Component`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from functools import lru_cache
from typing import Literal, TypeAlias

from chronodp.accounting import Spending, basic, exact_loss, gather, gaussian, renyi, sum_up
from chronodp.errors import InvalidArgument, UnsupportedCost
from chronodp.privacy import Cost, GaussianCost, SampledGaussianCost, decimal_value

__all__ = ["CAP", "COMPONENTS", "ORDERS", "Amounts", "Filter", "Kind"]

Kind: TypeAlias = Literal["pure", "gaussian", "renyi"]
Amounts: TypeAlias = tuple[int, ...]

# The sum over orders of (1 - 1/a)^(a-1) / a is 0.72 <= 1: taking whichever order is best is then free.
ORDERS = (2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256)
COMPONENTS = len(ORDERS)
CAP = 3 * 10**18  # sums stop here, so that the sum of two fits a 64-bit integer
_DIGITS = 18
_FLOAT_ERROR = Fraction(
    1, 10**12
)  # on top of accounting's own margins: covers what the written and the stored differ by
_DIGITS_UP = Context(prec=40, rounding=ROUND_CEILING)


@dataclass(frozen=True, slots=True)
class _Component:
    """One native sum: its name, its limit, and the decimal digits of its quantum."""

    name: str
    limit: Fraction
    digits: int

    @classmethod
    def of(cls, name: str, limit: Fraction) -> _Component:
        # So many that the limit is at most 10^18 quanta: below `CAP`, which a sum that ran over can never leave.
        digits = _DIGITS - math.ceil(math.log10(limit)) if limit > 0 else 0
        return cls(name, limit, digits)

    @property
    def ceiling(self) -> int:
        """The limit in quanta, rounded down; -1 admits nothing, not even zero."""
        # Down, as amounts go up: what is granted by quanta is granted by the exact numbers.
        return math.floor(self.limit * Fraction(10) ** self.digits) if self.limit > 0 else -1

    def amount(self, value: Fraction) -> int:
        if value >= CAP:
            return CAP
        more: int = 10 ** max(0, self.digits)
        fewer: int = 10 ** max(0, -self.digits)
        return min(CAP, -(-value.numerator * more // (value.denominator * fewer)))  # rounded up

    def value(self, quanta: int) -> float:
        return float(quanta / Fraction(10) ** self.digits)


@dataclass(frozen=True, slots=True)
class Filter:
    """The rule of one budget.

    Attributes:
        kind: how costs add.
        epsilon: of the guarantee.
        delta: of the guarantee.
        reserve: the part of delta kept for failures and costs that bring a delta of their own.
    """

    kind: Kind
    epsilon: float
    delta: float
    reserve: float

    def __post_init__(self) -> None:
        native = decimal_value(self.delta) - decimal_value(self.reserve)
        if self.kind == "pure" and native != 0:
            raise InvalidArgument("reserve", self.reserve, "all of delta for a pure budget: it has no other use for it")
        if self.kind != "pure" and native <= 0:
            raise InvalidArgument("delta", self.delta, f"above the reserve for a {self.kind} budget")

    @property
    def components(self) -> tuple[_Component, ...]:
        """The native sums; one of them must stay within its limit."""
        return _components(self)

    @property
    def reserved(self) -> _Component:
        """The sum of deltas that costs bring along."""
        return _Component.of("delta", decimal_value(self.reserve))

    @property
    def ceilings(self) -> Amounts:
        """The limits in quanta, the reserve last."""
        return _ceilings(self)

    def amounts(self, cost: Cost) -> Amounts:
        """Return what a cost adds to each sum, in quanta, the reserve last."""
        spending = gather(cost)
        deltas = spending.deltas  # also of failures, which add to no other sum
        if deltas and not self.reserve:
            raise UnsupportedCost(self._without_reserve(spending))
        values: list[Fraction]
        losses = sum_up(times * exact_loss(single) for single, times in spending.bounded.items())
        if self.kind == "pure":
            if spending.gaussian:
                raise UnsupportedCost("a pure budget cannot pay for Gaussian noise: open one with a delta")
            values = [losses]
        elif self.kind == "gaussian":
            exact = sum(
                (
                    times * (decimal_value(single.sensitivity) / decimal_value(single.sigma)) ** 2
                    for single, times in spending.releases.items()
                    # A sample is as private as no mu below that of everybody: its likelihood ratios reach as far.
                    if isinstance(single, GaussianCost | SampledGaussianCost)
                ),
                Fraction(0),
            )
            bounded = gaussian.mu_squared_of_bounded(spending)
            # A first Gaussian charge closes the second way for good: its sum jumps to the cap and stays there.
            values = [exact + _widened(bounded), Fraction(CAP) if exact else losses]
        else:
            curve = renyi.curve(spending)
            values = [_widened(curve(order)) for order in ORDERS]
        parts = [part.amount(value) for part, value in zip(self.components, values, strict=True)]
        return (*parts, self.reserved.amount(deltas) if deltas else 0)

    def _without_reserve(self, spending: Spending) -> str:
        kinds = "costs with a failure" if spending.failures else "costs known only as (epsilon, delta)"
        needed = basic.deltas(spending)
        mend = (
            f"delta={needed:g} or more" if self.kind == "pure" else f"reserve={needed:g} or more, a part of its delta"
        )
        return f"this {self.kind} budget keeps no delta for {kinds}: open with {mend}"

    def admits(self, spent: Amounts, amounts: Amounts) -> bool:
        """Return whether the amounts fit on top of what is spent."""
        ceilings = self.ceilings
        if spent[-1] + amounts[-1] > ceilings[-1]:
            return False
        native = zip(spent[:-1], amounts[:-1], ceilings[:-1], strict=True)
        return any(before + more <= most for before, more, most in native)

    def fullness(self, spent: Amounts, amounts: Amounts) -> float:
        """Return about how much amounts take of what is left, the reserve aside, by the sum with most room for them."""
        native = zip(spent[:-1], amounts[:-1], self.ceilings[:-1], strict=True)
        return min(more / (most - before) if before < most else math.inf for before, more, most in native)

    def fits(self, spent: Amounts, cost: Cost) -> bool:
        """Return whether a cost fits on top of what is spent."""
        try:
            return self.admits(spent, self.amounts(cost))
        except UnsupportedCost:
            return False


@lru_cache(maxsize=1024)
def _ceilings(rule: Filter) -> Amounts:
    return (*(part.ceiling for part in rule.components), max(0, rule.reserved.ceiling))


@lru_cache(maxsize=1024)
def _components(rule: Filter) -> tuple[_Component, ...]:
    if rule.kind == "pure":
        return (_Component.of("epsilon", decimal_value(rule.epsilon)),)
    left = decimal_value(rule.delta) - decimal_value(rule.reserve)
    if rule.kind == "gaussian":
        # All three roundings go down: of the delta that is left, of mu for it, and of the limit.
        largest = Fraction(gaussian.mu_for(rule.epsilon, _at_most(left))) ** 2
        return (
            _Component.of("mu squared", largest * (1 - _FLOAT_ERROR)),
            _Component.of("epsilon without Gaussian noise", decimal_value(rule.epsilon)),
        )
    return tuple(
        _Component.of(
            f"divergence of order {order}",
            # Σ ε_i(α) + ln(1/δ') / (α - 1) <= ε, solved for the sum; the logarithm is rounded up, so the limit is not.
            (decimal_value(rule.epsilon) - _log_of_inverse(left) / (order - 1)) * (1 - _FLOAT_ERROR),
        )
        for order in ORDERS
    )


def _widened(amount: float) -> Fraction:
    return Fraction(amount) * (1 + _FLOAT_ERROR) if math.isfinite(amount) else Fraction(CAP)


def _at_most(exact: Fraction) -> float:
    found = float(exact)
    return found if Fraction(found) <= exact else math.nextafter(found, 0.0)


def _log_of_inverse(fraction: Fraction) -> Fraction:
    """Return ln(1 / fraction) from above, to forty digits: a limit that is a small difference keeps its own."""
    quotient = _DIGITS_UP.divide(Decimal(fraction.denominator), Decimal(fraction.numerator))
    return Fraction(_DIGITS_UP.ln(quotient)) + Fraction(1, 10**36)
