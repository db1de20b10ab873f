"""Issues of a series that was paid for when it opened: a step of its stream and a release, in one transaction.

"Lifetimes" of ``docs/explanation/proofs/ledger.md``. Nothing is debited, so nothing can be lost by dying: before the
commit nothing was told and nobody was booked, and noise that was drawn goes with the process; after it the same request
returns what is stored.
"""

from __future__ import annotations

from chronodp.errors import InvalidArgument, RequestConflict, StreamConflict
from chronodp.ledger.certificates import digest
from chronodp.ledger.choices import Produce
from chronodp.ledger.names import check_name
from chronodp.ledger.numbers import Written
from chronodp.ledger.opening import Opened
from chronodp.ledger.releases import Fulfilled, check_certified, find_release, hand_out, take_request, write_release
from chronodp.ledger.store import Transaction
from chronodp.ledger.streams import StreamState, check_step, write_step
from chronodp.privacy import Cost, Unit, check_cost, check_text, dump
from chronodp.privacy.units import check_unit

__all__ = ["LedgerIssues"]


class LedgerIssues:
    """What a `Ledger` does for series that were paid for when they opened."""

    _opened: Opened

    def stored_issue(self, dataset: str, request: str, plan: str) -> Fulfilled | None:
        """Return what `issue` stored under a request, which another plan cannot have; None if the request is new.

        Whatever the tables hold now, it is the same.
        """
        check_name("dataset", dataset)
        check_name("request", request)
        check_text("plan", plan, private=True)
        opened = self._opened
        with opened.store.snapshot() as transaction:
            stored = _find(transaction, dataset, request, plan)
        return None if stored is None else hand_out(opened, dataset, request, stored)

    def issue(
        self,
        before: StreamState,
        *,
        request: str,
        plan: str,
        cost: Cost,
        unit: Unit,
        state: bytes,
        value: str,
        produce: Produce,
    ) -> tuple[StreamState, Fulfilled]:
        """Release under a request what is the next step of a stream: all or nothing, and nothing is debited.

        Ask `stored_issue` first. A step that another took meanwhile is a `StreamConflict`: what was drawn is never
        shown, and whoever asked resumes the newest state.

        Args:
            before: where the stream stands.
            request: an id of the caller's choice, once for each release of the dataset.
            plan: a text that identifies the stream and what is asked of it.
            cost: what opening the stream was charged; the certificate claims the same.
            unit: for whom.
            state: what the stream must remember after the step. A secret.
            value: of the step, public.
            produce: called once, before the transaction; returns the release as text and its certificate.
        """
        check_name("request", request)
        check_text("plan", plan, private=True)
        check_cost("cost", cost)
        check_unit("unit", unit)
        check_step([value], state)
        opened = self._opened
        _ = opened.own_keys
        if before.finished:
            raise StreamConflict(f"stream {before.name!r} has ended: it is finished, or its ledger was restored since")
        with opened.store.snapshot() as transaction:  # before anything is drawn for what cannot be stored
            _check_paid(transaction, before, cost, unit)
            _check_new(transaction, before, request, plan)
        made, certificate = produce()
        written = Written.of(made)
        check_certified(written, certificate, cost, unit, paid="paid")
        opened.reached("noise drawn")
        with opened.store.transaction() as transaction:
            # The stream's row first: of two jobs one waits here, and finds that the other has gone on.
            after, stands = write_step(opened, transaction, before, values=[value], state=state, finished=False)
            _check_paid(transaction, before, cost, unit)
            _check_new(transaction, before, request, plan)
            take_request(transaction, before.dataset, request, _fingerprint(plan))
            # What was bought once renews never; a purchase within a period is refused by `_check_paid`.
            signed, numbered = write_release(
                opened, transaction, before.dataset, request, written, certificate, refresh="never"
            )
            opened.reached("issue written")
        opened.reached("issue committed")
        opened.watch.saw({**stands, **numbered}, sync=True)
        opened.reached("issue marked")
        return after, Fulfilled(written.text, signed, repeated=False, parts=written.parts)


def _find(transaction: Transaction, dataset: str, request: str, plan: str) -> Fulfilled | None:
    found = find_release(transaction, dataset, request)
    if found is None:
        return None
    if found.fingerprint != _fingerprint(plan) or found.made is None:
        raise RequestConflict(f"request {request!r} was made before for another plan: choose another request id")
    return found.made


def _check_new(transaction: Transaction, stream: StreamState, request: str, plan: str) -> None:
    """Raise if another job has released the request since it was asked for: what is stored is to be asked for again."""
    if _find(transaction, stream.dataset, request, plan) is not None:
        raise StreamConflict(
            f"request {request!r} of stream {stream.name!r} was released elsewhere meanwhile: ask again"
        )


def _fingerprint(plan: str) -> str:
    """Return what identifies the request of an issue; no release that is debited has one of this form."""
    return f"issue {digest(plan)}"


def _check_paid(transaction: Transaction, stream: StreamState, cost: Cost, unit: Unit) -> None:
    """Raise unless opening the stream was charged this cost for this unit, for ever."""
    charged = transaction.run(
        "SELECT cost, unit FROM charges WHERE dataset = ? AND purpose = ? AND period = ''",
        (stream.dataset, stream.name),
    )
    if (dump(cost), dump(unit)) not in {(row[0], row[1]) for row in charged}:
        raise InvalidArgument("cost", str(cost), f"what opening stream {stream.name!r} was charged, for the same unit")
