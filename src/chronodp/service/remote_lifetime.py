"""A curator's lifetime series from afar: what it costs for ever, and its issues, each verified here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from chronodp.errors import ServiceError
from chronodp.privacy import labelled
from chronodp.series import Release
from chronodp.service.remote import Line, await_release, dataset_path

if TYPE_CHECKING:
    import pandas

__all__ = ["RemoteLifetime"]

_COLUMNS = ["issue", "release", "request", "who", "issued", "start", "end", "takes"]


@dataclass(frozen=True, slots=True, repr=False)
class RemoteLifetime:
    """A series that a curator's owner bought once; `issue` asks for the next one, which costs no budget.

    An issue takes shares of the life of everyone who is in it. So the owner says who may ask, and each period is issued
    once unless the owner lets it be issued again.
    """

    _client: Line
    _about: dict[str, Any]

    @property
    def name(self) -> str:
        """The name of the series."""
        return str(self._about["name"])

    @property
    def dataset(self) -> str:
        """Whose people it is about."""
        return str(self._about["dataset"])

    @property
    def about(self) -> dict[str, Any]:
        """Everything public about it, as it was when it was asked for: terms, price, error, issues."""
        return self._about

    @property
    def issues(self) -> pandas.DataFrame:
        """The issues so far, newest first, asked of the curator now."""
        import pandas

        found = self._client.call("GET", self._path)
        return pandas.DataFrame(found["issues"], columns=_COLUMNS)

    def half_width(self) -> float:
        """Return how far noise carries one number of any issue, in 95 of 100 cases."""
        return float(self._about["half_width"])

    def issue(
        self,
        *,
        request: str,
        start: Any,
        end: Any,
        clip: tuple[float, float] | None = None,
        fresh: bool = False,
        timeout: float = 600.0,
    ) -> Release:
        """Ask for an issue, wait, and return it, its signature verified; the same request returns it again.

        Args:
            request: an id of your choice, once for each issue. If the connection is lost, ask again with it.
            start: when the first period begins; a text such as '2026-01-01', a date or a datetime.
            end: when the last period ends; it must have passed.
            clip: of a sum, another clip within the widest that the owner allows; a wider one takes more shares.
            fresh: make an issue of its own though one of the same periods and terms is stored, if the owner lets it.
            timeout: seconds to wait.
        """
        content = {"request": request, "start": _text(start), "end": _text(end), "fresh": fresh}
        if clip is not None:
            content["clip"] = [float(clip[0]), float(clip[1])]
        job = self._client.call("POST", f"{self._path}/issues", content)
        release = await_release(self._client, self.dataset, job, request=request, timeout=timeout)
        if not isinstance(release, Release):
            raise ServiceError("the curator released something else", mend="use the curator's version of chronodp")
        return release

    @property
    def _path(self) -> str:
        return f"{dataset_path(self.dataset)}/lifetimes/{quote(self.name, safe='')}"

    def __repr__(self) -> str:
        return f"RemoteLifetime({self.name!r}, dataset={self.dataset!r})"

    def __str__(self) -> str:
        return labelled([(fact["label"], fact["text"]) for fact in self._about["facts"]])


def _text(moment: Any) -> str:
    return moment if isinstance(moment, str) else str(moment.isoformat())
