"""Filters and derived columns: expressions over one row, with one meaning on every engine."""

from chronodp.engines.expressions.declared import (
    Derived,
    Expressions,
    check_columns,
    check_where,
    derived_as,
    expressions_of,
)
from chronodp.engines.expressions.evaluating import Value, evaluate
from chronodp.engines.expressions.parsing import LONGEST_EXPRESSION, parse_expression
from chronodp.engines.expressions.queries import with_expressions
from chronodp.engines.expressions.tree import FUNCTIONS, columns_of, functions_of, texts_of
from chronodp.engines.expressions.typing import Cell

__all__ = [
    "FUNCTIONS",
    "LONGEST_EXPRESSION",
    "Cell",
    "Derived",
    "Expressions",
    "Value",
    "check_columns",
    "check_where",
    "columns_of",
    "derived_as",
    "evaluate",
    "expressions_of",
    "functions_of",
    "parse_expression",
    "texts_of",
    "with_expressions",
]
