"""The ledger: what every release passes through before any noise exists."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

from chronodp.errors import InvalidArgument
from chronodp.ledger import budgets
from chronodp.ledger.budget import Budget, Collusion, Dates, Part, Renewal
from chronodp.ledger.budgets import Entry, EntryPlace
from chronodp.ledger.chains import LedgerChains
from chronodp.ledger.debits import Charge, Spend, check_fits, debit
from chronodp.ledger.filters import Kind
from chronodp.ledger.issues import LedgerIssues
from chronodp.ledger.keys import Keys
from chronodp.ledger.names import check_name
from chronodp.ledger.numbers import check_room
from chronodp.ledger.opening import open_checked
from chronodp.ledger.overview import budgets_html, budgets_text
from chronodp.ledger.requests import LedgerRequests, is_made
from chronodp.ledger.spending import Spending, read_spending
from chronodp.ledger.status import Status
from chronodp.ledger.stored import Stored
from chronodp.ledger.streams import LedgerStreams
from chronodp.ledger.watch import Reached, charge_counters, closing_counter, unheard
from chronodp.ledger.witness import Witness
from chronodp.privacy import Cost, Unit, check_positive, check_text, check_whole

__all__ = ["Ledger", "Wanted", "check_ledger", "open_all"]

Wanted: TypeAlias = tuple[str, Budget, Mapping[str, Part]]
"""A budget that shall be open: whose, its terms, and the parts of its analysts by name."""


class Ledger(LedgerRequests, LedgerStreams, LedgerIssues, LedgerChains):
    """Durable budgets in a SQLite file or a PostgreSQL database. Safe in threads and for many processes.

    Guarantee: nothing is granted beyond a budget's terms, whoever asks, in whatever order, also when each next cost
    depends on the answers so far; a granted debit is on disk before the call returns. The argument stands in
    ``docs/explanation/proofs/ledger.md``.

    Args:
        address: a file's path, or ``postgresql://...``.
        keys: the file with the owner's keys and how far the ledger has come; by default beside a SQLite file. Needed
            for releases and streams. Both are made with a new ledger, and other keys are refused.
        witness: counters elsewhere that notice when the ledger was set back together with its keys. Once one was kept,
            one without marks is refused: `restore` takes a new one.
        timeout: seconds to wait for other writers before giving up with an error.
        reached: called with the name of each gap that a crash could fall into; for tests of crashes.

    >>> import tempfile, pathlib, chronodp as cdp
    >>> ledger = Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("meters", unit=cdp.User(), epsilon=1.0)
    >>> ledger.spend("meters", cdp.privacy.PureCost(0.25), unit=cdp.User()).number
    1
    >>> round(ledger.status("meters").largest_pure, 6)
    0.75
    >>> ledger.close_connection()
    """

    def __init__(
        self,
        address: str | Path,
        *,
        keys: str | Path | None = None,
        witness: Witness | None = None,
        timeout: float = 10.0,
        reached: Reached = unheard,
    ) -> None:
        scheme, away, _ = str(address).partition("://")
        self._called = f"{scheme}://…" if away else scheme  # the address of a server may hold a password
        wait = check_positive("timeout", timeout)
        self._opened = open_checked(address, keys=keys, witness=witness, timeout=wait, reached=reached)
        self._store, self._watch = self._opened.store, self._opened.watch

    def __repr__(self) -> str:
        return f"Ledger({self._called!r})"

    def __str__(self) -> str:
        return budgets_text(self._store, title=repr(self))

    def _repr_html_(self) -> str:
        """Return what a notebook shows: every open budget, how much of it is used, and how long it lasts."""
        return budgets_html(self._store, title=repr(self))

    def open(
        self,
        dataset: str,
        *,
        unit: Unit,
        epsilon: float,
        delta: float = 0.0,
        rule: Kind | None = None,
        reserve: float | None = None,
        renews: Renewal | None = None,
        timezone: str | None = None,
        accepts: tuple[str, ...] = (),
    ) -> None:
        """Open a budget; the same again is a no-op, other terms under the same name are refused.

        Args:
            dataset: the name under which it is spent.
            unit: who is protected. Where it does not say how long periods are, or in which zone, the first charge does;
                said later, it is your word for what was charged without saying.
            epsilon: of the guarantee.
            delta: of the guarantee.
            rule: 'pure', 'gaussian' or 'renyi'; by default Gaussian if there is a delta, else pure.
            reserve: the part of delta for failures and costs known only as (epsilon, delta); 0 unless the rule is pure.
            renews: None for ever; or '1D', '1W', '1mo', '1Y' for a budget that starts anew for newly dated data.
            timezone: whose days, weeks, months or years these are; UTC's if not said.
            accepts: names of assumptions under which costs may be charged.
        """
        budget = Budget(unit, epsilon, delta, rule, reserve, renews, accepts, timezone=timezone)
        open_all(self, [(dataset, budget, {})])

    def allot(
        self,
        dataset: str,
        analyst: str,
        *,
        epsilon: float,
        delta: float = 0.0,
        rule: Kind | None = None,
        reserve: float | None = None,
        collusion: Collusion = "expected",
    ) -> None:
        """Give an analyst a part of a budget.

        With ``collusion="expected"`` the part is charged to the whole as well. With ``"excluded"`` it is not: the
        guarantee then holds against each analyst alone, and assumes that they do not pool what they learn.
        """
        check_name("analyst", analyst)
        with self._store.transaction() as transaction:
            budgets.open_part(transaction, dataset, analyst, Part(epsilon, delta, rule, reserve, collusion))

    def spend(
        self, dataset: str, cost: Cost, *, unit: Unit, analyst: str = "", dates: Dates | None = None, purpose: str = ""
    ) -> Charge:
        """Debit a cost, durably, or raise; the first charge made is returned."""
        self._opened.check_marking()
        spend, reached = Spend(dataset, cost, unit, analyst, dates, purpose), self._opened.reached
        with self._store.transaction() as transaction:
            charges = debit(transaction, spend, self._opened.terms)
            charged = self._watch.check_ahead(charge_counters(charges))
            rooms = self._watch.reserve(charged)
            reached("debit written")
        reached("debit committed")
        self._watch.saw(charged, rooms=rooms)
        reached("debit marked")
        return charges[0]

    def released_steps(self, name: str) -> list[str]:
        """Return all values that a stream released, in order."""
        check_name("name", name)
        return self.stored.steps(name)

    def status(self, dataset: str, *, analyst: str = "", period: str = "") -> Status:
        """Return what is spent and what still fits.

        The period, such as '2026-01', is for budgets that renew; the newest one with a charge if not given.
        """
        check_text("period", period, private=True)
        with self._store.snapshot() as transaction:
            return budgets.read_status(transaction, dataset, analyst, period)

    def shares(self, *datasets: str) -> dict[str, float]:
        """Return how much of every open budget is used, 0 to 1, or of some: the ``share`` of their status, by name."""
        with self._store.snapshot() as transaction:
            return budgets.read_shares(transaction, datasets)

    def history(
        self,
        dataset: str,
        *,
        limit: int = 100,
        before: EntryPlace | None = None,
        whole: bool = False,
        by: str | None = None,
    ) -> list[Entry]:
        """Return the newest charges of a dataset, newest first.

        Args:
            dataset: whose charges.
            limit: how many at most.
            before: where an earlier answer ended, as `ledger.place_after` says, to go on after it.
            whole: leave out what is charged to an analyst's part as well as to the whole.
            by: of one asker only: what their request ids begin with, up to the first slash and with it, as ``"ana/"``;
                charges to the whole alone.
        """
        check_whole("limit", limit)
        with self._store.snapshot() as transaction:
            return budgets.list_charges(transaction, dataset, limit=limit, before=before, whole=whole, by=by)

    def spending(self, dataset: str, *, analyst: str = "", period: str = "") -> Spending:
        """Return how a budget was spent over time: its share at the end of each day with a charge.

        The period, such as '2026-01', is for budgets that renew; the newest one with a charge if not given.
        """
        check_text("period", period, private=True)
        with self._store.snapshot() as transaction:
            return read_spending(transaction, dataset, analyst, period)

    def budgets(self, *, closed: bool = True) -> list[tuple[str, str, Budget]]:
        """Return (dataset, analyst, terms) of every budget, closed ones too unless told otherwise."""
        with self._store.snapshot() as transaction:
            return budgets.list_budgets(transaction, closed=closed)

    def close(self, dataset: str, *, analyst: str = "") -> None:
        """Close a budget for good: nothing can be spent from it any more; its history stays."""
        with self._store.transaction() as transaction:
            budgets.close_budget(transaction, dataset, analyst)
        self._watch.saw({closing_counter(dataset, analyst): 1}, sync=True)

    def check_fits(
        self,
        dataset: str,
        cost: Cost,
        *,
        unit: Unit,
        analyst: str = "",
        dates: Dates | None = None,
        request: str | None = None,
        cells: int = 0,
    ) -> dict[str, float]:
        """Raise what spending this would raise now, and spend nothing; a ``request`` made before pays no more.

        With ``cells``, also if the disk has no room for a release of so many numbers. Returns how much of every budget
        that would pay is used then, from 0 to 1, by analyst, the whole's empty; nothing for a request made before.
        """
        spend = Spend(dataset, cost, unit, analyst, dates)
        if request is not None:
            check_name("request", request)
        with self._store.snapshot() as transaction:
            if request is None or not is_made(transaction, dataset, request):
                after = check_fits(transaction, spend)
                check_room(self._store, cells)
                return after
        return {}

    def check_ready(self) -> None:
        """Raise what would keep a release from being finished once it is paid for; spends nothing.

        Looks whether the keys are at hand, whether marks can be added to their file and to a witness's, and whether
        the disk has room. By the time of a debit this may have changed: a debit looks again.
        """
        _ = self._opened.own_keys
        check_room(self._store, 0)
        self._watch.try_adding()

    @property
    def stored(self) -> Stored:
        """Releases and streams that are stored, to be read."""
        return Stored(self._store, self._watch)

    @property
    def keys(self) -> Keys:
        """The owner's keys."""
        return self._opened.own_keys

    @property
    def public_key(self) -> str:
        """The public half of the owner's keys, that certificates are verified with."""
        return self._opened.public_key

    @property
    def restored(self) -> str:
        """What certificates say of a ledger that was restored from a backup; empty if it never was."""
        return self._opened.restored

    def close_connection(self) -> None:
        """Let go of this thread's connection to the database, and sync what was marked."""
        self._store.close()
        self._watch.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close_connection()


def open_all(ledger: Ledger, wanted: Iterable[Wanted]) -> None:
    """Open budgets and their parts in one transaction, each as `Ledger.open` and `Ledger.allot` would, or none."""
    with ledger._store.transaction() as transaction:
        for dataset, budget, parts in wanted:
            budgets.open_budget(transaction, dataset, "", budget)
            for analyst, part in parts.items():
                budgets.open_part(transaction, dataset, analyst, part)


def check_ledger(ledger: object) -> None:
    """Refuse what is no ledger."""
    if not isinstance(ledger, Ledger):
        raise InvalidArgument("ledger", ledger, "a Ledger")
