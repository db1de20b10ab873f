"""Questions that evaluators of differential privacy ask, after NIST SP 800-226, answered by what the ledger knows.

No answer is a claim of compliance. What only the owner can know comes from the owner; where the owner says nothing, the
answer is that chronodp does not know.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from typing import Literal

from chronodp.dossier.facts import Facts
from chronodp.dossier.owner import UNKNOWN
from chronodp.dossier.words import described, errors_of, gain, rounded_up
from chronodp.privacy import counted

__all__ = ["Answer", "answer_questions", "answers_json", "answers_markdown"]

_NOTE = (
    "The questions follow the layers of NIST SP 800-226. The answers say what the ledger and the owner say; they are "
    "no claim of compliance with it or with any law."
)
_MOST = 20  # lines of one answer


@dataclass(frozen=True, slots=True)
class Answer:
    """One question with its answer.

    Attributes:
        topic: the layer that it belongs to.
        question: in plain words.
        answer: what is known, or `UNKNOWN`.
        known_by: who says so: the ledger, the owner, or nobody.
    """

    topic: str
    question: str
    answer: str
    known_by: Literal["ledger", "owner", "nobody"]


def answer_questions(facts: Facts) -> tuple[Answer, ...]:
    """Return every question with what is known."""
    return tuple(
        answer
        for layer in (_guarantee, _unit, _bounds, _algorithms, _trust, _exposure, _side_channels, _collection)
        for answer in layer(facts)
    )


def answers_json(facts: Facts) -> str:
    """Return the answers as JSON."""
    content = {"kind": "answers", "format": 1, "dataset": facts.dataset, "note": _NOTE}
    return json.dumps(
        {**content, "answers": [asdict(one) for one in answer_questions(facts)]}, ensure_ascii=False, indent=1
    )


def answers_markdown(facts: Facts) -> str:
    """Return the answers as a page of Markdown."""
    lines, topic = ["# Questions and answers", "", _NOTE], ""
    for one in answer_questions(facts):
        if one.topic != topic:
            lines += ["", f"## {one.topic}"]
            topic = one.topic
        told = one.answer.replace("\n", "\n> ")
        lines += ["", f"**{one.question}**", "", f"> {told}", "", f"Said by: {one.known_by}."]
    return "\n".join(lines) + "\n"


def _guarantee(facts: Facts) -> Iterator[Answer]:
    topic, budget = "Guarantee", facts.status.budget
    kind = "approximate differential privacy, (ε, δ)" if budget.delta else "pure differential privacy, ε"
    yield _ledger(topic, "Which definition of privacy is claimed?", f"{kind}: {budget}.")
    each = _each(f"{one.link.request}: {one.certificate.guarantee}" for one in facts.published)
    yield _ledger(topic, "What are ε and δ of each release?", each or "Nothing was released.")
    lost = facts.lost
    most = "" if lost.most is None else f" At most, whatever is still asked: {_pair(*lost.most)}."
    so_far = f"So far {_pair(lost.epsilon, lost.delta)}, by: {lost.theorem}. {lost.note}{most}"
    yield _ledger(topic, "What has one unit lost in all?", so_far)
    meant = gain(*(lost.most or (lost.epsilon, lost.delta)), budget.unit)
    yield _ledger(topic, "What does that mean to someone who tries to find out?", meant)
    rest = _each(facts.assumptions) or "On nothing beyond the argument of each mechanism and the unit above."
    yield _ledger(topic, "What does the guarantee rest on?", rest)
    seeded = "Yes: it voids the guarantee." if facts.seeded else "No."
    yield _ledger(topic, "Could the randomness of a release here be repeated?", seeded)
    yield _owner(topic, "Why are ε, δ and the unit what they are?", facts.owner.justification)


def _unit(facts: Facts) -> Iterator[Answer]:
    topic, budget = "Unit of privacy", facts.status.budget
    relation = {"add_remove": "one has the unit and the other does not", "replace": "the unit is replaced by another"}
    differ = f"{budget.unit}. Neighbouring datasets differ in one unit: {relation[budget.unit.relation]}."
    yield _ledger(topic, "Who or what is one unit?", differ)
    yield _ledger(topic, "What is protected?", _each(facts.protects))
    yield _ledger(topic, "What is not protected?", _each(facts.not_protects))
    yield _ledger(topic, "How long does the promise hold?", budget.lifetime)


def _bounds(facts: Facts) -> Iterator[Answer]:
    topic = "Bounds, error and bias"
    reach = _of_releases(facts, ("One unit",))
    yield _ledger(
        topic, "How is what one unit can change bounded?", reach or "As the certificate of each release says."
    )
    found = _of_releases(facts, ("Found", "Keys"))
    declared = "Bounds that are not named here were declared before the release."
    yield _ledger(topic, "Were bounds or keys found in the data, privately?", f"{found}\n{declared}".strip())
    before = "What was done to the data before, and did anyone look at them to choose bounds?"
    yield _owner(topic, before, facts.owner.preprocessing)
    errors = _each(f"{one.link.request}: {label}: {text}" for one in facts.published for label, text in errors_of(one))
    yield _ledger(topic, "How large are error and bias?", errors or "As the certificate of each release says.")
    steps = _each(f"{one.link.request}: {step}" for one in facts.published for step in one.certificate.processing)
    yield _ledger(topic, "What was done to the numbers afterwards?", steps or "Nothing before they were signed.")


def _algorithms(facts: Facts) -> Iterator[Answer]:
    topic = "Algorithms and their correctness"
    used = _each(dict.fromkeys(one.mechanism for one in facts.certificates))
    yield _ledger(topic, "Which mechanisms were used?", used or "Nothing was released.")
    argued = _each(dict.fromkeys(f"{one.claim.argument}, converted by {one.theorem}" for one in facts.certificates))
    yield _ledger(topic, "Where is it proved?", argued or "Nothing was released.")
    told = f"chronodp {facts.version}. Which version drew each release is {UNKNOWN}."
    yield _ledger(topic, "Which software wrote this dossier?", told)


def _trust(facts: Facts) -> Iterator[Answer]:
    topic = "Trust model"
    told = (
        "Central, for every release of the chain: a process that read the records as they are drew the noise. Whoever "
        "ran it, and whoever can read the records, is trusted."
    )
    yield _ledger(topic, "Who is trusted with the data?", told)
    yield _owner(topic, "Who can see the data before noise, and how are they kept?", facts.owner.access)
    parts = sorted({one.analyst for one in facts.budgets if one.analyst and one.budget.collusion == "excluded"})
    pooled = (
        f"Not all: the guarantee holds against each of {counted(len(parts), 'analyst')} alone."
        if parts
        else "Yes: whatever they learn together is within the same budget."
    )
    yield _ledger(topic, "May those who ask pool what they learn?", pooled)
    yield _ledger(topic, "Who signs?", f"Whoever holds the key of {facts.public_key}; who that is, is {UNKNOWN}.")


def _exposure(facts: Facts) -> Iterator[Answer]:
    topic = "Exposure"
    count = len(facts.published) + len(facts.others)
    streams = f"{len(facts.streams):,} streams, alerts and series for ever"
    told = f"{counted(count, 'release')} in the chain; {streams}; {counted(len(facts.charges), 'charge')} in all."
    yield _ledger(topic, "How often was something published from the same budget?", told)
    lost = facts.status.unreleased
    paid = f"{counted(len(lost), 'request')}, charged and counted." if lost else "None."
    yield _ledger(topic, "Was anything paid for and never released?", paid)
    yield _owner(topic, "What else is published about the same people, and by whom?", facts.owner.exposure)
    yield _ledger(topic, "Was the record of what was spent ever restored?", _each(facts.notes) or "No.")


def _side_channels(facts: Facts) -> Iterator[Answer]:
    topic = "Side channels"
    precise = _each(dict.fromkeys(one.precision for one in facts.certificates))
    yield _ledger(topic, "What is done about finite precision?", precise or "Nothing was released.")
    question = "What is done about time, memory, messages and access to machines?"
    yield _owner(topic, question, facts.owner.side_channels)


def _collection(facts: Facts) -> Iterator[Answer]:
    topic = "Data collection"
    yield _owner(topic, "How were the data collected, and what were people told?", facts.owner.collection)
    yield _owner(topic, "Who is in the data, and about how many?", facts.owner.population)
    read = _of_releases(facts, ("Read", "Rows", "Columns"))
    yield _ledger(topic, "Which rows were read, and how?", read or "All rows within the dates of each release.")
    yield _owner(topic, "What are the releases for?", facts.owner.intended_use)


def _of_releases(facts: Facts, labels: tuple[str, ...]) -> str:
    said = ((one, label, text) for one in facts.published for label, text in described(one))
    return _each(f"{one.link.request}: {text}" for one, label, text in said if label.rpartition(": ")[2] in labels)


def _each(lines: Iterable[str]) -> str:
    """Return lines, each once, of very many the first."""
    found = list(dict.fromkeys(lines))
    more = [f"and {len(found) - _MOST:,} more, in the certificates"] if len(found) > _MOST else []
    return "\n".join([*found[:_MOST], *more])


def _pair(epsilon: float, delta: float) -> str:
    return f"ε = {rounded_up(epsilon)}, δ = {delta:.3g}"


def _ledger(topic: str, question: str, answer: str) -> Answer:
    return Answer(topic, question, answer, "ledger")


def _owner(topic: str, question: str, said: str) -> Answer:
    return Answer(topic, question, said or UNKNOWN, "owner" if said else "nobody")
