"""Expressions mean the same on every engine, whatever the cells hold, and nothing else can be written."""

from __future__ import annotations

import datetime as dt
import itertools
import random
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow
import pytest
from hypothesis import given, settings, strategies as st
from sqlglot import exp

from chronodp.dataset import Records
from chronodp.engines import (
    DuckDB,
    Grouping,
    Question,
    Record,
    embedded,
    find_source,
    parse_expression,
    reference_totals,
)
from chronodp.engines.attach import attached
from chronodp.engines.expressions import Cell, Value, check_columns, check_where, evaluate, queries, with_expressions
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
    text_of,
)
from chronodp.engines.expressions.typing import AsName, Typed, Use, cells_in, typed
from chronodp.engines.reading import Columns, Part, Reading, Term, Wanted, read_name, read_number
from chronodp.engines.rows import cells_of, rows_text
from chronodp.errors import InvalidArgument, UnknownColumn, UnreadableSource, UnsuitableColumn
from chronodp.privacy import Calendar, Grid, RecordUnit, User, Window
from chronodp.privacy.units import Event
from chronodp.series import EachPeriod, Sum, Table
from chronodp.series.planner import design_release
from tests.conftest import SCALE, Trials
from tests.engines.neighbours import REGIONS, neighbour, random_world
from tests.engines.worlds import ENGINES, numbers

_ODD = (0.0, -0.0, 1.0, -1.0, 0.1, 15.0, 60.0, 1e308, -1e308, 5e-324, 1e18, 2.0**53, -0.5, 999999999999999744.0, 1e-300)
_NAMES = ("JFK", "jfk", "7", "7.0", "-7.00", "True", "true", "é", "é", "\U0001f600", "￾", "a'b", "a\\b", "{x}", "a\nb")

_numbers = st.one_of(
    st.sampled_from(_ODD), st.floats(allow_nan=True, allow_infinity=True), st.integers(-20, 80).map(float)
)
_cells = {
    "n": st.one_of(st.none(), _numbers), "m": st.one_of(st.none(), st.integers(-3, 3)),
    "w": st.one_of(st.none(), _numbers.map(repr), st.sampled_from(("x", "", " 2 ", "1e400", "TRUE"))),
    "s": st.one_of(st.none(), st.sampled_from(("", *_NAMES))),
    "r": st.one_of(st.none(), st.sampled_from(("", *_NAMES))), "b": st.one_of(st.none(), st.booleans()),
}  # fmt: skip
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
        leaf, st.builds(Call, st.just("COALESCE"), some), st.builds(Call, st.just("CONCAT"), flat),
        _cases(truths, below),
    )  # fmt: skip


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


KINDS: tuple[tuple[Any, tuple[Use, ...]], ...] = (
    (CONDITIONS, ("condition", "number", "name")), (NUMBERS, ("number", "name", "condition")), (TEXTS, ("name",)),
)  # fmt: skip
MADE = st.sampled_from(KINDS).flatmap(lambda kind: st.tuples(kind[0], st.sampled_from(kind[1])))
DAYS = Calendar("1D", "2026-01-01", "2026-01-04")


def ready(node: Node, use: Use) -> Typed | None:
    """Return what a text of a tree stands for; None if it is larger than allowed, or leaves a column open."""
    try:
        return typed("where", text_of(node), use)
    except InvalidArgument:
        return None


@pytest.mark.slow
@settings(max_examples=600 if SCALE >= 1 else 20, deadline=None)
@given(st.lists(MADE, min_size=4, max_size=12), ROWS)
def test_duckdb_gives_what_the_plain_rule_gives(made: list[tuple[Node, Use]], rows: list[dict[str, Any]]) -> None:
    nodes = [found for node, use in made if (found := ready(node, use)) is not None]
    if nodes:
        assert by_duckdb(nodes, rows) == by_python(nodes, rows)


@pytest.mark.slow
@settings(max_examples=3000 if SCALE >= 1 else 80, deadline=None)
@given(MADE)
def test_the_one_text_is_read_as_the_same_expression(made: tuple[Node, Use]) -> None:
    text = text_of(made[0])
    try:
        node = parse_expression("where", text)
    except InvalidArgument:
        return
    once = text_of(node)  # ANDs within ANDs and ORs within ORs are one
    assert parse_expression("where", once) == node
    assert text_of(parse_expression("where", once)) == once


