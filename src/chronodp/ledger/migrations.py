"""The tables, as numbered steps that run once, in order, on SQLite and on PostgreSQL alike.

Only types that both understand are used: TEXT, and BIGINT for whole numbers of 64 bits.
"""

from __future__ import annotations

from chronodp.ledger.filters import COMPONENTS

__all__ = ["MIGRATIONS", "SPENT"]

SPENT = tuple(f"spent_{index}" for index in range(COMPONENTS))

MIGRATIONS: tuple[tuple[str, ...], ...] = (
    (
        """CREATE TABLE budgets (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, terms TEXT NOT NULL, opened BIGINT NOT NULL, closed BIGINT,
            PRIMARY KEY (dataset, analyst))""",
        f"""CREATE TABLE accounts (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, period TEXT NOT NULL,
            {", ".join(f"{column} BIGINT NOT NULL DEFAULT 0" for column in SPENT)},
            reserved BIGINT NOT NULL DEFAULT 0, charges BIGINT NOT NULL DEFAULT 0, clock BIGINT NOT NULL DEFAULT 0,
            PRIMARY KEY (dataset, analyst, period))""",
        """CREATE TABLE charges (
            dataset TEXT NOT NULL, analyst TEXT NOT NULL, period TEXT NOT NULL, number BIGINT NOT NULL,
            cost TEXT NOT NULL, unit TEXT NOT NULL, amounts TEXT NOT NULL, purpose TEXT NOT NULL, made BIGINT NOT NULL,
            PRIMARY KEY (dataset, analyst, period, number))""",
        """CREATE TABLE requests (
            dataset TEXT NOT NULL, request TEXT NOT NULL, fingerprint TEXT NOT NULL, made BIGINT NOT NULL,
            link BIGINT, release TEXT,
            PRIMARY KEY (dataset, request))""",
        """CREATE TABLE streams (
            name TEXT NOT NULL PRIMARY KEY, dataset TEXT NOT NULL, fingerprint TEXT NOT NULL, step BIGINT NOT NULL,
            state TEXT NOT NULL, finished BIGINT NOT NULL)""",
        """CREATE TABLE steps (
            stream TEXT NOT NULL, step BIGINT NOT NULL, released TEXT NOT NULL, PRIMARY KEY (stream, step))""",
        """CREATE TABLE links (
            dataset TEXT NOT NULL, number BIGINT NOT NULL, body TEXT NOT NULL, signature TEXT NOT NULL,
            digest TEXT NOT NULL, PRIMARY KEY (dataset, number))""",
        "CREATE TABLE chains (dataset TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL, digest TEXT NOT NULL)",
    ),
)
