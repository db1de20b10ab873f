"""The tables of a ledger, as one text for SQLite and PostgreSQL alike, and the number of their form.

Only types that both understand are used: TEXT, BIGINT for whole numbers of 64 bits, and BYTEA, which SQLite takes for
no type of its own and so keeps bytes in as they are.
"""

from __future__ import annotations

from chronodp.errors import LedgerUnavailable
from chronodp.ledger.askers import asker
from chronodp.ledger.filters import COMPONENTS
from chronodp.ledger.store import Store

__all__ = ["FORMAT", "SPENT", "TABLES", "make_tables"]

FORMAT = 9
"""Of the tables below: raised whenever they change, so that no file of another form is taken for one of this."""

SPENT = tuple(f"spent_{index}" for index in range(COMPONENTS))

TABLES: tuple[str, ...] = (
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
    # What the periods of a dataset's unit are, where the first charge said it.
    "CREATE TABLE meanings (dataset TEXT NOT NULL PRIMARY KEY, unit TEXT NOT NULL)",
    # Of a request its own text ``debit`` for every debit, by which the process that made it knows it again.
    """CREATE TABLE requests (
        dataset TEXT NOT NULL, request TEXT NOT NULL, fingerprint TEXT NOT NULL, made BIGINT NOT NULL,
        link BIGINT, release TEXT, kind TEXT, debit TEXT,
        PRIMARY KEY (dataset, request))""",
    # A row without its text says that something is being drawn.
    """CREATE TABLE choices (
        dataset TEXT NOT NULL, request TEXT NOT NULL, number BIGINT NOT NULL, chosen TEXT,
        PRIMARY KEY (dataset, request, number))""",
    # Numbers that are too many for a release's text, in the parts that the text names; numbers.py packs them.
    """CREATE TABLE parts (
        dataset TEXT NOT NULL, request TEXT NOT NULL, number BIGINT NOT NULL, content BYTEA NOT NULL,
        PRIMARY KEY (dataset, request, number))""",
    """CREATE TABLE streams (
        name TEXT NOT NULL PRIMARY KEY, dataset TEXT NOT NULL, fingerprint TEXT NOT NULL, step BIGINT NOT NULL,
        state TEXT NOT NULL, finished BIGINT NOT NULL)""",
    """CREATE TABLE steps (
        stream TEXT NOT NULL, step BIGINT NOT NULL, released TEXT NOT NULL, PRIMARY KEY (stream, step))""",
    # What a stream must remember beyond its state: written once with a step, and never again.
    """CREATE TABLE stream_rows (
        stream TEXT NOT NULL, step BIGINT NOT NULL, number BIGINT NOT NULL, sealed TEXT NOT NULL,
        PRIMARY KEY (stream, step, number))""",
    """CREATE TABLE links (
        dataset TEXT NOT NULL, number BIGINT NOT NULL, body TEXT NOT NULL, signature TEXT NOT NULL,
        digest TEXT NOT NULL, PRIMARY KEY (dataset, number))""",
    "CREATE TABLE chains (dataset TEXT NOT NULL PRIMARY KEY, number BIGINT NOT NULL, digest TEXT NOT NULL)",
    """CREATE TABLE identity (
        ledger TEXT NOT NULL PRIMARY KEY, public_key TEXT NOT NULL, generation BIGINT NOT NULL,
        made BIGINT NOT NULL)""",
    """CREATE TABLE restorations (
        generation BIGINT NOT NULL PRIMARY KEY, made BIGINT NOT NULL, known_until BIGINT NOT NULL,
        complete BIGINT NOT NULL)""",
    f"""CREATE TABLE booked (
        dataset TEXT NOT NULL, analyst TEXT NOT NULL, until TEXT NOT NULL,
        {", ".join(f"{column} BIGINT NOT NULL" for column in SPENT)}, reserved BIGINT NOT NULL,
        PRIMARY KEY (dataset, analyst, until))""",
    # What releases claim, counted.
    "CREATE TABLE claim_words (claim TEXT NOT NULL PRIMARY KEY, words TEXT NOT NULL)",
    """CREATE TABLE claims (
        dataset TEXT NOT NULL, asker TEXT NOT NULL, claim TEXT NOT NULL, releases BIGINT NOT NULL,
        PRIMARY KEY (dataset, asker, claim))""",
    # Lists in the order in which they are shown: of a dataset, of all, and of one asker. What is only debited is in
    # none of them, so a debit pays for the list of charges alone.
    "CREATE INDEX unreleased ON requests (dataset) WHERE link IS NULL",
    "CREATE INDEX released ON requests (dataset, link) WHERE link IS NOT NULL",
    f"CREATE INDEX released_to ON requests (dataset, ({asker('request')}), link) WHERE link IS NOT NULL",
    "CREATE INDEX released_lately ON requests (made, dataset, link) WHERE link IS NOT NULL",
    f"CREATE INDEX released_lately_to ON requests (({asker('request')}), made, dataset, link) WHERE link IS NOT NULL",
    "CREATE INDEX charged ON charges (dataset, made, number, analyst, period)",
    f"CREATE INDEX charged_to ON charges (dataset, ({asker('purpose')}), made, number, analyst, period) "
    "WHERE analyst = ''",
)


def make_tables(
    store: Store, tables: tuple[str, ...] = TABLES, *, form: int = FORMAT, kept_in: str = "ledger_version"
) -> None:
    """Make a store's tables, once, whoever comes first; ``kept_in`` is the table with the number of their form."""
    with store.transaction() as transaction:
        transaction.alone()
        transaction.run(f"CREATE TABLE IF NOT EXISTS {kept_in} (version BIGINT NOT NULL)")
        found = transaction.run(f"SELECT MAX(version) FROM {kept_in}")[0][0]
        if found is None:
            for statement in tables:
                transaction.run(statement)
            transaction.run(f"INSERT INTO {kept_in} (version) VALUES (?)", (form,))
        elif int(found) != form:
            raise LedgerUnavailable(
                f"the tables of this ledger have format {found}, and this chronodp reads format {form} alone: use the "
                "version that made them"
            )
