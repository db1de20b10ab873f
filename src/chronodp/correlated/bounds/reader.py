"""Who reads which sites of the past: what a window needs to know of a release."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from chronodp.correlated.chain import Floats, Integers
from chronodp.correlated.query import QueryTable

__all__ = ["Reader", "Site"]

Site: TypeAlias = tuple[int, int]  # sequence, age


@dataclass(frozen=True, slots=True, eq=False)
class Reader:
    """What is released of the past, and to whom.

    Attributes:
        outputs: of all releases side by side, each with noise of its own.
        ages: of each sequence in each output.
        scale: of the noise.
        known: whether the adversary knows the present of the others.
        heard: the log range that the densities of all outputs have over each sequence's group (L).
    """

    outputs: QueryTable
    ages: Integers
    scale: float
    known: bool
    heard: Floats

    @property
    def oldest(self) -> int:
        """The oldest age that is read."""
        return int(self.ages.max())

    def sites(self, output: int, inside: list[Site]) -> list[Site]:
        """Return the sites of a window that an output reads."""
        telling = np.ptp(self.outputs.parts[output], axis=1) > 0
        return [(j, age) for j, age in inside if telling[j] and self.ages[output, j] == age]

    def reads(self, inside: list[Site]) -> bool:
        """Whether any output reads the window."""
        return any(self.sites(output, inside) for output in range(len(self.outputs.largest)))

    def adds(self, inside: list[Site]) -> bool:
        """Whether the outputs that read the window are sums: what is outside then only moves y."""
        return not any(compared and self.sites(output, inside) for output, compared in enumerate(self.outputs.largest))

    def reads_present(self, sequence: int) -> bool:
        """Whether any output reads the present of a sequence."""
        return bool(np.any((self.ages[:, sequence] == 0) & (np.ptp(self.outputs.parts[:, sequence], axis=1) > 0)))
