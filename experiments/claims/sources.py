"""The sources, and where each one's claims and figures are gathered."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["SOURCES", "Source"]


@dataclass(frozen=True, slots=True)
class Source:
    """A document: its key and title, how its text's file begins in a folder of sources, and the room of its rows."""

    key: str
    title: str
    file: str
    room: str


SOURCES = {
    source.key: source
    for source in (
        Source("textbook", "A textbook chapter on private time series", "000", "textbook"),
        Source("textbook-zh", "The same chapter in Chinese, where it differs", "001", "textbook"),
        Source("applications", "Applications of private time series", "002", "applications"),
        Source("correlated", "Correlated-sequence differential privacy", "003", "correlated_sequences"),
        Source("temporal", "Beyond value perturbation: the temporal setting", "004", "temporal_perturbation"),
    )
}
