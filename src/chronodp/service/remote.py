"""Plans that a curator made: price and error known from afar; `release` submits, waits and verifies."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar, Unpack
from urllib.parse import quote

from chronodp.dataset import Queries, Records
from chronodp.errors import InvalidArgument, ServiceError
from chronodp.privacy import Claim, labelled, load
from chronodp.series import (
    Design,
    Discover,
    DiscoverDesign,
    Find,
    FindDesign,
    QuantileDesign,
    QuantileRelease,
    Release,
    Table,
    Terms,
)
from chronodp.service.refusals import restore
from chronodp.service.written import write_question

if TYPE_CHECKING:
    import pandas

__all__ = ["Curated", "Line", "RemotePlan", "RemoteSeries", "await_release", "dataset_path"]

Designed = TypeVar("Designed", Design, FindDesign, DiscoverDesign, QuantileDesign)

_FIRST_LOOK, _LONGEST_LOOK = 0.05, 1.0


class Line(Protocol):
    """A connection to a curator."""

    def call(self, method: str, path: str, content: Any = None) -> Any:
        """Return what a route answers, or raise what it refuses."""
        ...

    def release(self, dataset: str, number: int) -> Release | QuantileRelease:
        """Return a release by its number."""
        ...


def dataset_path(dataset: str) -> str:
    """Return where a dataset's routes begin, whatever its name."""
    return f"/datasets/{quote(dataset, safe='')}"


def await_release(
    client: Line, dataset: str, job: dict[str, Any], *, request: str, timeout: float
) -> Release | QuantileRelease:
    """Wait until a job has ended, and return its release, or raise what went wrong."""
    deadline, look = time.monotonic() + timeout, _FIRST_LOOK
    while job["state"] in ("waiting", "held", "running") or (job["state"] == "done" and job["release"] is None):
        if time.monotonic() > deadline:
            raise ServiceError(
                f"request {request!r} is still {job['state']} after {timeout:g} s",
                mend="ask again with the same request id: nothing is paid twice",
            )
        time.sleep(look)
        look = min(2 * look, _LONGEST_LOOK)
        job = client.call("GET", f"/jobs/{job['id']}")
    if job["state"] != "done":
        raise restore({"error": job["problem"]})
    return client.release(dataset, job["release"])


@dataclass(frozen=True, slots=True)
class _Planned(Generic[Designed]):
    """What a curator planned; `release` spends.

    Attributes:
        alternatives: every candidate with its error, the chosen one first; where bounds are found, those that may be.
        fits: whether the budget could pay it when it was planned.
        design: everything public about it.
    """

    design: Designed
    alternatives: pandas.DataFrame
    fits: bool
    _facts: tuple[tuple[str, str], ...]
    _question: dict[str, Any]
    _client: Line
    _dataset: str

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return self.design.claim

    def rehearse(self) -> pandas.DataFrame:
        """Return what the release would look like on made-up rows of the same schema. Free."""
        import pandas

        table = self._client.call("POST", f"{dataset_path(self._dataset)}/try", self._question)["table"]
        return pandas.DataFrame(table["rows"], columns=table["columns"])

    def release(self, *, request: str, fresh: bool = False, timeout: float = 600.0) -> Release | QuantileRelease:
        """Submit, wait, and return the release, its signature verified; the same request returns it again.

        Args:
            request: an id of your choice, once for each release. If the connection is lost, ask again with it.
            fresh: pay for a release of its own though one of the same design is stored.
            timeout: seconds to wait.
        """
        content = {"request": request, "question": self._question, "fresh": fresh}
        job = self._client.call("POST", f"{dataset_path(self._dataset)}/jobs", content)
        return await_release(self._client, self._dataset, job, request=request, timeout=timeout)

    def __str__(self) -> str:
        return labelled(self._facts)


@dataclass(frozen=True, slots=True)
class RemotePlan(_Planned[Design]):
    """A curator's plan: price and error known; `release` spends."""

    _half_width: float

    def half_width(self) -> float:
        """Return how far noise carries what the plan is tuned for, in 95 of 100 cases."""
        return self._half_width


@dataclass(frozen=True, slots=True)
class RemoteFindPlan(_Planned[FindDesign]):
    """A curator's plan whose bounds are found when it is released; `release.found` then says which."""


