"""A lifetime series: issues of batch tables, one after another without end, paid for when it was opened.

"Order of events" of ``docs/explanation/proofs/lifetime.md``: the tally is checked against the ledger, the engine
books, the segment is written, noise is drawn, and one transaction makes all of it true; then the issue is told. Nothing
that is told, refused or counted in public hangs on the tally.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from chronodp.engines import Booked, OwnPrice, Progress, Tally, WholePrice, entry_of
from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.ledger import Fulfilled, Ledger, StreamState, Written, check_ledger, check_name
from chronodp.lifetime.design import LifetimeDesign
from chronodp.lifetime.entries import Entries, merge, nobody
from chronodp.lifetime.events import forget, pack_event, same
from chronodp.lifetime.memory import Memory, Step
from chronodp.lifetime.owner import LifetimeDiagnosis, LifetimeStatus, lives_of
from chronodp.lifetime.public import status_of
from chronodp.lifetime.rooms import AsItStands, Corrected, Room, Staggered, Watched
from chronodp.lifetime.tally import LifeTally
from chronodp.privacy import Certificate, check_flag, check_text, dump
from chronodp.randomness import Entropy, check_entropy
from chronodp.report import watched
from chronodp.series import Design, Life, Quanta, Release, certificate_of, draw_release

__all__ = ["LifetimeSeries"]

_BEGINNING = bytes(32)
_TRIES = 20  # jobs that another one overtakes begin anew


class LifetimeSeries(ABC):
    """What all series of a life have in common, whoever reads their tables: `_book` says how."""

    _ledger: Ledger
    _folder: Path
    _name: str
    _dataset: str
    _design: LifetimeDesign

    @classmethod
    def _opened(
        cls, design: LifetimeDesign, ledger: Ledger, *, dataset: str, name: str, tally: str | Path, analyst: str = ""
    ) -> Self:
        """Pay for all issues and return the series."""
        check_ledger(ledger)
        check_name("name", name)
        for known, whose, budget in ledger.budgets():
            if known == dataset and whose in ("", analyst) and budget.renews is not None:
                allowed = "one whose budget does not renew: a purchase for ever belongs to no month"
                raise InvalidArgument("dataset", dataset, allowed)
        if any(stream.name == name for stream in ledger.stored.streams()):
            raise StreamConflict(f"a stream {name!r} exists: resume it, or choose another name")
        claim, state = design.claim, Memory(design, 0, _BEGINNING, seeded=False).to_bytes()
        ledger.check_fits(dataset, claim.cost, unit=claim.unit, analyst=analyst)
        series = cls.__new__(cls)
        series._hold(ledger, dataset, name, Path(tally), design)
        series._tally().make()  # before it is paid: what cannot be booked is not sold
        ledger.open_stream(
            dataset, name, cost=claim.cost, unit=claim.unit, plan=dump(design), state=state, analyst=analyst
        )
        return series

    @classmethod
    def _resumed(cls, ledger: Ledger, name: str, *, tally: str | Path) -> Self:
        """Return a series where it stands; its tally must be the ledger's."""
        check_ledger(ledger)
        stored = ledger.resume_stream(name)
        series = cls.__new__(cls)
        memory = Memory.from_bytes(stored.state, name)
        series._hold(ledger, stored.dataset, name, Path(tally), memory.design)
        series.verify()
        return series

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

    def takes(self, *, clip: tuple[float, float] | None = None, at_most: int | None = None) -> str:
        """Return what a counted period of an issue with other bounds takes of a life, in words. Free."""
        calendar = self._design.calendar
        issue = self._design.issue(self._name, start=calendar.start, end=calendar.end, clip=clip, at_most=at_most)
        return _life_of(issue).price(calendar.every)

    def issue(
        self,
        data: object,
        *,
        start: Any,
        end: Any,
        request: str,
        late: bool = False,
        again: str | None = None,
        clip: tuple[float, float] | None = None,
        at_most: int | None = None,
        entropy: Entropy | None = None,
        progress: Progress | None = None,
    ) -> Release:
        """Return the next issue, signed and stored; the same request returns it again, whatever the data are by then.

        Nothing is debited: it was paid when the series was opened. Whoever has used up their life is not in the
        number, and nobody is told who, or how many.

        Args:
            data: a table with the columns of the series, of rows of these periods.
            start: when the first period begins.
            end: when the last period ends.
            request: an id of your choice, once for each issue.
            late: whether these are rows that came after the issue of their periods, and they alone: they are clipped by
                themselves, and add to what was issued before.
            again: the request of an issue that this one corrects; ``reissues`` must have been bought.
            clip: of a sum, another clip than the series was opened with; noise stays, and it takes more shares, or
                fewer. See `takes`.
            at_most: of a count, another number of rows of one person in a period; likewise.
            entropy: of the noise; secure unless a test says otherwise.
            progress: told which fraction is done; a bar on the terminal if not given.
        """
        check_name("request", request)
        check_flag("late", late)
        bits = check_entropy(entropy)
        if again is not None:
            check_name("again", again)
        terms = {"start": start, "end": end, "clip": clip, "at_most": at_most, "late": late, "again": again}
        design = self._design.issue(self._name, **terms)
        life, identity = _life_of(design), dump(design)
        if clip is not None or at_most is not None:
            print(life.price(self._design.calendar.every), file=sys.stderr)  # before anything is read
        with watched(progress, f"Reading for {self._name}") as tell:
            for _ in range(_TRIES):
                stored = self._ledger.stored_issue(self._dataset, request=request, plan=identity)
                if stored is not None:
                    self._tally().announce(self._ledger.resume_stream(self._name).step)
                    return _released(stored)
                try:
                    return self._issued(data, design, request, identity, bits, tell)
                except StreamConflict:
                    self._check_goes_on()
        raise StreamConflict(f"series {self._name!r} was overtaken {_TRIES} times: ask again when other jobs are done")

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
        """Check every file of the tally against the ledger, and the ledger against the tally; raise if they differ."""
        self._stands()

    def compact(self) -> None:
        """Merge the files of the tally into one, which is quicker to read; with reissues bought, all are kept."""
        tally, stored, memory = self._stands()
        tally.compact(keep=stored.step if memory.design.reissues else 0)

    @property
    def status(self) -> LifetimeStatus:
        """What anybody may know: the terms, and which issues there were."""
        return status_of(self._ledger, self._name)

    def diagnose(
        self, data: object = None, *, start: Any = None, end: Any = None, progress: Progress | None = None
    ) -> LifetimeDiagnosis:
        """Say who has used how much of their lives. FOR THE OWNER ONLY: the figures are not private.

        With a table and its dates also how many of those in it still count. Nothing of it is released or changes an
        issue; terms that are chosen by looking at it are not private.
        """
        tally, _, _ = self._stands()
        full, present = self._design.life // self._design.max_periods, None
        if data is not None:
            issue = self._design.issue(self._name, start=start, end=end)
            seen = Watched(tally)
            with watched(progress, f"Reading for {self._name}") as tell:
                self._book(data, issue, self._design.price(issue), seen, salt=self._salt, key="", progress=tell)
            present = seen.people()
        return LifetimeDiagnosis.of(tally.people().spent, present, life=tally.life, full=full)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._name!r}, dataset={self._dataset!r})"

    @abstractmethod
    def _book(
        self,
        data: object,
        issue: Design,
        price: OwnPrice | WholePrice,
        tally: Tally,
        *,
        salt: str,
        key: str,
        progress: Progress,
    ) -> tuple[tuple[Quanta, ...], Booked]:
        """Return the exact numbers of a table as far as lives go, and what each person pays. Nobody may see either."""

    def _pause(self) -> None:  # noqa: B027  # most series do not wait
        """Be called when an issue is booked on disk, and before anything of it is drawn, committed or told.

        So far it took as long as there are rows and people, which nobody may know: a curator waits here.
        """

    def _issued(
        self, data: object, design: Design, request: str, identity: str, entropy: Entropy, progress: Progress
    ) -> Release:
        """Make one issue, or raise `StreamConflict` if another job was quicker."""
        life = _life_of(design)
        tally, stored, memory = self._stands()
        room = self._room(tally, memory, life.again, design)
        # A correction takes the periods of a person in the same order as what it corrects.
        key = self._ledger.keys.derive("lifetime periods", self._dataset, self._name, life.again or request).hex()
        price = self._design.price(design)
        numbers, booked = self._book(data, design, price, room, salt=self._salt, key=key, progress=progress)
        head = tally.write(stored.step + 1, room.paid(booked))
        seeded = memory.seeded or entropy.seeded
        after = replace(memory, issues=memory.issues + 1, head=head, seeded=seeded)
        numbered = replace(design, life=replace(life, issue=after.issues))

        def produce() -> tuple[Written, Certificate]:
            return draw_release(numbered, numbers, entropy), certificate_of(numbered, seeded=seeded)

        self._pause()
        claim = numbered.claim
        state, fulfilled = self._ledger.issue(
            stored,
            request=request,
            plan=identity,
            cost=claim.cost,
            unit=claim.unit,
            state=after.to_bytes(),
            value=Step(request, life.again).to_text(),
            produce=produce,
        )
        tally.announce(state.step)
        return _released(fulfilled)

    def _room(self, tally: LifeTally, memory: Memory, again: str | None, design: Design) -> Room:
        """Return the tally as an issue sees it; what is refused here hangs on public facts alone."""
        if again is None:
            if memory.design.stagger and memory.issues == 0:
                full = memory.design.life // memory.design.max_periods
                return Staggered(tally, memory.design.max_periods, full)
            return AsItStands(tally)
        steps = [Step.from_text(text) for text in self._ledger.released_steps(self._name)]
        firsts = [number for number, step in enumerate(steps, 1) if step.request == again and step.again is None]
        if not firsts:
            raise InvalidArgument("again", again, "the request of an earlier issue, which corrects no other")
        made = self._ledger.stored.release_of(self._dataset, again)
        if made is None:
            raise AssertionError("an issue is stored with its step")
        first = Release(made.text, made.signed, parts=made.parts).design
        if (first.table, _life_of(first).takes) != (design.table, _life_of(design).takes):
            raise InvalidArgument("again", again, "an issue of the same periods with the same bounds")
        later = [number for number, step in enumerate(steps, 1) if step.again == again]
        if len(later) >= memory.design.reissues:
            bought = f"corrected less than {memory.design.reissues:,} times so far: no more were bought"
            raise InvalidArgument("again", again, bought)
        held = nobody()
        for number in (*firsts, *later):
            held = merge(held, tally.entries_of(number), tally.life)
        return Corrected(tally, held)

    def _event(self, paid: Callable[[LifeTally], Entries]) -> None:
        """Commit a step without an issue."""
        for _ in range(_TRIES):
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
        raise StreamConflict(f"series {self._name!r} was overtaken {_TRIES} times: ask again when other jobs are done")

    def _stands(self) -> tuple[LifeTally, StreamState, Memory]:
        """Return where the series stands, its tally checked against the ledger; the folder is looked at first."""
        tally = self._tally()
        seen = tally.seen()
        stored = self._ledger.resume_stream(self._name, plan=dump(self._design))
        memory = Memory.from_bytes(stored.state, self._name)
        tally.verify(stored.step, memory.head, seen=seen)
        return tally, stored, memory

    def _check_goes_on(self) -> None:
        """Raise if the series has ended: then no try will do better."""
        if self._ledger.resume_stream(self._name).finished:
            raise StreamConflict(f"series {self._name!r} has ended, or its ledger was restored since")

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


def _life_of(design: Design) -> Life:
    if design.life is None:
        raise AssertionError("asked of issues only")
    return design.life


def _released(fulfilled: Fulfilled) -> Release:
    return Release(fulfilled.release, fulfilled.signed, parts=fulfilled.parts)
