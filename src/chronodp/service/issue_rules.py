"""Which issues of a lifetime series may be asked for: decided from the policy, the clock and what was asked before.

An issue takes shares of everyone who is in it, and nobody is paid for them. So a period is issued once unless the owner
lets it be issued again, only after it has ended, and analysts ask for no more issues a month than the policy says. No
rule reads the data or what people have used.

Section 8 of ``docs/explanation/proofs/curator.md``, "Issues of a lifetime series".
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from chronodp.errors import NotAllowed
from chronodp.ledger import Transaction, now
from chronodp.lifetime import LifetimeDesign
from chronodp.privacy import Calendar, check_moment, microseconds_of
from chronodp.series import Design
from chronodp.service.bound_rules import check_usual
from chronodp.service.job import Job
from chronodp.service.policy import Dataset
from chronodp.service.refusals import refuse
from chronodp.service.terms import LifetimeTerms

__all__ = ["IssueAsked", "Stretch", "allowed_issue", "check_may_issue", "check_periods", "claim_periods", "issue_of"]


class IssueAsked(BaseModel):
    """An issue of a lifetime series, as a job keeps it."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    lifetime: str
    start: str
    end: str
    clip: tuple[float, float] | None = Field(None)


class Stretch(NamedTuple):
    """Periods that were issued or are about to be, in microseconds since 1970."""

    begin: int
    end: int


def issue_of(job: Job) -> IssueAsked | None:
    """Return the issue that a job asks for; None if it asks a question of its own."""
    return IssueAsked.model_validate_json(job.question) if job.question.startswith('{"lifetime":') else None


def check_may_issue(terms: LifetimeTerms, analyst: str) -> None:
    """Raise unless the owner lets someone ask for issues; nobody's name stands for the owner."""
    if analyst and analyst not in terms.analysts:
        raise NotAllowed(
            f"the owner's policy does not let {analyst} ask for issues of {terms.name!r}",
            mend="ask the owner: an issue takes shares of everyone in it. What was issued can be read",
        )


def allowed_issue(dataset: Dataset, terms: LifetimeTerms, design: LifetimeDesign, asked: IssueAsked) -> Design:
    """Return the design of an issue that the policy allows, or raise; what is not allowed is not even laid out."""
    whole = dataset.calendar
    for name, text in (("start", asked.start), ("end", asked.end)):
        moment = microseconds_of(check_moment(name, text, whole.zone))
        if not whole.edges[0] <= moment <= whole.edges[-1]:
            raise refuse(name, text, f"within {whole.start} to {whole.end}")
    # Periods of all issues are those of one grid, so that none can be asked for in halves.
    until = Calendar(terms.every, whole.start, asked.end, whole.timezone)
    begin = microseconds_of(check_moment("start", asked.start, whole.zone))
    if begin not in until.edges[:-1]:
        raise refuse("start", asked.start, f"the beginning of a period of {terms.every} from {whole.start} on")
    if until.edges[-1] > now():
        raise refuse("end", asked.end, "a moment that has passed: a period is issued when it is over")
    _check_clip(dataset, terms, asked.clip)
    issue = design.issue(terms.name, start=asked.start, end=asked.end, clip=asked.clip)
    cells = issue.table.horizon * issue.table.places * len(issue.noises)
    if cells > dataset.allowed.cells:
        raise refuse("end", f"with {cells:,} numbers", f"earlier: at most {dataset.allowed.cells:,} numbers an issue")
    return issue


def check_periods(terms: LifetimeTerms, issue: Design, others: Collection[Stretch]) -> None:
    """Raise if a period of an issue is in as many others already as the policy allows."""
    calendar = _calendar_of(issue)
    begins, ends = (np.sort(np.array(edge, np.int64)) for edge in zip(*others, strict=True)) if others else ((), ())
    first = calendar.edges[:-1]
    # How many others have begun, less those that are over, at the beginning of each period.
    held = np.searchsorted(begins, first, side="right") - np.searchsorted(ends, first, side="right")
    if (held >= terms.times).any():
        moment = calendar.starts()[int(np.argmax(held >= terms.times))]
        often = "once" if terms.times == 1 else f"{terms.times:,} times"
        raise NotAllowed(
            f"the period from {moment.isoformat()} was issued or is being issued already, and the owner's policy "
            f"lets it be issued {often}",
            argument="start",
            mend="read what was issued, or ask for other periods: an issue takes shares of everyone in it",
        )


def claim_periods(
    transaction: Transaction,
    dataset: str,
    terms: LifetimeTerms,
    issue: Design,
    *,
    request: str,
    analyst: str,
    issued: Mapping[str, Stretch],
) -> None:
    """Take the periods of an issue for a request, in the transaction that puts its job on disk, or raise.

    ``issued`` are the issues that the ledger has. Of those that were asked for here, jobs that failed took nothing.
    """
    rows = transaction.run(
        "SELECT i.request, i.starts, i.ends, j.analyst, j.made FROM service_issues i JOIN service_jobs j "
        "ON j.dataset = i.dataset AND j.request = i.request WHERE i.dataset = ? AND i.lifetime = ? AND i.request <> ? "
        "AND j.state IN ('waiting', 'held', 'running', 'done')",
        (dataset, terms.name, request),
    )
    others = {**issued, **{row[0]: Stretch(int(row[1]), int(row[2])) for row in rows}}
    check_periods(terms, issue, [one for name, one in others.items() if name != request])
    if analyst:
        month = dt.datetime.now(dt.UTC).replace(day=1, hour=0, minute=0, second=0, microsecond=0)
        lately = sum(bool(row[3]) and int(row[4]) >= microseconds_of(month) for row in rows)
        if lately >= terms.most_a_month:
            raise NotAllowed(
                f"analysts may ask for {terms.most_a_month:,} issues of {terms.name!r} a month, and have",
                mend="ask the owner, or in the next month (UTC)",
            )
    calendar = _calendar_of(issue)
    transaction.run(
        "INSERT INTO service_issues (dataset, lifetime, request, starts, ends) VALUES (?, ?, ?, ?, ?) "
        "ON CONFLICT DO NOTHING",
        (dataset, terms.name, request, int(calendar.edges[0]), int(calendar.edges[-1])),
    )


def _calendar_of(issue: Design) -> Calendar:
    if issue.table.calendar is None:
        raise AssertionError("issues have dates")
    return issue.table.calendar


def _check_clip(dataset: Dataset, terms: LifetimeTerms, clip: tuple[float, float] | None) -> None:
    given = terms.widest or terms.measure.get("clip")
    if clip is None or given is None:
        return  # of what has no clip another one is refused by its design
    low, high = given
    if clip[0] < low or clip[1] > high:
        raise refuse(
            "clip", f"{clip[0]:g} to {clip[1]:g}", f"within {low:g} to {high:g}: a wider one takes more shares"
        )
    check_usual(dataset.usual_in(terms), clip, terms.every)
