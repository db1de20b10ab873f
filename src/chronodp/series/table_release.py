"""What releases of a table share: how they are written, drawn and shown, from the view of their single periods."""

from __future__ import annotations

from abc import abstractmethod
from typing import TYPE_CHECKING, Any

from chronodp.display import shown_lines
from chronodp.ledger import SignedRelease
from chronodp.series.views import View

if TYPE_CHECKING:
    import pandas
    import pyarrow

    from chronodp.series.design import Design
    from chronodp.series.quantiles.design import QuantileDesign

__all__ = ["TableRelease"]


class TableRelease(SignedRelease):
    """A stored release that is a table of values by period and group."""

    @property
    @abstractmethod
    def design(self) -> Design | QuantileDesign:
        """Everything public about the release."""

    @property
    @abstractmethod
    def beside(self) -> list[tuple[str, str]]:
        """What was released beside the table, in words."""

    @abstractmethod
    def each_period(self, *, level: float = 0.95) -> View:
        """Return every period by itself."""

    def to_pandas(self, *, level: float = 0.95) -> pandas.DataFrame:
        """Return a long table: time, groups, value, lower, upper; of drawn quantiles value and value_to.

        With `Missing` also the same of the numbers without limits: value_all, lower_all and upper_all, which are empty
        where limits can remove anything; with ``assume="even loss"`` value_if_even, lower_if_even and upper_if_even.
        """
        return self.each_period(level=level).to_pandas()

    def to_arrow(self, *, level: float = 0.95) -> pyarrow.Table:
        """Return the same long table as Arrow."""
        return self.each_period(level=level).to_arrow()

    def plot(self) -> Any:
        """Return a Plotly figure: each line with its band, if it has one."""
        return self.each_period().plot()

    def __repr__(self) -> str:
        named = f"{self.link.dataset!r}, request={self.link.request!r}"
        return f"{type(self).__name__}({named}, {self.design.table.released})"

    def __str__(self) -> str:
        view = self.each_period()
        beside = "".join(f"\n{label}: {text}" for label, text in self.beside)
        return shown_lines(f"{self.design.table.released}\n{view.to_pandas()}\n{view.note}{beside}\n{self.certificate}")

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        view = self.each_period()
        return view.in_notebook(title=self.design.table.released, facts=self.beside)
