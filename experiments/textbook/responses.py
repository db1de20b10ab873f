"""Small mechanisms of coins whose whole distribution the exact auditor walks through."""

from __future__ import annotations

from fractions import Fraction
from functools import partial

from chronodp.audit.exact import Finding, Outcomes, examine, outcomes
from chronodp.randomness import Entropy

__all__ = ["ODDS", "adaptive_reports", "history_laws", "leaky", "repeated", "respond"]

ODDS = 3  # e^ε of the enumerated responses


def respond(bit: int, *, entropy: Entropy) -> int:
    """Report the true bit with probability e^ε / (1 + e^ε)."""
    return bit if entropy.coins(ODDS, ODDS + 1) else 1 - bit


def adaptive_reports(bits: tuple[int, ...], *, entropy: Entropy) -> tuple[int, ...]:
    """Report one bit after the other; what the later ones say depends on the public outputs before them."""
    reports: list[int] = []
    for bit in bits:
        asked = bit if sum(reports) % 2 == 0 else 1 - bit
        reports.append(respond(asked, entropy=entropy))
    return tuple(reports)


def history_laws(length: int) -> dict[tuple[int, ...], Outcomes]:
    """Return the distribution of adaptive reports for every history of that length."""
    histories = [tuple(number >> place & 1 for place in range(length)) for number in range(2**length)]
    return {bits: outcomes(partial(_reporting, bits)) for bits in histories}


def _reporting(bits: tuple[int, ...], entropy: Entropy) -> tuple[int, ...]:
    return adaptive_reports(bits, entropy=entropy)


def leaky(bit: int, *, entropy: Entropy) -> object:
    """Tell the bit one time in fifty, and else respond: (ln 3, 0.02) exactly."""
    return ("leak", bit) if entropy.coins(1, 50) else respond(bit, entropy=entropy)


def repeated(odds: Fraction, times: int) -> Finding:
    """Return what the auditor finds of so many independent responses to one bit, each at e^ε = ``odds``."""

    def tell(bit: int, *, entropy: Entropy) -> tuple[int, ...]:
        truth = entropy.coins(odds.numerator, odds.numerator + odds.denominator, times)
        return tuple((bit ^ ~truth).astype(int).tolist())

    return examine(tell, [(0, 1)])
