"""Expressions mean the same on every engine, whatever the cells hold, and nothing else can be written."""

from __future__ import annotations

from typing import Any

from hypothesis import given, settings, strategies as st

from chronodp.engines.expressions import parse_expression
from chronodp.engines.expressions.tree import Node, text_of
from chronodp.engines.expressions.typing import Typed, Use, typed
from chronodp.errors import InvalidArgument
from tests.engines.expressions import CONDITIONS, NUMBERS, ROWS, TEXTS, by_duckdb, by_python

KINDS: tuple[tuple[Any, tuple[Use, ...]], ...] = (
    (CONDITIONS, ("condition", "number", "name")),
    (NUMBERS, ("number", "name", "condition")),
    (TEXTS, ("name",)),
)
MADE = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(kind[0], st.sampled_from(kind[1])))


def ready(node: Node, use: Use) -> Typed | None:
    """Return what a text of a tree stands for; None if it is larger than allowed, or leaves a column open."""
    try:
        return typed("where", text_of(node), use)
    except InvalidArgument:
        return None


@settings(max_examples=150, deadline=None)
@given(st.lists(MADE, min_size=4, max_size=12), ROWS)
def test_duckdb_gives_what_the_plain_rule_gives(made: list[tuple[Node, Use]], rows: list[dict[str, Any]]) -> None:
    nodes = [found for node, use in made if (found := ready(node, use)) is not None]
    if nodes:
        assert by_duckdb(nodes, rows) == by_python(nodes, rows)


@settings(max_examples=300, deadline=None)
@given(MADE)
def test_the_one_text_is_read_as_the_same_expression(made: tuple[Node, Use]) -> None:
    text = text_of(made[0])
    try:
        node = parse_expression("where", text)
    except InvalidArgument:
        return
    assert text_of(node) == text
    assert parse_expression("where", text_of(node)) == node
