"""Private spectra: one harmonic, the lowest, the strongest or all, with power, series and intervals read for free."""

from chronodp.estimation.spectrum.comparison import compare_lowest
from chronodp.estimation.spectrum.design import SpectrumDesign, design_spectrum
from chronodp.estimation.spectrum.harmonics import transform
from chronodp.estimation.spectrum.release import SpectrumRelease
from chronodp.estimation.spectrum.sensitivity import spectral_sensitivity
from chronodp.estimation.spectrum.spectrum import Spectrum, SpectrumPlan
from chronodp.estimation.spectrum.wanted import Lowest, Only, Strongest, Wanted, Whole

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
