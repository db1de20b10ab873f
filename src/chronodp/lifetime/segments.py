"""Files of a tally: sealed, padded, never changed once they have their name.

A *segment* holds what people paid in one step of a series; a *base* what they paid in all steps up to one. Numbers are
big-endian, so that rows sorted as bytes are sorted as numbers. A file, byte by byte:

    0 … 7       "life" and the version of this form, 0001
    8 … 131     the head: nonce (12), sealed (96), tag (16)
    132 …       pieces, one after another: nonce (12), sealed rows, tag (16)

The head, opened:

    0 … 7       step: that it is of; of a base, the last that it holds
    8 … 15      rows: how many people
    16 … 23     places: how many rows are sealed, with padding
    24 … 31     bytes of a row: 16, and as many as a whole life's shares need
    32 … 63     of a segment, the chain's head before it; of a base, the chain's head after its last step
    64 … 95     the MAC

A row is the entry (16) and the shares (1 to 8). A piece holds as many whole rows as 4 MiB can; the last one the rest.
Rows beyond those of people are zeros: sealed, they cannot be told from others. There are 1,024 places, or 5 % more, and
5 % more again, as many times as it takes: a size says how many people paid to 5 % and no better.

Each part is sealed with AES-256-GCM under a key derived for it, with a fresh nonce, in the context (kind, dataset,
series, step, piece, pieces): no part opens as another, nor in another series. The MAC is HMAC-SHA-256, under another
derived key, of step ‖ SHA-256 of the people's rows, so it does not depend on how a file is cut or padded; that of a
base is of "base" ‖ step ‖ the chain's head ‖ SHA-256. The chain's head after step n is SHA-256(head before ‖ MAC of n),
32 zeros before the first.

With 10^7 people a file takes 231 MB where a life's shares need six bytes (lives of up to 65,535 periods and places),
220 MB with five (up to 255). "Lifetimes" of ``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Literal, TypeAlias

import numpy as np
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from numpy.typing import NDArray

from chronodp.errors import LedgerUnavailable
from chronodp.ledger import Keys, create_private, sync_folder
from chronodp.lifetime.entries import Entries

__all__ = ["BEGINNING", "Damaged", "Head", "Kind", "Sealer", "next_head", "padded"]

BEGINNING = bytes(32)
"""The chain's head before the first step."""

_MAGIC = b"life0001"
_PIECE = 2**22  # bytes of a piece before it is sealed, at most
_FEWEST = 1024  # places of a file
_NONCE, _TAG, _HEAD = 12, 16, 96

Kind: TypeAlias = Literal["segment", "base"]


class Damaged(Exception):
    """A file that is not as it was written: for whoever reads it to say which step it is of."""


@dataclass(frozen=True, slots=True)
class Head:
    """What a file says of itself; ``chain`` is the head before a segment, or after a base."""

    step: int
    rows: int
    places: int
    row: int
    chain: bytes
    mac: bytes

    @property
    def after(self) -> bytes:
        """The chain's head after a segment."""
        return next_head(self.chain, self.mac)

    def pack(self) -> bytes:
        """Return its 96 bytes."""
        numbers = (self.step, self.rows, self.places, self.row)
        return b"".join(number.to_bytes(8, "big") for number in numbers) + self.chain + self.mac

    @classmethod
    def unpack(cls, content: bytes) -> Head:
        """Return what 96 bytes say."""
        step, rows, places, row = (int.from_bytes(content[at : at + 8], "big") for at in range(0, 32, 8))
        return cls(step, rows, places, row, content[32:64], content[64:96])


