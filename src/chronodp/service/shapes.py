"""The shapes of answers, as the description of the API shows them."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field

__all__ = [
    "BudgetShape",
    "CertificateShape",
    "ChainShape",
    "ClaimShape",
    "ColumnShape",
    "DatasetShape",
    "DiscoverShape",
    "EntryShape",
    "Fact",
    "HealthShape",
    "JobShape",
    "KeyShape",
    "LevelShape",
    "MeShape",
    "PartShape",
    "PlanShape",
    "Problem",
    "QuoteShape",
    "Refusal",
    "ReleaseLine",
    "ReleaseShape",
    "SessionShape",
    "StreamShape",
    "TableShape",
    "TryShape",
    "VerifiedShape",
]

_Document = dict[str, Any]


class Problem(BaseModel):
    """What went wrong, in the one shape that everything has."""

    kind: str = Field(description="A word for programs.", examples=["budget_exhausted"])
    message: str = Field(description="A sentence for people; never a private value.")
    argument: str | None = Field(None, description="What to change, if it is one thing.")
    mend: str = Field("", description="What to do about it.")
    measure: str | None = Field(None, description="Of a refused budget: what its rule adds up.")
    asked: float | None = Field(None, description="Of a refused budget: how much the release would take.")
    spent: float | None = None
    limit: float | None = None
    left: float | None = None


class Refusal(BaseModel):
    """Every answer that is not the one hoped for."""

    error: Problem


class Fact(BaseModel):
    """A sentence with its label."""

    label: str = Field(examples=["Error"])
    text: str


class ColumnShape(BaseModel):
    """A column that may be asked about."""

    clip: list[float] = Field(
        description="The widest clip that may be asked in periods of the dataset's own length: least and most."
    )
    clips: dict[str, list[float]] = Field(
        default_factory=dict, description="The same by length of a period; others of its totals are refused."
    )
    about: str
    norm: float | None = Field(
        None, description="The largest l2 norm of a whole series that may be asked; that of the widest clip if null."
    )
    norms: dict[str, float] = Field(default_factory=dict, description="The same by length of a period.")
    usual: dict[str, float] = Field(
        default_factory=dict,
        description="What one person usually has in a period, as declared, by its length; a clip below it is refused.",
    )


class DiscoverShape(BaseModel):
    """Keys that nobody declared and that may be found."""

    columns: list[str] = Field(description="Whose keys may be found; of a derived column, all that it is made of.")
    longest: int = Field(description="Bytes of the longest key that may be published.")
    max_keys: int = Field(description="How many keys of one person may count.")


class DatasetShape(BaseModel):
    """What is public about a dataset. Nothing here is read from its data."""

    name: str
    about: str
    user: str | None = Field(description="The column with the person; none where every row stands for itself.")
    every: str
    start: str
    end: str
    timezone: str
    periods: int
    unit: _Document = Field(description="Who is protected, as a document.")
    protects: str
    does_not_protect: str
    max_periods: int | None = Field(description="How many periods of one person count where a question says nothing.")
    most_periods: dict[str, int] = Field(
        default_factory=dict, description="The same by length of a period; empty where the unit needs no such limit."
    )
    usual_periods: dict[str, int] = Field(
        default_factory=dict, description="How many periods one person usually has, as declared, by their length."
    )
    people: int = Field(description="How many people there are, as declared; 0 if it is not.")
    columns: dict[str, ColumnShape]
    groups: dict[str, list[str]] = Field(description="Columns that may split an answer, with their public keys.")
    measures: list[str]
    workloads: list[str]
    grids: list[str]
    largest_epsilon: float | None = Field(
        description="The most that one release may cost, as an epsilon at the dataset's delta; the budget's if null."
    )
    largest_delta: float = Field(0.0, description="The largest delta that one release may state.")
    largest_cells: int
    least_group: int
    expression_columns: list[str] = Field(
        default_factory=list, description="Columns that may stand in `where` and in derived `columns`."
    )
    expression_functions: list[str] = Field(default_factory=list, description="Functions that may be called there.")
    find: bool = Field(False, description="Whether bounds may be found by a private step.")
    find_bounds: list[str] = Field(default_factory=list, description="Which bounds may be found.")
    places: bool = Field(True, description="Whether every level of a public tree of places may be asked.")
    missing: bool = Field(True, description="Whether the private figure of what bounds took away may be asked.")
    max_groups: int | None = Field(None, description="In how many groups of a period one person may count.")
    discover: DiscoverShape | None = Field(None, description="Which keys may be found by a private step; none if null.")
    reading: _Document | None = Field(
        None, description="How cells are written, as a document; none where that is the default."
    )
    share: bool = Field(description="Whether releases are shared among analysts, and repeated for nothing.")
    epsilon: float
    delta: float
    reserve: float = Field(0.0, description="The part of delta for failures, which finding keys needs.")
    renews: str | None
    lifetimes: list[str] = Field(
        default_factory=list, description="Series that were bought once and are issued for ever, by name."
    )


class PlanShape(BaseModel):
    """A plan: price and error before anything is read."""

    design: _Document = Field(description="Everything public about the release; `Design` of the library.")
    facts: list[Fact] = Field(description="The plan in sentences.")
    half_width: float | None = Field(
        description="How far noise carries what the plan is tuned for, in 95 of 100 cases; null where bounds are found."
    )
    scale: float | None = Field(
        None,
        description="About how large the numbers are, by what the owner declared of people and what they usually have; "
        "null where nothing is declared.",
    )
    epsilon: float
    delta: float
    cost: str
    alternatives: list[_Document] = Field(
        description="Every candidate with its error, the chosen one first; where bounds are found, those that may be."
    )
    bands: dict[str, list[float]] = Field(
        description="Half widths at 95 %, for at most 200 evenly spaced periods, by reading; empty for means, "
        "and where bounds are found."
    )
    fits: bool = Field(description="Whether the budget could pay it now.")
    refusal: Problem | None = Field(description="Why not, with asked, spent and left.")
    share: float = Field(description="How much of the whole budget is used now, from 0 to 1.")


class QuoteShape(BaseModel):
    """What submitting a question would debit now. Nothing is submitted, spent or read."""

    debits: bool = Field(description="Whether anything would be debited; not if it was asked before, or is stored.")
    why: str = Field(description="Why nothing would be; empty if something would.")
    release: int | None = Field(description="The number of the release that answers it for nothing, once there is one.")
    epsilon: float = Field(description="What it would cost, as an epsilon at `delta`; 0 if nothing.")
    delta: float = Field(description="The delta of the dataset's whole budget.")
    left: float | None = Field(
        description="How much of the whole budget would be left after it, from 0 to 1; null where nothing is debited, "
        "or where the whole does not pay."
    )
    left_of_mine: float | None = Field(description="The same of your own part; null where you have none.")


class TableShape(BaseModel):
    """A long table: time, groups, value, lower, upper; a note says what the bands cover.

    Of ratios and of what a rule leaves also kind (`interval`, `outside` a gap, the whole `line`, `empty`), the ends of
    the gap, and why a value is missing.
    """

    title: str
    label: str
    level: float
    note: str = ""
    steps: list[str] = Field(default_factory=list, description="What was done with the released numbers, in words.")
    columns: list[str]
    rows: list[list[Any]]


class TryShape(BaseModel):
    """What a release would look like, on made-up rows of the same schema."""

    made_up: Literal[True] = True
    note: str
    table: TableShape


class JobShape(BaseModel):
    """A submitted question and how far it is."""

    id: str
    dataset: str
    request: str = Field(description="As the ledger knows it: NAME/ID.")
    state: Literal["waiting", "held", "running", "done", "refused", "failed", "lost"]
    submitted: str
    ended: str | None
    release: int | None = Field(description="The number of the release in the dataset's chain, once it is done.")
    repeated: bool = Field(description="Whether an earlier release of the same design answers it, for nothing.")
    problem: Problem | None


class ReleaseLine(BaseModel):
    """A release in a list."""

    number: int
    dataset: str
    request: str
    who: str
    issued: str
    kind: str
    what: str
    epsilon: float
    delta: float


class LevelShape(BaseModel):
    """A level of places."""

    name: str
    places: int


class PartShape(BaseModel):
    """What can be read of a release, or of one of several queries released together."""

    name: str = Field(description="To be sent as `part`; empty where the release has one alone.")
    what: str
    periods: int
    readings: list[str] = Field(description="Which views `table` offers.")
    offers: list[str] = Field(
        description="What else it offers: places, at, over, resample, rolling, running_total, share, ratio, change, "
        "publish."
    )
    groups: dict[str, list[str]] = Field(description="Groupings with their keys; empty above 1,000: see `keys`.")
    levels: list[LevelShape] = Field(description="Levels of places, root first.")


class ReleaseShape(ReleaseLine):
    """A release with its text and its signed link: the file that `chronodp verify` reads."""

    release: str
    beside: int = Field(0, description="How many numbers the text names and does not list; `file` has all of them.")
    link: dict[str, str]
    facts: list[Fact]
    readings: list[str] = Field(description="Which views `table` offers; of several queries see `parts`.")
    parts: list[PartShape] = Field(default_factory=list, description="What can be read, and how.")
    keys: list[str] | None = Field(None, description="The keys that were found; null where all were declared.")


class CertificateShape(BaseModel):
    """A signed certificate, in words and as it was signed."""

    number: int
    words: str
    certificate: _Document
    link: dict[str, str]
    digest: str
    public_key: str


class ChainShape(BaseModel):
    """Every certificate of a dataset, chained, with what is needed to verify it."""

    dataset: str
    public_key: str
    head: str
    links: list[dict[str, str]]


class BudgetShape(BaseModel):
    """What is spent and what is left: of the whole, of the caller's part, and of everyone's for who may see it."""

    whole: _Document
    mine: _Document | None
    analysts: dict[str, _Document]


class EntryShape(BaseModel):
    """One charge. Of others', where releases are not shared: that there is one, and when it was made."""

    number: int
    made: str
    who: str
    request: str = Field(description="Empty where it is not yours to know, as are period and cost.")
    period: str
    cost: str


