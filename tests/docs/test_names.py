"""The names at the top: few, each documented, each in the reference; and the version everywhere the same."""

from __future__ import annotations

import importlib
import importlib.metadata
import inspect
import re
from types import ModuleType

import chronodp
from tests.docs.pages import ROOT

NAMES = [name for name in chronodp.__all__ if name != "__version__"]
MODULES = [name for name in NAMES if isinstance(getattr(chronodp, name), ModuleType)]
ROOMS = sorted(path.parent.name for path in (ROOT / "src/chronodp").glob("*/__init__.py"))


def test_the_names_at_the_top_are_few() -> None:
    assert MODULES == ["errors", "privacy"]
    assert len(NAMES) <= 30
    assert dir(chronodp) == sorted(chronodp.__all__)
    # All that users are promised: the reference shows each of them.
    assert sum(len(importlib.import_module(f"chronodp.{room}").__all__) for room in ROOMS) <= 242


def test_each_name_says_what_it_is_and_is_in_the_reference_of_its_room() -> None:
    """The reference has a page for each room, of the names that the room exports."""
    for name in NAMES:
        named = getattr(chronodp, name)
        assert inspect.getdoc(named), name
        if name not in MODULES:
            room = getattr(chronodp, named.__module__.split(".")[1])
            assert name in room.__all__, name
            assert getattr(room, name) is named, name


def test_every_room_is_there_when_asked() -> None:
    for room in ROOMS:
        assert room == "cli" or getattr(chronodp, room).__name__ == f"chronodp.{room}"


def test_the_version_has_an_entry_in_the_changelog() -> None:
    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (\S+), ", changes, flags=re.MULTILINE)[0] == chronodp.__version__
    assert importlib.metadata.version("chronodp") == chronodp.__version__
