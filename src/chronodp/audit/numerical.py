"""The numerical auditor: the exact privacy curve of noise as it is implemented, on its grid and in its shape.

Noise is floor(s Z + 1/2) for an ideal variate Z, s steps of the grid wide; neighbours move it by a whole number of
steps. Both laws are log-concave, and so is their rounding; the likelihood ratio of the shifted noise is then monotone,
the best event is a half line, and delta(epsilon) = max over t of P(N + d >= t) - e^epsilon P(N >= t), a difference of
two tails of Z at half-integers. Tails are computed with 60 digits, so grids of any fineness are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.allowance import Allowance
from chronodp.audit.case import AuditCase, Curve, Reached, Unfit
from chronodp.audit.enumerated_entropy import EnumeratedEntropy
from chronodp.randomness import Shape

__all__ = ["GridNoise", "Impulses", "Linear", "OnGrid"]

Floats = NDArray[np.float64]
Law: TypeAlias = Literal["laplace", "gaussian"]

_DIGITS = 60
_POINTS = 7
_IMPULSE = 2**24
_SLACK = 1e-6  # what the rounding of shapes may hide: measured, it is far smaller


@dataclass(frozen=True, slots=True)
class GridNoise:
    """Noise on whole numbers, moved by whole numbers.

    Attributes:
        law: of the ideal variate.
        scale: of the noise, in steps of the grid.
        shift: how far neighbours move it, in steps.

    >>> one = GridNoise("laplace", 1000.0, 1000)
    >>> round(one.epsilon(0.0), 12), round(one.delta(0.5), 6)
    (1.0, 0.221199)
    """

    law: Law
    scale: float
    shift: int

    def delta(self, epsilon: float) -> float:
        """Return the exact delta at ``epsilon``."""
        import mpmath

        with mpmath.workdps(_DIGITS):
            factor = mpmath.exp(epsilon)

            def gain(at: int) -> Any:
                return self._above(at - self.shift) - factor * self._above(at)

            # Terms of the sum change their sign once, from minus to plus: bisect for where they do.
            reach = math.ceil(60 * self.scale) + self.shift
            low, high = -reach, reach
            while high - low > 1:
                middle = (low + high) // 2
                mass = self._mass(middle - self.shift) - factor * self._mass(middle)
                low, high = (low, middle) if mass > 0 else (middle, high)
            return max(0.0, float(max(gain(at) for at in (low, low + 1, high, high + 1))))

    def epsilon(self, delta: float) -> float:
        """Return the smallest epsilon whose delta is at most ``delta``."""
        if not delta:
            if self.law == "gaussian":
                return math.inf
            return self._largest_loss()
        low, high = 0.0, 1.0
        while self.delta(high) > delta:
            low, high = high, 2 * high
        for _ in range(40):
            middle = (low + high) / 2
            low, high = (middle, high) if self.delta(middle) > delta else (low, middle)
        return high

    def _largest_loss(self) -> float:
        import mpmath

        with mpmath.workdps(_DIGITS):
            # The ratio is monotone and constant beyond the shift: there it is largest.
            far = self.shift + 1
            return float(mpmath.log(self._mass(far - self.shift) / self._mass(far)))

    def _mass(self, at: int) -> Any:
        # On the side where both tails are small, so that their difference keeps its digits.
        return self._above(at) - self._above(at + 1) if at >= 0 else self._above(-at) - self._above(-at + 1)

    def _above(self, at: int) -> Any:
        """P(noise >= at), which is P(Z >= (at - 1/2) / scale)."""
        import mpmath

        x = (mpmath.mpf(at) - mpmath.mpf("0.5")) / mpmath.mpf(self.scale)
        if self.law == "gaussian":
            return mpmath.erfc(x / mpmath.sqrt(2)) / 2
        tail = mpmath.exp(-abs(x)) / 2
        return tail if x >= 0 else 1 - tail


@dataclass(frozen=True, slots=True)
class OnGrid:
    """Attack noise on one number by its exact curve."""

    noise: GridNoise

    @property
    def auditor(self) -> str:
        """Its name."""
        return "numerical"

    def attack(self, case: AuditCase, allowance: Allowance) -> Reached:  # noqa: ARG002 (of Check)
        """Return the exact epsilon at the claim's delta, and the curve."""
        exact = self.noise.epsilon(case.delta)
        refuted = (
            exact > case.epsilon * (1 + 1e-12)
            if not case.delta
            else (self.noise.delta(case.epsilon) > case.delta * (1 + 1e-9))
        )
        where = f"{self.noise.law} noise of {self.noise.scale:g} steps moved by {self.noise.shift:,}"
        return Reached(self.auditor, exact, exact, refuted, where, _curve(case.epsilon, self.noise.delta))


