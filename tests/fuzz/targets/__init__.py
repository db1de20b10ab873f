"""Every parser of the project, as one list for all drivers."""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.target import Target
from tests.fuzz.targets import devices, documents, messages, records, secrets, settings, words

__all__ = ["KINDS", "NAMES", "make_targets"]

_ROOMS = (documents, devices, settings, messages, records, secrets, words)
KINDS: dict[str, tuple[str, ...]] = {room.__name__.rpartition(".")[2]: room.NAMES for room in _ROOMS}
NAMES: tuple[str, ...] = tuple(name for names in KINDS.values() for name in names)


def make_targets(folder: Path, *names: str) -> dict[str, Target]:
    """Return targets by name, all unless some are named; they write what they must into a folder."""
    wanted = names or NAMES
    return {name: getattr(room, f"make_{name}")(folder) for room in _ROOMS for name in room.NAMES if name in wanted}
