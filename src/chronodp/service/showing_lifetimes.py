"""How lifetime series are shown: plain data for JSON, made of what is public or released."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache

from chronodp.errors import InvalidArgument
from chronodp.lifetime import LifetimeDesign, describe_lifetime
from chronodp.privacy import Calendar, dump, load, moment_at
from chronodp.series import half_width
from chronodp.service.issued import Issue
from chronodp.service.policy import Dataset
from chronodp.service.presenting import moment, show_facts, who_asked
from chronodp.service.shapes.lifetimes import IssueShape, LifetimeShape, StretchShape
from chronodp.service.terms import LifetimeTerms

__all__ = ["show_lifetime"]


def show_lifetime(
    dataset: Dataset,
    terms: LifetimeTerms,
    design: LifetimeDesign,
    issues: Sequence[Issue],
    *,
    may_ask: bool,
    may_read: Callable[[str], bool],
) -> LifetimeShape:
    """Return a series with its issues; of those that are not the caller's, when and of which periods they are."""
    facts = _facts(dump(design), terms.delta)
    base, calendar = design.base, design.calendar
    clip = terms.measure.get("clip") if terms.measure["kind"] == "sum" else None
    return LifetimeShape(
        name=terms.name,
        dataset=dataset.name,
        what=base.table.released,
        every=calendar.every,
        timezone=calendar.timezone,
        epsilon=base.epsilon,
        delta=base.delta,
        max_periods=design.max_periods,
        pays=design.pays,
        half_width=half_width(base, 0.95),
        cliff=dict(facts)["Cliff"],
        facts=show_facts(facts),
        clip=None if clip is None else list(clip),
        widest=None if clip is None else list(terms.widest or clip),
        times=terms.times,
        most_a_month=terms.most_a_month,
        may_ask=may_ask,
        next=_next(dataset, terms, issues),
        issues=[_show_issue(issue, mine=may_read(issue.request)) for issue in reversed(issues)],
    )


def _show_issue(issue: Issue, *, mine: bool) -> IssueShape:
    if issue.life.issue is None:
        raise AssertionError("what was issued has a number")
    return IssueShape(
        issue=issue.life.issue,
        release=issue.number if mine else None,
        request=issue.request if mine else "",
        who=who_asked(issue.request) if mine else "another analyst",
        issued=moment(issue.issued),
        start=issue.calendar.start,
        end=issue.calendar.end,
        takes=issue.life.price(issue.calendar.every) if mine else "",  # its clip follows from it
    )


def _next(dataset: Dataset, terms: LifetimeTerms, issues: Sequence[Issue]) -> StretchShape | None:
    """Return the first period of the grid after all issues."""
    whole = dataset.calendar
    last = max((issue.stretch.end for issue in issues), default=int(whole.edges[0]))
    start = moment_at(max(last, int(whole.edges[0]))).astimezone(whole.zone)
    try:
        period = Calendar.from_length(terms.every, start.isoformat(), 1, whole.timezone)
    except InvalidArgument:  # the end of all calendars
        return None
    return None if period.edges[-1] > whole.edges[-1] else StretchShape(start=period.start, end=period.end)


@lru_cache(maxsize=64)
def _facts(plan: str, delta: float) -> tuple[tuple[str, str], ...]:
    """Return a series in sentences; what paying anew would cost takes a moment to compute."""
    design: LifetimeDesign = load(plan, LifetimeDesign)
    return tuple(describe_lifetime(design, delta))
