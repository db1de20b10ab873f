"""Which mechanism has the least variance, before anything is collected."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.errors import InvalidArgument
from chronodp.local.hashing import LocalHashing
from chronodp.local.mechanism import ChoiceMechanism, LocalMechanism, NumberMechanism
from chronodp.local.numbers import Hybrid, LaplaceNumber, OneBit, Piecewise
from chronodp.local.probabilities import check_local_epsilon
from chronodp.local.response import RandomizedResponse
from chronodp.local.unary import WIDEST, OptimizedUnary, SymmetricUnary
from chronodp.local.values import check_choices

__all__ = ["Alternative", "Recommendation", "recommend"]

_WIDE = 1024  # bits of a report from which hashing, as precise, is preferred


@dataclass(frozen=True, slots=True)
class Alternative:
    """A mechanism, the variance of one report's estimate, and the size of its answer in bits.

    The variance is that of a rare value's frequency, or of an amount at the worst value.
    """

    mechanism: LocalMechanism
    variance: float
    bits: int


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The best mechanism, and all that were compared, the best first."""

    mechanism: LocalMechanism
    alternatives: tuple[Alternative, ...]


def recommend(*, epsilon: float, choices: int | None = None, clip: tuple[float, float] | None = None) -> Recommendation:
    """Return the mechanism of least variance for values of an alphabet (``choices``) or numbers of a range (``clip``).

    Reports of more than 1,024 bits are avoided as long as something shorter is within a hundredth.

    >>> type(recommend(epsilon=1.0, choices=8).mechanism).__name__     # 8 < 3 e + 2
    'RandomizedResponse'
    >>> type(recommend(epsilon=1.0, choices=100).mechanism).__name__
    'OptimizedUnary'
    >>> type(recommend(epsilon=1.0, clip=(0.0, 5.0)).mechanism).__name__
    'Hybrid'
    """
    check_local_epsilon(epsilon)
    if choices is not None and clip is None:
        found = _for_choices(epsilon, choices)
    elif clip is not None and choices is None:
        found = _for_numbers(epsilon, clip)
    else:
        raise InvalidArgument("choices", choices, "given, or clip in its place")
    ordered = sorted(found, key=lambda one: one.variance)
    near = [one for one in ordered if one.variance <= 1.01 * ordered[0].variance]
    short = [one for one in near if one.bits <= _WIDE]
    return Recommendation((short or near)[0].mechanism, tuple(ordered))


def _for_choices(epsilon: float, choices: int) -> list[Alternative]:
    choices = check_choices(choices)
    made: list[ChoiceMechanism] = [RandomizedResponse(epsilon, choices), LocalHashing(epsilon, choices)]
    sizes = [(choices - 1).bit_length(), 96]
    if choices <= WIDEST:
        made += [OptimizedUnary(epsilon, choices), SymmetricUnary(epsilon, choices)]
        sizes += [choices, choices]
    return [Alternative(one, float(one.law.variance(0.0, 1)), size) for one, size in zip(made, sizes, strict=True)]


def _for_numbers(epsilon: float, clip: tuple[float, float]) -> list[Alternative]:
    made: list[NumberMechanism] = [OneBit(epsilon, clip), Piecewise(epsilon, clip), Hybrid(epsilon, clip)]
    made += [LaplaceNumber(epsilon, clip)] if epsilon >= 1e-3 else []
    return [Alternative(one, one.worst_variance, 1 if isinstance(one, OneBit) else 64) for one in made]
