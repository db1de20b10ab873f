"""Who asked, by the id of their request: what stands before its first slash, and the slash.

Lists are filtered by it in SQL before they are cut, through an index on the same expression.
"""

from __future__ import annotations

__all__ = ["asked_by", "asker", "asker_of"]


def asker(column: str) -> str:
    """Return the SQL of a request's asker, such as ``ana/``; of an id without a slash, that id.

    SQLite and PostgreSQL have no function in common that finds a slash. Both can take away, from the left, all
    characters that an id has other than slashes: what is left begins with the first one.
    """
    rest = f"ltrim({column}, replace({column}, '/', ''))"
    return f"substr({column}, 1, length({column}) - length({rest}) + 1)"


def asker_of(request: str) -> str:
    """Return the same of an id at hand; empty for one without a slash, which is whoever holds the ledger."""
    name, slash, _ = request.partition("/")
    return name + slash if slash else ""


def asked_by(column: str, by: str | None) -> tuple[str, tuple[str, ...]]:
    """Return the SQL condition that requests are of one asker, as `asker_of` names them, with its parameters.

    Of None, the condition that always holds.
    """
    if by is None:
        return "1 = 1", ()
    if not by:
        return f"replace({column}, '/', '') = {column}", ()
    return f"{asker(column)} = ?", (by,)
