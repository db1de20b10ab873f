"""Readings of means and variances: their kinds of numbers are added up first, and divided last."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from chronodp.errors import InvalidArgument
from chronodp.postprocess import Estimates
from chronodp.series.design import Design
from chronodp.series.estimates import in_units, noise_terms
from chronodp.series.readings.axes import Columns, Rows
from chronodp.series.readings.cells import NONE, Cells, blank_cells
from chronodp.series.readings.linear import Linear
from chronodp.series.readings.weights import Floats, Wholes

__all__ = ["PooledReading"]


@dataclass(frozen=True, eq=False)
class PooledReading:
    """A mean or variance over everybody in some groups and periods.

    Attributes:
        rows: what rows are.
        columns: what columns are.
        design: of the release.
        parts: its noisy numbers of each kind.
        groups: which groups each column is made of, as many for each.
    """

    rows: Rows
    columns: Columns
    design: Design
    parts: tuple[Floats, ...]
    groups: Wholes

    @property
    def product(self) -> bool:
        """Whether the product of levels is enough: not shown, so what holds for any noise is taken."""
        return False

    @property
    def noise(self) -> tuple[Linear, ...]:
        """Not told."""
        return ()

    def cells(self, level: float) -> Cells:
        """Return values with intervals."""
        measure, windows = self.design.table.measure, self.rows.windows
        count = len(self.groups)
        if not self.groups.size:
            return blank_cells(len(windows.starts), count)
        sums = []
        for part in self.parts:
            # A measure may keep several numbers of a group side by side: each is added up by itself.
            held = part.reshape(len(part), self.design.table.groups, -1)[:, self.groups].sum(axis=2)
            sums.append(windows.sums(held.reshape(len(part), -1)))
        terms = noise_terms(self.design, windows) * self.groups.shape[1]
        found = Estimates(*measure.read_out(tuple(sums), terms, noises=self.design.noises, level=level))
        found = in_units(found, self._scales())
        codes = np.zeros(found.value.shape, np.int8)
        return Cells(found, codes, None, None, np.full(codes.shape, NONE, np.int8))

    def _scales(self) -> Floats | None:
        """What numbers of each column were divided by; groups with clips of their own are not taken together."""
        scales = self.design.table.scales
        if scales is None:
            return None
        held = np.array(scales)[self.groups]
        if np.any(held != held[:, :1]):
            allowed = "groups with one clip: means of groups with clips of their own are told apart, not together"
            raise InvalidArgument("over", str(self.design.table.measure), allowed)
        return held[:, 0]
