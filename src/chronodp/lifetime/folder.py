"""The folder of a tally: which files of which steps are there, and which of them the ledger's head stands for.

    000000000007.3f9a01c2.segment     what step 7 took, or what a job that lost, or died, would have taken
    000000000007.base                 what all steps up to 7 took
    000000000008.a01b7c44.new         a file that is being written
    announced                         the last step that anyone was told of, 0 before the first
    series                            whose folder it is: two series in one would take each other's files for orphans

Several jobs may write a segment of the same step, each under a random name, and one of them commits: so nobody can
write over what another has committed. Which one that was follows from the ledger's head, back to the first: a segment
says which head it follows, and with its MAC gives the next. All others are orphans, which do nothing.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from chronodp.errors import InvalidArgument, LedgerUnavailable, TallyMismatch
from chronodp.ledger import sync_folder
from chronodp.lifetime.segments import BEGINNING, Damaged, Head, Sealer

__all__ = [
    "MARK",
    "SERIES",
    "Found",
    "Listing",
    "Missing",
    "base_path",
    "check_owner",
    "find_chain",
    "keep_name",
    "make_folder",
    "mismatch",
    "new_paths",
    "remove",
    "remove_abandoned",
    "remove_all",
]

MARK = "announced"
"""The name of the file of marks."""

SERIES = "series"
"""The name of the file that tells whose folder it is."""

_ABANDONED = 86_400.0  # seconds since the last write to a file that never got its name
_FILE = re.compile(r"(\d{12})\.(?:([0-9a-f]{8})\.)?(segment|base|new)")


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of a folder by the steps that they are of."""

    segments: dict[int, tuple[Path, ...]]
    bases: dict[int, Path]
    unfinished: tuple[Path, ...]

    @classmethod
    def of(cls, folder: Path, name: str) -> Listing:
        """Return what is in a folder now."""
        try:
            paths = sorted(folder.iterdir())
        except OSError:
            raise LedgerUnavailable(
                f"the tally of {name!r} is not where it was: its folder is missing or cannot be read. Put it back; "
                "nothing was released"
            ) from None
        segments: dict[int, tuple[Path, ...]] = {}
        unfinished: list[Path] = []
        bases: dict[int, Path] = {}
        for path in paths:
            match = _FILE.fullmatch(path.name)
            if match is None:
                continue
            step = int(match[1])
            if match[3] == "base":
                bases[step] = path
            elif match[3] == "segment":
                segments[step] = (*segments.get(step, ()), path)
            else:
                unfinished.append(path)
        return cls(segments, bases, tuple(unfinished))

    @property
    def newest_segment(self) -> int:
        """The newest step that a segment is of; 0 if there is none."""
        return max(self.segments, default=0)

    @property
    def newest_base(self) -> int:
        """The newest step that a base holds; 0 if there is none."""
        return max(self.bases, default=0)


class Missing(Exception):
    """A file of a step is not there: lost, or merged by another job since the folder was listed."""

    def __init__(self, step: int) -> None:
        super().__init__(step)
        self.step = step


@dataclass(frozen=True, slots=True)
class Found:
    """A segment that the ledger vouches for."""

    step: int
    path: Path
    head: Head


def find_chain(sealer: Sealer, listing: Listing, name: str, *, step: int, head: bytes, until: int) -> Iterator[Found]:
    """Yield the segments that lead to a chain's head, the newest first, down to that after step ``until``.

    Raises `Missing` for a step of which there is none.
    """
    for number in range(step, until, -1):
        damaged = False
        for path in listing.segments.get(number, ()):
            try:
                found = sealer.read_head("segment", path, number)
            except FileNotFoundError:
                raise Missing(number) from None
            except Damaged:
                damaged = True
                continue
            if found.after == head:
                yield Found(number, path, found)
                head = found.chain
                break
        else:
            raise mismatch(name, number, "was changed, or is of another series") if damaged else Missing(number)
    if until == 0 and head != BEGINNING:
        raise mismatch(name, 1, "follows something else")


def mismatch(name: str, step: int, what: str) -> TallyMismatch:
    """Return the error of a tally that is not the ledger's; it tells a step, which is public, and nothing else."""
    return TallyMismatch(
        f"step {step} in the tally of {name!r} {what}: the tally is not the one that the ledger knows. Put the newest "
        "copy of its folder back, or rebuild it from the tables; nothing was released"
    )


def make_folder(folder: Path, series: str) -> None:
    """Make a folder for a new tally, which its owner alone may read; one that is empty, or the series' own, serves too.

    Args:
        folder: where.
        series: a text that no other series has. Of two that are opened at once the first one gets the folder.
    """
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        folder.chmod(0o700)
        if not any(folder.iterdir()):
            with contextlib.suppress(FileExistsError):
                _write_alone(folder / SERIES, series)
        others = any(path.name not in (SERIES, MARK) for path in folder.iterdir())
        if others or _owner(folder) != series:
            raise InvalidArgument("tally", folder.name, "a folder that is new or empty: this one holds something")
        sync_folder(folder)
    except OSError:
        raise LedgerUnavailable(f"the folder {folder.name!r} cannot be made; nothing was spent") from None


def check_owner(folder: Path, series: str, name: str) -> None:
    """Raise unless a folder is that of a series."""
    try:
        found = _owner(folder)
    except FileNotFoundError:
        found = ""
    except OSError:
        raise LedgerUnavailable(f"the folder of the tally of {name!r} cannot be read; nothing was released") from None
    if found != series:
        raise TallyMismatch(
            f"the folder {folder.name!r} is not that of the tally of {name!r}: it is another series', or its file "
            f"{SERIES!r} is missing or was changed. Name the right folder, put the newest copy of it back, or rebuild "
            "it from the tables; nothing was released"
        )


def _owner(folder: Path) -> str:
    return (folder / SERIES).read_text(encoding="ascii", errors="replace")


def keep_name(path: Path, name: str) -> None:
    """Make the name of a file outlive a failure of power, as its content does."""
    try:
        sync_folder(path)
    except OSError:
        raise LedgerUnavailable(f"the folder of the tally of {name!r} cannot be synced; nothing was told") from None


def _write_alone(path: Path, text: str) -> None:
    """Write a file that nobody has written, and that its owner alone may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())


def new_paths(folder: Path, step: int) -> tuple[Path, Path]:
    """Return under which name a segment is written, and which it has then."""
    stem = f"{step:012d}.{os.urandom(4).hex()}"
    return folder / f"{stem}.new", folder / f"{stem}.segment"


def base_path(folder: Path, step: int) -> Path:
    """Return the name of a base."""
    return folder / f"{step:012d}.base"


def remove(path: Path) -> None:
    """Remove a file that nothing rests on, if that is possible."""
    with contextlib.suppress(OSError):
        path.unlink(missing_ok=True)


def remove_abandoned(path: Path) -> None:
    """Remove a file that was never finished, unless its writer may be at work: by its age, which needs no lock."""
    with contextlib.suppress(OSError):
        if time.time() - path.stat().st_mtime > _ABANDONED:
            remove(path)


def remove_all(folder: Path) -> None:
    """Remove every file of a tally, and nothing else."""
    with contextlib.suppress(OSError):
        for path in folder.iterdir():
            if path.name in (MARK, SERIES) or _FILE.fullmatch(path.name):
                remove(path)
