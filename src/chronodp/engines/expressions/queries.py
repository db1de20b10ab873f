"""An expression as SQL that DuckDB and Spark run alike: total, one rounded operation at a time.

Each term is used once where it is built into another, so a text grows with the expression and not with its depth. Where
DuckDB must look at a number twice (is it finite? then it) the number becomes a column of a select below.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from chronodp.engines.expressions.evaluating import WHOLE
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
    Not,
    Number,
    OneOf,
    Text,
    Truth,
)
from chronodp.engines.expressions.typing import AsName, AsNumber, AsTruth, Cell, Typed
from chronodp.engines.reading import Columns, Stored, Term
from chronodp.engines.reading.terms import call, is_finite, real, string, text_of, try_cast

__all__ = ["with_expressions"]

_COMPARED: dict[str, type[exp.Expression]] = {
    "=": exp.EQ,
    "<>": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_COMPUTED: dict[str, type[exp.Expression]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul, "/": exp.Div}
_REAL = Stored("real", "double")
_DIGITS = "DECIMAL(18, 0)"  # holds every whole number below WHOLE


def with_expressions(
    rows: exp.Query, expressions: Mapping[str, Typed], cells: Mapping[Cell, str], columns: Columns
) -> exp.Select:
    """Return rows with a column more for each expression; ``cells`` says under which names its cells stand there."""
    writer = _Writer(columns, cells)
    kept = [name for name in rows.named_selects if name not in cells.values()]
    found = {name: writer.write(node) for name, node in expressions.items()}
    for number, layer in enumerate(writer.layers):
        carried = [exp.column(name) for name in rows.named_selects]
        rows = exp.select(*carried, *_named(layer)).from_(rows.subquery(f"layer_{number}", copy=False), copy=False)
    last = exp.select(*(exp.column(name) for name in kept), *_named(found))
    return last.from_(rows.subquery("computed", copy=False), copy=False)


def _named(terms: Mapping[str, Term]) -> list[Term]:
    return [exp.Alias(this=term, alias=exp.to_identifier(name)) for name, term in terms.items()]


class _Writer:
    """Writes expressions; collects the columns that must stand in selects below, layer upon layer."""

    def __init__(self, columns: Columns, cells: Mapping[Cell, str]) -> None:
        self.columns, self.dialect, self.cells = columns, columns.dialect, cells
        self.layers: list[dict[str, Term]] = []

    def write(self, node: Typed) -> Term:  # noqa: PLR0912  # one case a kind of node
        """Return a node as a term that may stand anywhere, in parentheses if need be."""
        match node:
            case Cell():
                return exp.column(self.cells[node])
            case Number(value):
                return real(value)
            case Text(value):
                return string(value)
            case Truth(value):
                return exp.true() if value else exp.false()
            case AsNumber(of):
                return exp.cast(self.write(of), "DOUBLE")
            case AsTruth(of):
                return exp.paren(exp.NEQ(this=self.write(of), expression=real(0.0)))
            case AsName(of, "truth"):
                return text_of(self.write(of))
            case AsName(of):
                return self.columns.name(_REAL, self._column(self.write(of)))
            case Negative(of):
                return exp.paren(exp.Neg(this=self.write(of)))
            case Arithmetic(sign, left, right):
                return self._computed(sign, self.write(left), self.write(right))
            case Comparison(sign, left, right):
                return exp.paren(_COMPARED[sign](this=self.write(left), expression=self.write(right)))
            case Not(of):
                return exp.paren(exp.Not(this=self.write(of)))
            case Both(parts):
                return exp.paren(_joined(exp.And, [self.write(part) for part in parts]))
            case Either(parts):
                return exp.paren(_joined(exp.Or, [self.write(part) for part in parts]))
            case IsNull(of):
                return exp.paren(exp.Is(this=self.write(of), expression=exp.null()))
            case OneOf(of, listed):
                return exp.paren(exp.In(this=self.write(of), expressions=[self.write(one) for one in listed]))
            case Between(of, low, high):
                return exp.paren(exp.Between(this=self.write(of), low=self.write(low), high=self.write(high)))
            case Case(branches, otherwise):
                ifs = [exp.If(this=self.write(when), true=self.write(then)) for when, then in branches]
                return exp.Case(ifs=ifs, default=None if otherwise is None else self.write(otherwise))
            case Call(function, arguments):
                return self._called(function, [self.write(one) for one in arguments])
            case Column():
                raise AssertionError("a typed expression has cells, not columns")

    def _computed(self, sign: str, left: Term, right: Term) -> Term:
        if self.dialect == "duckdb":
            number = self._column(_COMPUTED[sign](this=left, expression=right))
            return exp.case().when(is_finite(number, self.dialect), number.copy())
        # In Spark's ANSI mode a plain division by 0 fails. The remainder by infinity is the number itself if that is
        # finite, else NaN: so infinities and NaN become NULL, and the operation is written once.
        computed = call("TRY_DIVIDE", left, right) if sign == "/" else _COMPUTED[sign](this=left, expression=right)
        infinity = exp.cast(string("Infinity"), "DOUBLE")
        remainder = exp.Mod(this=exp.paren(computed), expression=infinity)
        return call("NANVL", remainder, exp.cast(exp.null(), "DOUBLE"))

    def _called(self, function: str, arguments: Sequence[Term]) -> Term:
        first, *rest = arguments
        match function:
            case "COALESCE":
                return call("COALESCE", *arguments)
            case "CONCAT":  # NULL where one is: DuckDB's function of that name would leave it out
                return exp.paren(_joined(exp.DPipe, arguments))
            case "LEAST":
                return exp.Least(this=first, expressions=rest, ignore_nulls=True)
            case "GREATEST":
                return exp.Greatest(this=first, expressions=rest, ignore_nulls=True)
            case "ABS":
                return exp.Abs(this=first)
        rounded = exp.Floor if function == "FLOOR" else exp.Ceil
        if self.dialect == "duckdb":
            number = self._column(rounded(this=first))
            small = exp.LT(this=exp.Abs(this=number), expression=real(WHOLE))
            return exp.case().when(small, number.copy())
        # Spark's own give 64 bits, and in ANSI mode fail beyond: so what is larger comes to 10^18, as NULL does, and
        # that has a digit more than the type holds.
        least = exp.Least(this=first, expressions=[real(WHOLE)], ignore_nulls=True)
        held = exp.Greatest(this=least, expressions=[exp.paren(exp.Neg(this=real(WHOLE)))], ignore_nulls=True)
        return exp.cast(try_cast(rounded(this=held), _DIGITS), "DOUBLE")

    def _column(self, term: Term) -> Term:
        """Return a term as a column, of a select below all that use it; in Spark the term."""
        if self.dialect != "duckdb":
            return term
        used = {column.name for column in term.find_all(exp.Column)}
        level = max((number + 1 for number, layer in enumerate(self.layers) if used & layer.keys()), default=0)
        if level == len(self.layers):
            self.layers.append({})
        name = f"term_{sum(map(len, self.layers))}"
        self.layers[level][name] = term
        return exp.column(name)


def _joined(connector: type[exp.And] | type[exp.Or] | type[exp.DPipe], terms: Sequence[Term]) -> Term:
    joined = terms[0]
    for term in terms[1:]:
        joined = connector(this=joined, expression=term)
    return joined