class Sealer:
    """Writes and reads the files of one tally.

    Args:
        keys: the ledger's.
        dataset: whose budget paid.
        name: of the series.
        life: the shares of a whole life.
        reached: called with the name of each gap that a crash could fall into.
    """

    def __init__(
        self, keys: Keys, dataset: str, name: str, life: int, reached: Callable[[str], None] = lambda _: None
    ) -> None:
        self._cipher = AESGCM(keys.derive("lifetime sealing", dataset, name))
        self._mac_key = keys.derive("lifetime segments", dataset, name)
        self._of, self._reached = (dataset, name), reached
        self._share = (life.bit_length() + 7) // 8
        self._row = 16 + self._share
        self._rows = _PIECE // self._row
        self._form = np.dtype([("high", ">u8"), ("low", ">u8"), ("share", np.uint8, (self._share,))])

    def write(self, kind: Kind, step: int, chain: bytes, entries: Entries, *, fresh: Path, final: Path) -> Head:
        """Write a file under a fresh name, sync it, and give it its name: whole, or not there. Return its head.

        A disk that is full, or a folder that is away, is told before anything rests on the file.
        """
        places, digest = padded(len(entries)), hashlib.sha256()
        pieces = -(-places // self._rows)
        try:
            create_private(fresh)
            with fresh.open("wb") as file:
                file.write(_MAGIC + bytes(_NONCE + _HEAD + _TAG))  # the head comes last: it holds the MAC
                for number, begin in enumerate(range(0, places, self._rows), start=1):
                    end = min(begin + self._rows, places)
                    rows = self._packed(entries, begin, min(end, len(entries)))
                    digest.update(rows)
                    content = rows.ljust((end - begin) * self._row, b"\0")
                    self._seal(file, content, self._context(kind, step, number, pieces))
                mac = self._mac(kind, step, chain, digest.digest())
                head = Head(step, len(entries), places, self._row, chain, mac)
                self._reached(f"{kind} half written")
                file.seek(len(_MAGIC))
                self._seal(file, head.pack(), self._context(kind, step, 0, 0))
                file.flush()
                os.fsync(file.fileno())
            self._reached(f"{kind} synced")
            fresh.replace(final)
            sync_folder(final)
        except OSError:
            with contextlib.suppress(OSError):
                fresh.unlink(missing_ok=True)
            raise LedgerUnavailable(
                f"the tally of {self._of[1]!r} cannot be written: its disk is full, or its folder is read-only or "
                "missing. Nothing was released"
            ) from None
        return head

    def read_head(self, kind: Kind, path: Path, step: int) -> Head:
        """Return what a file says of itself; raises `Damaged`, or FileNotFoundError."""
        with self._opened(path) as file:
            return self._read_head(file, kind, step)

    def read(self, kind: Kind, path: Path, step: int) -> tuple[Head, Entries]:
        """Return a file's entries, every byte of them checked; raises `Damaged`, or FileNotFoundError."""
        with self._opened(path) as file:
            head = self._read_head(file, kind, step)
            digest = hashlib.sha256()
            high, low = np.empty(head.rows, np.uint64), np.empty(head.rows, np.uint64)
            spent, begin = np.empty(head.rows, np.int64), 0
            for content in self._contents(file, kind, head):
                rows = content[: (head.rows - begin) * self._row]  # without padding
                end = begin + len(rows) // self._row
                digest.update(rows)
                high[begin:end], low[begin:end], spent[begin:end] = self._unpacked(rows)
                begin = end
            if file.read(1) or not hmac.compare_digest(head.mac, self._mac(kind, step, head.chain, digest.digest())):
                raise Damaged
        return head, Entries(high, low, spent)

    @contextlib.contextmanager
    def _opened(self, path: Path) -> Iterator[BinaryIO]:
        try:
            with path.open("rb") as file:
                yield file
        except FileNotFoundError:
            raise
        except OSError:
            raise LedgerUnavailable(f"the tally of {self._of[1]!r} cannot be read; nothing was released") from None

    def _read_head(self, file: BinaryIO, kind: Kind, step: int) -> Head:
        if file.read(len(_MAGIC)) != _MAGIC:
            raise Damaged
        head = Head.unpack(self._open(file, _HEAD, self._context(kind, step, 0, 0)))
        if (head.step, head.row) != (step, self._row) or head.rows > head.places:
            raise Damaged
        return head

    def _contents(self, file: BinaryIO, kind: Kind, head: Head) -> Iterator[bytes]:
        pieces = -(-head.places // self._rows)
        for number in range(1, pieces + 1):
            rows = min(self._rows, head.places - (number - 1) * self._rows)
            yield self._open(file, rows * self._row, self._context(kind, head.step, number, pieces))

    def _seal(self, file: BinaryIO, content: bytes, context: bytes) -> None:
        nonce = os.urandom(_NONCE)
        file.write(nonce + self._cipher.encrypt(nonce, content, context))

    def _open(self, file: BinaryIO, size: int, context: bytes) -> bytes:
        sealed = file.read(_NONCE + size + _TAG)
        try:
            return self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], context)
        except (InvalidTag, ValueError):  # a value: cut off within its nonce
            raise Damaged from None

    def _context(self, kind: Kind, step: int, piece: int, pieces: int) -> bytes:
        return json.dumps([kind, *self._of, step, piece, pieces]).encode()

    def _mac(self, kind: Kind, step: int, chain: bytes, digest: bytes) -> bytes:
        number = step.to_bytes(8, "big")
        # A segment's place in the chain is the chain's own to say; a base stands for all before it, and names its head.
        message = number + digest if kind == "segment" else b"base" + number + chain + digest
        return hmac.digest(self._mac_key, message, "sha256")

    def _packed(self, entries: Entries, begin: int, end: int) -> bytes:
        """Return some of the rows as bytes."""
        rows = np.empty(max(0, end - begin), self._form)
        rows["high"], rows["low"] = entries.high[begin:end], entries.low[begin:end]
        shares = entries.spent[begin:end].astype(">i8").view(np.uint8).reshape(-1, 8)
        rows.view(np.uint8).reshape(-1, self._row)[:, 16:] = shares[:, 8 - self._share :]
        return rows.tobytes()

    def _unpacked(self, content: bytes) -> tuple[NDArray[np.uint64], NDArray[np.uint64], NDArray[np.int64]]:
        rows = np.frombuffer(content, self._form)
        shares = np.zeros((len(rows), 8), np.uint8)
        shares[:, 8 - self._share :] = rows.view(np.uint8).reshape(-1, self._row)[:, 16:]
        return rows["high"], rows["low"], shares.view(">i8")[:, 0]


def next_head(before: bytes, mac: bytes) -> bytes:
    """Return the chain's head after a step."""
    return hashlib.sha256(before + mac).digest()


def padded(rows: int) -> int:
    """Return how many places a file of so many rows has.

    >>> padded(1), padded(1024), padded(1025), padded(10_000_000) <= 10_500_000
    (1024, 1024, 1076, True)
    """
    places = _FEWEST
    while places < rows:
        places = -(-places * 21 // 20)
    return places
