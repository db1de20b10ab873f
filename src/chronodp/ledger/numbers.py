"""Numbers that are too many for a release's text: the text names their digests, and their bytes are stored in parts.

What is digested is one form that nobody can choose: the numbers in their order, as little-endian int64, cut after every
`PART` of them. How a part is packed on disk, or in a file, is no part of what is signed. "Parts" of
``docs/explanation/proofs/ledger.md``.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import CertificateInvalid, InvalidArgument, LedgerUnavailable, UnknownDocument
from chronodp.ledger.store import Store
from chronodp.privacy import check_whole, document, load, stored_quanta, to_document
from chronodp.reading import parse_json

__all__ = [
    "MOST_CELLS",
    "MOST_LISTED",
    "PART",
    "PackedNumbers",
    "Written",
    "check_parts",
    "check_room",
    "list_or_pack",
    "numbers_in",
    "numbers_within",
    "pack",
    "pack_part",
    "read_numbers",
    "room_for",
]

MOST_CELLS = 2**27
"""Numbers that one release may hold: 1 GiB as they are digested, which a machine of 4 GB can draw, store and read."""
MOST_LISTED = 2**20
"""Numbers that a text lists itself. Their digits take up to 21 MB, far below the 10^9 bytes of a row of SQLite."""
PART = 2**20
"""Numbers in a part: 8 MiB before they are packed; neither a row nor a reader's memory grows with the release."""

_LISTED = 21  # bytes that a number in a text takes at most, with its comma
_SMALL = 2**20  # bytes for any release beside its numbers: its debit, text, link and marks, and what others write

_FORM = "little-endian int64"
_MARK = '"kind":"numbers"'  # as the canonical text of `PackedNumbers` has it
_DIGEST = re.compile("[0-9a-f]{64}")

Integers = NDArray[np.int64]


