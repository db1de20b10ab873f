"""What all plans about a table have in common, however many private steps they have.

The order of events is `ReleasePlan`'s; here is what a plan with a design, a table with periods and an origin of its
numbers need not say again.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from chronodp.errors import InvalidArgument
from chronodp.ledger import Dates, Written
from chronodp.privacy import Certificate, Claim, dump
from chronodp.randomness import Entropy
from chronodp.series.releasing import Exact, Released, ReleasePlan
from chronodp.series.table import Table

__all__ = ["StagedPlan", "TablePlan"]


class TableDesign(Protocol):
    """Everything public about a release of a table."""

    @property
    def table(self) -> Table:
        """What is released."""
        ...

    @property
    def claim(self) -> Claim:
        """Whom it protects, at what cost, and where the argument stands."""
        ...


class TablePlan(ReleasePlan[Exact, Released]):
    """A plan about a table: its design says what it claims, its periods say when its data begin and end."""

    __slots__ = ()

    if TYPE_CHECKING:  # fields of the plans themselves

        @property
        def design(self) -> TableDesign:
            """Everything public about it."""
            ...

        @property
        def origin(self) -> object:
            """Where its numbers come from."""
            ...

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return self.design.claim

    @property
    def identity(self) -> str:
        """The text that identifies the plan."""
        return dump(self.design)

    _purpose = "periods"

    @property
    def _reading(self) -> str:
        return f"Reading {self.origin}"

    def _days(self, given: Dates | None) -> Dates | None:
        own = self.design.table.span
        if own is not None and given is not None:
            raise InvalidArgument("dates", given, "left out: the plan's own periods say when its data begin and end")
        return given if own is None else own


class StagedPlan(TablePlan[Exact, Released]):
    """A plan with private choices before its numbers: what is drawn, and certified, hangs on these."""

    __slots__ = ()

    def draw(self, numbers: Exact, entropy: Entropy) -> Written:
        """Refuse: what is drawn hangs on choices that are stored one by one."""
        del numbers, entropy
        raise AssertionError("a plan with choices is made by stages")

    def certificate_for(self, *, seeded: bool) -> Certificate:
        """Refuse: the certificate names what was chosen."""
        del seeded
        raise AssertionError("a plan with choices is made by stages")
