"""Who holds which key, as far as it counts: private, and a function of each person's own records and the clock.

"What is counted" in ``docs/explanation/proofs/key-streams.md``. People and keys are numbered in the order they come;
numbers never leave, and nothing depends on them. A row that the ledger seals, all numbers with their least byte first:

    8 bytes            the step
    4 bytes            how many keys are new, and for each its size in 4 bytes and its text in UTF-8
    4 bytes            n, how many people first met a key
    n × 16 bytes       the people: keyed BLAKE2b of their names
    n × 4 bytes        the numbers of the keys
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from chronodp.series.key_streams.design import KeyStreamDesign
from chronodp.series.recursion import Integers

__all__ = ["Holders", "Met", "from_row", "to_rows"]

_HASH = 16
_ROW = 2**15  # pairs in a row of the ledger
_CODE = 2**32

Words = NDArray[np.uint64]
Name = TypeVar("Name", str, bytes)


@dataclass(frozen=True, slots=True)
class Met:
    """People who met a key for the first time in a step, as far as they count. Secret.

    Attributes:
        step: the number of the step.
        fresh: texts of keys that nobody had met before, numbered on from those that were known.
        people: hashes of the people, 16 bytes each.
        keys: the numbers of the keys.
    """

    step: int
    fresh: tuple[str, ...]
    people: tuple[bytes, ...]
    keys: NDArray[np.uint32]


class Holders:
    """Pairs of people and keys, each counted once.

    Args:
        design: of the stream.
        secret: of the hashes that take the place of names, and of the order in which keys are chosen.
    """

    def __init__(self, design: KeyStreamDesign, secret: bytes) -> None:
        self._design, self._secret = design, secret
        self._texts: list[str] = []
        self._numbers: dict[str, int] = {}
        self._people: dict[bytes, int] = {}
        self._names: list[bytes] = []
        self._pairs = np.zeros(0, dtype=np.int64)  # person × 2^32 + key, sorted
        self._met: list[NDArray[np.uint32]] = [np.zeros(0, dtype=np.uint32)] * design.looks  # by look
        self._ends = np.array(design.look_steps)

    @property
    def texts(self) -> list[str]:
        """Every key that anyone holds, by its number."""
        return self._texts

    @property
    def pairs(self) -> int:
        """How many pairs count."""
        return len(self._pairs)

    def number(self, text: str) -> int:
        """Return the number of a key that someone holds."""
        return self._numbers[text]

    def until(self, look: int, keys: Sequence[int]) -> Integers:
        """Return how many people have met some keys by each look up to this one, looks by keys."""
        wanted = np.asarray(keys, dtype=np.int64)
        by_look = [np.bincount(met, minlength=len(self._texts))[wanted] for met in self._met[: look + 1]]
        counts: Integers = np.cumsum(by_look, axis=0, dtype=np.int64)
        return counts

    def at(self, look: int) -> Integers:
        """Return how many people have met each key by a look."""
        counts = np.zeros(len(self._texts), dtype=np.int64)
        for met in self._met[: look + 1]:
            counts += np.bincount(met, minlength=len(self._texts))
        return counts

    def choose(self, step: int, people: Sequence[str], keys: Sequence[str]) -> Met:
        """Return what counts of a step's records, given as people and keys side by side. Nothing is changed."""
        persons, numbers = _Numbering(self._people, self._names), _Numbering(self._numbers, self._texts)
        hashes = {name: self._hash("person", name) for name in set(people)}
        short = {text for text in set(keys) if len(_bytes(text)) <= self._design.longest}
        packed = {
            persons[hashes[name]] * _CODE + numbers[text]
            for name, text in zip(people, keys, strict=True)
            if text in short
        }
        kept = self._bounded(np.array(sorted(packed), dtype=np.int64), persons, numbers)
        # Keys that nobody's choice kept are no keys. Those that are get the next numbers.
        known, held = len(self._texts), dict[str, int]()
        codes = np.empty(len(kept), dtype=np.uint32)
        for place, code in enumerate((kept % _CODE).tolist()):
            codes[place] = code if code < known else held.setdefault(numbers.name(code), known + len(held))
        return Met(step, tuple(held), tuple(persons.name(code) for code in (kept // _CODE).tolist()), codes)

    def add(self, met: Met) -> None:
        """Count what was chosen, once it is on disk."""
        for text in met.fresh:
            self._numbers[text] = len(self._texts)
            self._texts.append(text)
        persons = np.empty(len(met.people), dtype=np.int64)
        for place, person in enumerate(met.people):
            number = self._people.setdefault(person, len(self._names))
            if number == len(self._names):
                self._names.append(person)
            persons[place] = number
        fresh = np.sort(persons * _CODE + met.keys.astype(np.int64))
        self._pairs = np.insert(self._pairs, np.searchsorted(self._pairs, fresh), fresh)
        look = int(np.searchsorted(self._ends, met.step))
        self._met[look] = np.concatenate((self._met[look], met.keys))

    def _bounded(self, pairs: Integers, persons: _Numbering[bytes], numbers: _Numbering[str]) -> Integers:
        """Return the pairs that count and are new."""
        design = self._design
        if design.unit.whole_person:
            # The first keys of a person, whatever comes later: what was met before is no new key.
            fresh = pairs[~self._holds(pairs)]
            begins = fresh - fresh % _CODE
            held = np.searchsorted(self._pairs, begins + _CODE) - np.searchsorted(self._pairs, begins)
            return fresh[self._ranks(fresh, persons, numbers) + held < (design.max_keys or 0)]
        if not design.unit.of_rows:
            # Chosen among what the person does in this step alone, and only then compared with what was met before:
            # otherwise one calendar period could move the choice in all later ones.
            pairs = pairs[self._ranks(pairs, persons, numbers) < (design.max_groups or 0)]
        return pairs[~self._holds(pairs)]

    def _holds(self, pairs: Integers) -> NDArray[np.bool_]:
        places = np.searchsorted(self._pairs, pairs)
        inside = places < len(self._pairs)
        known = np.zeros(len(pairs), dtype=np.bool_)
        known[inside] = self._pairs[places[inside]] == pairs[inside]
        return known

    def _ranks(self, pairs: Integers, persons: _Numbering[bytes], numbers: _Numbering[str]) -> Integers:
        """Return each pair's place among those of its person, in an order made of secret, person and key alone."""
        owners, codes = pairs // _CODE, pairs % _CODE
        marks = {code: self._hash("key", numbers.name(code)) for code in set(codes.tolist())}
        of_person = _words(persons.name(code) for code in owners.tolist())
        of_key = _words(marks[code] for code in codes.tolist())
        first, second = (_mixed(of_person[:, half] ^ of_key[:, half]) for half in (0, 1))
        order = np.lexsort((second, first, owners))
        begins = np.searchsorted(owners, owners)  # pairs are sorted by person
        ranks = np.empty(len(pairs), dtype=np.int64)
        ranks[order] = np.arange(len(pairs)) - begins[order]
        return ranks

    def _hash(self, purpose: str, name: str) -> bytes:
        return hashlib.blake2b(
            _bytes(name), key=self._secret, digest_size=_HASH, person=purpose.encode().ljust(16)
        ).digest()


def to_rows(met: Met, known: int) -> Iterator[bytes]:
    """Yield what the ledger seals of a step; ``known`` is how many keys were known before."""
    told = known
    for begin in range(0, len(met.keys), _ROW):
        keys = met.keys[begin : begin + _ROW]
        until = max(told, int(keys.max()) + 1)
        fresh = [_bytes(text) for text in met.fresh[told - known : until - known]]
        told = until
        yield b"".join(
            (
                met.step.to_bytes(8, "little"),
                len(fresh).to_bytes(4, "little"),
                *(len(text).to_bytes(4, "little") + text for text in fresh),
                len(keys).to_bytes(4, "little"),
                *met.people[begin : begin + _ROW],
                keys.astype("<u4").tobytes(),
            )
        )


def from_row(content: bytes) -> Met:
    """Return what a row tells."""
    at = 12
    fresh = []
    for _ in range(int.from_bytes(content[8:12], "little")):
        size = int.from_bytes(content[at : at + 4], "little")
        fresh.append(content[at + 4 : at + 4 + size].decode("utf-8", "surrogatepass"))
        at += 4 + size
    count = int.from_bytes(content[at : at + 4], "little")
    at += 4
    people = tuple(content[at + _HASH * place : at + _HASH * (place + 1)] for place in range(count))
    keys = np.frombuffer(content[at + _HASH * count :], dtype="<u4").astype(np.uint32)
    return Met(int.from_bytes(content[:8], "little"), tuple(fresh), people, keys)


class _Numbering(Generic[Name]):
    """Numbers of names: those that are known, and the next ones for names that come."""

    def __init__(self, known: dict[Name, int], names: Sequence[Name]) -> None:
        self._known: dict[Name, int] = known
        self._names: Sequence[Name] = names
        self._fresh: dict[Name, int] = {}
        self._more: list[Name] = []

    def __getitem__(self, name: Name) -> int:
        number = self._known.get(name)
        if number is None:
            number = self._fresh.setdefault(name, len(self._names) + len(self._more))
            if number == len(self._names) + len(self._more):
                self._more.append(name)
        return number

    def name(self, number: int) -> Name:
        """Return the name of a number."""
        known = len(self._names)
        return self._names[number] if number < known else self._more[number - known]


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def _words(hashes: Iterable[bytes]) -> Words:
    """Return hashes as two words each."""
    return np.frombuffer(b"".join(hashes), dtype="<u8").astype(np.uint64).reshape(-1, 2)


def _mixed(words: Words) -> Words:
    """Return words in an order of their own: the finaliser of SplitMix64, which is one-to-one."""
    mixed = words ^ (words >> np.uint64(30))
    mixed = mixed * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    result: Words = mixed ^ (mixed >> np.uint64(31))
    return result
