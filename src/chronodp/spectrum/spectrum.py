"""The front of private spectra: a series with its bounds in, a plan, and a release that spends."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.engines import Progress
from chronodp.errors import InvalidArgument
from chronodp.ledger import Fulfilled, Written
from chronodp.privacy import Certificate, Claim, Grid, Guarantee, Unit, as_numbers, counted, dump
from chronodp.privacy.units import check_unit
from chronodp.randomness import Entropy
from chronodp.series import ReleasePlan
from chronodp.spectrum.choosing import choice_among, choose_harmonics
from chronodp.spectrum.design import SpectrumDesign, design_spectrum
from chronodp.spectrum.exact_transform import DIGITS, exact_numbers
from chronodp.spectrum.harmonics import count_numbers, is_real
from chronodp.spectrum.release import SpectrumRelease, spectrum_text
from chronodp.spectrum.wanted import Strongest, Wanted, WholeSpectrum

__all__ = ["Spectrum", "SpectrumPlan", "draw_spectrum", "exact_of"]

_ARGUMENT = "docs/explanation/proofs/spectrum.md"


class Spectrum:
    """A series whose spectrum is asked for, with your word for how much one unit can change it.

    Args:
        values: one finite number a period; beyond 2^32 times the change they count as that.
        change: the most that one unit changes any one period.
        unit: who is protected.
        max_periods: how many periods one unit changes, for `User` and `UserPeriod`.

    >>> import chronodp as cdp
    >>> from chronodp.spectrum import Lowest
    >>> load = Spectrum([3.0, 4.0, 6.0, 5.0], change=1.0, unit=cdp.Event())
    >>> print(load.plan(Lowest(2), epsilon=1.0).design.wanted)
    the lowest 2 harmonics
    """

    def __init__(self, values: ArrayLike, *, change: float, unit: Unit, max_periods: int | None = None) -> None:
        self._values = _check_series(values)
        self.change, self.unit, self.max_periods = change, check_unit("unit", unit), max_periods

    def plan(self, wanted: Wanted, *, epsilon: float, delta: float = 0.0) -> SpectrumPlan:
        """Return the plan with the least error within (epsilon, delta). Free, and made without the values."""
        design = design_spectrum(
            wanted,
            horizon=len(self._values),
            change=self.change,
            unit=self.unit,
            max_periods=self.max_periods,
            epsilon=epsilon,
            delta=delta,
        )
        return SpectrumPlan(design, self._values)

    def __repr__(self) -> str:
        return f"Spectrum({counted(len(self._values), 'period')}, change={self.change:g}, {self.unit})"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class SpectrumPlan(ReleasePlan[list[int], SpectrumRelease]):
    """One spectrum, priced and with its error known; `release` spends.

    Attributes:
        design: everything public about it.
    """

    design: SpectrumDesign
    _values: Any = field(repr=False)

    def __post_init__(self) -> None:
        if isinstance(self.design.wanted, Strongest):  # refuse now what could not be chosen after it is paid for
            choice_among(self.design, list(self.design.harmonics[1:]))

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return Claim(self.design.unit, self.design.cost, _ARGUMENT)

    @property
    def rmse(self) -> float:
        """Root mean square error of noise in a period of the reconstructed series; what is left out not counted."""
        design = self.design
        known = 2 * design.wanted.count + 1 if isinstance(design.wanted, Strongest) else None
        numbers = known or count_numbers(design.harmonics, design.horizon)
        return float(design.deviation * np.sqrt(2 * numbers) / design.horizon)

    def within(self, *, epsilon: float, delta: float) -> SpectrumPlan:
        """Return the plan of the same spectrum at another price."""
        design = self.design
        fresh = design_spectrum(
            design.wanted,
            horizon=design.horizon,
            change=design.change,
            unit=design.unit,
            max_periods=design.max_periods,
            epsilon=epsilon,
            delta=delta,
        )
        return SpectrumPlan(fresh, self._values)

    def read(self, *, key: str, progress: Progress) -> list[int]:
        """Return the exact numbers, which nobody may see."""
        del key  # all periods count
        return exact_of(self.design, self._values, progress=progress)

    def draw(self, numbers: list[int], entropy: Entropy) -> Written:
        """Return the release as it is stored, with fresh noise; whoever calls has debited the cost before."""
        return Written(spectrum_text(self.design, *draw_spectrum(self.design, numbers, entropy)))

    def certificate_for(self, *, seeded: bool) -> Certificate:
        """Return what a release by this plan is certified by."""
        design = self.design
        chosen = isinstance(design.wanted, Strongest)
        return Certificate(
            mechanism=f"{design.wanted} of {design.horizon:,} periods; {design.noise.law} noise"
            + (", after permute-and-flip" if chosen else ""),
            claim=self.claim,
            guarantee=Guarantee(design.unit, design.epsilon, design.delta),
            theorem=("basic composition with " if chosen else "") + design.noise.theorem,
            precision=f"sums of whole numbers without rounding, released on a grid of {design.noise.step:g}; what "
            "rounded cosines add is in the sensitivity",
            seeded=seeded,
        )

    @property
    def identity(self) -> str:
        """The text that identifies the plan."""
        return dump(self.design)

    def content(self, numbers: list[int]) -> tuple[bytes, ...]:
        """Return what identifies the series: its values, whatever was made of them. Nobody may see it."""
        del numbers
        return (self._values.astype("<f8").tobytes(),)

    _purpose = "spectrum"

    @property
    def _reading(self) -> str:
        return f"Transforming {counted(self.design.horizon, 'period')}"

    def _released(self, fulfilled: Fulfilled) -> SpectrumRelease:
        return SpectrumRelease(fulfilled.release, fulfilled.signed)

    def __repr__(self) -> str:
        return (
            f"SpectrumPlan({self.design.wanted}; {Guarantee(self.design.unit, self.design.epsilon, self.design.delta)})"
        )

    @property
    def _facts(self) -> list[tuple[str, str]]:
        design = self.design
        return [
            ("What", f"{design.wanted} of {counted(design.horizon, 'period')}"),
            ("Guarantee", f"{Guarantee(design.unit, design.epsilon, design.delta)}"),
            ("Protects", design.unit.protects),
            ("Cost", f"{design.cost}"),
            (
                "Error",
                f"±{design.deviation:.4g} (one deviation) in Re X_k and Im X_k; {self.rmse:.4g} in a period of the "
                "reconstructed series, what other harmonics hold not counted",
            ),
        ]


def exact_of(design: SpectrumDesign, values: NDArray[np.float64], *, progress: Progress) -> list[int]:
    """Return the exact whole numbers that noise goes on, or harmonics are chosen by; for the owner only."""
    if isinstance(design.wanted, WholeSpectrum):
        steps: list[int] = Grid(design.noise.step).to_quanta(values).tolist()
        return steps
    return exact_numbers(Grid(design.grid).to_quanta(values), design.harmonics, progress=progress)


def draw_spectrum(design: SpectrumDesign, exact: list[int], entropy: Entropy) -> tuple[tuple[int, ...], list[int]]:
    """Return the released harmonics and their noisy numbers. Spends nothing: a `SpectrumPlan` is what pays.

    Guarantee: both together are private as the design says, exact in finite precision.
    """
    harmonics, numbers = design.harmonics, exact
    if isinstance(design.wanted, Strongest):
        harmonics = choose_harmonics(design, design.wanted, exact, entropy)
        numbers = _numbers_of(exact, harmonics, design.horizon)
    noise = design.noise.draws(entropy)((len(numbers), 1))[:, 0]
    if isinstance(design.wanted, WholeSpectrum):
        return harmonics, (np.array(numbers, dtype=np.int64) + noise).tolist()
    # Sums over many periods may outgrow 64 bits.
    return harmonics, [_rounded(number, design) + draw for number, draw in zip(numbers, noise.tolist(), strict=True)]


def _numbers_of(exact: list[int], harmonics: tuple[int, ...], horizon: int) -> list[int]:
    """The numbers of some of harmonics 0, 1, 2, …: one of the first, two of each other up to Nyquist."""
    kept: list[int] = []
    for harmonic in harmonics:
        first = 2 * harmonic - 1 if harmonic else 0
        kept += exact[first : first + (1 if is_real(harmonic, horizon) else 2)]
    return kept


def _rounded(number: int, design: SpectrumDesign) -> int:
    """A number in units of grid / 2^32, to the nearest step of the noise, halves up."""
    wide = int(design.noise.step / design.grid * 2.0**DIGITS)
    return (2 * number + wide) // (2 * wide)


def _check_series(values: ArrayLike) -> NDArray[np.float64]:
    allowed = "at least one finite number, one a period"
    numbers = as_numbers("values", values, allowed)
    if numbers.ndim != 1 or not numbers.size:
        raise InvalidArgument("values", values, allowed, private=True)
    series: NDArray[np.float64] = numbers.astype(np.float64)
    if not np.all(np.isfinite(series)):
        raise InvalidArgument("values", values, allowed, private=True)
    return series
