"""One parser under a fuzzer that follows coverage: atheris, in a process of its own, from a fixed seed."""

from __future__ import annotations

import json
import random
import sys
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.fuzz.findings import Findings, limit_memory, parse_run

__all__ = ["main"]

_LONGEST = 20_000


def main(arguments: list[str]) -> None:
    """Give a target so many texts, and write what was found to a file."""
    told = parse_run(arguments)
    atheris: Any = __import__("atheris")
    _fuzz(atheris, told.target, told.cases, told.seed, told.out)


def _fuzz(atheris: ModuleType | Any, name: str, cases: int, seed: int, out: Path) -> None:
    folder = out.parent  # whoever called clears it away: the fuzzer ends this process without coming back
    (folder / "corpus").mkdir()
    (folder / "work").mkdir()
    with atheris.instrument_imports(include=["chronodp"], enable_loader_override=False):
        from tests.fuzz.edits import apply, random_edits
        from tests.fuzz.target import judge
        from tests.fuzz.targets import make_targets

        target = make_targets(folder / "work", name)[name]
    for number, text in enumerate(target.seeds):
        (folder / "corpus" / str(number)).write_bytes(text)
        judge(target, text)  # which loads what is needed
    limit_memory()
    found = Findings(name, partial(judge, target))

    def one(content: bytes) -> None:
        found.give(content)
        if found.cases == cases:
            out.write_text(json.dumps(found.to_dict()), encoding="utf-8")

    def change(content: bytes, most: int, chosen: int) -> bytes:
        chance = random.Random(chosen)
        if chance.random() < 0.5:
            mutated: bytes = atheris.Mutate(content, most)
            return mutated
        return apply(random_edits(chance), content, target.seeds)[:most]

    options = [
        f"-atheris_runs={cases}",
        f"-seed={seed}",
        f"-max_len={_LONGEST}",
        f"-artifact_prefix={folder}/",
        "-rss_limit_mb=0",
        "-print_final_stats=0",
        "-verbosity=0",
        "-timeout=600",
    ]
    atheris.Setup(["fuzz", *options, str(folder / "corpus")], one, custom_mutator=change)
    atheris.Fuzz()


if __name__ == "__main__":
    main(sys.argv[1:])
