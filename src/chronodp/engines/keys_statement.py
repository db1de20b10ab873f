"""Who holds which key, as SQL text for any engine that can run it, and the rows that engines share.

Keys are compared as bytes, so that no collation of a session or a column merges or reorders them. Nothing here could
differ when a part of it is computed twice. Steps 1 to 5 of "What is computed" in
``docs/explanation/proofs/held-keys.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

from sqlglot import exp

from chronodp.engines.choice import PRIME, priority_text
from chronodp.engines.chosen import keys_tables, text_of
from chronodp.engines.held_keys import KeysQuestion
from chronodp.engines.reading import Part
from chronodp.engines.rows import KEPT, Term, columns_for, counted_rows, lookup, period_number, placed_select, whole
from chronodp.engines.seeds import SEEDS, hexadecimal, seed_terms

__all__ = ["fits", "key_number", "keyed_text", "people_statement", "weights_statement"]


@lru_cache(maxsize=KEPT)
def keyed_text(asked: KeysQuestion, parts: tuple[Part, ...], *, noted: bool = False) -> str:
    """Return the rows that count, their persons and keys as written, as a text to select from."""
    return (
        _keyed_select(asked, parts, "duckdb", written=True, noted=noted)
        .subquery("rows_", copy=False)
        .sql("duckdb", copy=False)
    )


def _keyed_select(
    asked: KeysQuestion, parts: Sequence[Part], dialect: str, *, written: bool = False, noted: bool = False
) -> exp.Select:
    """Return the rows that count: person (unless every row stands for itself), period, and the key as a text.

    With ``written``, persons and keys are as they stand or null; only a derived key is what it is.
    """
    question, name = asked.question, f"group_{len(asked.question.groupings)}"
    query = exp.select(period_number(question).as_("period"), exp.column(name).as_("text_"))
    if question.user is not None:
        query = query.select(exp.column("person"), copy=False)
    unread = ("person", name) if written else ()
    placed = placed_select(asked.reading, parts, columns_for(question, dialect), unread=unread)
    return counted_rows(query, placed, question, person=not written, noted=noted)


def people_statement(asked: KeysQuestion, parts: Sequence[Part], *, key: str, dialect: str) -> str:
    """Return the text for the candidates: the bytes of each, and for how many people it counts."""
    tables = _chosen(asked, parts, key, dialect)
    people: Term = exp.Count(this=exp.Star())
    if asked.question.user is not None:
        tables.append(("pairs", exp.select("person", "key_").from_("chosen").distinct()))
    answer = exp.select("key_", people.as_("people")).from_(tables[-1][0]).group_by("key_")
    return text_of(tables, answer, dialect)


def weights_statement(asked: KeysQuestion, parts: Sequence[Part], *, key: str, dialect: str) -> str:
    """Return the text for the sums of weights: the bytes of each key, and its sum.

    The weights stand in a table ``weights_ (held, weight)``, and keys that are dropped in ``dropped_ (key_)``: both
    small enough to be sent to every task.
    """
    tables = _chosen(asked, parts, key, dialect)
    gone = exp.column("key_", table="chosen").eq(exp.column("key_", table="dropped_"))
    names = ["key_"] if asked.question.user is None else ["person", "key_"]
    columns: list[Term] = [_named(exp.column(name, table="chosen"), name) for name in names]
    if not asked.rows_apart:
        columns.append(_named(_block(asked), "block_"))
    left = exp.select(*columns).from_("chosen").join("dropped_", on=gone, join_type="left")
    left = left.where(exp.column("key_", table="dropped_").is_(exp.null()))
    left = left if asked.question.user is None else left.distinct()
    counted: Term = whole(1)  # a row is a block of its own, with one key
    if not asked.rows_apart:
        own: list[exp.Expression] = [exp.column("person"), exp.column("block_")]
        counted = exp.Window(this=exp.Count(this=exp.Star()), partition_by=own)
    held = exp.select(*names, _named(counted, "held")).from_("left_")
    on = exp.column("held", table="held_").eq(exp.column("held", table="weights_"))
    weighed = exp.select(*(exp.column(name, table="held_").as_(name) for name in names), "weight")
    weighed = weighed.from_("held_").join("weights_", on=on)
    if dialect == "spark":
        left, weighed = left.hint("BROADCAST(dropped_)"), weighed.hint("BROADCAST(weights_)")
    tables += [("left_", left), ("held_", held), ("weighed", weighed)]
    if not asked.rows_apart:  # a person's weight on a key is the largest over their blocks
        largest = exp.select(*names, exp.Max(this=exp.column("weight")).as_("weight")).from_("weighed")
        tables.append(("largest", largest.group_by(*names)))
    sums = exp.cast(exp.Sum(this=exp.column("weight")), "BIGINT").as_("sums")
    return text_of(tables, exp.select("key_", sums).from_(tables[-1][0]).group_by("key_"), dialect)


def _bytes(text: Term, dialect: str) -> Term:
    """Return the bytes of a text in UTF-8."""
    return exp.Anonymous(this="ENCODE", expressions=[text]) if dialect == "duckdb" else exp.cast(text, "BINARY")


def key_number(key: str, text: Term, dialect: str) -> Term:
    """Return the formula of `number_of`."""
    digest = exp.MD5(this=exp.func("CONCAT", exp.Literal.string(f"{key}|"), text))
    digits = exp.Substring(this=digest, start=exp.Literal.number(1), length=exp.Literal.number(8))
    return hexadecimal(digits, dialect) % PRIME


def fits(asked: KeysQuestion, text: Term, dialect: str) -> Term:
    """Return the condition that a text is a key: not null, not empty, and not too long."""
    length = exp.Anonymous(this="STRLEN" if dialect == "duckdb" else "OCTET_LENGTH", expressions=[text])
    return exp.Between(this=length, low=whole(1), high=whole(asked.longest))


def _chosen(asked: KeysQuestion, parts: Sequence[Part], key: str, dialect: str) -> list[tuple[str, exp.Select]]:
    """Return what leads to ``chosen``: the person, the period and the key of what counts, each once."""
    rows, text = _keyed_select(asked, parts, dialect), exp.column("text_")
    tables = keys_tables(asked.question, rows, dialect)
    columns: list[Term] = [] if asked.question.user is None else [exp.column("person")]
    by_period = [exp.column("period")] if asked.choose_by_period else []
    held = exp.select(*columns, *by_period, text, _bytes(text.copy(), dialect).as_("key_")).from_("rows_")
    held = held.where(fits(asked, text.copy(), dialect))
    if asked.question.user is None:
        return [*tables, ("chosen", held)]
    if asked.max_keys is None:
        return [*tables, ("chosen", held.distinct())]
    within = [exp.column("person"), *by_period]
    seeds = (_named(term, name) for name, term in seed_terms(key, dialect).items())
    numbered = exp.select(*within, "key_", key_number(key, text.copy(), dialect).as_("number"), *seeds).from_("held")
    # Keys of one number have one priority; their bytes decide.
    order = [priority_text(exp.column("number"), *SEEDS), exp.column("key_")]
    rank = exp.Window(
        this=exp.Anonymous(this="ROW_NUMBER"),
        partition_by=[term.copy() for term in within],
        order=exp.Order(expressions=[exp.Ordered(this=term) for term in order]),
    )
    ranked = exp.select(*within, "key_", _named(rank, "rank_")).from_("numbered")
    chosen = exp.select(*within, "key_").from_("ranked").where(exp.column("rank_") <= asked.max_keys)
    return [*tables, ("held", held.distinct()), ("numbered", numbered), ("ranked", ranked), ("chosen", chosen)]


def _named(term: Term, name: str) -> Term:
    return exp.Alias(this=term, alias=exp.to_identifier(name))


def _block(asked: KeysQuestion) -> Term:
    """The weight block that a period is in."""
    blocks = asked.block_of_period.tolist()
    if not asked.choose_by_period or blocks[-1] == 0:
        return whole(0)
    if blocks[-1] == len(blocks) - 1:
        return exp.column("period", table="chosen")
    begins = [period for period in range(1, len(blocks)) if blocks[period] != blocks[period - 1]]
    numbers: list[Term] = [whole(number) for number in range(len(begins) + 1)]
    return lookup(exp.column("period", table="chosen"), begins, numbers)
