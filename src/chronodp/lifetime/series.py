"""A lifetime series: issues of batch tables, one after another without end, paid for when it was opened.

"Order of events" of ``docs/explanation/proofs/lifetime.md``: the tally is checked against the ledger, the engine
books, the segment is written, noise is drawn, and one transaction makes all of it true; then the issue is told. Nothing
that is told, refused or counted in public hangs on the tally.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from chronodp.display import shown
from chronodp.engines import Booked, Progress, Tally, WholePrice
from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.ledger import Fulfilled, Ledger, StreamState, Written, check_ledger, check_name
from chronodp.lifetime.design import LifetimeDesign
from chronodp.lifetime.entries import Entries
from chronodp.lifetime.events import read_events
from chronodp.lifetime.kept import TRIES, KeptSeries
from chronodp.lifetime.memory import Memory, Step
from chronodp.lifetime.owner import LifetimeDiagnosis, Watched
from chronodp.lifetime.rebuilding import rebuild
from chronodp.lifetime.segments import BEGINNING
from chronodp.lifetime.tally import LifeTally
from chronodp.lifetime.words import issue_takes
from chronodp.owner import owner_warned
from chronodp.privacy import Certificate, check_flag, dump
from chronodp.randomness import Entropy, check_entropy
from chronodp.report import watched
from chronodp.series import Design, Life, Quanta, Release, Table, certificate_of, draw_release

__all__ = ["LifetimeSeries"]


class LifetimeSeries(KeptSeries, ABC):
    """What all series of a life have in common, whoever reads their tables: `_book` says how."""

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
        if ledger.stored.stream(name) is not None:
            raise StreamConflict(f"a stream {name!r} exists: resume it, or choose another name")
        claim, state = design.claim, Memory(design, 0, BEGINNING, seeded=False).to_bytes()
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
        series, _, _ = cls._held(ledger, name, tally)
        series._stands()
        return series

    def takes(
        self,
        *,
        clip: tuple[float, float] | None = None,
        at_most: int | None = None,
        ask: object = None,
        takes: float | None = None,
    ) -> str:
        """Return what a counted period of an issue with other terms takes of a life, in words. Free.

        Of another question also how large its noise is. Arguments are those of `issue`.
        """
        asked = None if ask is None else self._table(ask)
        calendar = self._design.calendar if asked is None or asked.calendar is None else asked.calendar
        terms: dict[str, Any] = {"clip": clip, "at_most": at_most, "asked": asked, "takes": takes}
        return issue_takes(self._design.issue(self._name, start=calendar.start, end=calendar.end, **terms))

    def issue(
        self,
        data: object,
        *,
        start: Any,
        end: Any,
        request: str,
        late: bool = False,
        clip: tuple[float, float] | None = None,
        at_most: int | None = None,
        ask: object = None,
        takes: float | None = None,
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
            clip: of a sum, another clip than the series was opened with; noise stays, and it takes more shares, or
                fewer. See `takes`.
            at_most: of a count, another number of rows of one person in a period; likewise.
            ask: another question about the same people, such as ``meters.count().by(region=regions)``: any that a
                series could be made of, with the same columns for time and people and the same unit. Its noise is
                independent in every number, and such that it takes what it may. Its own dates are not used.
            takes: how many shares a counted period of ``ask`` may take; 1, as much as a full period of the series
                itself, if not given. Fewer mean more noise.
            entropy: of the noise; secure unless a test says otherwise.
            progress: told which fraction is done; a bar on the terminal if not given.
        """
        check_name("request", request)
        check_flag("late", late)
        bits = check_entropy(entropy)
        terms = {"start": start, "end": end, "clip": clip, "at_most": at_most, "late": late}
        asked = None if ask is None else self._table(ask)
        design = self._design.issue(self._name, asked=asked, takes=takes, **terms)
        identity = dump(design)
        if clip is not None or at_most is not None or asked is not None:
            print(shown(issue_takes(design)), file=sys.stderr)  # before anything is read
        with watched(progress, f"Reading for {self._name}") as tell:
            for _ in range(TRIES):
                stored = self._ledger.stored_issue(self._dataset, request=request, plan=identity)
                if stored is not None:
                    self._tally().announce(self._ledger.resume_stream(self._name).step)
                    return _released(stored)
                try:
                    return self._issued(data, design, request, identity, bits, tell)
                except StreamConflict:
                    self._check_goes_on()
        raise self._overtaken()

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

    def _rebuild(
        self, stored: StreamState, memory: Memory, tables: Mapping[str, object], progress: Progress | None
    ) -> None:
        """Make a lost tally again; it is taken if it is the one that the ledger vouches for."""
        steps, events = self._steps(stored.step), read_events(self._ledger.stream_rows(stored))
        missing = [step.request for step in steps if step.request is not None and step.request not in tables]
        if missing:
            raise InvalidArgument("tables", f"without {missing[0]!r}", "the table of every issue, by its request")
        with watched(progress, f"Reading for {self._name}") as tell:

            def entries(number: int, tally: LifeTally) -> Entries:
                request = steps[number - 1].request
                if request is None:
                    return events[number]
                return self._paid(tables[request], self._design_of(request), request, tally, tell)[1]

            rebuild(self._tally(), stored.step, memory.head, entries)

    @classmethod
    def _held(cls, ledger: Ledger, name: str, tally: str | Path) -> tuple[Self, StreamState, Memory]:
        check_ledger(ledger)
        stored = ledger.resume_stream(name)
        memory, series = Memory.from_bytes(stored.state, name), cls.__new__(cls)
        series._hold(ledger, stored.dataset, name, Path(tally), memory.design)
        return series, stored, memory

    @abstractmethod
    def _table(self, ask: object) -> Table:
        """Return what another question asks, of the same columns."""

    @abstractmethod
    def _book(
        self, data: object, issue: Design, price: WholePrice, tally: Tally, *, salt: str, key: str, progress: Progress
    ) -> tuple[tuple[Quanta, ...], Booked]:
        """Return the exact numbers of a table as far as lives go, and what each person pays. Nobody may see either."""

    def _issued(
        self, data: object, design: Design, request: str, identity: str, entropy: Entropy, progress: Progress
    ) -> Release:
        """Make one issue, or raise `StreamConflict` if another job was quicker."""
        life = _life_of(design)
        tally, stored, memory = self._stands()
        steps = self._steps(stored.step)
        with owner_warned():
            numbers, paid = self._paid(data, design, request, tally, progress)
        head = tally.write(stored.step + 1, paid)
        seeded = memory.seeded or entropy.seeded
        after = replace(memory, issues=memory.issues + 1, head=head, seeded=seeded)
        others = sum(step.asked is not None for step in steps) or None
        numbered = replace(design, life=replace(life, issue=after.issues, others=others))

        def produce() -> tuple[Written, Certificate]:
            return draw_release(numbered, numbers, entropy), certificate_of(numbered, seeded=seeded)

        claim = numbered.claim
        state, fulfilled = self._ledger.issue(
            stored,
            request=request,
            plan=identity,
            cost=claim.cost,
            unit=claim.unit,
            state=after.to_bytes(),
            value=Step(request, design.table.released if life.asks is not None else None).to_text(),
            produce=produce,
        )
        tally.announce(state.step)
        return _released(fulfilled)

    def _paid(
        self, data: object, design: Design, request: str, tally: LifeTally, progress: Progress
    ) -> tuple[tuple[Quanta, ...], Entries]:
        """Return the exact numbers of an issue and what is added to the tally: from the same kept cells."""
        key = self._ledger.keys.derive("lifetime periods", self._dataset, self._name, request).hex()
        price = self._design.price(design)
        numbers, booked = self._book(data, design, price, tally, salt=self._salt, key=key, progress=progress)
        return numbers, Entries(booked.high, booked.low, booked.spent)


def _life_of(design: Design) -> Life:
    if design.life is None:
        raise AssertionError("asked of issues only")
    return design.life


def _released(fulfilled: Fulfilled) -> Release:
    return Release(fulfilled.release, fulfilled.signed, parts=fulfilled.parts)
