"""From a line of a CSV file to its fields, as SQL for DuckDB.

Each line is split in one of two ways, and by itself alone. A line without any quote is split at its separators. One
with a quote is taken apart by a pattern of a whole record, which gives what splitting gives where no field begins with
a quote: so which way a line goes changes nothing but the time that it takes.

*Lines* under "Why it holds" in ``docs/explanation/proofs/reading.md``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["Lines", "literal"]

_WIDEST = 500  # columns, from which on a pattern of all of them takes longer than to find fields one by one


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines of which each shall be a record.

    Attributes:
        table: in SQL, with the column ``line``.
        separator: between fields.
        width: fields of a record.
    """

    table: str
    separator: str
    width: int

    def select(self, places: Sequence[int]) -> str:
        """Return the SQL of some fields of all records, by their places from 0, under the names c0, c1 and so on."""
        fields = ", ".join(f"{self._field_at(place)} AS c{at}" for at, place in enumerate(places))
        # Without the offset DuckDB would move the condition below, and split each line once more to count its fields.
        return f"SELECT {fields} FROM ({self._split(places)} OFFSET 0) WHERE {self._is_record}"

    def unclosed(self) -> str:
        """Return the SQL that counts lines whose quotes do not close."""
        return f"SELECT count(*) FROM {self.table} WHERE NOT {self._closes}"

    def of_other_width(self) -> str:
        """Return the SQL that counts lines with another number of fields."""
        return (
            f"SELECT count(*) FROM ({self._split([])}) WHERE {self._closes} AND NOT coalesce({self._is_record}, false)"
        )

    def _split(self, places: Sequence[int]) -> str:
        plain = f"CASE WHEN NOT contains(line, '\"') THEN string_split(line, {literal(self.separator)}) END"
        quoted = f"CASE WHEN contains(line, '\"') THEN {self._quoted(places)} END"
        return f"SELECT line, {plain} AS plain, {quoted} AS quoted FROM {self.table}"

    def _quoted(self, places: Sequence[int]) -> str:
        """The fields of a line with quotes: those wanted and the line, empty if it is no record; or a list of all."""
        field, s = self._field, re.escape(self.separator)
        if self.width > _WIDEST:
            found = f"regexp_extract_all({literal(self.separator)} || line, {literal(f'{s}({field})')}, 1)"
            return f"CASE WHEN {self._closes} THEN {found} END"
        groups = [f"({field})" if place in places else f"(?:{field})" for place in range(self.width)]
        names = ", ".join(["'line'", *(f"'f{place}'" for place in sorted(set(places)))])
        return f"regexp_extract(line, {literal(f'^({s.join(groups)})$')}, [{names}])"

    def _field_at(self, place: int) -> str:
        field = f"quoted[{place + 1}]" if self.width > _WIDEST else f"quoted.f{place}"
        inside = f"substring({field}, 2, length({field}) - 2)"
        return (
            f"CASE WHEN quoted IS NULL THEN plain[{place + 1}] WHEN NOT starts_with({field}, '\"') THEN {field} "
            f"""WHEN contains({field}, '""') THEN replace({inside}, '""', '"') ELSE {inside} END"""
        )

    @property
    def _is_record(self) -> str:
        quoted = f"len(quoted) = {self.width}" if self.width > _WIDEST else "quoted.line <> ''"
        return f"(len(plain) = {self.width} OR {quoted})"

    @property
    def _closes(self) -> str:
        field, s = self._field, re.escape(self.separator)
        return f"regexp_full_match(line, {literal(f'(?:{field})(?:{s}(?:{field}))*')})"

    @property
    def _field(self) -> str:
        # A quote inside quotes is written twice, so that such a field is one or more pieces in quotes: written like
        # this, each sign says which way to go, and a pattern of a whole line is matched without ever turning back.
        s = re.escape(self.separator)
        return f'"[^"]*"(?:"[^"]*")*|[^"{s}][^{s}]*|'


def literal(content: str) -> str:
    """Return a text as a constant of SQL."""
    return "'" + content.replace("'", "''") + "'"
