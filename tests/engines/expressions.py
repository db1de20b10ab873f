"""Random expressions and random cells, and what engines make of them row by row."""

from __future__ import annotations

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow
from hypothesis import strategies as st
from sqlglot import exp

from chronodp.engines import find_source
from chronodp.engines.attach import attached
from chronodp.engines.expressions import Cell, Value, evaluate, with_expressions
from chronodp.engines.expressions.tree import (
    Arithmetic,
    Between,
    Both,
    Call,
    Case,
    Column,
    Comparison,
    Either,
    IsNull,
    Negative,
    Node,
    Not,
    Number,
    OneOf,
    Text,
    Truth,
)
from chronodp.engines.expressions.typing import Typed, cells_in
from chronodp.engines.reading import Columns, Part, Reading, Wanted, read_name, read_number
from chronodp.engines.rows import cells_of

_ODD = (0.0, -0.0, 1.0, -1.0, 0.1, 15.0, 60.0, 1e308, -1e308, 5e-324, 1e18, 2.0**53, -0.5, 999999999999999744.0, 1e-300)
_NAMES = ("JFK", "jfk", "7", "7.0", "-7.00", "True", "true", "é", "é", "\U0001f600", "￾", "a'b", "a\\b", "{x}", "a\nb")

_numbers = st.one_of(
    st.sampled_from(_ODD), st.floats(allow_nan=True, allow_infinity=True), st.integers(-20, 80).map(float)
)
_cells = {
    "n": st.one_of(st.none(), _numbers),
    "m": st.one_of(st.none(), st.integers(-3, 3)),
    "w": st.one_of(st.none(), _numbers.map(repr), st.sampled_from(("x", "", " 2 ", "1e400", "TRUE"))),
    "s": st.one_of(st.none(), st.sampled_from(("", *_NAMES))),
    "r": st.one_of(st.none(), st.sampled_from(("", *_NAMES))),
    "b": st.one_of(st.none(), st.booleans()),
}
_types = {"n": pyarrow.float64(), "m": pyarrow.int64(), "b": pyarrow.bool_()}
ROWS = st.lists(st.fixed_dictionaries(_cells), min_size=1, max_size=12)

_constants = st.one_of(st.sampled_from(_ODD), st.floats(0, allow_infinity=False)).map(abs).map(Number)
_number_columns = st.sampled_from("nmwb").map(Column)
_text_columns = st.sampled_from("sr").map(Column)
_texts = st.sampled_from(_NAMES).map(lambda name: Text(read_name(name) or "a"))
_signs = st.sampled_from(("=", "<>", "<", "<=", ">", ">="))


def _numbers_of(depth: int) -> st.SearchStrategy[Node]:
    leaf = st.one_of(_number_columns, _constants)
    if not depth:
        return leaf
    below, truths = st.deferred(lambda: _numbers_of(depth - 1)), st.deferred(lambda: _truths_of(depth - 1))
    some = st.lists(below, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        leaf, st.builds(Arithmetic, st.sampled_from("+-*/"), below, below),
        st.builds(Arithmetic, st.sampled_from("+-*/"), below, below), st.builds(Negative, below),
        st.builds(Call, st.sampled_from(("LEAST", "GREATEST", "COALESCE")), some),
        st.builds(Call, st.sampled_from(("ABS", "FLOOR", "CEIL")), st.tuples(below)),
        st.builds(Arithmetic, st.just("+"), truths, below), _cases(truths, below),
    )  # fmt: skip


def _texts_of(depth: int) -> st.SearchStrategy[Node]:
    leaf = st.one_of(_text_columns, _texts)
    if not depth:
        return leaf
    below, truths = st.deferred(lambda: _texts_of(depth - 1)), st.deferred(lambda: _truths_of(depth - 1))
    some = st.lists(below, min_size=2, max_size=3).map(tuple)
    flat = st.lists(leaf, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        leaf,
        st.builds(Call, st.just("COALESCE"), some),
        st.builds(Call, st.just("CONCAT"), flat),
        _cases(truths, below),
    )


