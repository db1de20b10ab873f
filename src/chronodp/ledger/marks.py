"""How far a ledger was seen to have come: a file of high-water marks that many processes add to.

Each line names counters and how high they stood. Lines are only added, each by one write that begins with the end of
the line before, so that a line cut off by a power failure spoils no other. What counts is the highest number of each
name. A file that has grown is written anew, with one line of marks, under a lock that keeps writers out.

Room for a line is set aside as blanks before what it counts is committed, and the line is then written over them:
a disk that fills up in between cannot take it back ("What could fail after a debit").

Keys files and witnesses have this form, behind whatever else they begin with.

It carries *Many writers, and power* under "A ledger that knows itself" in ``docs/explanation/proofs/ledger.md``. A keys
file, with ⏎ for the end of a line:

    {"signing":…,"sealing":…,…}       what it begins with; a witness begins with marks
    ⏎{"saw":{"c":41,"s":7}}           counters c and s stood at 41 and 7
    ⏎{"saw":{"c":42}}                 so c is 42 and s is 7, in whatever order lines were added
    ⏎{"saw":{"c":                     cut off: says nothing, and the next line begins anew
"""

from __future__ import annotations

import contextlib
import json
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from chronodp.errors import LedgerUnavailable
from chronodp.ledger.mark_lines import content_of, highest_of, parsed_lines, raise_to
from chronodp.ledger.ownership import create_private, sync_folder, tighten
from chronodp.randomness import Lineage

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["MarkFile", "Room"]

_LARGE = 2**19  # bytes, from which a file is written anew
_PAUSE = 1.0  # seconds from one sync to the next, where the caller does not ask for its own
_TRIED = 64  # blanks that are added to see whether anything can be


@dataclass(slots=True)
class Room:
    """Bytes of a file that were set aside for marks.

    Attributes:
        file: the device and the number of the file.
        place: where they begin.
        left: how many are not written yet.
    """

    file: tuple[int, int]
    place: int
    left: int


