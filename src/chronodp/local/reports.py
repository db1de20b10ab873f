"""Reports as they travel, version 1: one line of JSON each, or records of one length; read without trusting them.

A record, little-endian: two bytes "cd", the version, eight bytes of the plan's digest, the slot in four bytes, sixteen
bytes of id, and the answer in as many bytes as the plan says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument, UnreadableSource
from chronodp.local.device import LAST_SLOT, VERSION
from chronodp.local.hashing import LocalHashing
from chronodp.local.plan import LocalPlan
from chronodp.local.response import RandomizedResponse
from chronodp.local.unary import Unary

__all__ = [
    "MARK",
    "Records",
    "fill_records",
    "make_records",
    "parse_lines",
    "parse_records",
    "plan_number",
    "record_type",
]

_CHUNK = 2**14  # records that stay near the processor while they are made
MARK = int.from_bytes(b"cd", "little")

Records = NDArray[Any]
"""Reports, one a row, with the fields mark, version, plan, slot, id and answer."""


def record_type(plan: LocalPlan) -> np.dtype[Any]:
    """Return how the plan's reports are laid out."""
    match plan.mechanism:
        case RandomizedResponse():
            answer: Any = ("answer", "<u4")
        case Unary(choices=choices):
            answer = ("answer", "u1", (-(-choices // 8),))
        case LocalHashing():
            answer = ("answer", "<u4", (3,))
        case _:
            answer = ("answer", "<i8")
    return np.dtype([("mark", "<u2"), ("version", "u1"), ("plan", "<u8"), ("slot", "<u4"), ("id", "<u8", (2,)), answer])


def plan_number(plan: LocalPlan) -> int:
    """Return the plan's digest as records hold it."""
    return int.from_bytes(bytes.fromhex(plan.digest), "little")


def make_records(plan: LocalPlan, slots: NDArray[Any], answers: NDArray[Any], ids: NDArray[Any]) -> Records:
    """Return answers as reports."""
    if not len(slots) == len(answers) == len(ids) or ids.shape[1:] != (2,):
        raise InvalidArgument("ids", ids, "as many pairs of 64-bit numbers as there are answers and slots")
    return fill_records(plan, slots, answers, lambda part: ids[part])


def fill_records(
    plan: LocalPlan, slots: NDArray[Any], answers: NDArray[Any], ids: Callable[[slice], NDArray[Any]]
) -> Records:
    """Return answers as reports, some at a time; ``ids`` gives theirs."""
    layout = record_type(plan)
    made, blank = np.empty(len(slots), dtype=layout), np.zeros(min(len(slots), _CHUNK), dtype=layout)
    blank["mark"], blank["version"], blank["plan"] = MARK, VERSION, plan_number(plan)
    for first in range(0, len(made), _CHUNK):
        part = slice(first, first + _CHUNK)
        chunk = made[part]
        chunk.view(np.uint8)[:] = blank[: len(chunk)].view(np.uint8)  # bytes are copied many times faster than fields
        chunk["slot"], chunk["answer"], chunk["id"] = slots[part], answers[part], ids(part)
    return made


def parse_records(plan: LocalPlan, content: bytes | Path) -> tuple[Records, int]:
    """Return the records in a file or bytes, and how many bytes at the end are no whole record."""
    layout = record_type(plan)
    if isinstance(content, bytes):
        return np.frombuffer(content, dtype=layout, count=len(content) // layout.itemsize), len(
            content
        ) % layout.itemsize
    try:
        size = content.stat().st_size
        count = size // layout.itemsize
        mapped = np.memmap(content, dtype=layout, mode="r", shape=(count,)) if count else np.empty(0, dtype=layout)
    except OSError:
        raise UnreadableSource(f"{content.name} cannot be read") from None
    return mapped, size % layout.itemsize


def parse_lines(plan: LocalPlan, lines: Iterable[str]) -> tuple[Records, int]:
    """Return the reports in lines of JSON, and how many lines are none."""
    layout = record_type(plan)
    wide = int(np.prod(layout["answer"].shape, dtype=int))
    rows, malformed = [], 0
    for line in lines:
        if not line.strip():
            continue
        row = _parse(line, layout, wide)
        if row is None:
            malformed += 1
        else:
            rows.append(row)
    return np.array(rows, dtype=layout), malformed


def _parse(line: str, layout: np.dtype[Any], wide: int) -> tuple[Any, ...] | None:
    try:
        told = json.loads(line)
        plan, number = bytes.fromhex(told["plan"]), bytes.fromhex(told["id"])
        version, slot, answer = told["version"], told["slot"], told["answer"]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    sized = len(plan) == 8 and len(number) == 16 and isinstance(answer, list) and len(answer) == wide
    if not sized or not all(type(part) is int for part in (version, slot, *answer)):
        return None
    limits = np.iinfo(layout["answer"].base)
    fits = 0 <= version <= 255 and 0 <= slot <= LAST_SLOT and all(limits.min <= part <= limits.max for part in answer)
    if not fits:
        return None
    halves = int.from_bytes(number[:8], "little"), int.from_bytes(number[8:], "little")
    kept = tuple(answer) if layout["answer"].shape else answer[0]
    return MARK, version, int.from_bytes(plan, "little"), slot, halves, kept
