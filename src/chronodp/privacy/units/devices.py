"""What a device holds back even from whoever collects its reports: one value, or all that it ever reports on.

Its step in ``docs/explanation/proofs/units.md``: "a device's whole history". What devices do to hold it:
``docs/explanation/proofs/local.md``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from chronodp.privacy.documents import document
from chronodp.privacy.parameters import check_word
from chronodp.privacy.units.base import Facts, Relation, Unit

__all__ = ["Changes", "History", "Report"]

Changes: TypeAlias = Literal["any", "same", "crossing"]


@document("report")
@dataclass(frozen=True, slots=True)
class Report(Unit):
    """The true value behind one report of one device, against everyone including the collector.

    >>> print(Report())
    the true value behind one report of one device
    """

    relation: ClassVar[Relation] = "replace"
    of_a_person = False

    @property
    def protects(self) -> str:
        """What is protected."""
        return "the value behind any single report, even from whoever collects it"

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        return "that a report was sent, and what many reports of one device show together"

    def price_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return the reports of one device in all for its history."""
        return facts.horizon if isinstance(wanted, History) else None

    def __str__(self) -> str:
        return "the true value behind one report of one device"


@document("history")
@dataclass(frozen=True, slots=True)
class History(Unit):
    """All values that one device ever reports on, against everyone including the collector.

    With ``changes="same"`` only histories that hold equal values at the same times are alike: when values change and
    return is then not protected. That is all that repeating an answer for a repeated value can promise. With
    ``changes="crossing"`` they must also cross every level at the same times: all that repeating an answer for either
    side of a secret level can promise.

    >>> print(History())
    all values one device ever reports on, replaced by any others
    """

    changes: Changes = "any"
    relation: ClassVar[Relation] = "replace"
    of_a_person = False
    fields_in_text = ("changes",)

    def __post_init__(self) -> None:
        check_word("changes", self.changes, get_args(Changes))

    @property
    def protects(self) -> str:
        """What is protected."""
        return "everything one device ever reports on, even from whoever collects it"

    @property
    def does_not_protect(self) -> str:
        """What stays open."""
        known = "that the device takes part, and other devices of the same person"
        open_ = {"any": "", "same": "when its values change and return; ", "crossing": "when they cross any level; "}
        return open_[self.changes] + known

    def price_of(self, wanted: Unit, facts: Facts) -> int | None:
        """Return one for what is part of a history; equal values lie on one side of every level."""
        del facts
        if self.changes == "any":
            return 1 if isinstance(wanted, Report | History) else None
        return 1 if self.changes == "same" and wanted == History("crossing") else None

    def __str__(self) -> str:
        others = {
            "any": "any others",
            "same": "others that change and return at the same times",
            "crossing": "others that cross every level at the same times",
        }
        return f"all values one device ever reports on, replaced by {others[self.changes]}"
