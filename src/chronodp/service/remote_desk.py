"""The owner's desk from afar: tokens, policies in words, budgets over time, and what was published."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol
from urllib.parse import quote, urlencode

from chronodp.service.refusals import restore
from chronodp.service.remote import dataset_path

if TYPE_CHECKING:
    import pandas

__all__ = ["RemoteDesk"]

_TOKENS = ["id", "name", "role", "state", "made", "expires", "revoked", "mine"]
_DAYS = ["day", "share", "charges"]
_PUBLISHED = ["issued", "dataset", "number", "unit", "what", "who", "request", "epsilon", "delta"]


class _Line(Protocol):
    """A connection to a curator."""

    def call(self, method: str, path: str, content: Any = None) -> Any: ...

    def call_once(self, method: str, path: str, content: Any = None) -> Any: ...

    def lines(self, path: str, filters: Mapping[str, str | None], limit: int | None) -> list[dict[str, Any]]: ...


@dataclass(frozen=True, slots=True, repr=False)
class RemoteDesk:
    """What owners do at a curator, and auditors see; `Client.desk` gives it."""

    _client: _Line

    def tokens(self) -> pandas.DataFrame:
        """Return every token without its secret, those that open something first."""
        return _frame(self._client.call("GET", "/tokens"), _TOKENS)

    def add_token(self, name: str, *, role: str = "analyst", days: float = 90.0) -> str:
        """Make a token and return it, this once; if the connection is lost, look at `tokens` before asking again."""
        made = self._client.call_once("POST", "/tokens", {"name": name, "role": role, "days": days})
        return str(made["token"])

    def revoke_token(self, identity: str) -> None:
        """Close a token by its id, and every session that it opened, for good."""
        self._client.call("DELETE", f"/tokens/{quote(identity, safe='')}")

    def policy(self) -> dict[str, list[str]]:
        """Return what may be asked of each dataset, in sentences."""
        return _words(self._client.call("GET", "/policy"))

    def check_policy(self, text: str) -> dict[str, list[str]]:
        """Return what a policy, a TOML text, would allow; one that cannot be read raises, with its line.

        Nothing is opened, kept or changed.
        """
        found = self._client.call("POST", "/policy/check", {"text": text})
        if found["problem"] is not None:
            raise restore({"error": found["problem"]})
        return _words(found["datasets"])

    def spending(self, dataset: str, *, period: str = "") -> pandas.DataFrame:
        """Return how much of a dataset's whole budget was used at the end of each day with a charge."""
        query = f"?{urlencode({'period': period})}" if period else ""
        return _frame(self._client.call("GET", f"{dataset_path(dataset)}/spending{query}")["days"], _DAYS)

    def publications(
        self, dataset: str | None = None, *, who: str | None = None, limit: int | None = 100
    ) -> pandas.DataFrame:
        """Return what was published about whom, newest first: so many at most, or all with ``limit=None``."""
        return _frame(self._client.lines("/publications", {"dataset": dataset, "who": who}, limit), _PUBLISHED)

    def __repr__(self) -> str:
        return f"{self._client!r}.desk"


def _frame(rows: list[dict[str, Any]], columns: list[str]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame(rows, columns=columns)


def _words(datasets: list[dict[str, Any]]) -> dict[str, list[str]]:
    return {one["dataset"]: one["words"] for one in datasets}
