"""One parser in a process of its own: so many texts, and one example of each fault that they found.

Texts are chosen by atheris, which follows coverage, or are right texts with a few changes by chance.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import sys
import time
import warnings
from contextlib import nullcontext
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

__all__ = ["Findings", "limit_memory", "main"]

_LONGEST = 20_000  # bytes of a text that atheris chooses
_MEMORY = 6 * 2**30  # bytes of addresses: what asks for so many more fails, and that is a finding
_STATE = Path("/proc/self/statm")


class Findings:
    """How many texts a parser was given, the shortest text for each fault, and the slowest of all."""

    def __init__(self, target: Any, judge: Any) -> None:
        self.target, self.cases = target.name, 0
        self._judge = partial(judge, target)
        self._begun = time.perf_counter()
        self._faults: dict[str, tuple[str, bytes]] = {}
        self._slowest = 0.0, b""

    def give(self, content: bytes) -> None:
        """Give the parser a text, and keep what is wrong about what it does."""
        begun = time.process_time()  # of the processor: it may be busy with other things
        fault = self._judge(content)
        self._slowest = max(self._slowest, (time.process_time() - begun, content))
        self.cases += 1
        if fault is not None:
            kind = fault.partition(": ")[0]
            self._faults[kind] = min(
                self._faults.get(kind, (fault, content)), (fault, content), key=lambda f: len(f[1])
            )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        seconds, text = self._slowest
        return {
            "target": self.target,
            "cases": self.cases,
            "seconds": round(time.perf_counter() - self._begun, 1),
            "slowest": {"seconds": round(seconds, 2), "text": repr(text[:500])},
            "findings": [{"fault": fault, "text": repr(text[:500])} for fault, text in self._faults.values()],
        }


def limit_memory() -> None:
    """Let this process ask for no more than any text should need, beside what it has loaded.

    That alone is no small thing: libraries for a graphics card, or threads of sixteen cores, take gigabytes.
    """
    pages = int(_STATE.read_text(encoding="ascii").split()[0]) if _STATE.is_file() else 0
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + _MEMORY, hard))


def main(driver: str, name: str, cases: int, seed: int, out: Path) -> None:
    """Give a target so many texts, and write what was found to a file."""
    atheris: Any = import_module("atheris") if driver == "atheris" else None
    with atheris.instrument_imports(include=["chronodp"], enable_loader_override=False) if atheris else nullcontext():
        from tests.fuzz.edits import change
        from tests.fuzz.target import judge
        from tests.fuzz.targets import make_targets

        if atheris is None:
            warnings.simplefilter("error")
        (work := out.parent / "work").mkdir()
        target = make_targets(work, name)[name]
    for text in target.seeds:
        judge(target, text)  # which loads what is needed
    limit_memory()
    found = Findings(target, judge)

    def one(content: bytes) -> None:
        found.give(content)
        if found.cases == cases:
            out.write_text(json.dumps(found.to_dict()), encoding="utf-8")

    def mutate(content: bytes, most: int, chosen: int) -> bytes:
        chance = random.Random(chosen)
        mutated: bytes = (
            atheris.Mutate(content, most) if chance.random() < 0.5 else change(content, target.seeds, chance)
        )
        return mutated[:most]

    if atheris is None:
        chance = random.Random(seed)
        for _ in range(cases):
            one(change(chance.choice(target.seeds), target.seeds, chance))
        return
    (corpus := out.parent / "corpus").mkdir()
    for number, text in enumerate(target.seeds):
        (corpus / str(number)).write_bytes(text)
    options = [f"-atheris_runs={cases}", f"-seed={seed}", f"-max_len={_LONGEST}", f"-artifact_prefix={out.parent}/"]
    quiet = ["-rss_limit_mb=0", "-print_final_stats=0", "-verbosity=0", "-timeout=600"]
    atheris.Setup(["fuzz", *options, *quiet, str(corpus)], one, custom_mutator=mutate)
    atheris.Fuzz()  # which ends this process; whoever called clears the folder away


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("name")
    parser.add_argument("cases", type=int)
    parser.add_argument("seed", type=int)
    parser.add_argument("out", type=Path)
    main(**vars(parser.parse_args(sys.argv[1:])))
