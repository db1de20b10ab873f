"""The tally of a lifetime: what each person has paid, on disk beside the ledger, each vouching for the other.

The ledger holds the head of a chain over all segments; the folder holds the segments, and how far anyone was told of
them. A folder that is older than the ledger lacks a segment; a ledger that is older than the folder is behind its mark,
or behind its segments. The order of an issue, and what each death leaves behind: "Lifetimes" of
``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from chronodp.engines import LONGEST_LIFE
from chronodp.errors import InvalidArgument, LedgerSetBack, StreamConflict
from chronodp.ledger import FileWitness, Keys, check_name
from chronodp.lifetime.entries import Digests, Entries, Words, merge, nobody, used_by
from chronodp.lifetime.folder import (
    MARK,
    Found,
    Listing,
    Missing,
    base_path,
    check_owner,
    find_chain,
    keep_name,
    make_folder,
    mismatch,
    new_paths,
    remove,
    remove_abandoned,
    remove_all,
)
from chronodp.lifetime.segments import BEGINNING, Damaged, Sealer
from chronodp.privacy import check_whole

__all__ = ["LifeTally", "Seen"]

_TRIES = 3  # to read files while another job merges them


@dataclass(frozen=True, slots=True)
class Seen:
    """How far a tally was seen to have come, before the ledger was read.

    Attributes:
        announced: the last step that anyone was told of; 0 before the first.
        segment: the newest step that a segment is of; one more than was committed where a job is under way, or died.
        base: the newest step that a base holds.
    """

    announced: int
    segment: int
    base: int


@dataclass(frozen=True, slots=True)
class _Written:
    """A segment that was written and that no ledger may know."""

    step: int
    head: bytes
    entries: Entries = field(repr=False)


class LifeTally:
    """What everyone has paid in a series so far: two words and a number each, in memory once it is verified.

    The order of a step: `seen`, then the ledger's newest state, then `verify` against that; `used` as often as needed;
    `write`, the ledger's transaction with the head that it returns, `announce`. If the transaction fails, begin anew.

    Args:
        folder: where its files are; see `make`.
        keys: the ledger's.
        dataset: whose budget paid.
        name: of the series, a stream of the ledger.
        life: the shares of a whole life.
        reached: called with the name of each gap that a crash could fall into; for tests of crashes.
    """

    def __init__(
        self,
        folder: Path,
        keys: Keys,
        dataset: str,
        name: str,
        life: int,
        *,
        reached: Callable[[str], None] = lambda _: None,
    ) -> None:
        check_name("name", name)
        self._folder, self._name, self._reached = folder, name, reached
        self._life = check_whole("life", life, most=LONGEST_LIFE)
        self._sealer = Sealer(keys, dataset, name, life, reached)
        self._marks = FileWitness(folder / MARK)
        self._series = keys.derive("lifetime folder", dataset, name).hex()
        self._step, self._head = 0, BEGINNING
        self._held: Entries | None = None
        self._written: _Written | None = None
        self._unmerged: list[Entries] = []

    def __repr__(self) -> str:
        return f"LifeTally({self._name!r})"

    def make(self) -> None:
        """Make the folder of a new series, before its opening is paid; an empty one is taken as it is."""
        make_folder(self._folder, self._series)
        if self._marks.newest(self._name):
            raise InvalidArgument("tally", self._folder.name, "a folder that is new or empty: this one has a history")
        self._marks.saw(self._name, 0)  # from now on a mark that is not there was lost
        keep_name(self._folder / MARK, self._name)

    def discard(self) -> None:
        """Remove every file of a tally that is refused, or that was made for nothing."""
        self._held, self._written, self._unmerged = None, None, []
        remove_all(self._folder)

    @property
    def name(self) -> str:
        """The name of the series."""
        return self._name

    @property
    def life(self) -> int:
        """The shares of a whole life."""
        return self._life

    def seen(self) -> Seen:
        """Return how far the folder has come. Ask before the ledger is read, since others go on meanwhile."""
        listing = Listing.of(self._folder, self._name)
        check_owner(self._folder, self._series, self._name)  # first: what is another's says nothing of this one
        return Seen(self._marks.newest(self._name), listing.newest_segment, listing.newest_base)

    def verify(self, step: int, head: bytes, *, seen: Seen | None = None) -> None:
        """Read all of the tally, and refuse one that is not what the ledger vouches for.

        Args:
            step: how many steps the ledger knows.
            head: of the chain after them, as the ledger has it.
            seen: what `seen` returned before the ledger was read; without, nobody else may be at work.
        """
        self._held, self._written, self._unmerged = None, None, []
        self._check_ahead(step, self.seen() if seen is None else seen)
        lost = step
        for _ in range(_TRIES):
            listing = Listing.of(self._folder, self._name)
            if listing.newest_base > step:  # not before the ledger was read, so another job went on
                raise StreamConflict(
                    f"stream {self._name!r} has gone on past step {step} elsewhere: resume its newest state"
                )
            try:
                self._held, chain = self._read(listing, step, head)
            except Missing as missing:  # perhaps merged by another job, into a base that is there by now
                lost = missing.step
                continue
            marked = self._check_marked(step)
            self._step, self._head = step, head
            if marked < step:  # who committed it died before; and the next is never committed before this is marked
                self._marks.saw(self._name, step)
            self._clear(listing, {found.path for found in chain})
            self._reached("tally read")
            return
        raise mismatch(self._name, lost, "is missing")

    def used(self, high: Digests, low: Digests) -> Words:
        """Return the shares that each entry has used, by the first and the last 64 bits of it; 0 if it is unknown."""
        return used_by(self._verified, high, low)

    def people(self) -> Entries:
        """Return what everyone has used: for the owner alone, and for nothing that is published."""
        return self._verified

    def write(self, step: int, entries: Entries) -> bytes:
        """Write the segment of the next step, durably; return the chain's head after it, which the ledger commits.

        Nothing rests on it before the ledger's transaction: it may be written again, by anyone.
        """
        _ = self._verified
        if step != self._step + 1:
            raise StreamConflict(f"the tally of {self._name!r} stands at step {self._step}: {step} is not the next")
        if len(entries) and entries.spent.max() > self._life:
            raise InvalidArgument("entries", "with other amounts", "with at most a whole life for each")
        fresh, final = new_paths(self._folder, step)
        self._reached("segment begun")
        head = self._sealer.write("segment", step, self._head, entries, fresh=fresh, final=final)
        self._reached("segment written")
        self._written = _Written(step, head.after, entries)
        return head.after

    def announce(self, step: int) -> None:
        """Remember that the ledger has committed a step, before anyone is told: of the one just written, or an older.

        Whoever returns what was stored before calls this first as well: who stored it may have died.
        """
        check_owner(self._folder, self._series, self._name)
        self._check_marked(step)
        self._marks.saw(self._name, step)
        self._reached("announced")
        written = self._written
        if written is not None and written.step == step:
            self._unmerged.append(written.entries)  # until somebody asks: most processes end here
            self._step, self._head, self._written = step, written.head, None

    def compact(self) -> None:
        """Merge all steps that were verified into one base, and remove the segments.

        The base is whole and has its name before anything is removed: a crash leaves files that are not needed.
        """
        held = self._verified
        if self._step == 0:
            return
        fresh, _ = new_paths(self._folder, self._step)
        self._reached("base begun")
        final = base_path(self._folder, self._step)
        self._sealer.write("base", self._step, self._head, held, fresh=fresh, final=final)
        self._reached("base written")
        listing = Listing.of(self._folder, self._name)
        for step, path in listing.bases.items():
            if step < self._step:
                remove(path)
        self._reached("old base removed")
        for step, paths in listing.segments.items():
            for path in paths if step <= self._step else ():
                remove(path)
                self._reached("old segment removed")
        for path in listing.unfinished:
            remove_abandoned(path)

    @property
    def _verified(self) -> Entries:
        if self._held is None:
            raise StreamConflict(f"the tally of {self._name!r} was not verified against its ledger")
        while self._unmerged:
            self._held = merge(self._held, self._unmerged.pop(), self._life)
        return self._held

    def _check_ahead(self, step: int, seen: Seen) -> None:
        """Refuse a ledger that knows less than the tally has seen."""
        newest = max(seen.announced, seen.base, seen.segment - 1)
        if newest > step:
            raise LedgerSetBack(
                f"the ledger knows {step} steps of {self._name!r} and its tally has seen {newest}: the ledger was set "
                "back, or restored from a backup, or this is the folder of another series. Put the newest copy of the "
                "ledger back. Without one this series has ended: people would count again for what they have used up. "
                "Nothing was released"
            )

    def _check_marked(self, step: int) -> int:
        """Return the last step that is marked, once the ledger is known to stand at ``step``.

        A step is committed when the one before is marked, so a mark is at most one behind: where a job died.
        """
        marks = self._marks.marks.read()
        if self._name not in marks:
            raise mismatch(self._name, step, f"is not marked: {MARK!r} is missing or empty, or was changed, and so")
        if marks[self._name] < step - 1:
            raise mismatch(self._name, step, f"is not marked: {MARK!r} is an old copy or was changed, and so")
        return marks[self._name]

    def _read(self, listing: Listing, step: int, head: bytes) -> tuple[Entries, list[Found]]:
        """Return what everyone has paid, and the segments that tell of it."""
        start = listing.newest_base
        chain = list(self._chain(listing, step, head, until=start))
        held = nobody()
        if start:
            try:
                base, held = self._sealer.read("base", listing.bases[start], start)
            except FileNotFoundError:
                raise Missing(start) from None
            except Damaged:
                raise mismatch(self._name, start, "was changed") from None
            if base.chain != (chain[-1].head.chain if chain else head):
                raise mismatch(self._name, start, "is of another history")
        for found in reversed(chain):
            held = merge(held, self._entries(found), self._life)
        return held, chain

    def _chain(self, listing: Listing, step: int, head: bytes, *, until: int) -> Iterator[Found]:
        return find_chain(self._sealer, listing, self._name, step=step, head=head, until=until)

    def _entries(self, found: Found) -> Entries:
        try:
            head, entries = self._sealer.read("segment", found.path, found.step)
        except FileNotFoundError:
            raise Missing(found.step) from None
        except Damaged:
            raise mismatch(self._name, found.step, "was changed") from None
        if head != found.head:
            raise mismatch(self._name, found.step, "was changed")
        return entries

    def _clear(self, listing: Listing, kept: set[Path]) -> None:
        """Remove what jobs that lost or died have left of steps that are committed: nothing rests on it any more.

        What is of the next step stays: its job may be about to commit.
        """
        oldest = min((int(path.name[:12]) for path in kept), default=self._step + 1)
        for step, paths in listing.segments.items():
            for path in paths if oldest <= step <= self._step else ():
                if path not in kept:
                    remove(path)
