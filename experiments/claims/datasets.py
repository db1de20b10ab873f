"""Real series that some claims are judged on: which ones are known, by the hash of their content, and how they count.

The repository holds none of them. ``--data prices=ge.csv.gz`` gives a file to the readings that ask for ``prices``; a
folder gives every known file in it. Without a file a reading takes a made-up series, and its row says so.
"""

from __future__ import annotations

import gzip
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["KNOWN", "DataSet", "Given", "given"]


@dataclass(frozen=True, slots=True)
class DataSet:
    """A series that was looked at: for which readings, what it is, how it counts, and its content's hash."""

    role: str
    what: str
    mark: str
    sha256: str


KNOWN = (
    DataSet(
        "prices",
        "GE, 14,058 daily closes",
        "source: GE, known by its length alone",
        "9f21ae9fc4a7e58560ef9743765d45f51885a425805ff687707165861f716498",
    ),
    DataSet(
        "other-prices",
        "IBM, 14,059 daily closes",
        "stand-in: IBM's daily closes",
        "15444422c61011ca7f4183530f825679b4d7aa4b8d29f6fb8b2c241f8f2c9f99",
    ),
    DataSet(
        "vitals",
        "PhysioNet 2019, hourly vital signs of 9,271 patients",
        "stand-in: hourly vital signs of PhysioNet 2019",
        "a078f79f90ea99f848b96a864e7e5a71872a875b8e2f505a0d44a4620e5d9d6b",
    ),
    DataSet(
        "meters",
        "Smart-Grid Smart-City, ten households by half-hours",
        "stand-in: ten metered households",
        "05135253b667fcfcfe84c3bc78b39ff4e09571fef26d35f7224e919a4556c22f",
    ),
    DataSet(
        "loads",
        "TSrepr, 50 consumers by 672 half-hours",
        "stand-in: 50 metered consumers",
        "5e6f98d2809339470836b037a6f51f329c960acc459695ac52cc7fd2a1bf54cc",
    ),
    DataSet(
        "steps",
        "Fitbit, hourly steps of 33 people",
        "stand-in: hourly steps of Fitbit wearers",
        "9bb8691fc98ce045556fed4675edf8a6c8491658d565a6624d1712cb82924563",
    ),
    DataSet(
        "occupancy",
        "UCI occupancy, one office by minutes",
        "stand-in: one office's occupancy",
        "4065b96c51f8ab5dd1de1af5a3c038fc4aeb399a1ec83bf28c992fbd2802928c",
    ),
)

ROLES = tuple(known.role for known in KNOWN)


@dataclass(frozen=True)
class Given:
    """Files by the role that they play; none by default."""

    files: Mapping[str, Path] = field(default_factory=dict)

    def path(self, role: str) -> Path | None:
        """Return the file that plays a role, if one was given."""
        return self.files.get(role)

    def mark(self, role: str, made_up: str) -> str:
        """Return how a row that reads this role counts: as a known series, as a file of ours, or as made up."""
        path = self.path(role)
        if path is None:
            return f"made-up: {made_up}"
        known = _known(path)
        return known.mark if known and known.role == role else f"stand-in: a file of ours ({path.name})"


def given(options: list[str]) -> Given:
    """Return what ``--data`` names: ``role=file``, or a folder of known files."""
    files: dict[str, Path] = {}
    for option in options:
        role, equals, name = option.partition("=")
        path = Path(name if equals else option)
        if equals:
            if role not in ROLES:
                raise SystemExit(f"--data {role}=… is no known role; one of {', '.join(ROLES)}")
            if not path.is_file():
                raise SystemExit(f"--data {role}={name} is no file that can be read")
            files[role] = path
        elif path.is_dir():
            found = {known.role: one for one in sorted(path.iterdir()) if one.is_file() and (known := _known(one))}
            if not found:
                raise SystemExit(f"--data {option} holds none of the known series")
            files |= found
        else:
            raise SystemExit(f"--data {option} is neither a folder nor role=file")
    return Given(files)


def _known(path: Path) -> DataSet | None:
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    return next((known for known in KNOWN if known.sha256 == digest), None)
