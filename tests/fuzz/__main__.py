"""``python -m tests.fuzz``: every parser against so many texts in all; what was found, as a table or JSON.

Texts are chosen by atheris, which follows coverage, where it is installed; by chance elsewhere. Each parser has a
process of its own, two at a time, and the same seeds give the same texts.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

from tests.fuzz.targets import KINDS, NAMES

__all__ = ["SLOW", "main", "shares"]

SLOW = {"training_plan": 20, "table": 20, "people": 20, "workload": 5}  # these get a part of what others do


def main() -> int:
    """Run, print, and return 1 if anything was found."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    which = f"all unless named; of a kind: {', '.join(KINDS)}; or one of {', '.join(NAMES)}"
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=which)
    counted = "texts for all targets together, of which those that are named get their share"
    parser.add_argument("--cases", type=int, default=100_000, help=counted)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--driver", choices=("atheris", "chance"), help="atheris if it is installed")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    told = parser.parse_args()
    unknown = set(told.targets) - set(NAMES) - set(KINDS)
    if unknown:
        parser.error(f"no such target: {', '.join(sorted(unknown))}")
    installed = importlib.util.find_spec("atheris") is not None
    driver = told.driver or ("atheris" if installed else "chance")
    if not told.json and not installed:
        print("atheris is not installed: all texts are chosen by chance")
    given = shares(told.cases, told.targets)
    with ThreadPoolExecutor(2) as pool:
        rows = list(pool.map(partial(_run, driver, told.seed), given, given.values()))
    if told.json:
        print(json.dumps({"driver": driver, "seed": told.seed, "targets": rows}))
    else:
        _show(driver, rows)
    return int(any(row["findings"] for row in rows))


def shares(cases: int, targets: Iterable[str]) -> dict[str, int]:
    """Return how many texts each of some targets or kinds gets, or each of all: as many as if all were given theirs."""
    named = {name for target in targets for name in KINDS.get(target, (target,))} or set(NAMES)
    weights = {name: 1 / SLOW.get(name, 1) for name in NAMES}
    whole = sum(weights.values())
    return {name: max(1, -int(-cases * weight // whole)) for name, weight in weights.items() if name in named}


def _run(driver: str, seed: int, name: str, cases: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "found.json"
        command = [sys.executable, "-m", "tests.fuzz.run", driver, name, str(cases), str(seed), str(out)]
        done = subprocess.run(command, capture_output=True, check=False)
        if out.exists():
            row: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
            return row
    last = done.stderr.decode("utf-8", "replace")[-2000:]
    fault = {"fault": f"the process ended with {done.returncode}", "text": last}
    slowest = {"seconds": 0.0, "text": ""}
    return {"target": name, "cases": 0, "seconds": 0.0, "slowest": slowest, "findings": [fault]}


def _show(driver: str, rows: list[dict[str, Any]]) -> None:
    print(f"{'target':<18}{'cases':>10}{'seconds':>10}{'slowest':>10}{'findings':>10}   ({driver})")
    for row in rows:
        slowest = row["slowest"]["seconds"]
        print(
            f"{row['target']:<18}{row['cases']:>10,}{row['seconds']:>10.1f}{slowest:>10.2f}{len(row['findings']):>10}"
        )
        for one in row["findings"]:
            print(f"    {one['fault']}\n        {one['text']}")
    cases, seconds = sum(row["cases"] for row in rows), sum(row["seconds"] for row in rows)
    slowest = max(row["slowest"]["seconds"] for row in rows)
    print(f"{'all':<18}{cases:>10,}{seconds:>10.1f}{slowest:>10.2f}{sum(len(row['findings']) for row in rows):>10}")


if __name__ == "__main__":
    sys.exit(main())
