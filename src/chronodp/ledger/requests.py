"""Releases under a request id: debit, then noise, then store; never a second draw.

The order of events is that of "Crashes" in ``docs/explanation/proofs/ledger.md``: each gap of its table is a gap
between two calls here.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress

from chronodp.errors import LedgerSetBack, LedgerUnavailable, RequestConflict
from chronodp.ledger.accounts import read_terms
from chronodp.ledger.budget import Dates
from chronodp.ledger.certificates import digest
from chronodp.ledger.choices import Produce, Staged, kept_choices, make_choices
from chronodp.ledger.debits import Spend, debit
from chronodp.ledger.names import check_name
from chronodp.ledger.numbers import Written, check_room, room_for
from chronodp.ledger.opening import Opened
from chronodp.ledger.releases import Fulfilled, check_certified, find_release, hand_out, take_request, write_release
from chronodp.ledger.store import Transaction
from chronodp.ledger.streams import Opening, write_stream
from chronodp.ledger.unfinished import Drawn
from chronodp.ledger.watch import Rooms, account_counters, charge_counters, release_counter
from chronodp.privacy import Cost, Unit, check_text, dump

__all__ = ["LedgerRequests", "is_made", "unreleased"]

_HIGHEST = 10**18  # no chain has more releases: what room is set aside for


class LedgerRequests:
    """What a `Ledger` does for releases under a request id."""

    _opened: Opened

    def fulfil(
        self,
        dataset: str,
        *,
        request: str,
        cost: Cost,
        unit: Unit,
        plan: str,
        source: str,
        produce: Produce | Staged,
        analyst: str = "",
        dates: Dates | None = None,
        openings: tuple[Opening, ...] = (),
        cells: int = 0,
    ) -> Fulfilled:
        """Debit, then let ``produce`` draw, then store and sign; the same request again returns what was stored.

        The debit is committed before ``produce`` is called. A process that dies after it leaves a request that is spent
        and never released: it is listed, and its id cannot be used again, since noise may have been drawn and seen. One
        with choices before its release goes on with those it has, unless it died while it drew. Streams that it opened
        are paid for by then, and can be resumed.

        Nothing is debited unless its marks have room, and the disk some for the release. If a later write fails all the
        same, the release is kept, and whoever asks for the request next has it stored, marked and returned.

        Args:
            dataset: whose budget pays.
            request: an id of the caller's choice, once for each release.
            cost: what the release costs.
            unit: whom the cost protects.
            plan: a text that identifies the plan.
            source: a text that identifies the data.
            produce: called once, after the debit is committed; returns the release as text and its certificate. Or
                `Staged`: private choices that are stored one by one before what follows from them is read.
            analyst: whose part of the budget pays.
            dates: when the data begin and end, for a budget that renews: moments with an offset, or days on its clocks.
            openings: streams that the same cost pays for; they are opened with the debit, all or nothing.
            cells: how many numbers the release will hold at most, for which room is set aside.
        """
        check_name("request", request)
        spend = Spend(dataset, cost, unit, analyst, dates, request)
        check_text("plan", plan, private=True)
        check_text("source", source, private=True)
        opened = self._opened
        _ = opened.own_keys  # without which nothing is spent that could not be signed
        store, watch, reached = opened.store, opened.watch, opened.reached
        fingerprint = _fingerprint(plan, source, spend)
        charged: Mapping[str, int] = {}
        rooms: Rooms = (None, None)
        room = _room(cells, plan, openings)
        with _doubting(opened, spend.dataset, request) as known_by, store.transaction() as transaction:
            stored = _stored(opened, transaction, spend.dataset, request, fingerprint, produce)
            if stored is None:
                check_room(store, cells)
                transaction.set_aside(room)
                take_request(transaction, spend.dataset, request, fingerprint, debit=known_by)
                charged = watch.check_ahead(_take(opened, transaction, spend, openings))
                rooms = watch.reserve(charged, {release_counter(spend.dataset): _HIGHEST})
                reached("debit written")
        doubted = opened.unfinished.settle(spend.dataset, request)  # once: of two threads one goes on
        if isinstance(stored, Fulfilled):
            return hand_out(opened, spend.dataset, request, stored)
        if isinstance(stored, Drawn):
            return _store(opened, stored)
        if stored == () and not doubted and not isinstance(produce, Staged):
            raise RequestConflict(f"request {request!r} is under way in another thread")
        if stored is None:
            reached("debit committed")
            # What cannot be marked now is marked with the release: nothing is told before.
            with suppress(Exception):  # a witness of one's own may fail in any way
                watch.saw(charged, rooms=rooms)
            reached("debit marked")
        if isinstance(produce, Staged):
            produce = make_choices(opened, spend.dataset, request, produce, stored or (), room=room)
        made, certificate = produce()
        written = Written.of(made)
        check_certified(written, certificate, spend.cost, spend.unit, paid="debited")
        reached("noise drawn")
        return _store(opened, Drawn(spend, request, written, certificate, charged, rooms))

    def store_drawn(self, dataset: str, request: str) -> bool:
        """Store a release that this process has drawn and could not store before; return whether there was one."""
        opened = self._opened
        drawn = opened.unfinished.take(dataset, request)
        if drawn is None:
            return False
        try:
            with opened.store.snapshot() as transaction:  # a connection that was lost may have stored it all the same
                found = find_release(transaction, dataset, request)
        except LedgerUnavailable:
            opened.unfinished.put_back(drawn)
            raise
        if found is None or found.made is None:
            _store(opened, drawn)
        return True

    def may_finish(self, dataset: str, request: str) -> bool:
        """Return whether the database went away under a request of this process, which the same request finishes."""
        return (dataset, request) in self._opened.unfinished


def _store(opened: Opened, drawn: Drawn) -> Fulfilled:
    """Store, sign and mark a release, and return it; one that cannot be stored now is kept."""
    store, reached, dataset, request = opened.store, opened.reached, drawn.spend.dataset, drawn.request
    with _keeping(opened, drawn), store.transaction() as transaction:
        refresh = _renewal(opened, transaction, drawn.spend)
        signed, numbered = write_release(
            opened, transaction, dataset, request, drawn.written, drawn.certificate, refresh=refresh
        )
        # Who debited it may have died, or lost the database, before it was marked.
        charged = drawn.charged or account_counters(transaction, dataset)
        reached("release written")
    reached("release committed")
    try:
        # With the charge's mark, which is in the same file, or is written now.
        opened.watch.saw({**charged, **numbered}, sync=True, rooms=drawn.rooms)
    except LedgerUnavailable as error:
        raise LedgerUnavailable(
            f"{_reason(error)}. Request {request!r} was debited, and its release is stored: once that is mended, the "
            "same request id returns it and debits nothing"
        ) from None
    reached("release marked")
    return Fulfilled(drawn.written.text, signed, repeated=False, parts=drawn.written.parts)


def _fingerprint(plan: str, source: str, spend: Spend) -> str:
    """Return what identifies a request. Fields cannot run into each other: each is digested alone first."""
    dates = None if spend.dates is None else tuple(moment.isoformat() for moment in spend.dates)
    parts = (plan, source, dump(spend.cost), dump(spend.unit), spend.analyst, str(dates))
    return digest("".join(digest(part) for part in parts))


def _take(opened: Opened, transaction: Transaction, spend: Spend, openings: tuple[Opening, ...]) -> dict[str, int]:
    """Write the debit of a request and the streams it opens; return the counters that the debit raised."""
    charged = charge_counters(debit(transaction, spend, opened.terms))
    for opening in openings:
        write_stream(transaction, opened.own_keys, spend.dataset, opening)
    return charged


def _room(cells: int, plan: str, openings: tuple[Opening, ...]) -> int:
    """Return how many bytes a request may write: a release repeats its plan, and a stream's state grows by its seal."""
    return room_for(cells) + 2 * len(plan) + sum(2 * (len(one.plan) + len(one.state)) for one in openings)


