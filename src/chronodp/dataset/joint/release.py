"""Several queries released together: one text, one signature, and each query to be read by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from chronodp.alerts import Alert, AlertDesign
from chronodp.errors import CertificateInvalid, InvalidArgument, UnknownDocument
from chronodp.ledger import Ledger, Link, SignedLink, check_signed, load_release, save_release
from chronodp.privacy import Certificate, canonical, load, load_parts
from chronodp.series import Release, View
from chronodp.spectrum import SpectrumRelease

if TYPE_CHECKING:
    import pandas

__all__ = ["ReleaseTogether", "stream_name", "together_text"]


def together_text(parts: Mapping[str, str], derived: Mapping[str, tuple[str, str | None]]) -> str:
    """Return the canonical text of several releases: what is stored, digested and signed.

    Args:
        parts: the text of each query that is released, by its name.
        derived: of the other queries the name of what answers them, and the periods to which that is added up.
    """
    content = {
        "kind": "together",
        "parts": {name: json.loads(text) for name, text in parts.items()},
        "derived": {name: {"from": source, "every": every} for name, (source, every) in derived.items()},
    }
    return canonical(content)


def stream_name(request: str, name: str) -> str:
    """Return the name under which an alert of a request lives in the ledger."""
    return f"{request}/{name}"


class ReleaseTogether:
    """Private numbers of several queries. Made by ``plan.release(...)`` or `ReleaseTogether.load`."""

    def __init__(self, text: str, signed: SignedLink) -> None:
        self.text, self.signed = text, signed
        check_signed(self.link, text)

    @classmethod
    def load(cls, path: str | Path) -> ReleaseTogether:
        """Return a release that was saved; `chronodp verify` tells whether its signature is genuine."""
        return cls(*load_release(path))

    @cached_property
    def link(self) -> Link:
        """The link in the dataset's chain: dataset, request, when it was issued."""
        return self.signed.link

    @property
    def certificate(self) -> Certificate:
        """What is promised for all queries together, by which argument."""
        return self.link.certificate

    @property
    def names(self) -> tuple[str, ...]:
        """The queries that can be read, in the order of their names; alerts are not among them."""
        released = (name for name, part in self._content["parts"].items() if part["kind"] != "alert")
        return tuple(sorted((*released, *self._content["derived"])))

    @property
    def alerts(self) -> tuple[str, ...]:
        """The alerts that were opened."""
        return tuple(name for name, part in self._content["parts"].items() if part["kind"] == "alert")

    @property
    def streams(self) -> dict[str, str]:
        """The names under which the alerts live in the ledger."""
        return {name: stream_name(self.link.request, name) for name in self.alerts}

    def __getitem__(self, name: str) -> Release | SpectrumRelease | View:
        """Return a query's own release; of a query that another answers, a view of that."""
        if name not in self.names:
            more = "; an alert is had by alert(ledger, name)" if name in self.alerts else ""
            raise InvalidArgument("name", name, f"one of {', '.join(self.names)}{more}")
        if name in self._content["derived"]:
            return self.view(name)
        part = self._content["parts"][name]
        if part["kind"] == "spectrum":
            return SpectrumRelease(canonical(part), self.signed, self.text)
        return Release(canonical(part), self.signed, whole=self.text)

    def view(self, name: str, *, level: float = 0.95) -> View:
        """Return a series' periods with intervals at a level."""
        derived = self._content["derived"].get(name, {"from": name, "every": None})
        source = self[derived["from"]]
        if not isinstance(source, Release):
            raise InvalidArgument("name", name, "a series; of a spectrum read release[name]")
        return (
            source.each_period(level=level)
            if derived["every"] is None
            else source.resample(derived["every"], level=level)
        )

    def alert(self, ledger: Ledger, name: str) -> Alert:
        """Return an alert where it stands, ready for the next value; see `Alert.resume`."""
        if name not in self.alerts:
            raise InvalidArgument("name", name, f"one of {', '.join(self.alerts) or 'no alerts here'}")
        alert = Alert.resume(ledger, self.streams[name])
        if alert.design != load(self._content["parts"][name], AlertDesign):
            raise CertificateInvalid(f"the alert {name!r} in this ledger is not the one that was released")
        return alert

    def to_pandas(self, *, level: float = 0.95) -> pandas.DataFrame:
        """Return one long table of all queries: query, then the columns of each."""
        import pandas

        tables = []
        for name in self.names:
            found = self[name]
            if isinstance(found, View):
                found = self.view(name, level=level)
            frame = found.to_pandas() if isinstance(found, View) else found.to_pandas(level=level)
            frame.insert(0, "query", name)
            tables.append(frame)
        return pandas.concat(tables, ignore_index=True) if tables else pandas.DataFrame({"query": []})

    def save(self, path: str | Path) -> Path:
        """Write the releases with their signed certificate as JSON, which `chronodp verify` reads."""
        return save_release(path, self.text, self.signed)

    def __repr__(self) -> str:
        return f"ReleaseTogether({self.link.dataset!r}, request={self.link.request!r}, {', '.join(self.names)})"

    @cached_property
    def _content(self) -> dict[str, Any]:
        content = load_parts(self.text, "together", "parts", "derived")
        parts, derived = content["parts"], content["derived"]
        # What answers another query must be there itself, or reading would go round in circles.
        known = isinstance(parts, dict) and all(isinstance(one, dict) and "kind" in one for one in parts.values())
        if not known or not isinstance(derived, dict) or not all(_answered(one, parts) for one in derived.values()):
            raise UnknownDocument("the text does not hold several releases")
        return content


def _answered(derived: object, parts: Mapping[str, Any]) -> bool:
    return (
        isinstance(derived, dict)
        and derived.keys() == {"from", "every"}
        and isinstance(derived["from"], str)
        and derived["from"] in parts
        and isinstance(derived["every"], str | None)
    )