@dataclass(frozen=True, slots=True)
class Linear:
    """Attack noise of any shape, output = f(data) + W draws, by how far neighbours move the draws.

    The matrix W is measured on the implementation, impulse by impulse, and so is f. What neighbours change of the
    output is a move u of the draws, with W u the change; its norm over their scale is all that counts: l1 for Laplace
    noise, l2 for Gaussian noise. With as many draws as outputs u is unique. With more draws Gaussian noise has exactly
    the least l2 norm among all moves; for Laplace noise the least l1 norm bounds the loss from above. Rounding to a
    grid can only take away from that.
    """

    @property
    def auditor(self) -> str:
        """Its name."""
        return "numerical"

    def attack(self, case: AuditCase, allowance: Allowance) -> Reached:  # noqa: ARG002 (of Check)
        """Return the epsilon of the largest move at the claim's delta, and for Gaussian noise the curve."""
        silent = Impulses(None)
        centre = _flat(case.run(case.neighbours[0][0], silent))
        law = silent.law
        if law is None:
            raise Unfit("it draws no noise")
        noise_of = _noise_of(case, centre, silent)
        outputs = {id(data): _flat(case.run(data, Impulses(None))) for pair in case.neighbours for data in pair}
        changes = [outputs[id(first)] - outputs[id(second)] for first, second in case.neighbours]
        ratio = max(_least_move(noise_of, change, law) for change in changes)
        where = f"{law} draws of scale {min(silent.scales):.6g}; moved by {ratio:.6g} scales at most"
        if law == "gaussian":
            exact = gaussian.epsilon_of(ratio, case.delta)
            curve = _curve(case.epsilon, lambda epsilon: gaussian.delta_of(ratio, epsilon))
            return Reached(self.auditor, exact, exact, exact > case.epsilon * (1 + _SLACK), where, curve)
        if noise_of.shape[0] == noise_of.shape[1]:
            return Reached(self.auditor, ratio, ratio, ratio > case.epsilon * (1 + _SLACK), where)
        return Reached(self.auditor, 0.0, None, False, where, upper=ratio / (1 + _SLACK))


class Impulses(EnumeratedEntropy):
    """Answers every request for noise with zeros but for one large number, to see where that draw ends up.

    Attributes:
        law: that was asked for; None if none was.
        scales: that were asked for, one for each number.
    """

    def __init__(self, place: int | None) -> None:
        super().__init__([])
        self._place = place
        self.law: Law | None = None
        self.scales: list[float] = []

    def laplace(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return zeros, and the impulse when its turn comes."""
        return self._give("laplace", scale, size)

    def gaussian(self, scale: float, size: Shape) -> NDArray[np.int64]:
        """Return zeros, and the impulse when its turn comes."""
        return self._give("gaussian", scale, size)

    def _give(self, law: Law, scale: float, size: Shape) -> NDArray[np.int64]:
        if self.law not in (None, law):
            raise Unfit("it mixes laws of noise, which are no one norm")
        self.law = law
        made = np.zeros(size, dtype=np.int64)
        place = -1 if self._place is None else self._place - len(self.scales)
        if 0 <= place < made.size:
            made.flat[place] = _IMPULSE
        self.scales += [scale] * made.size
        return made


def _noise_of(case: AuditCase, centre: Floats, silent: Impulses) -> Floats:
    """Return W, outputs by draws in units of their scales, from the noise that the mechanism really makes of draws."""
    data = case.neighbours[0][0]
    columns = [
        (_flat(case.run(data, Impulses(place))) - centre) / _IMPULSE * scale
        for place, scale in enumerate(silent.scales)
    ]
    noise_of = np.column_stack(columns)
    used = noise_of[:, np.any(noise_of, axis=0)]
    if np.linalg.matrix_rank(used) < used.shape[0]:
        raise Unfit("its noise has fewer draws than outputs: some combination of outputs is published without noise")
    return used


def _least_move(noise_of: Floats, change: Floats, law: Law) -> float:
    """Return the least norm of draws that make the same change: l1 for Laplace noise, l2 for Gaussian noise."""
    if law == "gaussian":
        return float(np.linalg.norm(np.linalg.lstsq(noise_of, change)[0]))
    if noise_of.shape[0] == noise_of.shape[1]:
        return float(np.abs(np.linalg.solve(noise_of, change)).sum())
    from scipy.optimize import linprog

    size = float(np.abs(noise_of).max())
    both = np.hstack([noise_of, -noise_of]) / size
    found = linprog(np.ones(both.shape[1]), A_eq=both, b_eq=change / size, bounds=(0, None))
    if found.fun is None:
        raise Unfit("its noise cannot make the change that neighbours make")
    return float(found.fun)


def _flat(output: object) -> Floats:
    return np.ravel(np.asarray(output, dtype=np.float64))


def _curve(epsilon: float, delta: Callable[[float], float]) -> Curve:
    steps = [1.5 * epsilon * step / (_POINTS - 1) for step in range(_POINTS)]
    return tuple((step, delta(step)) for step in steps)