def _renewal(opened: Opened, transaction: Transaction, spend: Spend) -> str:
    """Return when the budget that paid renews; it may have been closed since."""
    known = opened.terms.get((spend.dataset, spend.analyst))
    if known is not None:
        return known.opened.renews or "never"
    # Paid by a process that died: nothing of the budget was read here.
    ((terms,),) = transaction.run(
        "SELECT terms FROM budgets WHERE dataset = ? AND analyst = ?", (spend.dataset, spend.analyst)
    )
    return read_terms(terms).renews or "never"


@contextmanager
def _doubting(opened: Opened, dataset: str, request: str) -> Iterator[str]:
    """Give a debit a text of its own, and remember it if nobody can know whether the debit was committed."""
    known_by = secrets.token_hex(12)
    try:
        yield known_by
    except LedgerUnavailable as error:
        if not str(error).endswith("nothing was spent"):
            opened.unfinished.doubt(dataset, request, known_by)
        raise


@contextmanager
def _keeping(opened: Opened, drawn: Drawn) -> Iterator[None]:
    """Keep a release that cannot be stored, and say that its debit stands: of a transaction by itself nothing would."""
    try:
        yield
    except LedgerSetBack:
        raise
    except LedgerUnavailable as error:
        opened.unfinished.put_back(drawn)
        raise LedgerUnavailable(
            f"{_reason(error)}. Request {drawn.request!r} was debited, and its release is drawn and could not be "
            "stored: this process keeps it, and stores it when the same request id is asked for again. If the process "
            "ends before, it is lost, and a new request id debits again"
        ) from None


def _reason(error: LedgerUnavailable) -> str:
    """Return what failed, without what a write that came before any debit would add."""
    reason, _, so = str(error).rpartition("; ")
    return (
        reason if reason and so.startswith(("nothing was", "a charge under way", "a debit under way")) else str(error)
    )


def is_made(transaction: Transaction, dataset: str, request: str) -> bool:
    """Return whether a request was debited before."""
    parameters = (dataset, request)
    return bool(transaction.run("SELECT 1 FROM requests WHERE dataset = ? AND request = ?", parameters))


def unreleased(transaction: Transaction, dataset: str) -> tuple[str, ...]:
    """Return the requests that were debited and have no release: under way, or lost."""
    rows = transaction.run(
        "SELECT request FROM requests WHERE dataset = ? AND link IS NULL ORDER BY made, request", (dataset,)
    )
    return tuple(row[0] for row in rows)


def _stored(
    opened: Opened, transaction: Transaction, dataset: str, request: str, fingerprint: str, produce: Produce | Staged
) -> Fulfilled | Drawn | tuple[str, ...] | None:
    """Return what there is of a request: its release, stored or drawn, or the choices so far; None if it is new."""
    found = find_release(transaction, dataset, request)
    if found is None:
        return None
    if found.fingerprint != fingerprint:
        raise RequestConflict(
            f"request {request!r} was made before for another plan, source or cost: choose another request id"
        )
    if found.made is None:
        if (drawn := opened.unfinished.take(dataset, request)) is not None:
            return drawn
        if opened.unfinished.is_own(dataset, request, found.debit):
            return ()  # a debit of our own that we did not know of: nothing is drawn yet
        kept = kept_choices(transaction, dataset, request) if isinstance(produce, Staged) else None
        if kept is not None:
            return kept
        raise RequestConflict(
            f"request {request!r} was debited and never released: it is under way, or was lost in a crash. Its noise "
            "is never drawn again; a new request id debits again"
        )
    return found.made
