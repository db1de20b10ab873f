"""What holders agree on before a run: who takes part, how many must stay, and what is added up.

`Terms.colluders` is claim 2 of ``docs/explanation/proofs/secure-aggregation.md``: 2t - n - 1.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from enum import IntEnum

from chronodp.errors import InvalidArgument
from chronodp.federated.aggregation.identity import check_public
from chronodp.federated.aggregation.wire import pack
from chronodp.privacy import check_listed, check_text, check_whole

__all__ = ["RINGS", "Context", "Phase", "Terms", "check_name", "check_threshold", "usual_threshold"]

RINGS = {16: "<u2", 32: "<u4", 64: "<u8"}  # bits of a ring, and the machine's numbers that wrap around in it
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_MOST_HOLDERS = 1000


class Phase(IntEnum):
    """The steps of one round, in order."""

    ADVERTISE = 0
    SHARE = 1
    MASK = 2
    CONSENT = 3
    UNMASK = 4


@dataclass(frozen=True, slots=True)
class Context:
    """What every message of one attempt at one round is bound to.

    Attributes:
        run: the digest of the terms.
        round_number: from 1.
        attempt: from 0; every attempt has keys of its own.
        parameters: the digest of the parameters from which holders start, so that all start from the same.
    """

    run: bytes
    round_number: int
    attempt: int
    parameters: bytes

    def to_bytes(self) -> bytes:
        """Return a text that no other context has."""
        numbers = self.round_number.to_bytes(4, "big") + self.attempt.to_bytes(4, "big")
        return self.run + numbers + self.parameters


@dataclass(frozen=True, slots=True)
class Terms:
    """The public terms of a run. Holders that were given other terms cannot talk to each other.

    Attributes:
        run: the name of the run; a second run needs another name.
        task: what is trained, as text.
        roster: name and public identity of every holder, in order of the names.
        threshold: how many holders must answer in every phase.
        size: how many numbers are added up.
        bits: of the ring in which they are.
    """

    run: str
    task: str
    roster: tuple[tuple[str, bytes], ...]
    threshold: int
    size: int
    bits: int

    def __post_init__(self) -> None:
        check_name("run", self.run)
        allowed = "pairs of a name and a public identity"
        for pair in check_listed("roster", self.roster, tuple, allowed):
            if len(pair) != 2:
                raise InvalidArgument("roster", self.roster, allowed)
        names = [check_name("roster", name) for name, _ in self.roster]
        check_whole("roster", len(names), least=2, most=_MOST_HOLDERS)
        if names != sorted(set(names)) or len({check_public(key) for _, key in self.roster}) != len(names):
            raise InvalidArgument("roster", "a list", "holders in order of name, each once and with a key of its own")
        check_threshold(self.threshold, len(names))
        check_whole("size", self.size, most=2**28)
        check_text("task", self.task)
        if type(self.bits) is not int or self.bits not in RINGS:
            raise InvalidArgument("bits", self.bits, f"one of {', '.join(map(str, RINGS))}")

    @property
    def names(self) -> tuple[str, ...]:
        """The holders, in order."""
        return tuple(name for name, _ in self.roster)

    @property
    def digest(self) -> bytes:
        """The digest that tells these terms from all others."""
        numbers = f"{self.threshold} {self.size} {self.bits}"
        parts = [b"chronodp terms", self.run.encode(), self.task.encode(), numbers.encode()]
        return hashlib.sha256(
            pack([*parts, *(part for name, key in self.roster for part in (name.encode(), key))])
        ).digest()

    @property
    def colluders(self) -> int:
        """How many holders may work together with a server that lies, without seeing more than the sum of the others.

        Two lists of survivors that are both signed by the threshold share 2 threshold - holders signers; unless all of
        these collude, an honest one would have signed both.
        """
        return 2 * self.threshold - len(self.roster) - 1

    @property
    def points(self) -> dict[str, int]:
        """Where each holder's shares lie on the polynomials."""
        return {name: place for place, (name, _) in enumerate(self.roster, start=1)}


def usual_threshold(holders: int) -> int:
    """Return the least threshold above two thirds, which a lying server with a third of the holders cannot beat."""
    return 2 * check_whole("holders", holders) // 3 + 1


def check_threshold(threshold: object, holders: int) -> int:
    """Return how many holders must stay if it is most of them."""
    return check_whole("threshold", threshold, least=holders // 2 + 1, most=holders)


def check_name(argument: str, name: object) -> str:
    """Return the name of a run or a holder if it can stand in messages, files and addresses."""
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        raise InvalidArgument(argument, name, "a name of up to 64 letters, digits, dots, dashes and underscores")
    return name
