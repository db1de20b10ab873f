"""The front door from afar: the same questions, planned and released by a curator."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, Unpack
from urllib.parse import quote

from chronodp.dataset import Queries
from chronodp.engines import Reading
from chronodp.errors import InvalidArgument, ServiceError
from chronodp.extras import check_extra
from chronodp.ledger import SignedLink, verify
from chronodp.privacy import Calendar, Claim, check_positive, labelled, load
from chronodp.privacy.units import RecordUnit
from chronodp.reading import check_path
from chronodp.series import Design, Discover, DiscoverDesign, Find, FindDesign, Release, Table, Terms
from chronodp.service.refusals import restore
from chronodp.service.written import write_question

if TYPE_CHECKING:
    import httpx
    import pandas

__all__ = ["Client", "RemotePlan", "RemoteSeries"]

_FIRST_LOOK, _LONGEST_LOOK = 0.05, 1.0
_PAUSES = (0.2, 0.8)  # seconds before a lost connection is tried again


class Client:
    """A curator, by address and token; what it offers is asked like a table at hand.

    Args:
        url: where the curator is, such as ``"https://curator.example:8443"``.
        token: of ``chronodp token add``.
        certificates: a file with the authority that signed the curator's certificate, if the system does not know it.
        timeout: seconds to wait for an answer.

    ::

        client = cdp.Client("https://curator.example:8443", token="cdp_...")
        load = client.dataset("meters").sum("kwh", clip=(0.0, 3.0)).by(district=["north", "south"])
        plan = load.plan(epsilon=0.5, delta=1e-7)      # free; print(plan) tells price and error
        release = plan.release(request="load-2026-01")  # debited by the curator, verified here
    """

    def __init__(
        self,
        url: str,
        *,
        token: str,
        certificates: str | None = None,
        timeout: float = 30.0,
        http: httpx.Client | None = None,
    ) -> None:
        if not isinstance(url, str) or not url.startswith(("http://", "https://")):
            raise InvalidArgument("url", url, "an address that begins with https:// or http://")
        if not isinstance(token, str) or not token:
            raise InvalidArgument("token", token, "the text that `chronodp token add` showed", private=True)
        self._http = http if http is not None else _connect(url, certificates, timeout)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._key: str | None = None

    def datasets(self) -> pandas.DataFrame:
        """Return what may be asked about, one row a dataset."""
        import pandas

        columns = ["name", "about", "every", "start", "end", "protects", "epsilon", "delta"]
        return pandas.DataFrame(self.call("GET", "/datasets"), columns=columns)

    def describe(self, dataset: str) -> dict[str, Any]:
        """Return everything public about a dataset."""
        found: dict[str, Any] = self.call("GET", f"/datasets/{_quoted(dataset)}")
        return found

    def dataset(
        self,
        name: str,
        *,
        every: str | None = None,
        start: Any = None,
        end: Any = None,
        max_periods: int | Find | None = None,
        where: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> RemoteSeries:
        """Return a dataset to be asked, on its whole grid or on the one given; see `TimeSeries` for the rest."""
        about = self.describe(name)
        calendar = Calendar(
            every or about["every"],
            about["start"] if start is None else start,
            about["end"] if end is None else end,
            about["timezone"],
        )
        unit: RecordUnit = load(about["unit"], RecordUnit)
        most = max_periods
        if most is None and about["max_periods"] is not None:
            most = min(about["max_periods"], len(calendar))
        curated = _Curated(self, name, about["user"])
        # How cells are written is the curator's to say, and part of every plan; a curator of 0.1.0 declares nothing.
        declared = about.get("reading")
        reading: Reading | None = None if declared is None else load(declared, Reading)
        return RemoteSeries(calendar, unit, most, curated, reading, where=where, columns=columns)

    def budget(self, dataset: str) -> dict[str, Any]:
        """Return what is spent and left: of the whole, and of your part."""
        found: dict[str, Any] = self.call("GET", f"/datasets/{_quoted(dataset)}/budget")
        return found

    def history(self, dataset: str) -> pandas.DataFrame:
        """Return who spent what, newest first."""
        import pandas

        columns = ["number", "made", "who", "request", "period", "cost"]
        return pandas.DataFrame(self.call("GET", f"/datasets/{_quoted(dataset)}/history"), columns=columns)

    def releases(self, dataset: str) -> pandas.DataFrame:
        """Return the releases that you may read, newest first."""
        import pandas

        columns = ["number", "request", "who", "issued", "what", "epsilon", "delta"]
        return pandas.DataFrame(self.call("GET", f"/datasets/{_quoted(dataset)}/releases"), columns=columns)

    def release(self, dataset: str, number: int) -> Release:
        """Return a release by its number, if its signature is the curator's."""
        found = self.call("GET", f"/datasets/{_quoted(dataset)}/releases/{number}")
        signed = SignedLink(found["link"]["body"], found["link"]["signature"])
        verify(signed, self.public_key, release=found["release"])
        return Release(found["release"], signed)

    @property
    def public_key(self) -> str:
        """The curator's public key, fetched once."""
        if self._key is None:
            self._key = str(self.call("GET", "/key")["public_key"])
        return self._key

    def call(self, method: str, path: str, content: Any = None) -> Any:
        """Return what a route answers, or raise what it refuses.

        A lost connection is tried again: every call of the API may be repeated, since a request id is paid for once.
        """
        answer = self._send(method, path, content)
        try:
            found = answer.json()
        except ValueError:
            found = None
        if answer.status_code >= 400:
            raise restore(found)
        return found

    def _send(self, method: str, path: str, content: Any) -> httpx.Response:
        import httpx

        for pause in (*_PAUSES, None):
            try:
                return self._http.request(method, f"/api/v1{path}", json=content, headers=self._headers)
            except httpx.HTTPError as error:
                if pause is None:
                    raise ServiceError(
                        f"the curator cannot be reached ({type(error).__name__})",
                        mend="ask again: with the same request id nothing is paid twice",
                    ) from None
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.close()

    def __repr__(self) -> str:
        return f"Client({str(self._http.base_url)!r})"


