"""A count of charges kept beside the ledger, by which one that was set back is noticed before it is spent again."""

from __future__ import annotations

import os
from pathlib import Path

from chronodp.errors import LedgerUnavailable

__all__ = ["WITNESS", "ChargeWitness"]

WITNESS = ".witness"


class ChargeWitness:
    """A file to which every debit adds a line with the number of charges so far, synced before noise is drawn.

    Lines are only added, in one write each, so that many processes share it without a lock. Put it on another disk than
    the ledger, and never into the ledger's backup: both would be set back together.
    """

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)

    def saw(self, charges: int) -> None:
        """Remember so many charges, durably."""
        descriptor = os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            os.write(descriptor, f"{charges}\n".encode("ascii"))
            os.fsync(descriptor)
        except OSError:
            raise LedgerUnavailable(f"the witness {self._path.name} cannot be written") from None
        finally:
            os.close(descriptor)

    def check(self, charges: int) -> None:
        """Raise if more charges were seen than the ledger has."""
        seen = self._newest()
        if charges < seen:
            raise LedgerUnavailable(
                f"the ledger was set back: it holds {charges} charges and {seen} were made. Nothing is spent from it. "
                "Restore a newer copy, or charge what is missing with Ledger.spend; the certificates that auditors "
                "hold tell what it was"
            )

    def _newest(self) -> int:
        try:
            lines = self._path.read_text(encoding="ascii").split("\n")
        except FileNotFoundError:
            return 0
        except (OSError, UnicodeDecodeError):
            raise LedgerUnavailable(f"the witness {self._path.name} cannot be read") from None
        return max((int(line) for line in lines[:-1] if line.isdigit()), default=0)  # a last line cut off says nothing
