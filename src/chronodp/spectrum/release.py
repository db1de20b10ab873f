"""A released spectrum: coefficients, periodogram and series, each with intervals, all free once it is paid for."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from chronodp.display import scrolled, shown_html, shown_lines
from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.ledger import SignedLink, Written, check_signed, load_release, save_release
from chronodp.postprocess import Floats, deviations
from chronodp.privacy import Certificate, Grid, canonical, check_fraction, load, load_parts, stored_quanta, to_document
from chronodp.report import Line, series_figure, small_chart
from chronodp.spectrum.design import SpectrumDesign
from chronodp.spectrum.harmonics import Complexes, count_numbers, is_real, numbers_of, to_series, transform
from chronodp.spectrum.wanted import WholeSpectrum

if TYPE_CHECKING:
    import pandas

__all__ = ["SpectrumRelease", "spectrum_text"]


def spectrum_text(design: SpectrumDesign, harmonics: tuple[int, ...], noisy: list[int]) -> str:
    """Return the canonical text of a spectrum: what is stored, digested and signed."""
    content = {"kind": "spectrum", "design": to_document(design), "harmonics": list(harmonics), "noisy": noisy}
    return canonical(content)


@dataclass(frozen=True, repr=False)
class SpectrumRelease:
    """Private coefficients, public and signed. Made by ``plan.release(...)`` or `SpectrumRelease.load`.

    Coefficients are X_k = Σ_t x_t e^(-2πi k t / T), as numpy's ``rfft`` has them. Intervals cover noise; harmonics that
    were not released are not in them.
    """

    text: str
    signed: SignedLink
    whole: str | None = None
    """The text that was signed, where this release is a part of it."""

    def __post_init__(self) -> None:
        check_signed(self.signed.link, self.text, whole=self.whole)

    @classmethod
    def load(cls, path: str | Path) -> SpectrumRelease:
        """Return a release that was saved; `chronodp verify` tells whether its signature is genuine."""
        written, signed = load_release(path)
        return cls(written.text, signed)

    @property
    def certificate(self) -> Certificate:
        """What is promised, by which argument."""
        return self.signed.link.certificate

    @cached_property
    def design(self) -> SpectrumDesign:
        """Everything public about the release."""
        design: SpectrumDesign = load(self._content["design"], SpectrumDesign)
        return design

    @property
    def harmonics(self) -> tuple[int, ...]:
        """The harmonics that were released."""
        told, last = self._content["harmonics"], self.design.horizon // 2
        if not isinstance(told, list) or not all(type(one) is int and 0 <= one <= last for one in told):
            raise UnknownDocument(f"the harmonics of a spectrum are whole numbers from 0 to {last}")
        return tuple(told)

    @cached_property
    def coefficients(self) -> Complexes:
        """X_k with noise, for each released harmonic."""
        step, horizon = self.design.noise.step, self.design.horizon
        if isinstance(self.design.wanted, WholeSpectrum):
            return transform(Grid(step).to_values(stored_quanta(self._content["noisy"], (horizon,))))
        count = sum(1 if is_real(harmonic, horizon) else 2 for harmonic in self.harmonics)
        numbers = iter(float(number) * step for number in stored_quanta(self._content["noisy"], (count,)))
        found = []
        for harmonic in self.harmonics:
            if is_real(harmonic, horizon):
                found.append(complex(next(numbers) * math.sqrt(2)))
            else:
                found.append(complex(next(numbers), next(numbers)))
        return np.array(found)

    def to_pandas(self, *, level: float = 0.95) -> pandas.DataFrame:
        """Return a row a harmonic: periods a turn, X_k, the deviation of its noise, and the power without bias.

        power is ``|X_k|² / T - 2σ² / T``, where σ is the deviation of the noise in Re X_k and in Im X_k: noise adds
        that much on average, so without it the power is right on average, and may be negative. lower and upper hold
        the true power with at least the stated probability: ``|X_k|`` lies within the noise's reach of what was
        released.
        """
        import pandas

        horizon = self.design.horizon
        real = np.array([is_real(harmonic, horizon) for harmonic in self.harmonics])
        # The noise of a real X_k is √2 of its number's, and its square adds what two parts of σ² add.
        bias = 2 * self.design.deviation**2 / horizon
        size = np.abs(self.coefficients)
        reach = np.where(real, math.sqrt(2) * self._reach(1, level), self._reach(2, level))
        with np.errstate(divide="ignore"):
            turn = horizon / np.array(self.harmonics, dtype=np.float64)
        return pandas.DataFrame(
            {
                "harmonic": self.harmonics,
                "periods": turn,
                "real": self.coefficients.real,
                "imaginary": self.coefficients.imag,
                "deviation": self.design.deviation * np.where(real, math.sqrt(2), 1.0),
                "power": size**2 / horizon - bias,
                "lower": np.maximum(size - reach, 0.0) ** 2 / horizon,
                "upper": (size + reach) ** 2 / horizon,
            }
        )

    def reconstruct(self, *, level: float = 0.95) -> pandas.DataFrame:
        """Return the series that has the released harmonics and no other: period, value, lower, upper. Free.

        An interval holds what the true coefficients of these harmonics would give. What other harmonics add is bias,
        and is not in it.
        """
        import pandas

        horizon = self.design.horizon
        value = to_series(self.coefficients, self.harmonics, horizon)
        # (σ √(2/T))² times m / T: every period has the same share of m numbers in an orthonormal basis.
        spread = self.design.deviation * math.sqrt(2 * count_numbers(self.harmonics, horizon)) / horizon
        half = deviations(self.design.noise.law, check_fraction("level", level)) * spread
        periods = np.arange(horizon)
        return pandas.DataFrame({"period": periods, "value": value, "lower": value - half, "upper": value + half})

    def lowest(self, count: int) -> Floats:
        """Return the series made of the lowest harmonics of this release only, which is smoother. Free."""
        kept = [place for place, harmonic in enumerate(self.harmonics) if harmonic < count]
        if not kept:
            raise InvalidArgument("count", count, f"above {min(self.harmonics)}, the lowest released harmonic")
        harmonics = tuple(self.harmonics[place] for place in kept)
        return to_series(self.coefficients[kept], harmonics, self.design.horizon)

    def numbers(self) -> Floats:
        """Return the released numbers themselves: Re X_k and Im X_k in turn, X_k / √2 where it is real."""
        return numbers_of(self.coefficients, self.harmonics, self.design.horizon)

    def save(self, path: str | Path) -> Path:
        """Write the release with its signed certificate as JSON, which `chronodp verify` reads."""
        return save_release(path, Written(self.text), self.signed, whole=self.whole)

    def plot(self) -> Any:
        """Return a Plotly figure of the power of each harmonic, with its interval."""
        table = self.to_pandas()
        parts = (table[name].tolist() for name in ("harmonic", "power", "lower", "upper"))
        figure = series_figure([Line("power", *parts)], title="Periodogram, bias removed", value_name="power")
        figure.update_xaxes(title_text="harmonic (turns over the series)")
        return figure

    def __repr__(self) -> str:
        link = self.signed.link
        return f"SpectrumRelease({link.dataset!r}, request={link.request!r}, {self.design.wanted})"

    def __str__(self) -> str:
        return shown_lines(f"{self.design.wanted}\n{self.to_pandas()}\n{self.certificate}")

    def _repr_html_(self) -> str:
        """Return what a notebook shows: the power of each harmonic in its band, a part of the table, the promise."""
        table = self.to_pandas()
        ends = (table[name].to_numpy(float) for name in ("power", "lower", "upper"))
        rows = table.to_html(max_rows=10, index=False, escape=True, border=0)
        return (
            f"<div><p>{shown_html(self.design.wanted)}</p>{small_chart(*ends, name='power')}{scrolled(rows)}"
            f"{self.certificate._repr_html_()}</div>"
        )

    def _reach(self, numbers: int, level: float) -> float:
        """How far noise carries one number, or two at once, at a level."""
        if numbers == 1:
            return deviations(self.design.noise.law, check_fraction("level", level)) * self.design.deviation
        if self.design.noise.law == "gaussian":
            return self.design.deviation * math.sqrt(-2 * math.log1p(-check_fraction("level", level)))
        # Both within a square, each failing half as often.
        return math.sqrt(2) * deviations("laplace", (1 + check_fraction("level", level)) / 2) * self.design.deviation

    @cached_property
    def _content(self) -> dict[str, Any]:
        return load_parts(self.text, "spectrum", "design", "harmonics", "noisy")
