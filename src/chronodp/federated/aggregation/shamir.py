"""Shamir's sharing of a secret: any so many shares give it back, one fewer say nothing.

*The masks* under "Why it holds" in ``docs/explanation/proofs/secure-aggregation.md``: t - 1 shares are independent of
the secret.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence

__all__ = ["PRIME", "SHARE_BYTES", "join", "split", "weights_at_zero"]

PRIME = 2**256 + 297  # the least prime above all secrets of 32 bytes
SHARE_BYTES = 33


def split(
    secret: int, points: Sequence[int], threshold: int, *, prime: int = PRIME, coefficients: Sequence[int] | None = None
) -> list[int]:
    """Return the values at the points of a random polynomial that is the secret at 0.

        f(x) = secret + a_1 x + … + a_(t-1) x^(t-1) mod prime

    where t is the threshold and the coefficients a are uniform, from the operating system.

    Guarantee: any t - 1 shares are independent of the secret and uniform, exactly.

    References:
        Shamir (1979), How to share a secret.

    >>> shares = split(7, [1, 2, 3], 2)
    >>> join(shares[1:], weights_at_zero([2, 3]))
    7
    """
    if coefficients is None:
        coefficients = [secrets.randbelow(prime) for _ in range(threshold - 1)]
    shares = []
    for point in points:  # from 1 on: at 0 the polynomial is the secret itself
        value = 0
        for coefficient in reversed(coefficients):
            value = (value + coefficient) * point % prime
        shares.append((value + secret) % prime)
    return shares


def weights_at_zero(points: Sequence[int], *, prime: int = PRIME) -> list[int]:
    """Return by what to weigh the shares at these points so that they add up to the secret."""
    weights = []
    for one in points:
        above = below = 1
        for other in points:
            if other != one:
                above = above * other % prime
                below = below * (other - one) % prime
        # Lagrange at 0: Π other / (other - one). Points differ and are below the prime, so the inverse is there.
        weights.append(above * pow(below, -1, prime) % prime)
    return weights


def join(shares: Sequence[int], weights: Sequence[int], *, prime: int = PRIME) -> int:
    """Return the secret of shares, with the weights of their points."""
    return sum(share * weight for share, weight in zip(shares, weights, strict=True)) % prime
