"""A choice that was made: the chosen candidate, and the certificate that says what was promised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from chronodp.errors import UnknownDocument
from chronodp.ledger import SignedLink, Written, check_signed, save_release
from chronodp.privacy import Certificate, canonical, load, load_parts, to_document
from chronodp.selection.design import ChoiceDesign

__all__ = ["Choice", "choice_text"]


def choice_text(design: ChoiceDesign, place: int) -> str:
    """Return the canonical text of a choice: what is stored, digested and signed."""
    content = {"kind": "choice", "design": to_document(design), "place": place}
    return canonical(content)


@dataclass(frozen=True, repr=False)
class Choice:
    """The chosen candidate, public and signed. Made by `choose`.

    Attributes:
        text: what was stored and signed.
        signed: its link in the dataset's chain of certificates.
    """

    text: str
    signed: SignedLink

    def __post_init__(self) -> None:
        check_signed(self.signed.link, self.text)

    @property
    def winner(self) -> str:
        """The chosen candidate's name."""
        return self.design.candidates[self.place]

    @property
    def place(self) -> int:
        """The chosen candidate's place in the list, from 0."""
        place, last = self._content["place"], len(self.design.candidates) - 1
        if type(place) is not int or not 0 <= place <= last:
            raise UnknownDocument(f"the place of a choice is a whole number from 0 to {last}")
        return place

    @cached_property
    def design(self) -> ChoiceDesign:
        """Everything public about the choice."""
        design: ChoiceDesign = load(self._content["design"], ChoiceDesign)
        return design

    @property
    def certificate(self) -> Certificate:
        """What is promised, by which argument."""
        return self.signed.link.certificate

    def to_dict(self) -> dict[str, Any]:
        """Return what `chronodp verify` reads: the choice and its signed link."""
        return {"release": self.text, "link": self.signed.to_dict()}

    def save(self, path: str | Path) -> Path:
        """Write the choice with its signed certificate as JSON, which `chronodp verify` reads."""
        return save_release(path, Written(self.text), self.signed)

    @cached_property
    def _content(self) -> dict[str, Any]:
        return load_parts(self.text, "choice", "design", "place")

    def __repr__(self) -> str:
        return f"Choice({self.winner!r} of {len(self.design.candidates)} candidates; {self.certificate.guarantee})"
