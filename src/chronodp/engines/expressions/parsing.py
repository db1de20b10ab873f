"""A user's text becomes an expression: parsed by sqlglot, then taken over node by node; what is not known is refused.

sqlglot reads far more than is allowed here, and its later versions will read more. So no node of its own goes further:
each is rebuilt as one of `tree`, and one with any part that is not looked at is refused.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

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
from chronodp.engines.reading import read_name
from chronodp.errors import InvalidArgument

__all__ = ["LONGEST_EXPRESSION", "parse_expression"]

LONGEST_EXPRESSION = 2_000
"""Letters of an expression."""

_WORDS = 400  # of an expression
_DEEPEST = 24  # parentheses, calls and operations within each other

_ALLOWED = (
    "an expression over the columns of one row (odd names in \"double quotes\"), made of numbers, 'texts', TRUE, "
    "FALSE, = <> < <= > >=, AND, OR, NOT, "
    "IS NULL, IN (constants), BETWEEN, + - * /, CASE WHEN ... END, COALESCE, ABS, LEAST, GREATEST, FLOOR, CEIL and "
    "CONCAT of texts"
)
_SMALL = f"at most {LONGEST_EXPRESSION:,} letters, {_WORDS} words and signs, and {_DEEPEST} levels within each other"
_NUMBER = re.compile("(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?")
_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")

_COMPARED: dict[type[exp.Expression], str] = {
    exp.EQ: "=", exp.NEQ: "<>", exp.LT: "<", exp.LTE: "<=", exp.GT: ">", exp.GTE: ">=",
}  # fmt: skip
_COMPUTED: dict[type[exp.Expression], str] = {exp.Add: "+", exp.Sub: "-", exp.Mul: "*", exp.Div: "/"}
_CALLED: dict[type[exp.Expression], str] = {
    exp.Coalesce: "COALESCE", exp.Abs: "ABS", exp.Least: "LEAST", exp.Greatest: "GREATEST", exp.Floor: "FLOOR",
    exp.Ceil: "CEIL", exp.Concat: "CONCAT", exp.DPipe: "CONCAT",
}  # fmt: skip
_LOOKED_AT = {"this", "expression", "expressions", "low", "high", "ifs", "default", "true", "is_string", "quoted"}
_WITHOUT_MEANING = {"ignore_nulls", "typed", "safe", "is_nvl", "coalesce"}  # here: each operation has one meaning


@lru_cache(maxsize=1024)
def parse_expression(argument: str, text: str) -> Node:
    """Return the expression that a text stands for, or refuse it in the name of an argument.

    >>> parse_expression("where", "dep_delay > 15 AND random() < 0.5")
    Traceback (most recent call last):
    ...
    chronodp.errors.InvalidArgument: where must be an expression over the columns of one row ... got 'random()' (str)
    """
    return _Reader(argument, text).read()


class _Reader:
    """Reads one text; knows it, so that a refusal can show what in it is meant."""

    def __init__(self, argument: str, text: str) -> None:
        self.argument, self.text = argument, text

    def read(self) -> Node:
        if not isinstance(self.text, str) or not self.text.strip():
            raise InvalidArgument(self.argument, self.text, _ALLOWED)
        if len(self.text) > LONGEST_EXPRESSION:
            raise InvalidArgument(self.argument, f"{len(self.text):,} letters", _SMALL)
        if found := _CONTROL.search(self.text):
            raise InvalidArgument(self.argument, found[0], f"{_ALLOWED}, without control characters")
        self._check_words()
        try:
            tree = sqlglot.parse_one(self.text, into=exp.Condition)
        except (SqlglotError, RecursionError, ValueError) as error:
            raise self._refusal(_highlighted(error) or self.text) from None
        return self._node(tree, 0)

    def _check_words(self) -> None:
        """Refuse what a parser should not even see: too much, too deep, comments, several statements."""
        try:
            words = sqlglot.tokenize(self.text)
        except SqlglotError:
            raise self._refusal(self.text) from None
        if len(words) > _WORDS:
            raise InvalidArgument(self.argument, f"{len(words):,} words and signs", _SMALL)
        end = depth = prefixes = cases = 0
        for word in words:
            # A comment stands in no word. In our place sqlglot would keep it, and write it into a query.
            if self.text[end : word.start].strip():
                raise self._refusal(self.text[end : word.start].strip())
            end = word.end + 1
            kind = self.text[word.start : end].upper()  # as it was written: a text or a name in quotes is no sign
            prefixes = prefixes + 1 if kind in ("NOT", "-", "+") else 0
            cases += kind == "CASE"  # all of them: END may be a column's name
            depth += (kind in ("(", "[", "{")) - (kind in (")", "]", "}"))
            if depth + prefixes + cases > _DEEPEST:
                raise InvalidArgument(self.argument, f"more than {_DEEPEST} levels", _SMALL)
            if kind == ";":
                raise self._refusal(";")
        if self.text[end:].strip():
            raise self._refusal(self.text[end:].strip())

    def _node(self, node: Any, depth: int) -> Node:  # noqa: PLR0912  # one case a kind of node
        if depth > _DEEPEST:
            raise InvalidArgument(self.argument, f"more than {_DEEPEST} levels", _SMALL)
        unknown = [name for name, part in node.args.items() if part and name not in _LOOKED_AT | _WITHOUT_MEANING]
        if unknown:
            raise self._refusal(node)
        kind = type(node)
        if kind is exp.Paren:
            return self._node(node.this, depth)  # as deep as the words were found to be
        if kind in (exp.And, exp.Or):
            listed: list[Node] = []
            flat: type[Both] | type[Either] = Both if kind is exp.And else Either
            for operand in node.flatten():
                part = self._node(operand, depth + 1)
                listed += part.parts if isinstance(part, flat) else [part]
            return flat(tuple(listed))
        parts = [self._node(part, depth + 1) for part in self._operands(node)]
        if kind is exp.Not:
            return Not(*parts)
        if kind is exp.Neg:
            return Negative(*parts)
        if kind in _COMPARED:
            return Comparison(_COMPARED[kind], *parts)
        if kind in _COMPUTED:
            return Arithmetic(_COMPUTED[kind], *parts)
        if kind in _CALLED:
            return self._call(node, _CALLED[kind], parts)
        if kind is exp.Is and type(node.expression) is exp.Null:
            return IsNull(parts[0])
        if kind is exp.Between:
            return Between(*parts)
        if kind is exp.In and len(parts) > 1 and all(map(_is_constant, parts[1:])):
            return OneOf(parts[0], tuple(parts[1:]))
        if kind is exp.Case and len(parts) > 1:
            whens = parts[: 2 * len(node.args["ifs"])]
            rest = parts[len(whens) :]
            return Case(tuple(zip(whens[::2], whens[1::2], strict=True)), rest[0] if rest else None)
        return self._leaf(node)

    def _operands(self, node: Any) -> list[Any]:
        """Return the parts of a node that are expressions themselves, in order; of unknown nodes none."""
        kind = type(node)
        if kind in (exp.Not, exp.Neg):
            return [node.this]
        if kind in _COMPARED or kind in _COMPUTED:
            return [node.this, node.expression]
        if kind is exp.DPipe:
            return [node.this, node.expression]
        if kind is exp.Concat:
            return list(node.expressions)
        if kind in _CALLED or kind is exp.In:
            return [node.this, *node.expressions]
        if kind is exp.Between:
            return [node.this, node.args["low"], node.args["high"]]
        if kind is exp.Is:
            return [node.this] if type(node.expression) is exp.Null else []
        if kind is exp.Case and not node.args.get("this"):
            pairs = [part for one in node.args["ifs"] for part in (one.this, one.args["true"])]
            default = node.args.get("default")
            return pairs if default is None else [*pairs, default]
        return []

    def _call(self, node: Any, function: str, parts: list[Node]) -> Node:
        single = function in ("ABS", "FLOOR", "CEIL")
        # Two texts side by side are one to the parser, a call that nobody wrote: a missing sign, more likely.
        unwritten = type(node) is exp.Concat and "start" not in node.meta
        if unwritten or ((len(parts) != 1) if single else (len(parts) < 2)):
            raise self._refusal(node)
        if function == "CONCAT":  # a || b || c is one call of three texts
            flat = [one.arguments if isinstance(one, Call) and one.function == "CONCAT" else (one,) for one in parts]
            parts = [part for listed in flat for part in listed]
        return Call(function, tuple(parts))

    def _leaf(self, node: Any) -> Node:
        kind = type(node)
        if kind is exp.Column and type(node.this) is exp.Identifier and node.name:
            return Column(node.name, bool(node.this.args.get("quoted")))
        if kind is exp.Boolean:
            return Truth(bool(node.this))
        if kind is exp.Literal and node.is_string:
            name = read_name(node.name)
            if name is None:
                allowed = "compared with texts that are not empty: an empty cell is found by IS NULL"
                raise InvalidArgument(self.argument, node.name, allowed)
            return Text(name)
        if kind is exp.Literal and _NUMBER.fullmatch(node.name):
            value = float(node.name)
            if value == float("inf"):
                raise InvalidArgument(self.argument, node.name, "made of numbers below 1.8e308")
            return Number(value)
        raise self._refusal(node)

    def _refusal(self, part: Any) -> InvalidArgument:
        return InvalidArgument(self.argument, part if isinstance(part, str) else self._shown(part), _ALLOWED)

    def _shown(self, node: Any) -> str:
        """Return a node as the user wrote it where the parser says where it stands: of functions, up to their end."""
        if "start" not in node.meta:
            return str(node.sql())
        start, end = node.meta["start"], node.meta["end"] + 1
        opened = self.text.find("(", end)
        if opened < 0 or self.text[end:opened].strip():
            return self.text[start:end]
        end, depth = opened + 1, 1
        while depth and end < len(self.text):
            depth += (self.text[end] == "(") - (self.text[end] == ")")
            end += 1
        return self.text[start:end]


def _is_constant(node: Node) -> bool:
    return isinstance(node, Number | Text | Truth) or (isinstance(node, Negative) and isinstance(node.of, Number))


def _highlighted(error: Exception) -> str:
    """Return the word at which a parser stopped."""
    found = getattr(error, "errors", None)
    return str(found[0].get("highlight") or "") if found else ""