class KeyShape(BaseModel):
    """The key that certificates are verified with."""

    public_key: str
    algorithm: Literal["Ed25519"] = "Ed25519"


class VerifiedShape(BaseModel):
    """Whether a release or a chain is genuine."""

    valid: bool
    why: str
    links: int
    requests: list[str]


class ClaimShape(BaseModel):
    """What releases claim: by which mechanism, for whom, at what cost, and where the argument stands."""

    mechanism: str
    unit: str
    theorem: str
    precision: str
    argument: str
    releases: int


class GapShape(BaseModel):
    """A place where records may be missing in what a live stream reads."""

    at: str
    what: str


class StreamShape(BaseModel):
    """The public state of a stream or an alert.

    `waits` says what the next windows of a live stream wait for, as of `said_at`; `gaps` is for the owner.
    """

    name: str
    dataset: str
    kind: str
    what: str
    steps: int
    finished: bool
    epsilon: float | None
    delta: float | None
    said_at: str | None = None
    waits: list[str] = []
    gaps: list[GapShape] | None = None


class MeShape(BaseModel):
    """Who the caller is."""

    name: str
    role: Literal["owner", "analyst", "auditor"]
    datasets: list[str]
    title: str


class SessionShape(BaseModel):
    """A session of the page."""

    name: str
    role: Literal["owner", "analyst", "auditor"]
    csrf: str = Field(description="To be sent as X-CSRF-Token with every change.")


class HealthShape(BaseModel):
    """Whether the service can spend, only read, or neither."""

    status: Literal["ok", "read-only", "held"]
    why: str | None = Field(description="What keeps releases from being made; null while they are.")
    ledger: Literal["ok", "unavailable"]
    version: str


class HoldShape(BaseModel):
    """While it stands, no job of a dataset is begun, or none at all."""

    id: str
    dataset: str = Field(description="Empty for all.")
    why: str
    by_whom: str = Field(description="An owner's name; empty for the curator itself.")
    made: str
