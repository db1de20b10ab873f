"""The one object through which every mechanism draws.

`KeystreamEntropy` is the claim of ``docs/explanation/proofs/noise.md``: the law of each draw, exactly, given uniform
words.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Hashable
from functools import lru_cache
from typing import Protocol, TypeAlias, cast, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_whole
from chronodp.randomness.integers import uniform_below, uniform_below_one, uniform_permutations
from chronodp.randomness.keystream import KeyedKeystream, Keystream, Lineage, SecureKeystream, SeededKeystream
from chronodp.randomness.reservoir import Reservoir
from chronodp.randomness.start_check import checked
from chronodp.randomness.variates import Family, exponential, gaussian, laplace

__all__ = ["Entropy", "KeystreamEntropy", "Shape", "check_entropy", "keyed_entropy", "secure", "seeded"]

Shape: TypeAlias = int | tuple[int, ...]


@runtime_checkable
class Entropy(Protocol):
    """What a mechanism may draw: finite choices and noise on the integers, each exact.

    Mechanisms take one as ``entropy``. `secure` and `seeded` make one from a keystream; the exact auditor passes
    its own, which walks through every outcome.
    """

    @property
    def seeded(self) -> bool:
        """Whether the draws can be repeated, which voids every guarantee made with them."""
        ...

    def integers(self, below: ArrayLike, size: Shape | None = None) -> NDArray[np.int64]:
        """Return uniform integers from 0 to ``below`` - 1."""
        ...

    def coins(self, numerators: ArrayLike, denominator: int, size: Shape | None = None) -> NDArray[np.bool_]:
        """Return coins that fall True with probability numerator / denominator."""
        ...

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        """Return coins that fall True with probability e^-exponent."""
        ...

    def permutations(self, count: int, rows: int = 1) -> NDArray[np.int64]:
        """Return ``rows`` uniform permutations of 0 to ``count`` - 1."""
        ...

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return floor(scale * Z + 1/2) for independent Laplace variates Z of scale 1."""
        ...

    def gaussian(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return floor(scale * Z + 1/2) for independent Gaussian variates Z of standard deviation 1."""
        ...

    def exponential(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return floor(scale * Z) for independent exponential variates Z of mean 1."""
        ...


class KeystreamEntropy:
    """Draws made from the words of a keystream. Safe in threads and after a fork.

    Guarantee: given uniform words, every draw has exactly the stated distribution; no draw is used twice, also
    not by a forked child.

    References:
        Haney, Desfontaines, Hartman, Shrestha, Hay (2022), Precision-based attacks and interval refining.
    """

    def __init__(self, keystream: Keystream) -> None:
        self._keystream = keystream
        self._local = threading.local()

    @property
    def seeded(self) -> bool:
        """Whether the draws can be repeated."""
        return self._keystream.seeded

    def integers(self, below: ArrayLike, size: Shape | None = None) -> NDArray[np.int64]:
        """Return uniform integers from 0 to ``below`` - 1, of the bounds' shape or of ``size``.

        >>> sorted(set(seeded(1).integers(3, size=50).tolist()))
        [0, 1, 2]
        """
        bounds = _whole_numbers("below", below)
        shape = bounds.shape if size is None else _shape(size)
        if bounds.ndim == 0:
            return uniform_below_one(self._keystream, int(bounds), math.prod(shape)).reshape(shape)
        return uniform_below(self._keystream, _spread(bounds, shape).reshape(-1)).reshape(shape)

    def coins(self, numerators: ArrayLike, denominator: int, size: Shape | None = None) -> NDArray[np.bool_]:
        """Return coins that fall True with probability numerator / denominator, of any two whole numbers.

        >>> seeded(1).coins([0, 5], 5).tolist()
        [False, True]
        """
        wanted = _whole_numbers("numerators", numerators)
        whole = check_whole("denominator", denominator, most=2**63 - 1)
        if wanted.size and not (wanted.min() >= 0 and wanted.max() <= whole):
            raise InvalidArgument("numerators", numerators, f"from 0 to the denominator {whole}")
        shape = wanted.shape if size is None else _shape(size)
        # A uniform integer below the denominator is under the numerator in exactly so many cases: no float takes part.
        return self.integers(whole, shape) < _spread(wanted, shape)

    def exponential_coins(self, exponents: ArrayLike) -> NDArray[np.bool_]:
        """Return coins that fall True with probability e^-exponent, without any rounding of that probability."""
        wanted = np.asarray(exponents)
        if wanted.dtype.kind not in "iuf" or not np.all(wanted >= 0) or not np.all(np.isfinite(wanted)):
            raise InvalidArgument("exponents", exponents, "finite numbers of at least 0")
        flat = wanted.astype(np.float64).reshape(-1)
        return self._reservoir("laplace", laplace).exceed(flat).reshape(wanted.shape)

    def permutations(self, count: int, rows: int = 1) -> NDArray[np.int64]:
        """Return ``rows`` uniform permutations of 0 to ``count`` - 1, one a row."""
        return uniform_permutations(self._keystream, check_whole("rows", rows), check_whole("count", count))

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return floor(scale * Z + 1/2) for independent Laplace variates Z of scale 1.

        >>> int(seeded(1).laplace(1000.0, size=100_000).std() / 1000 * 100) / 100   # √2
        1.41
        """
        return self._noise("laplace", laplace, scale, size)

    def gaussian(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return floor(scale * Z + 1/2) for independent Gaussian variates Z of standard deviation 1.

        >>> int(seeded(1).gaussian(1000.0, size=100_000).std() / 1000 * 100 + 0.5) / 100
        1.0
        """
        return self._noise("gaussian", gaussian, scale, size)

    def exponential(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return floor(scale * Z) for independent exponential variates Z of mean 1.

        The noise is at least n with probability e^(-n / scale).

        >>> int(seeded(1).exponential(1000.0, size=100_000).mean() / 1000 * 100 + 0.5) / 100
        1.0
        """
        return self._noise("exponential", exponential, scale, size)

    def _noise(self, name: str, family: Callable[[], Family], scale: float, size: Shape) -> NDArray[np.int64]:
        reservoir = self._reservoir(name, family)
        if type(size) is int and size >= 0:  # what nearly everyone asks for, at half the time of a small request
            return reservoir.draw(scale, size)
        shape = _shape(size)
        return reservoir.draw(scale, math.prod(shape)).reshape(shape)

    def _reservoir(self, name: str, family: Callable[[], Family]) -> Reservoir:
        local = self._local
        if getattr(local, "generation", None) != Lineage.generation:
            local.__dict__.clear()  # what a fork copied must not be drawn twice
            local.generation = Lineage.generation
        reservoir: Reservoir | None = getattr(local, name, None)
        if reservoir is None:
            reservoir = Reservoir(self._keystream, checked(family()))
            setattr(local, name, reservoir)
        return reservoir

    def __repr__(self) -> str:
        return "seeded(...)" if self.seeded else "secure()"


def check_entropy(value: object) -> Entropy:
    """Return ``value`` if mechanisms can draw from it, and `secure` entropy if it is None."""
    if value is None:
        return secure()
    if _is_drawn_from(cast("Hashable", type(value))):
        return cast("Entropy", value)
    if not isinstance(value, Entropy):
        raise InvalidArgument("entropy", value, "secure() or, for tests, seeded(seed)")
    return value


@lru_cache(maxsize=64)
def _is_drawn_from(kind: Hashable) -> bool:
    """Whether every object of a kind has all that an `Entropy` has; asked of each object, it takes far longer."""
    return all(hasattr(kind, name) for name in vars(Entropy) if not name.startswith("_"))


def secure() -> KeystreamEntropy:
    """Return entropy keyed by the operating system: what every release uses unless told otherwise."""
    return KeystreamEntropy(SecureKeystream())


def keyed_entropy(secret: bytes) -> KeystreamEntropy:
    """Return entropy of a secret of 32 bytes, for draws that must come out the same after a crash."""
    return KeystreamEntropy(KeyedKeystream(secret))


def seeded(seed: int | str) -> KeystreamEntropy:
    """Return repeatable entropy for tests; a release made with it says so in its certificate's first line."""
    return KeystreamEntropy(SeededKeystream(seed))


def _shape(size: Shape) -> tuple[int, ...]:
    sides = size if isinstance(size, tuple) else (size,)
    if all(type(side) is int and side >= 0 for side in sides):  # what a step of a stream asks for
        return sides
    return tuple(check_whole("size", side, least=0) for side in sides)


def _spread(numbers: NDArray[np.int64], shape: tuple[int, ...]) -> NDArray[np.int64]:
    try:
        return np.broadcast_to(numbers, shape)
    except ValueError:
        raise InvalidArgument("size", str(shape), f"a shape that numbers of shape {numbers.shape} fit into") from None


def _whole_numbers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    numbers = np.asarray(values)
    if numbers.dtype.kind not in "iu" or (numbers.dtype.kind == "u" and numbers.size and numbers.max() > 2**63 - 1):
        raise InvalidArgument(name, values, "whole numbers below 2^63")
    return numbers.astype(np.int64)
