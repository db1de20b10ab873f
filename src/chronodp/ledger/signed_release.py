"""What every release that is stored has: the text that was signed, numbers beside it, and its link in the chain."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import Self

from chronodp.ledger.certificates import Link, SignedLink, check_signed
from chronodp.ledger.files import load_release, save_release
from chronodp.ledger.numbers import Written, check_parts
from chronodp.privacy import Certificate

__all__ = ["SignedRelease"]


class SignedRelease:
    """Signed numbers, as a ledger stores them and a file holds them.

    Attributes:
        text: the canonical text.
        signed: its link, signed.
        whole: the text that was signed, where this one is a part of it.
    """

    def __init__(
        self, text: str, signed: SignedLink, *, whole: str | None = None, parts: tuple[bytes, ...] = ()
    ) -> None:
        """Read a release from its text and numbers beside it, and from what was signed if it is a part of that."""
        self.text, self.signed, self.whole = text, signed, whole
        self._packed = parts
        check_signed(self.link, text, whole=whole)
        check_parts(text, parts)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return a release that was saved; `chronodp verify` tells whether its signature is genuine."""
        written, signed = load_release(path)
        return cls(written.text, signed, parts=written.parts)

    @cached_property
    def link(self) -> Link:
        """The link in the dataset's chain: dataset, request, when it was issued."""
        return self.signed.link

    @property
    def certificate(self) -> Certificate:
        """What is promised, by which argument; of several queries released together, for all of them."""
        return self.link.certificate

    def save(self, path: str | Path) -> Path:
        """Write the release with its signed certificate, for `load` and `chronodp verify`.

        It is JSON up to about a million numbers, and an Arrow file above.
        """
        return save_release(path, Written(self.text, self._packed), self.signed, whole=self.whole)
