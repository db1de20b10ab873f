"""What counts where everyone has a life, as SQL: which cells a room pays for, and what is read from them.

The texts of `lives_kernel`, for engines that run SQL. What is kept goes to a table, and totals and payments are both
read from that: "What an engine keeps and books" of ``docs/explanation/proofs/bounding.md``.

The salt of entries comes in the table ``salts_ (salt)``: texts are shown in plans and logs, and it is a secret.
"""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from chronodp.engines.choice import priority_text
from chronodp.engines.chosen import chosen_tables, keys_tables, text_of, within_limits
from chronodp.engines.entries import entry_digits
from chronodp.engines.lives import LifeQuestion
from chronodp.engines.reading import Part
from chronodp.engines.rows import Term, rows_select, whole
from chronodp.engines.seeds import SEEDS, person_digest, seeds_of_digest
from chronodp.engines.statement import added_select

__all__ = ["booked_totals_statement", "entries_statement", "kept_statement", "paid_statement"]

_PAID = "paid"  # how many periods of a person count up to that of a cell


def entries_statement(asked: LifeQuestion, parts: Sequence[Part], *, dialect: str = "duckdb") -> str:
    """Return the text for the entries of all who have a row that counts."""
    question = asked.question
    tables = keys_tables(question, rows_select(question, parts, dialect), dialect)
    people = exp.select("person").distinct().from_("rows_")
    answer = exp.select(_entry(dialect)).from_("people").join("salts_", join_type="cross")
    return text_of([*tables, ("people", people)], answer, dialect)


def kept_statement(asked: LifeQuestion, parts: Sequence[Part], *, key: str, dialect: str = "duckdb") -> str:
    """Return the text for the cells that are kept, given the table ``rooms_ (entry, room)``.

    A room is how many periods are paid for. Whoever is not in the table does not count.
    """
    question = asked.question
    names = ["cell", "total"] + ([] if question.rows is None else ["weight"])
    within = exp.select("person", *names).from_("chosen").where(*within_limits(question))
    digests = [_entry(dialect), person_digest(key).as_("digest")]
    seeds = [term.as_(name) for name, term in seeds_of_digest(exp.column("digest"), dialect).items()]
    period: Term = exp.IntDiv(this=exp.column("cell"), expression=whole(question.places))
    place = priority_text(exp.paren(period), *SEEDS).as_("place_")
    roomed = exp.select("ordered.entry", "place_", "room", *names).from_("ordered")
    paid = _paid().as_(_PAID)
    tables = [
        *chosen_tables(question, parts, key, dialect),
        ("within", within),
        ("people_digests", exp.select(*names, *digests).from_("within").join("salts_", join_type="cross")),
        ("people_seeds", exp.select("entry", *names, *seeds).from_("people_digests")),
        ("ordered", exp.select("entry", *names, place).from_("people_seeds")),
        ("roomed", roomed.join("rooms_", on="ordered.entry = rooms_.entry")),
        ("running", exp.select("entry", "room", *names, paid).from_("roomed")),
    ]
    # What is paid for never falls along a person's order, so that those which fit are its first.
    answer = exp.select("entry", *names, exp.cast(exp.column(_PAID), "BIGINT").as_(_PAID))
    return text_of(tables, answer.from_("running").where(exp.column(_PAID) <= exp.column("room")), dialect)


def booked_totals_statement(asked: LifeQuestion, *, dialect: str = "duckdb") -> str:
    """Return the text for the totals by cell, given the table ``kept_``."""
    return added_select(asked.question, dialect).from_("kept_").group_by("cell").sql(dialect, copy=False)


def paid_statement(*, dialect: str = "duckdb") -> str:
    """Return the text for how many periods of each one count, given the table ``kept_``."""
    return (
        exp.select("entry", exp.Max(this=exp.column(_PAID)).as_(_PAID))
        .from_("kept_")
        .group_by("entry")
        .sql(dialect, copy=False)
    )


def _entry(dialect: str) -> exp.Alias:
    return exp.Alias(this=entry_digits(exp.column("salt"), dialect), alias=exp.to_identifier("entry"))


def _paid() -> Term:
    """What is paid for with a cell's period and all before it: all cells of a period have one place in the order."""
    over = exp.Order(expressions=[exp.Ordered(this=exp.column("place_"))])
    return exp.Window(this=exp.Anonymous(this="DENSE_RANK"), partition_by=[exp.column("entry")], order=over)
