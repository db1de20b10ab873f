"""Every document that has a schema: its name, what it is, and what it holds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from chronodp.alerts import AlertDesign, Comparator
from chronodp.correlated.fran import FranDesign
from chronodp.dossier import OWNER
from chronodp.errors import InvalidArgument
from chronodp.federated.training import TrainingPlan
from chronodp.ledger import Budget, Link
from chronodp.lifetime import LifetimeDesign
from chronodp.local import LocalPlan
from chronodp.privacy import Certificate
from chronodp.schemas import device, texts
from chronodp.schemas.hints import complete, schema_of
from chronodp.selection import ChoiceDesign
from chronodp.series import Design, DiscoverDesign, FindDesign, QuantileDesign, StreamDesign
from chronodp.series.key_streams import KeyStreamDesign
from chronodp.series.windowed import WindowedDesign
from chronodp.service import POLICY
from chronodp.settings import table
from chronodp.spectrum import SpectrumDesign
from chronodp.state_space import FilterDesign
from chronodp.temporal import Mechanism

__all__ = ["json_schema", "schema_names"]

_Plan = (
    Design
    | QuantileDesign
    | FindDesign
    | DiscoverDesign
    | SpectrumDesign
    | ChoiceDesign
    | StreamDesign
    | WindowedDesign
    | KeyStreamDesign
    | AlertDesign
    | Comparator
    | FilterDesign
    | FranDesign
    | LifetimeDesign
    | TrainingPlan
    | LocalPlan
    | Mechanism
)


@dataclass(frozen=True, slots=True)
class _Document:
    """A document with a schema.

    Attributes:
        title: what it is called.
        about: where it is met.
        holds: a class, a typed dictionary or a union of them.
    """

    title: str
    about: str
    holds: Any


_DOCUMENTS = {
    "answers": _Document("Answers of a dossier", "answers.json of a dossier.", texts.Answers),
    "budget": _Document("Budget", "The terms of a budget, as a ledger keeps them.", Budget),
    "certificate": _Document("Certificate", "What is promised, by which argument; part of every link.", Certificate),
    "chain": _Document(
        "Chain", "All certificates of a dataset, as `chronodp budget export` and a dossier hold them.", texts.Chain
    ),
    "coupling_model": _Document("Coupling model", "A coupling Markov chain, as a model's file holds it.", texts.Model),
    "device_plan": _Document("Device plan", "What a device is given.", device.DevicePlan),
    "device_report": _Document("Device report", "What a device sends: one line of JSON.", device.DeviceReport),
    "document": _Document("Document", "Any registered kind, by itself.", object),
    "dossier": _Document("Manifest of a dossier", "manifest.json of a dossier.", texts.Manifest),
    "link": _Document("Link", "The body of a signed link, as it is digested and signed.", Link),
    "plan": _Document("Plan", "Everything public about a release, a stream or a fleet, before it is made.", _Plan),
    "public_key": _Document("Public key", "What `chronodp key --json` writes.", texts.PublicKey),
    "release": _Document("Release", "The text of a release, as it is digested.", texts.ReleaseText),
    "release_file": _Document(
        "Release file", "A release with its signed link, as `save` writes it.", texts.ReleaseFile
    ),
    "released_stream": _Document("Released stream", "streams/NNNN.json of a dossier.", texts.ReleasedStream),
}
_SETTINGS = {
    "owner": ("Owner's file", "What only the owner of a dataset knows; a TOML file, as JSON.", OWNER),
    "policy": ("Policy", "What a curator allows; a TOML file, as JSON with dates as text.", POLICY),
}


def schema_names() -> tuple[str, ...]:
    """Return the documents that have a schema, in order.

    >>> schema_names()[:3]
    ('answers', 'budget', 'certificate')
    """
    return tuple(sorted([*_DOCUMENTS, *_SETTINGS]))


def json_schema(name: str) -> dict[str, Any]:
    """Return the schema of a document, made anew; `schema_names` lists them.

    >>> json_schema("dossier")["required"]
    ['kind', 'format', 'made', 'version', 'dataset', 'public_key', 'head', 'files']
    """
    if not isinstance(name, str) or name not in schema_names():
        raise InvalidArgument("name", name, f"one of {', '.join(schema_names())}")
    if name in _SETTINGS:
        title, about, settings = _SETTINGS[name]
        return complete(name, title, about, dict(table(settings).schema), {})
    one = _DOCUMENTS[name]
    return complete(name, one.title, one.about, *schema_of(one.holds))