WORDS = """
    n s 1 .5 1e ( ) + - / * % = < > <> , ; -- /* */ :: [ ] { } . $1 ? @ ` || -> | ^ ~ é AND OR NOT
    IS NULL IN BETWEEN CASE WHEN THEN ELSE END ABS( COALESCE( LEAST SELECT FROM INT OVER TRUE
    INTERVAL DATE LIKE ESCAPE CAST( AS x'1f' EXISTS ANY( DISTINCT 'a' ' "odd "o" \\
"""
PIECES = st.sampled_from((*WORDS.split(), "\n"))


@pytest.mark.slow
@settings(max_examples=20_000 if SCALE >= 1 else 300, deadline=None)
@given(
    st.one_of(st.lists(PIECES, max_size=30).map(" ".join), st.text(max_size=60)), st.sampled_from(("condition", "name"))
)
def test_any_text_is_read_or_refused_in_our_words(text: str, use: Use) -> None:
    try:
        node = typed("where", text, use)
    except InvalidArgument as refused:
        assert str(refused).startswith("where must be")  # noqa: PT017  # of those that are refused
        return
    assert text_of(parse_expression("where", text_of(parse_expression("where", text)))) != ""
    assert by_python([node], [{cell.column: None for cell in cells_in(node)}])


class TestRefusals:
    """What is no expression over one row is refused, by the piece of the text that is none."""

    def test_what_is_not_on_the_list(self, subtests: pytest.Subtests) -> None:
        for text, shown in [
            ("n > (SELECT 1)", "SELECT 1"), ("n IN (SELECT m FROM t)", "SELECT"), ("EXISTS (SELECT 1)", "EXISTS"),
            ("n > read_csv('/etc/passwd')", "read_csv('/etc/passwd')"), ("now() > n", "now()"),
            ("current_timestamp > n", "CURRENT_TIMESTAMP"), ("random() < 0.5", "random()"),
            ("n > abs(random())", "random()"), ("uuid() = s", "uuid()"), ("PRAGMA database_list", "database_list"),
            ("sum(n) > 1", "sum(n)"), ("max(sum(n)) > 1", "max(sum(n))"), ("count(*) > 1", "count(*)"),
            ("row_number() OVER () > 1", "OVER"), ("lag(n) OVER (ORDER BY m) > 1", "OVER"),
            ("n > 1 -- ; DROP TABLE t", "-- ; DROP TABLE t"), ("n > 1 /* ; */", "/* ; */"),
            ("/* x */ n > 1", "/* x */"), ("{# x #} n > 1", "{# x #}"), ("n > 1; DROP TABLE t", ";"),
            ("n::INT > 1", "CAST"), ("CAST(n AS INT) > 1", "CAST"), ("s LIKE 'a%'", "LIKE"),
            ("regexp_matches(s, 'a')", "regexp_matches(s, 'a')"), ("lower(s) = 'a'", "lower(s)"),
            ("CONCAT(s) = 'ba'", "CONCAT(s)"), ("CONCAT(s, 1) = 'ba'", "1"), ("my_udf(n) > 1", "my_udf(n)"),
            ("t.n > 1", "t.n"), ("n % 2 = 0", "n % 2"), ("n IN (m)", "IN"), ("CASE n WHEN 1 THEN 2 END > 1", "CASE n"),
            ("n IS TRUE", "IS TRUE"), ("n BETWEEN SYMMETRIC 1 AND 2", "BETWEEN"), ("floor(n, 2) > 1", "FLOOR(n, 2)"),
            ("n > $1 + ?", "?"), ("n = NULL", "NULL"), ("INTERVAL '1' DAY > n", "INTERVAL"), ("SELECT 1", "SELECT"),
            ("n >", ""), ("", ""), ("n = 1e999", "1e999"), ("0x1f = n", "x1f"), ("n = 'a' 'b'", "'a'"), ("*", "*"),
            ("n[1] > 2", "n[1]"),
        ]:  # fmt: skip
            with subtests.test(text=text, shown=shown):
                with pytest.raises(InvalidArgument, match=r"^where must be") as refused:
                    check_where(text, ())
                assert shown in str(refused.value).rpartition("; got ")[2].replace("\\'", "'"), str(refused.value)

    def test_what_is_too_much(self, subtests: pytest.Subtests) -> None:
        for text in [
            "(" * 10_000 + "n" + ")" * 10_000, "(" * 900 + "n" + ")" * 900, "(" * 30 + "n > 1" + ")" * 30,
            "NOT " * 390 + "b", "- " * 390 + "n > 1", "(end + " * 90 + "1" + ")" * 90, "n" + " + n" * 150 + " > 1",
            " OR ".join(["n > 1"] * 200), "CASE WHEN b THEN " * 40 + "1" + " END" * 40 + " > 1",
            "abs(" * 60 + "n" + ")" * 60 + " > 1",
        ]:  # fmt: skip
            with (
                subtests.test(text=text),
                pytest.raises(InvalidArgument, match="at most 2,000 letters, 400 words and signs, and 24 levels"),
            ):
                check_where(text, ())

    def test_columns_that_are_used_both_ways(self, subtests: pytest.Subtests) -> None:
        for text, words in [
            ("s = 'a' AND s > 5", "number"), ("s + 1 > 2 AND s = 'a'", "used as a number or as a text"),
            ("'a' + 1 > 2", "a number, not a text, stands where one is needed"),
            ("n = m", "whether 'n' holds numbers or texts"), ("s = ''", "IS NULL"),
            ("NOT 'a'", "a condition, not a text"), ("CASE WHEN b THEN 'a' ELSE 1 END = 'a'", "text"),
            ("s = '\ud800'", "control characters"), ("s = 'a\x00'", "control characters"),
        ]:  # fmt: skip
            with subtests.test(text=text, words=words), pytest.raises(InvalidArgument, match=words):
                check_where(text, ())

    def test_what_is_no_text(self) -> None:
        for one in (5, ["n > 1"], True, b"n > 1"):
            with pytest.raises(InvalidArgument, match="where"):
                check_where(one, ())
            with pytest.raises(InvalidArgument, match="columns"):
                check_columns({"late": one})
        for columns in (["n > 1"], {"": "n"}, {5: "n"}, {"a": "n", "A": "m"}, {str(n): "n" for n in range(33)}):
            with pytest.raises(InvalidArgument, match="columns"):
                check_columns(columns)

    def test_derived_columns_are_made_of_the_tables_own(self) -> None:
        with pytest.raises(InvalidArgument, match=r"'late' is derived, so write out \(n > 15\)"):
            check_columns({"late": "n > 15", "later": "Late + 1"})
        with pytest.raises(InvalidArgument, match="is derived"):
            check_where("late", check_columns({"late": "n > 15"}))


