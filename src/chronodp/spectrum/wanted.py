"""What is asked of a spectrum: one harmonic, the lowest, all, or the strongest."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from chronodp.errors import InvalidArgument
from chronodp.privacy import check_fraction, check_whole, counted, document, settle
from chronodp.spectrum.harmonics import highest

__all__ = ["Lowest", "OnlyHarmonics", "Strongest", "Wanted", "WholeSpectrum", "check_wanted"]


@document("only_harmonic")
@dataclass(frozen=True, slots=True)
class OnlyHarmonics:
    """One coefficient: the harmonic of so many turns over the whole series."""

    harmonic: int

    def __post_init__(self) -> None:
        check_whole("harmonic", self.harmonic, least=0)

    def __str__(self) -> str:
        return f"harmonic {self.harmonic}"


@document("lowest_harmonics")
@dataclass(frozen=True, slots=True)
class Lowest:
    """The lowest harmonics, the total (harmonic 0) among them: with reconstruction, Fourier perturbation."""

    count: int

    def __post_init__(self) -> None:
        check_whole("count", self.count)

    def __str__(self) -> str:
        return f"the lowest {self.count} harmonics"


@document("whole_spectrum")
@dataclass(frozen=True, slots=True)
class WholeSpectrum:
    """Every harmonic. Noise goes on the series itself: in an orthonormal basis white noise stays white."""

    def __str__(self) -> str:
        return "the whole spectrum"


@document("strongest_harmonics")
@dataclass(frozen=True, slots=True)
class Strongest:
    """The strongest harmonics among the lowest, chosen privately, and the total.

    Attributes:
        count: how many are chosen.
        among: the highest harmonic that may be.
        share: the part of epsilon that pays for the choice.
    """

    count: int
    among: int
    share: float = 0.5

    def __post_init__(self) -> None:
        check_whole("among", self.among)
        check_whole("count", self.count, most=self.among)
        settle(self, share=check_fraction("share", self.share))

    def __str__(self) -> str:
        return f"the {self.count} strongest of harmonics 1 to {self.among}, and the total"


Wanted: TypeAlias = OnlyHarmonics | Lowest | WholeSpectrum | Strongest


def check_wanted(wanted: object, horizon: int) -> Wanted:
    """Return what is wanted if a series of so many periods has it."""
    top = highest(horizon)
    what = f"of {counted(horizon, 'period')}, whose highest harmonic (Nyquist) is {top:,}"
    match wanted:
        case OnlyHarmonics():
            if wanted.harmonic > top:
                raise InvalidArgument("harmonic", wanted.harmonic, f"at most {top:,}: a series {what}")
        case Lowest():
            if wanted.count > top + 1:
                raise InvalidArgument(
                    "count", wanted.count, f"at most {top + 1:,}, the total included: a series {what}"
                )
        case Strongest():
            if wanted.among > top:
                raise InvalidArgument("among", wanted.among, f"at most {top:,}: a series {what}")
        case WholeSpectrum():
            pass
        case _:
            raise InvalidArgument(
                "wanted", wanted, "OnlyHarmonics(k), Lowest(count), WholeSpectrum() or Strongest(count, among)"
            )
    return wanted
