"""A lifetime series as it is kept: its stream in the ledger, its tally beside it, and what looks after both.

"Order of events" and "Corrections, late rows, leaving, names" of ``docs/explanation/proofs/lifetime.md``. Nothing that
is told, refused or counted in public hangs on the tally.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from chronodp.engines import entry_of
from chronodp.errors import StreamConflict
from chronodp.ledger import Ledger, StreamState
from chronodp.lifetime.design import LifetimeDesign
from chronodp.lifetime.entries import Entries
from chronodp.lifetime.events import forget, pack_event, same
from chronodp.lifetime.memory import Memory, Step
from chronodp.lifetime.owner import lives_of
from chronodp.lifetime.public import LifetimeStatus, status_of
from chronodp.lifetime.tally import LifeTally
from chronodp.privacy import check_text, dump
from chronodp.series import Design, Release

__all__ = ["TRIES", "KeptSeries"]

TRIES = 20
"""How often a job that others overtake begins anew."""


class KeptSeries:
    """Where a series stands, and what is done to it without an issue."""

    _ledger: Ledger
    _folder: Path
    _name: str
    _dataset: str
    _design: LifetimeDesign

    @property
    def name(self) -> str:
        """The name of the series."""
        return self._name

    @property
    def dataset(self) -> str:
        """Whose budget paid."""
        return self._dataset

    @property
    def design(self) -> LifetimeDesign:
        """Everything public about it."""
        return self._design

    @property
    def status(self) -> LifetimeStatus:
        """What anybody may know: the terms, and which issues there were."""
        return status_of(self._ledger, self._name)

    def forget(self, person: str) -> None:
        """Set a person to used up: they count no more, also if they come back.

        Their rows are yours to erase. What stays are 16 keyed bytes, so that nobody counts anew after an erasure.
        """
        entry = self._entry("person", person)
        self._event(lambda tally: forget(tally, entry))

    def same(self, old: str, new: str) -> float:
        """Say that two ids are one person, who goes by the new one: the old one counts no more.

        Returns how many lives both have used together, which is above 1 where that was more than one: what is done is
        done, and holds for such a person at that price. FOR THE OWNER ONLY: the figure is not private.
        """
        both = self._entry("old", old), self._entry("new", new)
        squared, lives = self._design.base.law == "gaussian", 0.0

        def paid(tally: LifeTally) -> Entries:
            nonlocal lives
            lives = lives_of(tally, *both, squared=squared)
            return same(tally, *both, squared=squared)

        self._event(paid)
        return lives

    def verify(self) -> None:
        """Check every file of the tally against the ledger, and the ledger against the tally; raise if they differ.

        Files that a job left which died, or lost to another, are no part of it: nothing rests on them.
        """
        self._stands()

    def compact(self) -> None:
        """Merge the files of the tally into one, which is quicker to read."""
        tally, _, _ = self._stands()
        tally.compact()

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, dataset={self._dataset!r})"

    def __str__(self) -> str:
        return str(self.status)

    def _repr_html_(self) -> str:
        """Return what a notebook shows: what anybody may know of it."""
        return self.status._repr_html_()

    def _event(self, paid: Callable[[LifeTally], Entries]) -> None:
        """Commit a step without an issue."""
        for _ in range(TRIES):
            try:
                tally, stored, memory = self._stands()
                entries = paid(tally)
                state = replace(memory, head=tally.write(stored.step + 1, entries)).to_bytes()
                # Sealed in the ledger too: no table tells of an event, should the tally have to be made again.
                rows = [pack_event(stored.step + 1, entries)]
                after = self._ledger.advance_stream(stored, values=[Step().to_text()], state=state, rows=rows)
            except StreamConflict:
                self._check_goes_on()
            else:
                tally.announce(after.step)
                return
        raise self._overtaken()

    def _stands(self) -> tuple[LifeTally, StreamState, Memory]:
        """Return where the series stands, its tally checked against the ledger; the folder is looked at first."""
        tally = self._tally()
        seen = tally.seen()
        stored = self._ledger.resume_stream(self._name, plan=dump(self._design))
        memory = Memory.from_bytes(stored.state, self._name)
        tally.verify(stored.step, memory.head, seen=seen)
        return tally, stored, memory

    def _steps(self, until: int) -> list[Step]:
        """Return the public side of so many steps."""
        return [Step.from_text(text) for text in self._ledger.stored.steps(self._name, until=until)]

    def _design_of(self, request: str) -> Design:
        """Return the design of an issue that was made."""
        made = self._ledger.stored.release_of(self._dataset, request)
        if made is None:
            raise AssertionError("an issue is stored with its step")
        return Release(made.text, made.signed, parts=made.parts).design

    def _check_goes_on(self) -> None:
        """Raise if the series has ended: then no try will do better."""
        if self._ledger.resume_stream(self._name).finished:
            raise StreamConflict(f"series {self._name!r} has ended, or its ledger was restored since")

    def _overtaken(self) -> StreamConflict:
        return StreamConflict(f"series {self._name!r} was overtaken {TRIES} times: ask again when other jobs are done")

    def _tally(self) -> LifeTally:
        return LifeTally(self._folder, self._ledger.keys, self._dataset, self._name, self._design.life)

    @property
    def _salt(self) -> str:
        return self._ledger.keys.derive("lifetime", self._dataset, self._name).hex()[:32]

    def _entry(self, name: str, person: object) -> tuple[int, int]:
        text = str(person) if isinstance(person, int) and not isinstance(person, bool) else person
        return entry_of(self._salt, check_text(name, text, "a person's id, as text", private=True))

    def _hold(self, ledger: Ledger, dataset: str, name: str, folder: Path, design: LifetimeDesign) -> None:
        self._ledger, self._dataset, self._name = ledger, dataset, name
        self._folder, self._design = folder, design
