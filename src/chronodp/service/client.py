"""The front door from afar: the same questions, planned and released by a curator."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self
from urllib.parse import quote, urlencode

from chronodp.dataset import ReleaseTogether
from chronodp.engines import Reading
from chronodp.errors import InvalidArgument
from chronodp.ledger import SignedLink, Written, load_release, verify
from chronodp.privacy import Calendar, check_whole, load, text_kind
from chronodp.privacy.units import RecordUnit
from chronodp.series import Find, QuantileRelease, Release, open_release
from chronodp.service.connecting import answered, connect, unreachable
from chronodp.service.period_lengths import grid_within
from chronodp.service.remote import Curated, RemoteSeries, dataset_path
from chronodp.service.remote_desk import RemoteDesk

if TYPE_CHECKING:
    import httpx
    import pandas

__all__ = ["Client"]

_PAUSES = (0.2, 0.8)  # seconds before a lost connection is tried again
_PAGE = 200  # lines
_PATIENCE = 1.0  # seconds


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
        self._http = http if http is not None else connect(url, certificates, timeout)
        self._headers = {"Authorization": f"Bearer {token}"}
        self._key: str | None = None

    def datasets(self) -> pandas.DataFrame:
        """Return what may be asked about, one row a dataset."""
        import pandas

        columns = ["name", "about", "every", "start", "end", "protects", "epsilon", "delta"]
        return pandas.DataFrame(self.call("GET", "/datasets"), columns=columns)

    def describe(self, dataset: str) -> dict[str, Any]:
        """Return everything public about a dataset."""
        found: dict[str, Any] = self.call("GET", dataset_path(dataset))
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
        calendar = Calendar(about["every"], about["start"], about["end"], about["timezone"])
        if start is not None or end is not None:
            first, last = (about[key] if given is None else given for key, given in (("start", start), ("end", end)))
            calendar = Calendar(every or about["every"], first, last, about["timezone"])
        elif every is not None:
            calendar = grid_within(calendar, every)
        unit: RecordUnit = load(about["unit"], RecordUnit)
        most = max_periods
        if most is None and about["max_periods"] is not None:
            most = min(about["most_periods"].get(calendar.every, about["max_periods"]), len(calendar))
        curated = Curated(self, name, about["user"])
        # How cells are written is the curator's to say, and part of every plan.
        declared = about["reading"]
        reading: Reading | None = None if declared is None else load(declared, Reading)
        return RemoteSeries(calendar, unit, most, curated, reading, where=where, columns=columns)

    def budget(self, dataset: str) -> dict[str, Any]:
        """Return what is spent and left: of the whole, and of your part."""
        found: dict[str, Any] = self.call("GET", f"{dataset_path(dataset)}/budget")
        return found

    def history(self, dataset: str, *, who: str | None = None, limit: int | None = 100) -> pandas.DataFrame:
        """Return who spent what, newest first: of everyone or of one, so many at most, or all with ``limit=None``."""
        import pandas

        columns = ["number", "made", "who", "request", "period", "cost"]
        found = self.lines(f"{dataset_path(dataset)}/history", {"who": who}, limit)
        return pandas.DataFrame(found, columns=columns)

    def releases(
        self, dataset: str | None = None, *, who: str | None = None, limit: int | None = 100
    ) -> pandas.DataFrame:
        """Return the releases that you may read, newest first.

        Args:
            dataset: of one dataset; of all if None.
            who: of one caller, by the name in the column ``who``.
            limit: how many at most; None for all.
        """
        import pandas

        columns = ["dataset", "number", "request", "who", "issued", "what", "epsilon", "delta"]
        path = "/releases" if dataset is None else f"{dataset_path(dataset)}/releases"
        return pandas.DataFrame(self.lines(path, {"who": who}, limit), columns=columns)

    def jobs(
        self, *, dataset: str | None = None, who: str | None = None, state: str | None = None, limit: int | None = 100
    ) -> pandas.DataFrame:
        """Return what was submitted, newest first: your own, or everyone's for owners and auditors.

        Args:
            dataset: of one dataset.
            who: of one caller.
            state: such as ``"waiting"`` or ``"lost"``.
            limit: how many at most; None for all.
        """
        import pandas

        columns = ["id", "dataset", "request", "state", "submitted", "ended", "release", "repeated"]
        filters = {"dataset": dataset, "who": who, "state": state}
        return pandas.DataFrame(self.lines("/jobs", filters, limit), columns=columns)

    def lines(self, path: str, filters: Mapping[str, str | None], limit: int | None) -> list[dict[str, Any]]:
        """Return the lines of a list, page by page."""
        wanted = None if limit is None else check_whole("limit", limit)
        lines: list[dict[str, Any]] = []
        before: str | None = None
        while wanted is None or len(lines) < wanted:
            size = _PAGE if wanted is None else min(_PAGE, wanted - len(lines))
            given = {**filters, "limit": str(size), "before": before}
            query = urlencode({name: value for name, value in given.items() if value is not None})
            answer = self._send("GET", f"{path}?{query}", None, _PAUSES)
            if answer.status_code == 429 and lines:  # a long list, faster than the curator lets one caller ask
                time.sleep(_PATIENCE)
                continue
            lines += answered(answer)
            before = answer.headers.get("X-Next")
            if before is None:
                break
        return lines

    def release(self, dataset: str, number: int) -> Release | QuantileRelease:
        """Return a release by its number, if its signature is the curator's; all readings are made of it here."""
        written, signed = self._written(dataset, number)
        if text_kind(written.text) == "together":
            allowed = "that of a series or of quantiles; of several queries see release_together"
            raise InvalidArgument("number", number, allowed)
        return open_release(written.text, signed, parts=written.parts)

    def release_together(self, dataset: str, number: int) -> ReleaseTogether:
        """Return several queries that were released together, if the signature is the curator's."""
        written, signed = self._written(dataset, number)
        return ReleaseTogether(written.text, signed, parts=written.parts)

    def _written(self, dataset: str, number: int) -> tuple[Written, SignedLink]:
        """Return what was signed, verified here."""
        at = f"{dataset_path(dataset)}/releases/{number}"
        found = self.call("GET", at)
        signed = SignedLink(found["link"]["body"], found["link"]["signature"])
        verify(signed, self.public_key, release=found["release"])
        if not found.get("beside"):
            return Written(found["release"]), signed
        with tempfile.TemporaryDirectory() as folder:
            file = self._download(f"{at}/file", Path(folder) / "release")
            written, _ = load_release(file)  # every number is compared with the digests in its text
        return written, signed

    def holds(self) -> pandas.DataFrame:
        """Return what is held, and why; for owners and auditors."""
        import pandas

        return pandas.DataFrame(self.call("GET", "/holds"), columns=["id", "dataset", "why", "by_whom", "made"])

    def hold(self, dataset: str = "", *, why: str) -> str:
        """Begin no job of a dataset, or none at all, and return the id to lift that by; for owners."""
        return str(self.call_once("POST", "/holds", {"dataset": dataset, "why": why})["id"])

    def resume(self, hold: str) -> None:
        """Lift a hold; for owners."""
        self.call("DELETE", f"/holds/{quote(hold, safe='')}")

    @property
    def public_key(self) -> str:
        """The curator's public key, fetched once."""
        if self._key is None:
            self._key = str(self.call("GET", "/key")["public_key"])
        return self._key

    @property
    def desk(self) -> RemoteDesk:
        """What owners do and auditors see: tokens, policies in words, budgets over time, publications."""
        return RemoteDesk(self)

    def call(self, method: str, path: str, content: Any = None) -> Any:
        """Return what a route answers, or raise what it refuses.

        A lost connection is tried again: a call may be repeated, since a request id is paid for once.
        """
        return answered(self._send(method, path, content, _PAUSES))

    def call_once(self, method: str, path: str, content: Any = None) -> Any:
        """Return what a route answers that does something anew each time; a lost connection is not tried again."""
        return answered(self._send(method, path, content, ()))

    def _send(self, method: str, path: str, content: Any, pauses: tuple[float, ...]) -> httpx.Response:
        import httpx

        for pause in (*pauses, None):
            try:
                return self._http.request(method, f"/api/v1{path}", json=content, headers=self._headers)
            except httpx.HTTPError as error:
                if pause is None:
                    raise unreachable(error) from None
                time.sleep(pause)
        raise AssertionError("the last try returns or raises")

    def _download(self, path: str, place: Path) -> Path:
        """Write what a route answers to a file, piece by piece."""
        import httpx

        for pause in (*_PAUSES, None):
            try:
                with self._http.stream("GET", f"/api/v1{path}", headers=self._headers) as answer:
                    if answer.status_code >= 400:
                        answer.read()
                        answered(answer)
                    with place.open("wb") as file:
                        for piece in answer.iter_bytes():
                            file.write(piece)
                return place
            except httpx.HTTPError as error:
                if pause is None:
                    raise unreachable(error) from None
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
