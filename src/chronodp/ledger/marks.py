"""How far a ledger was seen to have come: a file of high-water marks that many processes add to.

Each line names counters and how high they stood. Lines are only added, each by one write that begins with the end of
the line before, so that a line cut off by a power failure spoils no other. What counts is the highest number of each
name. A file that has grown is written anew, with one line of marks, under a lock that keeps writers out.

Keys files and witnesses have this form, behind whatever else they begin with. Read as well: witnesses of 0.1.0, which
were one table of steps, or one number of charges a line.

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
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from chronodp.errors import LedgerUnavailable, UnknownDocument
from chronodp.ledger.ownership import create_private, sync_folder, tighten
from chronodp.randomness import Lineage
from chronodp.reading import parse_json

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

__all__ = ["TOTAL", "MarkFile"]

TOTAL = '["charges"]'
"""The counter of all charges together: what a service of 0.1.0 witnessed."""

_LARGE = 2**19  # bytes, from which a file is written anew
_PAUSE = 1.0  # seconds from one sync to the next, where the caller does not ask for its own


class MarkFile:
    """The marks of one ledger in a file. Safe in threads, in forked children and for many processes."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._descriptor = -1
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
        lines = list(_parsed(content))
        if content.strip() and not lines:
            raise LedgerUnavailable(f"{self.name} is damaged: it holds no marks of a ledger")
        highest: dict[str, int] = {}
        for line in lines:
            _raise_to(highest, _numbers(line))
        return highest

    def add(self, numbers: Mapping[str, int], *, sync: bool) -> None:
        """Add marks. They outlive this process when this returns; with ``sync`` a failure of power as well.

        Without it they are synced if the last sync was a second ago, else by the next, or by `close`.
        """
        content = f"\n{_line(numbers)}".encode()  # the end of the line before comes first: it may lack its own
        with self._lock:
            try:
                if self._append(content, sync=sync) > max(_LARGE, 2 * self._compacted):
                    self._compact()
            except OSError:
                raise self._unwritable() from None

    def close(self) -> None:
        """Sync what was added, and let go of the file."""
        with self._lock:
            try:
                if self._unsynced and self._generation == Lineage.generation:
                    self._sync(self._descriptor)
                self._release()
            except OSError:
                raise self._unwritable() from None

    def check_writable(self) -> None:
        """Refuse a file that no mark can be added to, before anything is spent."""
        with self._lock:
            try:
                self._opened()
            except OSError:
                raise self._unwritable() from None

    def _append(self, content: bytes, *, sync: bool) -> int:
        """Write a line to the file that bears the name now; return how large that is."""
        while True:  # no layers here: every debit passes
            descriptor = self._opened()
            _lock(descriptor, exclusive=False)
            try:
                found = os.fstat(descriptor)
                if found.st_nlink:  # 0: the file was replaced since it was opened, and a line in it would be lost
                    if os.write(descriptor, content) != len(content):
                        raise OSError
                    self._unsynced = True
                    if sync or time.monotonic() - self._synced > _PAUSE:
                        self._sync(descriptor)
                    return found.st_size + len(content)
            finally:
                _unlock(descriptor)
            self._release()  # another process has written the file anew

    def _opened(self) -> int:
        if self._generation != Lineage.generation:  # a forked child shares its parent's locks: it takes its own
            self._release()
        if self._descriptor < 0:
            create_private(self._path)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_APPEND)
            self._generation = Lineage.generation
        return self._descriptor

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
                self._compacted = self._write_anew(_whole(descriptor, found.st_size))
        finally:
            _unlock(descriptor)
        self._release()

    def _write_anew(self, content: bytes) -> int:
        """Put a short file in the place of a long one that says the same; return its size."""
        highest: dict[str, int] = {}
        lines = list(_parsed(content))
        for line in lines:
            _raise_to(highest, _numbers(line))
        kept = [json.dumps(line) for line in lines if isinstance(line, dict) and "saw" not in line]
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
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self._unsynced = -1, False

    def _unwritable(self) -> LedgerUnavailable:
        return LedgerUnavailable(
            f"{self.name} cannot be written: its disk is full, or it or its folder is read-only or missing. It "
            "remembers how far the ledger has come; a charge under way may be made, but nothing was announced"
        )


def _lock(descriptor: int, *, exclusive: bool) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_EX if exclusive else fcntl.LOCK_SH)


def _unlock(descriptor: int) -> None:
    if fcntl is not None:
        fcntl.flock(descriptor, fcntl.LOCK_UN)


def _whole(descriptor: int, size: int) -> bytes:
    parts, place = [], 0
    while place < size and (part := os.pread(descriptor, size - place, place)):
        parts.append(part)
        place += len(part)
    return b"".join(parts)


def _parsed(content: bytes) -> Iterator[Any]:
    """Yield what each line says; one that was cut off says nothing.

    Of lines that differ in their last number alone, which nearly all of a long file do, the highest stands for all.
    """
    highest: dict[bytes, int] = {}
    others: dict[bytes, None] = {}
    for line in content.replace(b"\x00", b"\n").split(b"\n"):  # a failure of power may leave zeros at the end
        before, _, number = line.rpartition(b":")
        if number.endswith(b"}}") and number[:-2].isdigit():
            highest[before] = max(int(number[:-2]), highest.get(before, 0))
        elif line.strip():
            others[line] = None
    for line in (*others, *(b"%s:%d}}" % one for one in highest.items())):
        with contextlib.suppress(UnknownDocument):
            yield parse_json(line)


def _line(numbers: Mapping[str, int]) -> str:
    return f'{{"saw":{{{",".join([f"{_quoted(name)}:{number}" for name, number in numbers.items()])}}}}}'


@lru_cache(maxsize=4096)
def _quoted(name: str) -> str:
    return json.dumps(name, ensure_ascii=False)


def _numbers(line: Any) -> dict[str, int]:
    """Return the marks in a line."""
    if type(line) is int:
        return {TOTAL: line}
    if not isinstance(line, dict):
        return {}
    if isinstance(line.get("saw"), dict):
        line = line["saw"]
    return {name: number for name, number in line.items() if type(number) is int}


def _raise_to(highest: dict[str, int], numbers: Mapping[str, int]) -> None:
    for name, number in numbers.items():
        highest[name] = max(number, highest.get(name, 0))
