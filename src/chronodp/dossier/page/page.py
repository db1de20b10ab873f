"""What the page of a dossier says, from the promise down to how everything is checked."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from chronodp.accounting import price_words
from chronodp.display import shown
from chronodp.dossier.answers import Answer, answer_questions
from chronodp.dossier.facts import Facts
from chronodp.dossier.page.charts import budget_chart, release_chart
from chronodp.dossier.page.html import cards, document, folded, listing, paragraph, section, table, words
from chronodp.dossier.published import Published
from chronodp.dossier.words import described, gain, promise, rounded_up, title_of
from chronodp.privacy import counted

__all__ = ["render"]

_IN_FULL = 60  # releases with a chart; of more the newest
_ROWS = 24  # of a release's numbers
_CHARGES = 400
_SECTIONS = (
    ("promised", "What is promised"),
    ("budget", "The budget over time"),
    ("releases", "What was released"),
    ("others", "What else is published"),
    ("questions", "Questions and answers"),
    ("check", "How to check this"),
)

_SEEDED = "A release was drawn with a seed, for tests only: whoever knows the seed can remove its noise."


def render(facts: Facts) -> str:
    """Return the page."""
    title = facts.owner.name or facts.dataset
    names = dict(_SECTIONS)
    parts = (
        section("promised", names["promised"], *_promised(facts)),
        section("budget", names["budget"], *_budget(facts)),
        section("releases", names["releases"], *_releases(facts)),
        section("others", names["others"], *_others(facts)),
        section("questions", names["questions"], *_questions(facts)),
        section("check", names["check"], *_check(facts)),
    )
    links = "".join(f'<li><a href="#{name}">{words(heading)}</a></li>' for name, heading in _SECTIONS)
    top = (
        f'<header>\n<p class="kind">Dossier of private releases</p>\n<h1>{words(title)}</h1>\n'
        f"{paragraph(promise(facts), 'promise')}\n"
        f'<nav aria-label="Parts of this page"><ul>{links}</ul></nav>\n</header>'
    )
    warning = f'<aside class="warning">{_SEEDED}</aside>\n' if facts.seeded else ""
    return document(title, f"{warning}{top}\n<main>\n{chr(10).join(parts)}\n</main>")


def _promised(facts: Facts) -> Iterator[str]:
    owner, budget = facts.owner, facts.status.budget
    yield cards(
        [
            ("Protected", "\n".join(facts.protects)),
            ("Not protected", "\n".join(facts.not_protects)),
            ("Promise of the whole budget", f"{budget}\n{budget.lifetime}"),
            ("What an adversary gains by all of it", gain(budget.epsilon, budget.delta, budget.unit)),
            ("Assumed", "\n".join(facts.assumptions) or "nothing beyond the argument of each mechanism"),
            ("Who answers for the data", f"{owner.said('curators')}\nContact: {owner.said('contact')}"),
            ("What it is", owner.said("description")),
            ("What it is for", owner.said("intended_use")),
        ]
    )
    if facts.notes:
        yield listing(facts.notes)


def _budget(facts: Facts) -> Iterator[str]:
    lost, status = facts.lost, facts.status
    most = "" if lost.most is None else f" It can never become more than ε = {lost.most[0]:g}, δ = {lost.most[1]:g}."
    yield paragraph(
        f"One unit has lost ε = {rounded_up(lost.epsilon)} at δ = {lost.delta:.3g} in all so far, by: {lost.theorem}. "
        f"{lost.note}{most}"
    )
    yield budget_chart(facts.spending)
    sums = ((part.name, part.spent, part.limit) for part in status.sums)
    yield table("Sums of the budget", "What the ledger adds up", ("sum", "spent", "limit"), sums, most=20)
    delta = status.budget.delta
    charges = (
        (f"{one.made:%Y-%m-%d %H:%M}", shown(one.purpose), str(one.unit), price_words(one.cost, delta))
        for one in facts.charges
    )
    caption = f"{counted(len(facts.charges), 'charge')}, oldest first"
    inner = table("Charges", caption, ("when (UTC)", "request or stream", "for", "cost"), charges, most=_CHARGES)
    yield folded("Everything that was charged", inner)


def _releases(facts: Facts) -> Iterator[str]:
    count = len(facts.published)
    if not count:
        yield paragraph("Nothing was released yet.")
        return
    left_out = count - _IN_FULL
    if left_out > 0:
        yield paragraph(f"The newest {_IN_FULL} of {count:,} releases; the others are listed below and in the folder.")
        rows = (_line(one) for one in facts.published[:left_out])
        columns = ("number", "request", "issued (UTC)", "mechanism", "guarantee")
        yield folded("Older releases", table("Older releases", "Oldest first", columns, rows, most=5_000))
    yield from (_article(one) for one in facts.published[-_IN_FULL:])


def _line(one: Published) -> tuple[object, ...]:
    guarantee = one.certificate.guarantee
    return one.number, one.link.request, f"{one.issued:%Y-%m-%d %H:%M}", one.certificate.mechanism, str(guarantee)


def _article(one: Published) -> str:
    files = [one.file] + ([f"numbers/{one.stem}.csv"] if one.has_numbers else [])
    links = ", ".join(f'<a href="{name}">{name}</a>' for name in files)
    issued = (
        f"Request {shown(one.link.request)}, issued {one.issued:%Y-%m-%d %H:%M} UTC, number {one.number} of the chain."
    )
    parts = [
        f'<h3 id="release-{one.number}">{words(title_of(one))}</h3>',
        f'<p class="note">{words(issued)} Files: {links}.</p>',
        release_chart(one),
        cards(described(one)),
        _numbers(one),
        folded("Certificate", f"<pre>{words(one.certificate)}</pre>"),
    ]
    return f'<article aria-labelledby="release-{one.number}">\n{chr(10).join(filter(None, parts))}\n</article>'


def _numbers(one: Published) -> str:
    frame = one.first_rows(_ROWS + 1)
    if frame is None:
        return ""
    rows = frame.astype(object).itertuples(index=False, name=None)
    named = f"Numbers of request {one.link.request}"
    return folded(
        "Numbers", table(named, "Values with 95 % intervals", list(map(str, frame.columns)), rows, most=_ROWS)
    )


def _others(facts: Facts) -> Iterator[str]:
    yield paragraph(
        f"{counted(len(facts.published) + len(facts.others), 'release')} stand in the chain of this dataset. Whether "
        "other datasets are about the same people is not known to chronodp."
    )
    if facts.others:
        rows = (
            (one.number, one.request, one.certificate.mechanism, str(one.certificate.guarantee)) for one in facts.others
        )
        columns = ("number", "request", "mechanism", "guarantee")
        yield table("Other releases", "Releases that this dossier does not hold", columns, rows, most=_CHARGES)
    if facts.streams:
        streams = (
            (one.name, one.kind, one.step, "finished" if one.finished else "goes on", str(one.cost or "with a request"))
            for one in facts.streams
        )
        caption = "Streams, alerts and series for ever; their steps are not links of the chain"
        yield table("Streams", caption, ("name", "what", "steps", "state", "cost"), streams, most=_CHARGES)
    if facts.status.unreleased:
        yield paragraph("Charged and never released:")
        yield listing(facts.status.unreleased)
    yield cards([("What the owner says of other publications", facts.owner.said("exposure"))])


def _questions(facts: Facts) -> Iterator[str]:
    yield paragraph(
        "What evaluators ask, after the layers of NIST SP 800-226, answered by the ledger and the owner alone. No "
        "claim of compliance is made."
    )
    answers = answer_questions(facts)
    for topic in dict.fromkeys(one.topic for one in answers):
        inner = "\n".join(_answer(one) for one in answers if one.topic == topic)
        yield f'<details open><summary>{words(topic)}</summary>\n<dl class="answers">\n{inner}\n</dl>\n</details>'


def _answer(one: Answer) -> str:
    said = {"ledger": "the ledger", "owner": "the owner"}.get(one.known_by)
    by = f' <span class="note">(said by {said})</span>' if said else ""
    return f'<dt>{words(one.question)}</dt>\n<dd class="{one.known_by}">{words(one.answer)}{by}</dd>'


def _check(facts: Facts) -> Iterator[str]:
    yield paragraph(
        "The folder of this page can be checked without chronodp: open verify.html and choose the folder, or run "
        "python verify.py in it. chronodp verify does the same. Compare the public key with one that you had from the "
        "owner by another way."
    )
    proofs = _each(one.claim.argument for one in facts.certificates)
    yield cards(
        [
            ("Public key", facts.public_key),
            ("Head of the chain", facts.head),
            ("Made", f"{facts.made:%Y-%m-%d %H:%M} UTC by chronodp {facts.version}"),
            ("Proofs behind it", proofs or "nothing was released"),
        ]
    )


def _each(lines: Iterable[str]) -> str:
    return "\n".join(dict.fromkeys(lines))