@dataclass(frozen=True, slots=True)
class RemoteDiscoverPlan(_Planned[DiscoverDesign]):
    """A curator's plan whose keys are found when it is released; `release.keys` then says which."""

    _half_width: float

    def half_width(self) -> float:
        """Return how far noise carries what the plan is tuned for, of every key that is found, in 95 of 100 cases."""
        return self._half_width


@dataclass(frozen=True, slots=True)
class RemoteQuantilePlan(_Planned[QuantileDesign]):
    """A curator's plan of quantiles: price and error of ranks known; `release` spends."""

    @property
    def rank_error(self) -> float:
        """How many ranks a quantile is off on average, beyond what its bins cost; where these lie evenly."""
        return self.design.rank_error


RemoteSeries = Queries[RemotePlan]
"""A dataset that a curator holds: `count`, `sum`, `mean`, `quantiles`, …, then `by`, `peak`, `plan`, as at home."""


@dataclass(frozen=True, slots=True)
class Curated:
    """Records that a curator holds."""

    client: Line
    dataset: str
    user: str | None

    def find_plan(self, table: Table, finds: Mapping[str, Find], **terms: Unpack[Terms]) -> RemoteFindPlan:
        """Return the curator's plan that finds these bounds first."""
        question, found = self._ask(write_question(table, finds, **terms))
        design: FindDesign = load(found["design"], FindDesign)
        between = question["find"]["between"]
        # Where nothing is said of the ends of a search, the curator's own policy says it.
        same = (design.table, set(design.finds), design.share, design.missing) == (
            table,
            set(finds),
            question["find"]["share"],
            terms["missing"],
        )
        if not same or (between is not None and design.between != tuple(between)):
            raise _other_question()
        return RemoteFindPlan(design=design, **self._shown(found, question))

    def discover_plan(self, table: Table, discover: Discover, **terms: Unpack[Terms]) -> RemoteDiscoverPlan:
        """Return the curator's plan that finds keys first."""
        question, found = self._ask(write_question(table, discover=discover, **terms))
        design: DiscoverDesign = load(found["design"], DiscoverDesign)
        usual, told = Discover(), design.discover
        # Where nothing is said of how many keys there may be, or how long, the curator's policy may allow less.
        wanted = replace(
            discover,
            most=min(told.most, usual.most) if discover.most == usual.most else discover.most,
            longest=min(told.longest, usual.longest) if discover.longest == usual.longest else discover.longest,
        )
        if (design.table, told) != (table, wanted):
            raise _other_question()
        shown = self._shown(found, question)
        return RemoteDiscoverPlan(design=design, _half_width=float(found["half_width"]), **shown)

    def quantile_plan(self, table: Table, **terms: Unpack[Terms]) -> RemoteQuantilePlan:
        """Return the curator's plan of quantiles."""
        question, found = self._ask(write_question(table, **terms))
        design: QuantileDesign = load(found["design"], QuantileDesign)
        if design.table != table:
            raise _other_question()
        return RemoteQuantilePlan(design=design, **self._shown(found, question))

    def here(self) -> Records:
        """Refuse: what a life is worth is decided where the records are."""
        allowed = "opened by the owner, on the machine with the records: `chronodp lifetime open`"
        raise InvalidArgument("lifetime", "a curator's dataset", allowed)

    def plan(self, table: Table, **terms: Unpack[Terms]) -> RemotePlan:
        """Return the curator's plan."""
        question, found = self._ask(write_question(table, **terms))
        design: Design = load(found["design"], Design)
        if design.table not in table.ways or (design.missing is None) != (terms["missing"] is None):
            raise _other_question()
        return RemotePlan(design=design, _half_width=float(found["half_width"]), **self._shown(found, question))

    def _ask(self, question: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        found: dict[str, Any] = self.client.call("POST", f"{dataset_path(self.dataset)}/plan", question)
        return question, found

    def _shown(self, found: dict[str, Any], question: dict[str, Any]) -> dict[str, Any]:
        import pandas

        return {
            "alternatives": pandas.DataFrame(found["alternatives"]),
            "fits": bool(found["fits"]),
            "_facts": tuple((fact["label"], fact["text"]) for fact in found["facts"]),
            "_question": question,
            "_client": self.client,
            "_dataset": self.dataset,
        }


def _other_question() -> ServiceError:
    return ServiceError("the curator planned another question", mend="use the curator's version of chronodp")
