"""The only room that draws bits: exact noise on a grid, exact integers, coins and permutations."""

from chronodp.randomness.entropy import Entropy, KeystreamEntropy, Shape, check_entropy, secure, seeded
from chronodp.randomness.keystream import Keystream, SecureKeystream, SeededKeystream

__all__ = [
    "Entropy",
    "Keystream",
    "KeystreamEntropy",
    "SecureKeystream",
    "SeededKeystream",
    "Shape",
    "check_entropy",
    "secure",
    "seeded",
]
