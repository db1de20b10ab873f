"""Private spectra: one harmonic, the lowest, the strongest or all, with power, series and intervals read for free."""

from chronodp.spectrum.comparison import compare_lowest
from chronodp.spectrum.design import SpectrumDesign, design_spectrum
from chronodp.spectrum.harmonics import transform
from chronodp.spectrum.release import SpectrumRelease
from chronodp.spectrum.sensitivity import spectral_sensitivity
from chronodp.spectrum.spectrum import Spectrum, SpectrumPlan
from chronodp.spectrum.wanted import Lowest, Only, Strongest, Wanted, Whole

__all__ = [
    "Lowest",
    "Only",
    "Spectrum",
    "SpectrumDesign",
    "SpectrumPlan",
    "SpectrumRelease",
    "Strongest",
    "Wanted",
    "Whole",
    "compare_lowest",
    "design_spectrum",
    "spectral_sensitivity",
    "transform",
]