def test_how_a_column_is_used_says_how_it_is_read(subtests: pytest.Subtests) -> None:
    for text, use, cells in [
        ("origin = 'JFK' AND dep_delay > 0", "condition", {("name", "origin"), ("number", "dep_delay")}),
        ("cancelled", "condition", {("number", "cancelled")}),
        ("cancelled = TRUE", "condition", {("number", "cancelled")}),
        ("NOT cancelled OR n IN (1, 2)", "condition", {("number", "cancelled"), ("number", "n")}),
        ("a = b AND b = 'x'", "condition", {("name", "a"), ("name", "b")}),
        ("CASE WHEN k > 0 THEN a ELSE b END = 'x'", "condition", {("number", "k"), ("name", "a"), ("name", "b")}),
        ("x IS NULL", "condition", {("name", "x"), ("number", "x")}),
        ("x IS NULL OR x > 1", "condition", {("number", "x")}), ("origin", "name", {("name", "origin")}),
        ("origin", "number", {("number", "origin")}), ('"odd ""name" > 1', "condition", {("number", 'odd "name')}),
        ("user > 1 AND \"order\" = 'x'", "condition", {("number", "user"), ("name", "order")}),
    ]:  # fmt: skip
        with subtests.test(text=text, use=use, cells=cells):
            assert {(cell.role, cell.column) for cell in cells_in(typed("where", text, use))} == cells


NESTS = (
    "({}) = 1", "1 < ({})", "({}) IN (1, 2)", "({}) BETWEEN 0 AND 1", "0 BETWEEN 0 AND ({})", "COALESCE({}, 1)",
    "CASE WHEN n > 1 THEN {} END", "CASE WHEN {} THEN 1 ELSE 0 END", "({}) IS NULL", "NOT ({})", "({}) AND m > 1",
    "m > 1 OR ({})", "-({})", "({}) + 1", "ABS({})", "GREATEST(1, {})",
)  # fmt: skip


