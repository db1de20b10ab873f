"""Several queries released together: one text, one signature, and each query to be read by its name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np

from chronodp.alerts import Alert, AlertDesign
from chronodp.display import shown_html
from chronodp.errors import CertificateInvalid, InvalidArgument, UnknownDocument
from chronodp.ledger import MOST_LISTED, Ledger, SignedRelease, Written, numbers_within, pack
from chronodp.privacy import canonical, load, load_parts
from chronodp.report import covered
from chronodp.series import QuantileRelease, Release, View
from chronodp.spectrum import SpectrumRelease

if TYPE_CHECKING:
    import pandas

__all__ = ["ReleaseTogether", "stream_name", "together_text"]

_NUMBERS = {"release": "noisy", "quantiles": "drawn"}  # where a text lists what may stand beside it


def together_text(parts: Mapping[str, str | Written], derived: Mapping[str, tuple[str, str | None]]) -> Written:
    """Return the canonical text of several releases, which is digested and signed, and numbers too many for it.

    Args:
        parts: each query that is released, by its name.
        derived: of the other queries the name of what answers them, and the periods to which that is added up.
    """
    # In the order that the canonical text has, which is that of the numbers beside it.
    written = {name: Written.of(parts[name]) for name in sorted(parts)}
    documents: dict[str, dict[str, Any]] = {name: json.loads(one.text) for name, one in written.items()}
    packed = {name: one.parts for name, one in written.items()}
    cells = {name: _listed(one) for name, one in documents.items()}
    if sum(cells.values()) > MOST_LISTED:  # each may list its own, and all of them would not fit a row
        for name in filter(cells.__getitem__, cells):
            field = _NUMBERS[documents[name]["kind"]]
            arrays = [np.array(kind, np.int64) for kind in documents[name][field]]
            documents[name][field], packed[name] = pack(arrays)
    content = {
        "kind": "together",
        "parts": documents,
        "derived": {name: {"from": source, "every": every} for name, (source, every) in derived.items()},
    }
    return Written(canonical(content), tuple(part for some in packed.values() for part in some))


def _listed(part: Mapping[str, Any]) -> int:
    """Return how many numbers of a series, or of quantiles, its text lists."""
    listed = part.get(_NUMBERS.get(part["kind"], ""))
    return sum(map(len, listed)) if isinstance(listed, list) else 0


def stream_name(request: str, name: str) -> str:
    """Return the name under which an alert of a request lives in the ledger."""
    return f"{request}/{name}"


class ReleaseTogether(SignedRelease):
    """Private numbers of several queries. Made by ``plan.release(...)`` or `ReleaseTogether.load`."""

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

    def __getitem__(self, name: str) -> Release | QuantileRelease | SpectrumRelease | View:
        """Return a query's own release; of a query that another answers, a view of that."""
        if name not in self.names:
            more = "; an alert is had by alert(ledger, name)" if name in self.alerts else ""
            raise InvalidArgument("name", name, f"one of {', '.join(self.names)}{more}")
        if name in self._content["derived"]:
            return self.view(name)
        part = self._content["parts"][name]
        if part["kind"] == "spectrum":
            return SpectrumRelease(canonical(part), self.signed, self.text)
        made = QuantileRelease if part["kind"] == "quantiles" else Release
        return made(canonical(part), self.signed, whole=self.text, parts=self._packed_by_name[name])

    def part(self, name: str, *, level: float = 0.95) -> Release | QuantileRelease | View:
        """Return what is to be read from; of a query that another answers, a view of that with intervals at a level."""
        found = self[name]
        return found if isinstance(found, Release | QuantileRelease) else self.view(name, level=level)

    def view(self, name: str, *, level: float = 0.95) -> View:
        """Return a series' periods with intervals at a level."""
        derived = self._content["derived"].get(name, {"from": name, "every": None})
        source = self[derived["from"]]
        if not isinstance(source, Release | QuantileRelease):
            raise InvalidArgument("name", name, "a series; of a spectrum read release[name]")
        if derived["every"] is None:
            return source.each_period(level=level)
        if not isinstance(source, Release):
            raise UnknownDocument("quantiles of longer periods do not follow from those of shorter ones")
        return source.resample(derived["every"], level=level)

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
        if not tables:
            return pandas.DataFrame({"query": []})
        whole = pandas.concat(tables, ignore_index=True)
        whole.attrs.update(covered(list(whole.columns)))
        return whole

    def __repr__(self) -> str:
        return f"ReleaseTogether({self.link.dataset!r}, request={self.link.request!r}, {', '.join(self.names)})"

    def _repr_html_(self) -> str:
        """Return what a notebook shows: every query by its name."""
        parts = (f"<p><b>{shown_html(name)}</b></p>{self[name]._repr_html_()}" for name in self.names)
        return f"<div>{''.join(parts)}</div>"

    @cached_property
    def _packed_by_name(self) -> dict[str, tuple[bytes, ...]]:
        """The numbers beside the text, by the query that they are of."""
        left = iter(self._packed)
        named = self._content["parts"].items()
        counts = {name: sum(len(one.sha256) for one in numbers_within(part)) for name, part in named}
        return {name: tuple(islice(left, count)) for name, count in counts.items()}

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
