"""A device that reports until it is killed: ``python -I victim.py DEVICE PLAN STATE TOLD POINT COUNT``.

It loads the device's file alone, as a device would. It kills itself, with SIGKILL, the COUNT-th time it reaches POINT;
at the point "any" its parent kills it. What it tells goes to a file, line by line.
"""

from __future__ import annotations

import importlib.util
import itertools
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any


def main() -> None:
    code, plan_path, state, told, point, count = sys.argv[1:]
    found = importlib.util.spec_from_file_location("device", code)
    assert found is not None
    assert found.loader is not None
    device = importlib.util.module_from_spec(found)
    found.loader.exec_module(device)
    plan = json.loads(Path(plan_path).read_text(encoding="utf-8"))
    die_at(point, int(count))
    if not Path(state).exists():
        device.start(state, plan)
    mine = device.Device(state, plan)
    with Path(told).open("a", encoding="utf-8", buffering=1) as file:
        first = json.loads(Path(state).read_text(encoding="utf-8").partition("\n")[2])["slot"]
        for slot in itertools.count(max(first, 0)):
            report = mine.send(slot % 2, slot=slot)
            if report is not None:
                file.write(device.to_json(report) + "\n")


def die_at(point: str, count: int) -> None:
    """Put a kill before or after a call that makes the state durable."""
    when, _, name = point.partition(" ")
    if point == "any":
        return
    real, left = getattr(os, name), count

    def dying(*arguments: Any) -> Any:
        nonlocal left
        left -= 1
        if not left and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        done = real(*arguments)
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)
        return done

    setattr(os, name, dying)


if __name__ == "__main__":
    main()
