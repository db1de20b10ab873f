"""The same formulas with many digits, and the file of those that take long: ``python -m tests.accounting.truth``."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import mpmath
from mpmath import mp, mpf

GOLDEN = Path(__file__).parents[1] / "golden" / "accounting"
DIGITS = 80

ORDERS = (1.00001, 1.25, 2, 2.5, 8, 20.5, 256, 300.25, 512)
RATES = (1e-6, 0.01, 0.5, 0.999)
SIGMAS = (0.01, 0.02, 0.1, 0.25, 1.0, 100.0, 1e6)
COINS: tuple[tuple[float, int], ...] = (
    (1e-12, 1),
    (1e-12, 10**6),
    (1e-3, 10**6),
    (0.01, 10**5),
    (0.05, 1440),
    (0.05, 100_000),
    (1.0, 30),
)
COINS += ((5.0, 1000), (500.0, 1), (500.0, 10))
DELTAS = (1e-300, 1e-100, 1e-15, 1e-6, 0.1, 0.99)


def gaussian_delta(mu: float, epsilon: Any) -> mpf:
    """Φ(mu/2 - epsilon/mu) - e^epsilon Φ(-mu/2 - epsilon/mu)."""
    with mp.workdps(DIGITS):
        mean, loss = mpf(mu), mpf(epsilon)
        return mpmath.ncdf(mean / 2 - loss / mean) - mpmath.exp(loss) * mpmath.ncdf(-mean / 2 - loss / mean)


def laplace_divergence(ratio: float, order: float) -> mpf:
    with mp.workdps(DIGITS):
        a, r = mpf(order), mpf(ratio)
        up, down = a / (2 * a - 1), (a - 1) / (2 * a - 1)
        return mpmath.log(up * mpmath.exp((a - 1) * r) + down * mpmath.exp(-a * r)) / (a - 1)


def response_divergence(epsilon: float, choices: int, order: float) -> mpf:
    with mp.workdps(3 * DIGITS):
        a, odds = mpf(order), mpmath.exp(mpf(epsilon))
        truth, other = odds / (odds + choices - 1), 1 / (odds + choices - 1)
        total = truth**a * other ** (1 - a) + other**a * truth ** (1 - a) + (choices - 2) * other
        return mpmath.log(total) / (a - 1)


def range_divergence(epsilon: float, order: float) -> mpf:
    """The largest over t of the divergence of two outputs with log-likelihood ratios t and t - epsilon.

    Written in w = e^t the moment is [w^(a-1) (1 - c^a) - w^a (c - c^a)] / (1 - c), with c = e^-epsilon; its derivative
    vanishes once.
    """
    with mp.workdps(3 * DIGITS):
        a, c = mpf(order), mpmath.exp(-mpf(epsilon))
        w = (a - 1) * (1 - c**a) / (a * (c - c**a))
        moment = (w ** (a - 1) * (1 - c**a) - w**a * (c - c**a)) / (1 - c)
        return mpmath.log(moment) / (a - 1)


def sampled_divergence(rate: float, mu: Any, order: float) -> mpf:
    """The moment of the mixture: a finite sum at whole orders, else a trapezoidal sum of far too many points."""
    with mp.workdps(DIGITS if mu <= 1 else 50):
        q, m, a = mpf(rate), mpf(mu), mpf(order)
        if a == int(a):
            n = int(a)
            terms = (
                mpmath.binomial(n, k) * (1 - q) ** (n - k) * q**k * mpmath.expm1(k * (k - 1) * m * m / 2)
                for k in range(2, n + 1)
            )
            return mpmath.log1p(mpmath.fsum(terms)) / (a - 1)
        large = q**a * mpmath.exp(a * (a - 1) * m * m / 2)
        if (a - 1) * m * m / 2 > 60 + mpmath.log(a / q):  # between this and Minkowski's bound lies less than e^-60
            return mpmath.log(large) / (a - 1)
        width = min(mpmath.pi / m, mpf(12))
        digits = 90 - mpmath.log(a * (a - 1)) - 2 * mpmath.log(q * min(m, 1))
        step = 2 * mpmath.pi * width / (width**2 / 2 + digits)
        reach = mpmath.sqrt(2 * (digits + max(a, 2))) + 2
        total, first, last = mpf(0), int(-reach / step) - 1, int((reach + max(a, 2) * m) / step) + 1
        for index in range(first, last + 1):
            z = index * step
            if z * z / 2 - a * max(mpf(0), m * z - m * m / 2) > digits + 60:  # (1 + u)^a is below e^(a max(E, 0))
                continue
            u = q * mpmath.expm1(m * z - m * m / 2)
            total += ((1 + u) ** a - 1 - a * u) * mpmath.exp(-z * z / 2)
        return mpmath.log1p(total * step / mpmath.sqrt(2 * mpmath.pi)) / (a - 1)


def coins_epsilons(epsilon: float, times: int, deltas: Sequence[float]) -> list[mpf]:
    """The least epsilon at each delta, smallest first, of equal coins: between two ratios delta is A - e^epsilon B."""
    with mp.workdps(DIGITS):
        value, wanted = mpf(epsilon), [mpf(delta) for delta in sorted(deltas)]
        chance = (1 + mpmath.exp(-value)) ** -times
        fall, rise = mpmath.exp(-value), mpmath.exp(2 * value)
        above, weighted, ratio = mpf(0), mpf(0), mpmath.exp(-times * value)
        least = ratio**-1 / rise  # e^ of the next ratio
        found: list[mpf] = []
        for against in range(times + 1):
            above += chance
            weighted += chance * ratio
            last = times <= 2 * against + 2
            while len(found) < len(wanted) and (last or above - weighted * least > wanted[len(found)]):
                rest = above - wanted[len(found)]
                found.append(max(mpf(0), mpmath.log(rest / weighted)) if rest > 0 else mpf(0))
            if last:
                break
            chance = chance * (times - against) / (against + 1) * fall
            ratio, least = ratio * rise, least / rise
        return found


def write() -> None:
    """Compute what takes long, and store it with thirty digits."""
    GOLDEN.mkdir(parents=True, exist_ok=True)
    for name, rows in (("sampled.json", sampled_rows()), ("coins.json", coin_rows())):
        lines = ",\n".join(json.dumps(row) for row in rows)
        (GOLDEN / name).write_text(f"[\n{lines}\n]\n", encoding="utf-8")


def sampled_rows() -> list[list[Any]]:
    return [
        [rate, sigma, order, text(sampled_divergence(rate, inverse(sigma), order))]
        for rate in RATES
        for sigma in SIGMAS
        for order in ORDERS
    ]


def coin_rows() -> list[list[Any]]:
    return [
        [epsilon, times, delta, text(exact)]
        for epsilon, times in COINS
        for delta, exact in zip(DELTAS, coins_epsilons(epsilon, times, DELTAS), strict=True)
    ]


def inverse(number: float) -> mpf:
    with mp.workdps(DIGITS):
        return 1 / mpf(number)


def text(number: mpf) -> str:
    return str(mpmath.nstr(number, 30, strip_zeros=False))


if __name__ == "__main__":
    write()