class MarkFile:
    """The marks of one ledger in a file. Safe in threads, in forked children and for many processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._descriptor = self._placing = -1
        self._file: tuple[int, int] | None = None
        self._held: dict[str, int] = {}
        self._generation = Lineage.generation
        self._synced = float("-inf")
        self._unsynced = False
        self._compacted = 0

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # a ledger that was never closed; the interpreter may be half gone
            self._release()

    @property
    def name(self) -> str:
        """The file's name."""
        return self._path.name

    def read(self) -> dict[str, int]:
        """Return the highest number of each counter; nothing if there is no file."""
        try:
            tighten(self._path)
            content = self._path.read_bytes()
        except FileNotFoundError:
            return {}
        except OSError:
            raise LedgerUnavailable(f"{self.name} cannot be read") from None
        highest = highest_of(content)
        if content.strip() and not highest and not list(parsed_lines(content)):
            raise LedgerUnavailable(f"{self.name} is damaged: it holds no marks of a ledger")
        raise_to(self._held, highest)
        return highest

    def reserve(self, *lines: Mapping[str, int]) -> Room | None:
        """Set room aside for lines of marks with numbers up to these; None where a system cannot write over it.

        To be called before what they count is committed: what is refused here, for lack of room or of rights, was not
        spent. Nothing is synced.
        """
        size = sum([len(_encoded(line)) for line in lines])
        with self._lock:
            try:
                descriptor = self._current()  # without a lock: of a file that is written anew its room goes too
                self._write(descriptor, b" " * size)
                end = os.lseek(descriptor, 0, os.SEEK_CUR)
            except OSError:
                raise self._unwritable("nothing was spent") from None
            return None if fcntl is None or self._file is None else Room(self._file, end - size, size)

    def add(self, numbers: Mapping[str, int], *, sync: bool, room: Room | None = None) -> None:
        """Add marks. They outlive this process when this returns; with ``sync`` a failure of power as well.

        Without it they are synced if the last sync was a second ago, else by the next, or by `close`. They are written
        into ``room`` if they were given one, and it is still there.
        """
        due = sync or time.monotonic() - self._synced > _PAUSE
        with self._lock:
            try:
                size = self._append(_encoded(numbers), sync=due, room=room)
                for name, number in numbers.items():
                    self._held[name] = max(number, self._held.get(name, 0))
                if size > max(_LARGE, 2 * self._compacted):
                    self._compact()
            except OSError:
                raise self._unwritable("a charge under way may be made, but nothing was announced") from None

    def close(self) -> None:
        """Sync what was added, and let go of the file."""
        with self._lock:
            try:
                if self._unsynced and self._generation == Lineage.generation:
                    self._sync(self._descriptor)
                self._release()
            except OSError:
                raise self._unwritable("a charge under way may be made, but nothing was announced") from None

    def check_writable(self) -> None:
        """Refuse a file that cannot be opened to add marks, before anything is spent."""
        with self._lock:
            try:
                self._opened()
            except OSError:
                raise self._unwritable("nothing was spent") from None

    def try_adding(self) -> None:
        """Add some blanks, which say nothing, to see whether marks can be added."""
        with self._lock:
            try:
                self._write(self._current(), b" " * _TRIED)
            except OSError:
                raise self._unwritable("nothing was spent") from None

    def _append(self, content: bytes, *, sync: bool, room: Room | None) -> int:
        """Write a line to the file that bears the name now; return how large that is."""
        while True:  # no layers here: every debit passes
            descriptor = self._opened()
            _lock(descriptor, exclusive=False)
            try:
                named = os.stat(self._path)  # quicker
                if (named.st_dev, named.st_ino) == self._file:  # else a line in it would be lost
                    if room is not None and room.file == self._file and room.left >= len(content):
                        self._write_over(content, room)
                    else:
                        self._write(descriptor, content)
                    if sync:
                        self._sync(descriptor)
                    return named.st_size + len(content)
            finally:
                _unlock(descriptor)
            self._release()  # another process has written the file anew

    def _current(self) -> int:
        """Return a descriptor of the file that bears the name now."""
        descriptor = self._opened()
        named = os.stat(self._path)
        if (named.st_dev, named.st_ino) == self._file:
            return descriptor
        self._release()
        return self._opened()

    def _write(self, descriptor: int, content: bytes) -> None:
        if os.write(descriptor, content) != len(content):
            raise OSError
        self._unsynced = True

    def _write_over(self, content: bytes, room: Room) -> None:
        """Write into room that was set aside."""
        # Not by the other descriptor: Linux adds what is written by that to the end, whatever place is given.
        if os.pwrite(self._placing, content, room.place) != len(content):
            raise OSError
        room.place, room.left = room.place + len(content), room.left - len(content)
        self._unsynced = True

    def _opened(self) -> int:
        if self._generation != Lineage.generation:  # a forked child shares its parent's locks: it takes its own
            self._release()
        if self._descriptor < 0:
            if self._file is None:  # one that was there before and is gone is not made anew: its marks are gone as well
                create_private(self._path)
            self._generation = Lineage.generation
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND)
            self._placing = os.open(self._path, os.O_WRONLY)
            found, placing = os.fstat(self._descriptor), os.fstat(self._placing)
            if not os.path.samestat(found, placing):  # replaced between the two
                self._release()
                return self._opened()
            file = (found.st_dev, found.st_ino)
            if self._file not in (None, file):
                self._check_kept(found.st_size)
            self._file = file
        return self._descriptor

    def _check_kept(self, size: int) -> None:
        """Refuse a file that came in the place of another and lacks marks that this process has seen or added."""
        kept = highest_of(content_of(self._descriptor, size))
        if any(number > kept.get(name, 0) for name, number in self._held.items()):
            self._release()
            raise LedgerUnavailable(
                f"{self.name} is not the file that marks were added to: its disk is away, or an older copy is in its "
                "place. Put the newest one back"
            )

    def _sync(self, descriptor: int) -> None:
        getattr(os, "fdatasync", os.fsync)(descriptor)
        self._synced, self._unsynced = time.monotonic(), False

    def _compact(self) -> None:
        """Write the file anew, while no one else writes: what it begins with, and one line of marks."""
        if fcntl is None:  # no file that is open can be replaced there
            return
        descriptor = self._opened()
        _lock(descriptor, exclusive=True)
        try:
            found = os.fstat(descriptor)
            if found.st_nlink and found.st_size > _LARGE:  # else another process was first
                self._compacted = self._write_anew(content_of(descriptor, found.st_size))
        finally:
            _unlock(descriptor)
        self._release()

    def _write_anew(self, content: bytes) -> int:
        """Put a short file in the place of a long one that says the same; return its size."""
        highest = highest_of(content)
        kept = [json.dumps(line) for line in parsed_lines(content) if isinstance(line, dict) and "saw" not in line]
        fresh = self._path.with_name(f"{self._path.name}.{os.urandom(6).hex()}")
        create_private(fresh)
        with fresh.open("w", encoding="utf-8") as file:
            file.write("\n".join([*kept, _line(highest)]))
            file.flush()
            os.fsync(file.fileno())
            size = os.fstat(file.fileno()).st_size
        fresh.replace(self._path)
        sync_folder(self._path)
        return size

    def _release(self) -> None:
        for descriptor in (self._descriptor, self._placing):
            if descriptor >= 0:
                os.close(descriptor)
        self._descriptor, self._placing, self._unsynced = -1, -1, False

    def _unwritable(self, so: str) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"{self.name} cannot be written: its disk is full, or it or its folder is read-only or missing. It "
            f"remembers how far the ledger has come; {so}"
        )


def _encoded(numbers: Mapping[str, int]) -> bytes:
    return f"\n{_line(numbers)}".encode()  # the end of the line before comes first: it may lack its own


def _line(numbers: Mapping[str, int]) -> str:
    return f'{{"saw":{{{",".join([f"{_quoted(name)}:{number}" for name, number in numbers.items()])}}}}}'


@lru_cache(maxsize=4096)
def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _lock(descriptor: int, *, exclusive: bool) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)


def _unlock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)
