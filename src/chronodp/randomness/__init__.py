"""The only room that draws bits: exact noise on a grid, exact integers, coins and permutations."""

from chronodp.randomness.entropy import (
    Entropy,
    KeystreamEntropy as KeystreamEntropy,
    Shape as Shape,
    check_entropy as check_entropy,
    keyed_entropy as keyed_entropy,
    secure,
    seeded,
)
from chronodp.randomness.keyed import KeyedNoise as KeyedNoise, draw_secret as draw_secret
from chronodp.randomness.keystream import (
    Lineage as Lineage,
    SecureKeystream as SecureKeystream,
    SeededKeystream as SeededKeystream,
)
from chronodp.randomness.rounding import LARGEST_SCALE as LARGEST_SCALE, SMALLEST_SCALE as SMALLEST_SCALE

__all__ = ["Entropy", "secure", "seeded"]
