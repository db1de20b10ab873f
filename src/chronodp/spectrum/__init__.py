"""Private spectra: one harmonic, the lowest, the strongest or all, with power, series and intervals read for free."""

from chronodp.spectrum.choosing import choose_harmonics as choose_harmonics
from chronodp.spectrum.comparison import compare_lowest
from chronodp.spectrum.design import SpectrumDesign as SpectrumDesign, design_spectrum as design_spectrum
from chronodp.spectrum.harmonics import transform as transform
from chronodp.spectrum.release import SpectrumRelease
from chronodp.spectrum.sensitivity import spectral_sensitivity as spectral_sensitivity
from chronodp.spectrum.spectrum import Spectrum, SpectrumPlan, draw_spectrum as draw_spectrum, exact_of as exact_of
from chronodp.spectrum.wanted import Lowest, OnlyHarmonics, Strongest, Wanted as Wanted, WholeSpectrum

__all__ = [
    "Lowest",
    "OnlyHarmonics",
    "Spectrum",
    "SpectrumPlan",
    "SpectrumRelease",
    "Strongest",
    "WholeSpectrum",
    "compare_lowest",
]