def _truths_of(depth: int) -> st.SearchStrategy[Node]:
    leaf = st.one_of(st.just(Column("b")), st.booleans().map(Truth))
    numbers, texts = (
        st.deferred(lambda: _numbers_of(max(0, depth - 1))),
        st.deferred(lambda: _texts_of(max(0, depth - 1))),
    )
    signed = st.one_of(_constants, _constants.map(Negative))
    compared = st.one_of(
        st.builds(Comparison, _signs, numbers, numbers),
        st.builds(Comparison, _signs, _text_columns, texts),
        st.builds(IsNull, st.one_of(numbers, _text_columns)),
        st.builds(OneOf, numbers, st.lists(signed, min_size=1, max_size=14).map(tuple)),
        st.builds(OneOf, _text_columns, st.lists(_texts, min_size=1, max_size=14).map(tuple)),
        st.builds(Between, numbers, numbers, numbers),
    )
    if not depth:
        return st.one_of(leaf, compared)
    below = st.deferred(lambda: _truths_of(depth - 1))
    some = st.lists(below, min_size=2, max_size=3).map(tuple)
    return st.one_of(compared, compared, st.builds(Not, below), st.builds(Both, some), st.builds(Either, some))


def _cases(truths: st.SearchStrategy[Node], results: st.SearchStrategy[Node]) -> st.SearchStrategy[Node]:
    branches = st.lists(st.tuples(truths, results), min_size=1, max_size=2).map(tuple)
    return st.builds(Case, branches, st.one_of(st.none(), results))


NUMBERS, TEXTS, CONDITIONS = _numbers_of(3), _texts_of(2), _truths_of(3)


def table_of(rows: Sequence[Mapping[str, Any]]) -> pyarrow.Table:
    """Return rows as a table."""
    return pyarrow.table(
        {name: pyarrow.array([row[name] for row in rows], _types.get(name, pyarrow.string())) for name in _cells}
    )


def wanted_for(nodes: Sequence[Typed]) -> dict[Cell, Wanted]:
    """Return every cell of some expressions, as it is wanted."""
    return {cell: Wanted("where", cell.role, cell.column) for node in nodes for cell in cells_in(node)}


def by_python(nodes: Sequence[Typed], rows: Sequence[Mapping[str, Any]]) -> list[list[Value]]:
    """Return what each expression is in each row, by the plain rule."""

    def read(cell: Cell, row: Mapping[str, Any]) -> Value:
        return read_name(row[cell.column]) if cell.role == "name" else read_number(row[cell.column], Reading())

    return [[evaluate(node, {cell: read(cell, row) for cell in cells_in(node)}) for row in rows] for node in nodes]


def cells_sql(nodes: Sequence[Typed], part: Part, dialect: str) -> str:
    """Return the query that computes expressions for every row of a part, and the row's number."""
    columns = Columns(dialect, Reading(), dt.datetime(2026, 1, 1), dt.datetime(2026, 1, 2))
    wanted = wanted_for(nodes)
    names = {cell: f"cell_{index}" for index, cell in enumerate(wanted)}
    cells = cells_of(part, columns, {names[cell]: one for cell, one in wanted.items()})
    number = exp.column(part.find("number", "row")[0], quoted=True).as_("nth")
    read = exp.select(number, *cells).from_(part.table)
    named = {f"found_{index}": node for index, node in enumerate(nodes)}
    return with_expressions(read, named, names, columns).sql(dialect)


def by_duckdb(nodes: Sequence[Typed], rows: Sequence[Mapping[str, Any]]) -> list[list[Value]]:
    """Return the same by DuckDB."""
    table = table_of(rows)
    source = find_source(table.append_column("row", pyarrow.array(range(len(rows)))))
    wanted = [Wanted("row", "number", "row"), *wanted_for(nodes).values()]
    with attached(source, wanted, Reading(), memory=2**28, threads=1) as session:
        text = cells_sql(nodes, session.parts[0], "duckdb")
        found = sorted(
            (row for batch in session.batches(text, 1024) for row in batch.to_pylist()), key=lambda row: row["nth"]
        )
    return [[row[f"found_{index}"] for row in found] for index in range(len(nodes))]
