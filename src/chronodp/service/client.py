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
from chronodp.errors import InvalidArgument, ServiceError
from chronodp.extras import check_extra
from chronodp.ledger import SignedLink, Written, load_release, verify
from chronodp.privacy import Calendar, check_positive, load, text_kind
from chronodp.privacy.units import RecordUnit
from chronodp.reading import check_path
from chronodp.series import Find, QuantileRelease, Release, open_release
from chronodp.service.period_lengths import grid_within
from chronodp.service.refusals import restore
from chronodp.service.remote import Curated, RemoteSeries, dataset_path
from chronodp.service.remote_desk import RemoteDesk
from chronodp.service.remote_lifetime import RemoteLifetime

if TYPE_CHECKING:
    import httpx
    import pandas

__all__ = ["Client"]

_PAGE = 200  # lines of a list asked for at a time
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
            # A curator of 0.1.0 has one limit for every length of a period.
            known = about.get("most_periods", {}).get(calendar.every, about["max_periods"])
            most = min(known, len(calendar))
        curated = Curated(self, name, about["user"])
        # How cells are written is the curator's to say, and part of every plan; a curator of 0.1.0 declares nothing.
        declared = about.get("reading")
        reading: Reading | None = None if declared is None else load(declared, Reading)
        return RemoteSeries(calendar, unit, most, curated, reading, where=where, columns=columns)

    def lifetimes(self, dataset: str) -> pandas.DataFrame:
        """Return a dataset's lifetime series, one row each: bought once by the owner, and issued for ever."""
        import pandas

        columns = ["name", "what", "every", "epsilon", "delta", "max_periods", "pays", "half_width", "cliff", "may_ask"]
        return pandas.DataFrame(self.call("GET", f"{dataset_path(dataset)}/lifetimes"), columns=columns)

    def lifetime(self, dataset: str, name: str) -> RemoteLifetime:
        """Return a lifetime series, to ask for its issues; ``print`` tells its terms, price, error and cliff."""
        found = self.call("GET", f"{dataset_path(dataset)}/lifetimes/{quote(name, safe='')}")
        return RemoteLifetime(self, found)

    def budget(self, dataset: str) -> dict[str, Any]:
        """Return what is spent and left: of the whole, and of your part."""
        found: dict[str, Any] = self.call("GET", f"{dataset_path(dataset)}/budget")
        return found

    def history(self, dataset: str) -> pandas.DataFrame:
        """Return who spent what, newest first."""
        import pandas

        columns = ["number", "made", "who", "request", "period", "cost"]
        return pandas.DataFrame(self.call("GET", f"{dataset_path(dataset)}/history"), columns=columns)

    def releases(self, dataset: str) -> pandas.DataFrame:
        """Return the releases that you may read, newest first."""
        import pandas

        columns = ["number", "request", "who", "issued", "what", "epsilon", "delta"]
        return pandas.DataFrame(self.call("GET", f"{dataset_path(dataset)}/releases"), columns=columns)

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
        return _answered(self._send(method, path, content, _PAUSES))

    def listed(self, path: str, *, limit: int) -> list[dict[str, Any]]:
        """Return so many lines of a list at most, asked for page by page."""
        lines: list[dict[str, Any]] = []
        asked: dict[str, Any] = {}
        while len(lines) < limit:
            asked["limit"] = min(_PAGE, limit - len(lines))
            answer = self._send("GET", f"{path}{'&' if '?' in path else '?'}{urlencode(asked)}", None, _PAUSES)
            lines += _answered(answer)
            if "X-Next" not in answer.headers:
                break
            asked["before"] = answer.headers["X-Next"]
        return lines

    def call_once(self, method: str, path: str, content: Any = None) -> Any:
        """Return what a route answers that does something anew each time; a lost connection is not tried again."""
        return _answered(self._send(method, path, content, ()))

    def _send(self, method: str, path: str, content: Any, pauses: tuple[float, ...]) -> httpx.Response:
        import httpx

        for pause in (*pauses, None):
            try:
                return self._http.request(method, f"/api/v1{path}", json=content, headers=self._headers)
            except httpx.HTTPError as error:
                if pause is None:
                    raise _unreachable(error) from None
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
                        raise restore(_said(answer))
                    with place.open("wb") as file:
                        for piece in answer.iter_bytes():
                            file.write(piece)
                return place
            except httpx.HTTPError as error:
                if pause is None:
                    raise _unreachable(error) from None
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


def _answered(answer: httpx.Response) -> Any:
    found = _said(answer)
    if answer.status_code >= 400:
        raise restore(found)
    return found


def _said(answer: httpx.Response) -> Any:
    try:
        return answer.json()
    except ValueError:
        return None


def _unreachable(error: Exception) -> ServiceError:
    return ServiceError(
        f"the curator cannot be reached ({type(error).__name__})",
        mend="ask again: with the same request id nothing is paid twice",
    )


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