@dataclass(frozen=True, slots=True)
class _Planned:
    """What a curator planned; `release` spends.

    Attributes:
        alternatives: every candidate with its error, the chosen one first; where bounds are found, those that may be.
        fits: whether the budget could pay it when it was planned.
    """

    alternatives: pandas.DataFrame
    fits: bool
    _facts: tuple[tuple[str, str], ...]
    _question: dict[str, Any]
    _client: Client
    _dataset: str

    def rehearse(self) -> pandas.DataFrame:
        """Return what the release would look like on made-up rows of the same schema. Free."""
        import pandas

        table = self._client.call("POST", f"/datasets/{_quoted(self._dataset)}/try", self._question)["table"]
        return pandas.DataFrame(table["rows"], columns=table["columns"])

    def release(self, *, request: str, fresh: bool = False, timeout: float = 600.0) -> Release:
        """Submit, wait, and return the release, its signature verified; the same request returns it again.

        Args:
            request: an id of your choice, once for each release. If the connection is lost, ask again with it.
            fresh: pay for a release of its own though one of the same design is stored.
            timeout: seconds to wait.
        """
        content = {"request": request, "question": self._question, "fresh": fresh}
        job = self._client.call("POST", f"/datasets/{_quoted(self._dataset)}/jobs", content)
        deadline, look = time.monotonic() + timeout, _FIRST_LOOK
        while job["state"] in ("waiting", "running") or (job["state"] == "done" and job["release"] is None):
            if time.monotonic() > deadline:
                raise ServiceError(
                    f"request {request!r} is still {job['state']} after {timeout:g} s",
                    mend="ask again with the same request id: nothing is paid twice",
                )
            time.sleep(look)
            look = min(2 * look, _LONGEST_LOOK)
            job = self._client.call("GET", f"/jobs/{job['id']}")
        if job["state"] != "done":
            raise restore({"error": job["problem"]})
        return self._client.release(self._dataset, job["release"])

    def __str__(self) -> str:
        return labelled(self._facts)


@dataclass(frozen=True, slots=True)
class RemotePlan(_Planned):
    """A curator's plan: price and error known; `release` spends.

    Attributes:
        design: everything public about it.
    """

    design: Design
    _half_width: float

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return self.design.claim

    def half_width(self) -> float:
        """Return how far noise carries what the plan is tuned for, in 95 of 100 cases."""
        return self._half_width


@dataclass(frozen=True, slots=True)
class RemoteFindPlan(_Planned):
    """A curator's plan whose bounds are found when it is released; `release.found` then says which.

    Attributes:
        design: everything public about it.
    """

    design: FindDesign

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return self.design.claim


@dataclass(frozen=True, slots=True)
class RemoteDiscoverPlan(_Planned):
    """A curator's plan whose keys are found when it is released; `release.keys` then says which.

    Attributes:
        design: everything public about it.
    """

    design: DiscoverDesign
    _half_width: float

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return self.design.claim

    def half_width(self) -> float:
        """Return how far noise carries what the plan is tuned for, of every key that is found, in 95 of 100 cases."""
        return self._half_width


RemoteSeries = Queries[RemotePlan]
"""A dataset that a curator holds: `count`, `sum`, `mean`, `histogram`, then `by`, `peak`, `plan`, as at home."""


@dataclass(frozen=True, slots=True)
class _Curated:
    """Records that a curator holds."""

    client: Client
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

    def plan(self, table: Table, **terms: Unpack[Terms]) -> RemotePlan:
        """Return the curator's plan."""
        question, found = self._ask(write_question(table, **terms))
        design: Design = load(found["design"], Design)
        if design.table != table or (design.missing is None) != (terms["missing"] is None):
            raise _other_question()
        return RemotePlan(design=design, _half_width=float(found["half_width"]), **self._shown(found, question))

    def _ask(self, question: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        found: dict[str, Any] = self.client.call("POST", f"/datasets/{_quoted(self.dataset)}/plan", question)
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


def _connect(url: str, certificates: str | None, timeout: float) -> httpx.Client:
    check_extra("service", "httpx")
    import ssl

    import httpx

    trusted: bool | ssl.SSLContext = True
    if certificates is not None:
        try:
            trusted = ssl.create_default_context(cafile=check_path("certificates", certificates))
        except (OSError, UnicodeEncodeError):
            raise InvalidArgument("certificates", str(certificates), "a file of certificates (PEM)") from None
    try:
        return httpx.Client(base_url=url, timeout=check_positive("timeout", timeout), verify=trusted)
    except httpx.InvalidURL:
        raise InvalidArgument("url", url, "an address that begins with https:// or http://") from None


def _quoted(name: str) -> str:
    return quote(name, safe="")
