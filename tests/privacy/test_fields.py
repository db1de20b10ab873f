"""Frozen dataclasses take their checked form in one way, and stay what they were in all else."""

from __future__ import annotations

import ast
import copy
import dataclasses
import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from chronodp.local import RandomizedResponse
from chronodp.privacy import Calendar, GaussianCost, Guarantee, User, Window
from chronodp.series.workloads import Hierarchy
from chronodp.temporal import BlockShuffle

SOURCE = Path(__file__).parents[2] / "src" / "chronodp"
HOME = SOURCE / "privacy" / "fields.py"
# As given, and as it is written; whole numbers become floats, and texts take one form.
RECORDS = [
    (GaussianCost(1, 2), "GaussianCost(sensitivity=1.0, sigma=2.0)"),
    (
        Guarantee(User(), 1),
        "Guarantee(unit=User(relation='add_remove', called=None), epsilon=1.0, delta=0.0, assumptions=())",
    ),
    (
        Calendar("1h", "2026-01-01", "2026-01-02"),
        "Calendar(every='1h', start='2026-01-01T00:00:00+00:00', end='2026-01-02T00:00:00+00:00', timezone='UTC')",
    ),
    (
        Window(24, every="1h"),
        "Window(periods=24, relation='add_remove', every='1h', timezone=None, begins=None, called=None)",
    ),
    (Hierarchy((4, 2)), "Hierarchy(levels=(1, 2, 4))"),
    (RandomizedResponse(1, 3), "RandomizedResponse(epsilon=1.0, choices=3)"),
    (BlockShuffle(8, epsilon=1), "BlockShuffle(block=8, epsilon=1.0)"),
]


@pytest.mark.parametrize(("record", "shown"), RECORDS, ids=lambda part: type(part).__name__)
def test_records_are_copied_compared_hashed_and_shown(record: Any, shown: str) -> None:
    assert repr(record) == shown
    for other in (
        pickle.loads(pickle.dumps(record)),
        copy.copy(record),
        copy.deepcopy(record),
        dataclasses.replace(record),
    ):
        assert other == record
        assert hash(other) == hash(record)
        assert repr(other) == shown
    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(record, dataclasses.fields(record)[0].name, 1)


def settled() -> Iterator[tuple[str, set[str], ast.FunctionDef, ast.Call]]:
    """Yield each call with the file and the fields of the class that it stands in."""
    for path in SOURCE.rglob("*.py"):
        if "settle(" not in (text := path.read_text(encoding="utf-8")):
            continue
        for kind in (node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)):
            fields = {
                one.target.id
                for one in kind.body
                if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
            }
            for method in (one for one in kind.body if isinstance(one, ast.FunctionDef)):
                for call in (one for one in ast.walk(method) if isinstance(one, ast.Call)):
                    if isinstance(call.func, ast.Name) and call.func.id == "settle":
                        yield str(path.relative_to(SOURCE)), fields, method, call


@pytest.mark.slow
def test_fields_are_settled_while_a_record_is_made_and_by_their_names() -> None:
    calls = list(settled())
    assert len(calls) > 50
    for path, fields, method, call in calls:
        assert method.name in ("__post_init__", "__init__"), path
        names = {keyword.arg for keyword in call.keywords if keyword.arg is not None}
        assert names <= fields, (path, names - fields)


def test_no_other_file_goes_past_a_frozen_field() -> None:
    users = [path for path in SOURCE.rglob("*.py") if "object.__setattr__" in path.read_text(encoding="utf-8")]
    assert users == [HOME]
