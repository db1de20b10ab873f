"""The front door of lifetime series: what a question costs for ever, and issues of it from people's records."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from chronodp.dataset.records import Records
from chronodp.engines import Booked, Engine, Progress, Tally, WholePrice
from chronodp.errors import InvalidArgument, MissingBound
from chronodp.ledger import Ledger
from chronodp.lifetime import LifetimeDesign, LifetimePlan, LifetimeSeries, make_lifetime_plan
from chronodp.series import Design, Quanta, Table

__all__ = ["Lifetime", "lifetime_of"]


class Held(Protocol):
    """Where records lie."""

    def here(self) -> Records:
        """Return the records where lives can be booked, on this machine; a curator refuses."""
        ...


@runtime_checkable
class Question(Protocol):
    """What is asked of records: a `Query`."""

    @property
    def table(self) -> Table:
        """What is released."""
        ...

    @property
    def records(self) -> Held:
        """Of whose columns it speaks."""
        ...

    @property
    def unknown(self) -> str:
        """What is still to be found, in a word; empty if nothing is."""
        ...


class Lifetime(LifetimeSeries):
    """A series of issues about the same people, bought once and published for ever.

    Made by ``plan.open(...)`` of ``query.lifetime(...)``, and taken up again by `Lifetime.resume`.

    Guarantee: all issues together, past and future, are (epsilon, delta)-differentially private for `User`, also where
    later tables and terms depend on what was issued; exact in finite precision. Assumes that one person has one id, for
    ever. The argument stands in ``docs/explanation/proofs/lifetime.md``.
    """

    _engine: Engine | None = None

    @classmethod
    def resume(cls, ledger: Ledger, name: str, *, tally: str | Path, engine: Engine | None = None) -> Self:
        """Return a series where it stands, after a restart or a crash.

        Args:
            ledger: where it was opened.
            name: under which it was opened.
            tally: the folder with what each person has used.
            engine: what reads the data; unless you say otherwise, Spark for its own frames and DuckDB on this machine.
        """
        series = cls._resumed(ledger, name, tally=tally)
        series._engine = engine
        return series

    @classmethod
    def rebuild(
        cls,
        ledger: Ledger,
        name: str,
        *,
        tally: str | Path,
        tables: Mapping[str, object],
        engine: Engine | None = None,
        progress: Progress | None = None,
    ) -> Self:
        """Make a lost tally again from the tables of all issues, and return the series.

        It is taken only if it is the same to the last share. Where a row was changed or erased since, it is not, and
        the series has ended.

        Args:
            ledger: where it was opened.
            name: under which it was opened.
            tally: a new or empty folder.
            tables: by the request of each issue, its table as it was then.
            engine: what reads the data; see `resume`.
            progress: told which fraction is done; a bar on the terminal if not given.
        """
        series, stored, memory = cls._held(ledger, name, tally)
        series._engine = engine
        series._rebuild(stored, memory, tables, progress)
        return series

    @classmethod
    def opened(cls, design: LifetimeDesign, ledger: Ledger, *, engine: Engine | None, **where: Any) -> Self:
        """Return a series that is opened now: what all issues cost is paid here."""
        series = cls._opened(design, ledger, **where)
        series._engine = engine
        return series

    def _table(self, ask: object) -> Table:
        if not isinstance(ask, Question):
            allowed = "a question such as meters.count().by(region=regions), without a plan"
            raise InvalidArgument("ask", type(ask).__name__, allowed)
        records = ask.records.here()
        if ask.unknown:
            allowed = "known before a life pays: find it in a release of its own"
            raise InvalidArgument("ask", ask.unknown, allowed)
        own = {"time": self.design.time, "user": self.design.user}
        for name, column in (("time", records.time), ("user", records.user)):
            if column != own[name]:
                raise InvalidArgument("ask", f"{name}={column!r}", f"asked with {name}={own[name]!r}, as the series is")
        return ask.table

    def _book(
        self, data: object, issue: Design, price: WholePrice, tally: Tally, *, salt: str, key: str, progress: Progress
    ) -> tuple[tuple[Quanta, ...], Booked]:
        records = Records(data, self.design.time, self.design.user, self._engine)
        return records.book(issue, price, tally, salt=salt, key=key, progress=progress)


def lifetime_of(table: Table, records: Records, unknown: str, **terms: Any) -> LifetimePlan[Lifetime]:
    """Return the plan of a series about these records."""
    if unknown:
        allowed = "known before a life is sold: find it in a release of its own, and use release.found or release.keys"
        raise InvalidArgument("lifetime", unknown, allowed)
    if records.user is None:
        raise MissingBound("user", "name the column with the person: a life is a person's")
    opens = partial(Lifetime.opened, engine=records.engine)
    return make_lifetime_plan(table, time=records.time, user=records.user, opens=opens, **terms)