def calls_for(text: str) -> int | None:
    """Return how many functions are called to take a filter up; None if it is deeper than allowed."""
    calls = 0

    def count(_frame: object, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        check_where(text, ())
    except InvalidArgument as refused:
        assert "levels" in str(refused)  # noqa: PT017  # of those that are refused
        return None
    finally:
        sys.setprofile(before)
    return calls


def test_a_deep_filter_costs_what_its_letters_do(trials: Trials, subtests: pytest.Subtests) -> None:
    """Each level that stands around another adds calls of its own, and does not repeat those of what it holds."""
    for nest in [*((one,) for one in NESTS), NESTS, NESTS[::-1]]:
        with subtests.test(nest=nest):
            text = f"n > {trials(1)}.5"  # new to what remembers texts, and so is all that stands around it
            counts: list[int] = []
            for level in range(40):
                found = calls_for(text)
                if found is None:
                    break
                counts.append(found)
                added = [after - before for before, after in itertools.pairwise(counts)]
                assert max(added[4:], default=0) < 8 * max(added[:4], default=1)
                text = nest[level % len(nest)].format(text)
            assert len(counts) > 10


def test_texts_are_what_cells_with_them_are_read_as() -> None:
    assert check_where("s = 'True' OR s IN ('7.0', 'a')", ()) == "s = 'true' OR s IN ('7', 'a')"


def question(value: str | None, by: tuple[str, tuple[str, ...]] | None = None, **given: Any) -> Question:
    groupings = () if by is None else (Grouping(*by),)
    columns = check_columns(given.pop("columns", None))
    where = check_where(given.pop("where", None), columns)
    return Question(
        DAYS, "at", "who", value, Grid(2.0**-10), (-(2**20), 2**20), groupings, where=where, columns=columns
    )


def table(**columns: Any) -> pyarrow.Table:
    rows = len(next(iter(columns.values())))
    return pyarrow.table({"at": ["2026-01-02"] * rows, "who": [f"p{row}" for row in range(rows)], **columns})


def total(asked: Question, **columns: Any) -> list[float]:
    found = DuckDB(threads=1).totals(find_source(table(**columns)), asked, key="")
    return [float(number) for number in found.sums.reshape(3, -1)[1] / 1024]


def test_rows_of_which_the_filter_is_not_true_are_left_out() -> None:
    asked = question(None, where="n > 0")
    assert total(asked, n=[1.0, 0.0, None, float("nan"), 2.0]) == [2.0]
    assert total(asked, n=["1", "x", "", None, "2"]) == [2.0]


def test_groups_may_be_derived() -> None:
    late = question(None, ("late", ("true", "false")), columns={"late": "n > 15"})
    assert total(late, n=[20, 3, 16, None]) == [2.0, 1.0]
    quarter = question("n", ("quarter", ("0", "1", "-1")), columns={"quarter": "FLOOR(n / 15)"})
    assert total(quarter, n=[20, 3, 14, -2, 1e300]) == [17.0, 20.0, -2.0]
    coast = question(
        None, ("coast", ("east", "west")), columns={"coast": "CASE WHEN s = 'JFK' THEN 'east' ELSE 'west' END"}
    )
    assert total(coast, s=["JFK", "SFO", None]) == [1.0, 2.0]


def test_missing_columns_and_times_are_refused_as_others_are() -> None:
    with pytest.raises(UnknownColumn, match=r"where: the table has no column 'dely'.*did you mean delay\?"):
        total(question(None, where="dely > 1"), delay=[1])
    with pytest.raises(UnknownColumn, match="columns: the table has no column 'x'"):
        total(question("y", columns={"y": "x + 1"}), delay=[1])
    with pytest.raises(UnsuitableColumn, match="where: column 'day' holds"):
        total(question(None, where="day > 1"), day=pyarrow.array([1], pyarrow.date32()))
    assert total(question(None, where="DELAY > 0"), Delay=[1]) == [1.0]  # capitals aside, as everywhere


@pytest.mark.slow
def test_the_owner_sees_how_many_rows_the_filter_leaves_out() -> None:
    source = find_source(table(n=[1.0, -1.0, None], k=["1", "x", "2"]))
    check = DuckDB(threads=1).look(source, question("k", where="n > 0"))
    assert (check.rows, check.filtered, check.incomplete, check.used) == (3, 2, 0, 1)
    assert [(one.argument, one.column) for one in check.columns] == [
        ("time", "at"), ("user", "who"), ("value", "k"), ("where", "n"),
    ]  # fmt: skip


WHERE = "number / 2 > -1 AND (region = 'north' OR number IS NULL OR 1 / number < 2)"
COLUMNS = check_columns({"twice": "number * 2 + (region = 'north')"})


def changed(unit: RecordUnit, engine: str, worlds: int, *, mutant: bool = False) -> float:
    """Return the largest change of filtered sums between neighbours over the stated one."""
    table = Table(
        Sum("twice", (-1.0, 3.0)), unit, len(DAYS), DAYS, (Grouping("region", REGIONS[:2]),),
        max_periods=2 if isinstance(unit, User) else None, where=WHERE, columns=COLUMNS,
    )  # fmt: skip
    design = design_release(table, epsilon=1.0, delta=1e-6, tuned_for=EachPeriod())[0]
    asked = Records("", "at", "who").question(design)
    chance = random.Random(f"{unit} {engine}")
    ones = [random_world(chance, DAYS) for _ in range(worlds)]
    others = [neighbour(chance, world, DAYS, unit) for world in ones]
    if mutant:
        asked = replace(asked, where=None)
        ones, others = ([of_groups(world) for world in side] for side in (ones, others))
    before, after = (numbers(design, asked, ENGINES[engine](side, asked, "k"))[0] for side in (ones, others))
    change = np.abs(before - after)
    assert change.any()
    return float(change.sum(axis=1).max() / design.table.sensitivities()[0].l1)


def sides() -> list[tuple[str, RecordUnit]]:
    """Return every engine with every unit; otherwise each with one: a row is read before units matter."""
    units: list[RecordUnit] = [Event(), User(), User("replace"), Window(2)]
    return list(itertools.product(ENGINES, units) if SCALE >= 1 else zip(ENGINES, units, strict=True))


def of_groups(world: list[Record]) -> list[Record]:
    """Filter as a mistaken engine would: a row stays if any row of its group meets the condition."""
    kept = {row.keys for row in world if row.number is not None and row.number > 2}
    return [row for row in world if row.keys in kept]


@pytest.mark.slow
@pytest.mark.parametrize(("engine", "unit"), sides(), ids=str)
def test_a_row_changes_only_itself(engine: str, unit: RecordUnit, trials: Trials) -> None:
    assert changed(unit, engine, trials(2000, least=200)) <= 1 + 1e-12


@pytest.mark.slow
def test_a_filter_of_groups_is_caught() -> None:
    assert changed(User(), "reference", 400, mutant=True) > 1.01


HOSTILE = {
    "n": [0.0, -0.0, 1e308, -1e308, 5e-324, float("nan"), float("inf"), None, 9.3e18],
    "w": ["0", "x", "", "1e400", "-9.3e18", "\U0001f600", None, " 1 ", "1e308"],
}
TEXT = "1 / n + n * n - w / n + FLOOR(w * 10) + CEIL(n) + FLOOR(1 / w) > -1 OR w / w IS NULL"


def test_no_cell_causes_a_refusal(monkeypatch: pytest.MonkeyPatch) -> None:
    asked = question("x", where=TEXT, columns={"x": "n / w + w / n"})
    total(asked, **HOSTILE)

    def failing(_: Any, sign: str, left: Term, right: Term) -> Term:
        broken = exp.Anonymous(this="ERROR", expressions=[exp.Literal.string("division by zero")])
        computed = queries._COMPUTED[sign](this=left, expression=right)
        return exp.case().when(right.copy().eq(exp.Literal.number("0e0")), broken).else_(computed)

    monkeypatch.setattr(queries._Writer, "_computed", failing)  # an engine that says "division by zero"
    monkeypatch.setattr(embedded, "rows_text", rows_text.__wrapped__)  # which is given no text that was kept
    with pytest.raises(UnreadableSource):
        total(asked, **HOSTILE)


def test_the_reference_computes_what_engines_do() -> None:
    asked = question("x", ("late", ("true", "false")), where="n > -5", columns={"x": "n * 2", "late": "n > 1"})
    cell = Cell("number", "n")
    values = [0.0, 2.0, -7.0, None, 1.5]
    instant = int(DAYS.edges[1])
    records = [Record(f"p{row}", instant, cells={cell: value}) for row, value in enumerate(values)]
    found = reference_totals(records, asked, key="").sums.reshape(3, -1)[1] / 1024
    assert found.tolist() == total(asked, n=values) == [7.0, 0.0]


def test_names_of_numbers_are_those_of_cells() -> None:
    assert isinstance(typed("columns", "n + 1", "name"), AsName)
    asked = question(None, ("k", ("7", "-1")), columns={"k": "n + 0"})
    assert total(asked, n=[7.0, 7.5, -1.0, 1e300]) == [1.0, 1.0]