@document("numbers")
@dataclass(frozen=True, slots=True)
class PackedNumbers:
    """What a text says of numbers that stand beside it: with it, every byte of them is settled.

    Attributes:
        cells: how many.
        form: how one is written.
        part: how many are digested together; the last part holds the rest.
        sha256: the digest of each part, in their order.
    """

    cells: int
    form: str
    part: int
    sha256: tuple[str, ...]

    def __post_init__(self) -> None:
        check_whole("cells", self.cells, most=MOST_CELLS)
        if (self.form, self.part) != (_FORM, PART):
            raise InvalidArgument("form", f"{self.form}, {self.part} a part", f"{_FORM}, {PART} a part")
        if len(self.sha256) != -(-self.cells // PART) or not all(map(_DIGEST.fullmatch, self.sha256)):
            raise InvalidArgument("sha256", f"{len(self.sha256)} texts", "a digest of 64 hexadecimal digits a part")

    @property
    def sizes(self) -> list[int]:
        """How many numbers each part holds."""
        return [min(PART, self.cells - begin) for begin in range(0, self.cells, PART)]

    def check(self, place: int, content: bytes | memoryview) -> None:
        """Raise unless these are the bytes of a part."""
        size = 8 * min(PART, self.cells - place * PART)
        if len(content) != size or hashlib.sha256(content).hexdigest() != self.sha256[place]:
            raise _not_signed(place, len(self.sha256))

    def unpack(self, parts: Sequence[bytes]) -> Iterator[Integers]:
        """Return the numbers part by part, each checked against its digest."""
        if len(parts) != len(self.sha256):
            raise _missing(len(parts), len(self.sha256))
        for place, (packed, size) in enumerate(zip(parts, self.sizes, strict=True)):
            found = _unpacked(packed, size)
            if found is None:
                raise _not_signed(place, len(parts))
            self.check(place, found.data.cast("B"))
            yield found.astype(np.int64, copy=False)


@dataclass(frozen=True, slots=True)
class Written:
    """A release as it is stored: its text, and the packed parts of the numbers that the text names."""

    text: str
    parts: tuple[bytes, ...] = field(default=(), repr=False)

    @classmethod
    def of(cls, made: str | Written) -> Written:
        """Return a release as it is stored; of a text, that alone."""
        return made if isinstance(made, Written) else cls(made)

    def unpack(self) -> Iterator[Integers]:
        """Return the numbers beside the text part by part, each checked against its digest."""
        check_parts(self.text, self.parts)
        left = iter(self.parts)
        for numbers in numbers_in(self.text):
            yield from numbers.unpack(tuple(islice(left, len(numbers.sha256))))


def list_or_pack(arrays: Sequence[Integers]) -> tuple[list[list[int]] | dict[str, Any], tuple[bytes, ...]]:
    """Return what a text says of arrays: their numbers, or where these are too many what stands beside it, and that."""
    if sum(array.size for array in arrays) > MOST_LISTED:
        return pack(arrays)
    return [array.ravel().tolist() for array in arrays], ()


def read_numbers(said: object, shape: tuple[int, ...], parts: Sequence[bytes]) -> Integers:
    """Return the numbers that a text lists, or those beside it, each part of them checked against its digest."""
    if not isinstance(said, dict):
        return stored_quanta(said, shape)
    numbers: PackedNumbers = load(said, PackedNumbers)
    if numbers.cells != math.prod(shape):
        raise UnknownDocument("the released numbers are not as many whole numbers as the design says")
    found, begin = np.empty(numbers.cells, np.int64), 0
    for part in numbers.unpack(parts):
        found[begin : begin + len(part)] = part
        begin += len(part)
    return found.reshape(shape)


def pack(arrays: Sequence[Integers]) -> tuple[dict[str, Any], tuple[bytes, ...]]:
    """Return what a text says of the numbers in arrays, one after another, and their packed parts."""
    digests, parts = [], []
    for content in _contents(arrays):
        digests.append(hashlib.sha256(content).hexdigest())
        parts.append(pack_part(content))
    cells = sum(array.size for array in arrays)
    return to_document(PackedNumbers(cells, _FORM, PART, tuple(digests))), tuple(parts)


def pack_part(content: bytes | memoryview) -> bytes:
    """Return the bytes of a part as they are stored: of every number the low bytes that its part needs.

    Noise spans some 2^26 steps of its grid, so that this takes four or five of eight; a compressor finds as much, and
    needs three times as long.
    """
    numbers = np.frombuffer(content, "<i8")
    width = max(_bytes_for(int(numbers.min())), _bytes_for(int(numbers.max())))
    return numbers.view(np.uint8).reshape(-1, 8)[:, :width].tobytes()


def numbers_in(text: str) -> tuple[PackedNumbers, ...]:
    """Return what a release's text says of numbers beside it, in the order of the text."""
    return tuple(numbers_within(parse_json(text))) if _MARK in text else ()


def numbers_within(content: Any) -> Iterator[PackedNumbers]:
    """Return the same of what a text says, decoded."""
    if isinstance(content, dict) and content.get("kind") == "numbers":
        yield load(content, PackedNumbers)
    elif isinstance(content, dict | list):
        for one in content.values() if isinstance(content, dict) else content:
            yield from numbers_within(one)


def check_parts(text: str, parts: Sequence[bytes]) -> None:
    """Raise unless there are as many parts as a text names. That each is genuine is told when it is read."""
    wanted = sum(len(numbers.sha256) for numbers in numbers_in(text))
    if len(parts) != wanted:
        raise _missing(len(parts), wanted)


def room_for(cells: int) -> int:
    """Return how many bytes a debit and its release of so many numbers take at most, with rows, link and indices."""
    return _SMALL + (8 * cells if cells > MOST_LISTED else _LISTED * cells)


def check_room(store: Store, cells: int) -> None:
    """Refuse a release of more numbers than the disk has room for, if that is known; before anything is spent."""
    room, wanted = store.room(), room_for(cells)
    if room is not None and room < wanted:
        raise LedgerUnavailable(
            f"the ledger's disk has room for {room / 1e6:,.0f} MB, and a release"
            f"{f' of {cells:,} numbers' if cells else ''} may take {wanted / 1e6:,.0f} MB; nothing was spent"
        )


def _contents(arrays: Iterable[Integers]) -> Iterator[memoryview]:
    """Return the numbers of all arrays, one after another, as the bytes of parts."""
    flat = [np.ascontiguousarray(array, "<i8").reshape(-1) for array in arrays]
    for begin in range(0, sum(map(len, flat)), PART):
        pieces, before = [], 0
        for one in flat:
            piece = one[max(begin - before, 0) : max(begin + PART - before, 0)]
            pieces += [piece] if len(piece) else []
            before += len(one)
        yield (pieces[0] if len(pieces) == 1 else np.concatenate(pieces)).data.cast("B")


def _bytes_for(number: int) -> int:
    """Return how many bytes a whole number takes with its sign."""
    return (number if number >= 0 else ~number).bit_length() // 8 + 1


def _unpacked(packed: bytes, size: int) -> NDArray[np.int64] | None:
    """Return so many numbers; None if these bytes hold another number of them."""
    width, rest = divmod(len(packed), size)
    if rest or not 1 <= width <= 8:
        return None
    if width == 8:
        return np.frombuffer(packed, "<i8")
    # The low bytes of a number are its first ones: written to the high end, and shifted down again with their sign.
    whole = np.zeros(size, [("empty", f"V{8 - width}"), ("low", f"V{width}")])
    whole["low"] = np.frombuffer(packed, f"V{width}")
    numbers: NDArray[np.int64] = whole.view("<i8")
    numbers >>= 8 * (8 - width)
    return numbers


def _not_signed(place: int, count: int) -> CertificateInvalid:
    return CertificateInvalid(f"part {place + 1} of {count} of the numbers is not the one that was signed")


def _missing(found: int, wanted: int) -> CertificateInvalid:
    return CertificateInvalid(f"the release's numbers are {wanted} parts, and {found} are here")
