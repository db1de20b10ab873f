"""What anybody may know of a series, read from the ledger alone."""

from __future__ import annotations

from dataclasses import dataclass

from chronodp.display import facts_html
from chronodp.ledger import Ledger, check_ledger
from chronodp.lifetime.design import LifetimeDesign
from chronodp.lifetime.memory import Memory, Step
from chronodp.lifetime.words import cliff
from chronodp.privacy import Guarantee, Shown, counted, labelled
from chronodp.series import full_periods

__all__ = ["LifetimeStatus", "status_of"]

_SEEDED = "SEEDED RUN, FOR TESTS ONLY: whoever knows the seed can remove the noise."


@dataclass(frozen=True, slots=True, repr=False)
class LifetimeStatus(Shown):
    """What anybody may know of a series.

    Attributes:
        name: of the series.
        dataset: whose budget paid.
        design: its terms.
        requests: of its issues, in their order.
        seeded: whether any draw could be repeated, which voids the guarantee.
        asked: the request and the question of every issue that asked something else than the series itself.
    """

    name: str
    dataset: str
    design: LifetimeDesign
    requests: tuple[str, ...]
    seeded: bool
    asked: tuple[tuple[str, str], ...] = ()

    @property
    def issues(self) -> int:
        """How many issues there were."""
        return len(self.requests)

    @property
    def _facts(self) -> list[tuple[str, str]]:
        base, every = self.design.base, self.design.calendar.every
        last = f", the last {self.requests[-1]!r}" if self.requests else ""
        return [
            ("Series", f"{self.name} of {self.dataset}: {base.table.released}"),
            ("Issues", f"{self.issues:,}{last}"),
            *([("Asked", "; ".join(f"{said} ({request!r})" for request, said in self.asked))] if self.asked else []),
            ("Price", f"{Guarantee(base.table.claimed, base.epsilon, base.delta)}, the same for ever"),
            ("Life", f"{full_periods(every, self.design.max_periods)} of one {base.table.unit.called or 'person'}"),
            ("Cliff", cliff(self.design) + ("; other questions bring it forward" if self.asked else "")),
        ]

    def __repr__(self) -> str:
        return f"LifetimeStatus({self.name!r}, dataset={self.dataset!r}, {counted(self.issues, 'issue')})"

    def __str__(self) -> str:
        return (f"{_SEEDED}\n" if self.seeded else "") + labelled(self._facts)

    def _repr_html_(self) -> str:
        """Return what a notebook shows."""
        return (f"<p><strong>{_SEEDED}</strong></p>" if self.seeded else "") + f"<div>{facts_html(self._facts)}</div>"


def status_of(ledger: Ledger, name: str) -> LifetimeStatus:
    """Return what anybody may know of a series: its terms, and which issues there were. The tally is not looked at."""
    check_ledger(ledger)
    stored = ledger.resume_stream(name)
    memory = Memory.from_bytes(stored.state, name)
    steps = [Step.from_text(text) for text in ledger.released_steps(name)]
    requests = tuple(step.request for step in steps if step.request is not None)
    asked = tuple((step.request, step.asked) for step in steps if step.request is not None and step.asked is not None)
    return LifetimeStatus(name, stored.dataset, memory.design, requests, memory.seeded, asked)
