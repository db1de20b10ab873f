"""Lifetime series that a policy declares: bought once, when the service starts, and never at other terms.

Section 8 of ``docs/explanation/proofs/curator.md``. Everything here reads the policy, the ledger and the folder's name;
what people have used is looked at by `issuing` alone.
"""

from __future__ import annotations

import json

from chronodp.dataset import Lifetime, ask_question
from chronodp.errors import InvalidArgument, StreamConflict, UnknownDocument
from chronodp.ledger import Ledger, StoredStream
from chronodp.lifetime import LifetimeDesign, LifetimePlan, mark_told
from chronodp.privacy import Calendar, dump, load
from chronodp.service.policy import Dataset
from chronodp.service.terms import LifetimeTerms

__all__ = ["is_lifetime", "lifetime_plan", "open_lifetimes", "opened_design"]

_FORGETS = "put back the terms that it was opened with, or name another series, which is bought anew"


def lifetime_plan(dataset: Dataset, terms: LifetimeTerms, grid: Calendar | None = None) -> LifetimePlan[Lifetime]:
    """Return the plan of a series that a policy declares; of one period unless a grid is given. Reads no data.

    How long the dataset's grid is says nothing about a series that never ends, so an owner may let it grow.
    """
    whole = dataset.calendar
    first = Calendar.from_length(terms.every, whole.start, 1, whole.timezone) if grid is None else grid
    query = ask_question(dataset.series(first), terms.measure, by=terms.groups, max_groups=terms.max_groups)
    return query.lifetime(epsilon=terms.epsilon, delta=terms.delta, max_periods=terms.max_periods, pays=terms.pays)


def open_lifetimes(ledger: Ledger, dataset: Dataset) -> None:
    """Open every series of a dataset; one that is open already must have the same terms and its own tally."""
    for name, terms in dataset.lifetimes.items():
        stored = ledger.stored.stream(name)
        if stored is None:
            lifetime_plan(dataset, terms).open(ledger, dataset=dataset.name, name=name, tally=terms.tally)
        else:
            _check_same(dataset, terms, stored)
            Lifetime.resume(ledger, name, tally=terms.tally)  # a tally that is not the ledger's is told now, not later
            mark_told(ledger, name, tally=terms.tally)  # whatever was stored can be read from now on


def opened_design(ledger: Ledger, dataset: Dataset, name: str) -> LifetimeDesign:
    """Return the terms at which a series was opened."""
    stream = ledger.stored.stream(name)
    if stream is not None and stream.dataset == dataset.name and is_lifetime(stream):
        design: LifetimeDesign = load(stream.plan, LifetimeDesign)
        return design
    raise StreamConflict(f"series {name!r} of {dataset.name!r} is not open: start the service with its policy")


def is_lifetime(stream: StoredStream) -> bool:
    """Return whether a stream of the ledger is a lifetime series."""
    try:
        return isinstance(content := json.loads(stream.plan), dict) and content.get("kind") == "lifetime"
    except ValueError:
        return False


def _check_same(dataset: Dataset, terms: LifetimeTerms, stored: StoredStream) -> None:
    """Raise, with what differs, unless a series that is open has the policy's terms."""
    where = f"lifetimes.{terms.name} of {dataset.name}"
    if not is_lifetime(stored) or stored.dataset != dataset.name:
        kind = f"a series of {stored.dataset!r}" if is_lifetime(stored) else "another kind of stream"
        raise InvalidArgument(where, terms.name, f"another name: the ledger has {kind} under it")
    if stored.finished:
        raise InvalidArgument(where, terms.name, "another name: this series has ended, or its ledger was restored")
    try:
        opened: LifetimeDesign = load(stored.plan, LifetimeDesign)
    except UnknownDocument:
        raise InvalidArgument(where, terms.name, "read by the version of chronodp that opened it, or newer") from None
    # The first issue's dates are the plan's, not the purchase's: the policy is compared on the same ones.
    asked = lifetime_plan(dataset, terms).design
    if asked.calendar.every == opened.calendar.every:
        asked = lifetime_plan(dataset, terms, opened.calendar).design
    if dump(asked) != dump(opened):
        raise InvalidArgument(where, f"with other {', '.join(_differing(asked, opened))}", _FORGETS)


def _differing(asked: LifetimeDesign, opened: LifetimeDesign) -> list[str]:
    """Return which terms differ, in the policy's words."""
    tables = asked.base.table, opened.base.table
    pairs = {
        "measure": tuple(table.measure for table in tables),
        "groups": tuple(table.groupings for table in tables),
        "max_groups": tuple(table.max_groups for table in tables),
        "every": (asked.calendar.every, opened.calendar.every),
        "timezone": (asked.calendar.timezone, opened.calendar.timezone),
        "epsilon": (asked.base.epsilon, opened.base.epsilon),
        "delta": (asked.base.delta, opened.base.delta),
        "max_periods": (asked.max_periods, opened.max_periods),
        "pays": (asked.pays, opened.pays),
        "reading": tuple(table.reading for table in tables),
        "unit": tuple(table.unit for table in tables),
        "time": (asked.time, opened.time),
        "user": (asked.user, opened.user),
    }
    return [name for name, (new, old) in pairs.items() if new != old] or ["noise, by another version of chronodp"]
