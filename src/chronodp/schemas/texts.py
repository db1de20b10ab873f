"""Documents that are no registered kind: what each holds, as a typed dictionary. Kinds stand in them by their class.

They are read by nobody but the generator: the schemas are made of them.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from chronodp.alerts import AlertDesign
from chronodp.correlated import FranDesign
from chronodp.ledger import PackedNumbers
from chronodp.selection import ChoiceDesign
from chronodp.series import Design, QuantileDesign
from chronodp.spectrum import SpectrumDesign

__all__ = ["Answers", "Chain", "Manifest", "Model", "PublicKey", "ReleaseFile", "ReleaseText", "ReleasedStream"]

Digest = Annotated[str, {"pattern": "^[0-9a-f]{64}$"}]
Key = Annotated[str, {"pattern": "^[A-Za-z0-9+/]{43}=$"}]
Base64 = Annotated[str, {"contentEncoding": "base64"}]
Body = Annotated[str, {"contentMediaType": "application/json", "contentSchema": {"$ref": "link.schema.json"}}]
Text = Annotated[str, {"contentMediaType": "application/json", "contentSchema": {"$ref": "release.schema.json"}}]


class SignedLink(TypedDict):
    """A link and its signature: the body stays text, since that is what was signed."""

    body: Body
    signature: Annotated[str, {"pattern": "^[A-Za-z0-9+/]{86}==$"}]


class ReleaseFile(TypedDict):
    """A release with its signed link; of an Arrow file, its metadata under ``chronodp``."""

    release: Text
    link: SignedLink


class Chain(TypedDict):
    """All certificates of a dataset."""

    dataset: str
    public_key: Key
    head: Digest
    links: list[SignedLink]


class SeriesText(TypedDict):
    """A series: the noisy whole numbers of each kind of number, periods by cells."""

    kind: Literal["release"]
    design: Design
    noisy: list[list[int]] | PackedNumbers
    missing: NotRequired[list[int]]


class QuantilesText(TypedDict):
    """Quantiles: noisy counts of bins, or the numbers of drawn bins."""

    kind: Literal["quantiles"]
    design: QuantileDesign
    drawn: list[list[int]] | PackedNumbers


class SpectrumText(TypedDict):
    """A spectrum: the harmonics that were released, and their noisy whole numbers."""

    kind: Literal["spectrum"]
    design: SpectrumDesign
    harmonics: list[int]
    noisy: list[int]


class ChoiceText(TypedDict):
    """One of several candidates."""

    kind: Literal["choice"]
    design: ChoiceDesign
    place: Annotated[int, {"minimum": 0}]


class BlurredTimes(TypedDict):
    """Exact values at blurred times, as a Parquet file."""

    kind: Literal["blurred_times"]
    parquet: Base64


class AgedText(TypedDict):
    """Aged answers about coupled sequences: from the first period that is old enough, outputs by periods."""

    kind: Literal["aged_series"]
    design: FranDesign
    answers: list[list[float]]


class Fired(TypedDict):
    """Whether one value lay beyond a threshold."""

    fired: bool


Source = TypedDict("Source", {"from": str, "every": str | None})
"""Of a query that another one answers: which, and the periods to which that is added up."""


class TogetherText(TypedDict):
    """Several queries under one signature, by their names."""

    kind: Literal["together"]
    parts: dict[str, SeriesText | QuantilesText | SpectrumText | AlertDesign]
    derived: dict[str, Source]


Transitions = list[list[Any]]
"""Noisy counts of transitions, one array for each sequence."""

ReleaseText = (
    SeriesText
    | QuantilesText
    | SpectrumText
    | ChoiceText
    | BlurredTimes
    | AgedText
    | TogetherText
    | Fired
    | Transitions
)


class DenseModel(TypedDict):
    """A weight for every pair of sequences; one matrix of transitions for all, or one a pair."""

    transitions: list[list[Any]]
    coupling: list[list[float]]


class EdgeModel(TypedDict):
    """Edges as [to, from, weight]; one matrix of transitions for all, or one an edge."""

    sequences: Annotated[int, {"minimum": 1}]
    edges: list[tuple[int, int, float]]
    transitions: list[list[Any]]


Model = DenseModel | EdgeModel


class PublicKey(TypedDict):
    """The key that certificates are verified with, as ``chronodp key --json`` writes it."""

    public_key: Key
    algorithm: Literal["Ed25519"]


class File(TypedDict):
    """A file of a dossier."""

    path: str
    sha256: Digest
    bytes: Annotated[int, {"minimum": 0}]


class Manifest(TypedDict):
    """Every file of a dossier but the manifest itself."""

    kind: Literal["dossier"]
    format: Literal[1]
    made: Annotated[str, {"format": "date-time"}]
    version: str
    dataset: str
    public_key: Key
    head: Digest
    files: list[File]


class Answer(TypedDict):
    """A question with its answer, and who says so."""

    topic: str
    question: str
    answer: str
    known_by: Literal["ledger", "owner", "nobody"]


class Answers(TypedDict):
    """The questions of a dossier."""

    kind: Literal["answers"]
    format: Literal[1]
    dataset: str
    note: str
    answers: list[Answer]


class ReleasedStream(TypedDict):
    """What a stream released, step by step, each as the JSON text that was committed."""

    kind: Literal["released_stream"]
    name: str
    finished: bool
    plan: Annotated[str, {"contentMediaType": "application/json", "contentSchema": {"$ref": "plan.schema.json"}}]
    released: list[str]
