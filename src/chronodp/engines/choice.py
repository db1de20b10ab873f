"""Which periods of a person over the limit count: a keyed order that every engine computes alike.

Each person has three seeds from one MD5 of (key, person). Period x has the place h(x) = a (x + c)^5 + e mod P in the
person's own order, with P = 2^31 - 1. Five does not divide P - 1, so h is a permutation and there are no ties. Products
stay below 2^62, so any engine with 64-bit integers agrees to the last bit.

MD5 is no secret-keeper here and need not be: that a person counts in few periods holds for every key, since the order
looks at nothing but the key, the person and the period. The key only makes the choice even-handed.

"The order" of ``docs/explanation/proofs/bounding.md``.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from sqlglot import exp

__all__ = [
    "PRIME",
    "Seeds",
    "Words",
    "priorities",
    "priority",
    "priority_text",
    "seed_texts",
    "seeds_of",
    "seeds_of_none",
    "seeds_of_words",
]

PRIME = 2**31 - 1
_PRIME, _BITS = np.uint64(PRIME), np.uint64(31)
_CHUNK = 2**14
Words = NDArray[np.int64]
Seeds = tuple[Words, Words, Words]
"""Multiplier, shift and offset of each person."""

_DIGITS = ((1, PRIME - 1, 1), (9, PRIME, 0), (17, PRIME, 0))  # first hexadecimal digit of eight, modulus, least value


def seeds_of(key: str, person: str) -> tuple[int, int, int]:
    """Return one person's seeds; the plain form of what engines compute in SQL.

    >>> seeds_of("00" * 16, "meter 7")
    (1519543997, 1323890260, 283738588)
    """
    digest = hashlib.md5(f"{key}|{person}".encode(), usedforsecurity=False).hexdigest()
    multiplier, shift, offset = (int(digest[at - 1 : at + 7], 16) % size + least for at, size, least in _DIGITS)
    return multiplier, shift, offset


def seeds_of_words(digests: NDArray[np.uint64]) -> Seeds:
    """Return the seeds of digests, each as its first and last 64 bits.

    >>> digest = hashlib.md5(("00" * 16 + "|meter 7").encode(), usedforsecurity=False).digest()
    >>> [int(seed[0]) for seed in seeds_of_words(np.frombuffer(digest, ">u8").reshape(1, 2).astype(np.uint64))]
    [1519543997, 1323890260, 283738588]
    """
    eights = digests[:, 0] >> np.uint64(32), digests[:, 0] & np.uint64(2**32 - 1), digests[:, 1] >> np.uint64(32)
    multiplier, shift, offset = (
        (eight % np.uint64(size) + np.uint64(least)).view(np.int64)
        for eight, (_, size, least) in zip(eights, _DIGITS, strict=True)
    )
    return multiplier, shift, offset


def seeds_of_none(people: int) -> Seeds:
    """Return seeds for people of whom nothing has to be chosen: an order too, but the same for all."""
    return np.ones(people, np.int64), np.zeros(people, np.int64), np.zeros(people, np.int64)


def priority(number: int, seeds: tuple[int, int, int]) -> int:
    """Return the place of a number in its person's order; lowest count first."""
    multiplier, shift, offset = seeds
    return (multiplier * pow(number + shift, 5, PRIME) + offset) % PRIME


def priorities(numbers: Words, seeds: Seeds) -> Words:
    """Return the place of each number in its person's order; lowest count first.

    Args:
        numbers: periods or places, below P.
        seeds: multiplier, shift and offset of the person of each number.
    """
    found = np.empty(len(numbers), np.int64)
    for begin in range(0, len(numbers), _CHUNK):  # many passes over little memory
        piece = slice(begin, begin + _CHUNK)
        multiplier, shift, offset = (seed[piece].view(np.uint64) for seed in seeds)
        moved = numbers[piece].view(np.uint64) + shift
        moved = np.minimum(moved, moved - _PRIME)
        power = _folded(moved * moved)  # below 2^32
        power = _folded(_folded(power * power))  # below 2^31 + 8
        power = _folded(power * moved)  # below 2^32
        power *= multiplier
        power += offset
        power = _folded(_folded(power))
        found[piece] = np.minimum(power, power - _PRIME).view(np.int64)
    return found


def seed_texts(read: Callable[[int], exp.Expression]) -> list[exp.Expression]:
    """Return the three seeds as SQL; ``read`` gives the number that eight digits are, from one of the digest on."""
    return [read(at) % size + least for at, size, least in _DIGITS]


def priority_text(number: exp.Expression, multiplier: str, shift: str, offset: str) -> exp.Expression:
    """Return the place of a number in its person's order, as SQL over columns that hold the seeds."""
    moved = exp.paren(number + exp.column(shift)) % PRIME
    second = exp.paren(exp.paren(moved) * exp.paren(moved.copy())) % PRIME
    fourth = exp.paren(exp.paren(second) * exp.paren(second.copy())) % PRIME
    fifth = exp.paren(exp.paren(fourth) * exp.paren(moved.copy())) % PRIME
    return exp.paren(exp.column(multiplier) * exp.paren(fifth) + exp.column(offset)) % PRIME


def _folded(product: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return smaller numbers that are the same modulo P: 2^31 is 1 there, so upper bits are added to the lower ones.

    What is left, below 2 P, loses P by a minimum: numbers below P would wrap around to huge ones.
    """
    lower = product & _PRIME
    product >>= _BITS
    lower += product
    return lower
