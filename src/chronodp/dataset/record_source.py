"""Who holds the records that are asked about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol, TypeVar, Unpack

from chronodp.dataset.records import Records
from chronodp.series import Discover, Find, Table, Terms

__all__ = ["RecordSource"]

Planned_co = TypeVar("Planned_co", covariant=True)


class RecordSource(Protocol[Planned_co]):
    """Who holds the records, and so makes the plans about them: this machine, or a curator elsewhere."""

    @property
    def user(self) -> str | None:
        """The column with the person; None where every row stands for itself."""
        ...

    def plan(self, table: Table, **terms: Unpack[Terms]) -> Planned_co:
        """Return the plan with the least error within (epsilon, delta)."""
        ...

    def find_plan(self, table: Table, finds: Mapping[str, Find], **terms: Unpack[Terms]) -> object:
        """Return the plan that finds bounds first, within (epsilon, delta): `FindPlan`, or a curator's."""
        ...

    def discover_plan(self, table: Table, discover: Discover, **terms: Unpack[Terms]) -> object:
        """Return the plan that finds keys first, within (epsilon, delta): `DiscoverPlan`, or a curator's."""
        ...

    def quantile_plan(self, table: Table, **terms: Unpack[Terms]) -> object:
        """Return the plan of quantiles that errs least within (epsilon, delta): `QuantilePlan`, or a curator's."""
        ...

    def here(self) -> Records:
        """Return the records where lives can be booked, on this machine; a curator refuses."""
        ...
