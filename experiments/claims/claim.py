"""A claim is data, its readings are computations, and the verdict follows: there is nowhere to write one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Literal

from experiments.claims.computations import used
from experiments.claims.rules import Rule
from experiments.claims.tolerance import Tolerance

__all__ = ["Claim", "Finding"]

Reading = Callable[[], Any]


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a source says, where, and how it is read.

    Attributes:
        id: Its name, for ever.
        source: Which source, a key of ``SOURCES``; of a row of our own, the source that it stands beside.
        place: Section, equation, panel of a figure or cell of a table.
        says: The claim in our words.
        rule: How values are compared with what is stated.
        stated: What is stated, as data; of ``bound``, ``equal`` and the like a few words, for the pairs hold numbers.
        tolerance: What the source's way of saying it allows; chosen before the value is known.
        readings: Computations by name. The first is the source's own definition; the others say what differs.
        tokens: Strings as the source prints them, each of which its text must hold.
        origin: Whether the source says it, or we.
        parameters: ``source``, ``ours: …`` or ``not stated: …`` with what was taken.
        data: ``none``, ``source: …``, ``stand-in: …`` or ``made-up: …``.
        files: Names of the data sets that its readings take from files where they are given.
        reason: Why nothing can be computed, where there are no readings.
        note: A remark for readers of the table.
        slow: Whether its readings take more than a few seconds.
    """

    id: str
    source: str
    place: str
    says: str
    rule: Rule | None = None
    stated: Any = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    readings: Mapping[str, Reading] = field(default_factory=lambda: MappingProxyType({}))
    tokens: tuple[str, ...] = ()
    origin: Literal["source", "ours"] = "source"
    parameters: str = "source"
    data: str = "none"
    files: tuple[str, ...] = ()
    reason: str = ""
    note: str = ""
    slow: bool = False

    def __post_init__(self) -> None:
        if bool(self.readings) == bool(self.reason):
            raise ValueError(f"{self.id}: a claim has readings, or a reason why it has none")
        if self.readings and self.rule is None:
            raise ValueError(f"{self.id}: readings need a rule")
        if self.origin == "source" and not self.place:
            raise ValueError(f"{self.id}: what a source says has its place there")
        _check_head(self.id, "parameters", self.parameters, ("source", "ours", "not stated"))
        _check_head(self.id, "data", self.data, ("none", "source", "stand-in", "made-up"))

    @property
    def statement(self) -> str:
        """What is stated, as the table shows it."""
        return self.rule.states(self.stated, self.tolerance) if self.rule else "–"

    def find(self) -> Finding:
        """Compute every reading."""
        with used() as names:
            values = {name: reading() for name, reading in self.readings.items()}
        return Finding(self, values, frozenset(names))


@dataclass(frozen=True)
class Finding:
    """What was computed for a claim; the verdict is derived from it alone."""

    claim: Claim
    values: Mapping[str, Any]
    computations: frozenset[str] = frozenset()

    @property
    def word(self) -> str:
        """The bare verdict, before what is said of parameters and data."""
        rule, claim = self.claim.rule, self.claim
        if rule is None or not self.values:
            return "not checkable"
        judged = {name: rule.judge(value, claim.stated, claim.tolerance) for name, value in self.values.items()}
        first, *others = judged
        if claim.origin == "ours":
            return "as expected" if judged[first].agrees else "not as expected"
        if judged[first].agrees:
            return "holds" if judged[first].tight else "holds, not tight"
        agreeing = [name for name in others if judged[name].agrees]
        return f"holds only: {agreeing[0]}" if agreeing else "false"

    @property
    def contradicted(self) -> bool:
        """Whether no reading agrees with what is stated."""
        return self.word in {"false", "not as expected"}

    @property
    def verdict(self) -> str:
        """The verdict as it is shown, with whose parameters and which data it rests on."""
        claim, word = self.claim, self.word
        if not self.values:
            return word
        if claim.origin == "ours":
            return f"not a source claim: {word}"
        if claim.data.startswith(("stand-in", "made-up")):
            return f"needs real data; on {_rest(claim.data)}: {word}"
        if claim.parameters.startswith("ours"):
            return f"reproduced at our parameters: {word}"
        return word

    @property
    def shown(self) -> str:
        """What was found, reading by reading."""
        if self.claim.rule is None or not self.values:
            return self.claim.reason
        parts = {name: self.claim.rule.shows(value) for name, value in self.values.items()}
        if len(parts) == 1:
            return next(iter(parts.values()))
        return "; ".join(f"{name}: {text}" for name, text in parts.items())

    def nudged(self) -> Finding:
        """Return what would have been found had the first reading given a value that the rule judges otherwise."""
        rule, claim = self.claim.rule, self.claim
        if rule is None or not self.values:
            raise ValueError(f"{claim.id}: nothing was computed that could be nudged")
        first = next(iter(self.values))
        value = rule.nudged(self.values[first], claim.stated, claim.tolerance)
        return Finding(claim, {**self.values, first: value}, self.computations)


def _check_head(name: str, field_: str, text: str, heads: tuple[str, ...]) -> None:
    head, colon, rest = text.partition(":")
    if head not in heads or (bool(colon) and not rest.strip()):
        raise ValueError(f"{name}: {field_} begins with one of {', '.join(heads)}, got {text!r}")


def _rest(text: str) -> str:
    head, _, rest = text.partition(":")
    return f"{rest.strip()} ({head})" if rest else head
