"""Every mechanism, mutant and attack in one table: ``python -m tests.audit [NAME] [--seconds 5] [--within 30]``."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Callable, Sequence

from rich.table import Table

from chronodp.audit import Allowance, Verdict, judge_all
from chronodp.cli.audit import add_verdict, verdict_table
from chronodp.cli.terminal import terminal
from tests.audit.attacks import ATTACKS, Attempt
from tests.audit.mutants import MUTANTS
from tests.audit.registry import Mutant, entries

_TRIALS = 120


def audit(arguments: Sequence[str] | None = None, *, progress: Callable[[float], None] | None = None) -> bool:
    """Print what an audit found; return whether claims stand, mutants are caught and attacks break the naive alone."""
    wanted = _parser().parse_args(arguments)
    word = wanted.name.casefold()
    cases = [
        case
        for entry in entries()
        for case in entry.cases()
        if word in entry.name.casefold() or word in case.name.casefold()
    ]
    mutants = [mutant for mutant in MUTANTS if word in mutant.name.casefold()]
    if not cases and not mutants:
        sys.exit(f"no mechanism and no mutant has {wanted.name!r} in its name")
    line = [*cases, *(case for mutant in mutants for case in mutant.cases)]
    found = judge_all(line, Allowance(seconds=wanted.seconds), within=wanted.within, progress=progress)
    attacks = ATTACKS if not word and wanted.within == math.inf else ()
    attempts = [attack(_TRIALS) for attack in attacks]
    verdicts, twins = found[: len(cases)], found[len(cases) :]
    return _show(verdicts, list(zip(mutants, twins[::2], twins[1::2], strict=True)), attempts)


def _show(verdicts: list[Verdict], mutants: list[tuple[Mutant, Verdict, Verdict]], attempts: list[Attempt]) -> bool:
    console = terminal()
    table = verdict_table("Mechanisms", "mechanism")
    for verdict in verdicts:
        add_verdict(table, verdict.case.name, verdict, good=verdict.passed)
    console.print(table)
    table = verdict_table("Mutants, which must be refuted", "mistake")
    for mutant, sound, broken in mutants:
        add_verdict(table, mutant.name, broken, good=broken.outcome == "refuted")
        if not sound.passed:
            add_verdict(table, f"{mutant.name}, without the mistake", sound, good=False)
    console.print(table)
    table = Table("attack", "against", "right guesses", "here", "most that ε allows", title="Attacks from end to end")
    for attempt in attempts:
        table.add_row(
            attempt.name,
            attempt.naive,
            f"{attempt.naive_hits}/{attempt.naive_guesses}",
            f"{attempt.our_hits}/{attempt.our_guesses}",
            f"{attempt.ceiling:.1%}",
            style=None if attempt.breaks_naive and not attempt.breaks_ours else "bold red",
        )
    if attempts:
        console.print(table)
    for name, reason in {verdict.case.name: verdict.reason for verdict in verdicts if verdict.reason}.items():
        console.print(f"{name} cannot be judged: {reason}.")
    stand = sum(verdict.passed for verdict in verdicts)
    caught = sum(sound.passed and broken.outcome == "refuted" for _, sound, broken in mutants)
    failed = sum(attempt.breaks_naive and not attempt.breaks_ours for attempt in attempts)
    console.print(f"{stand} of {len(verdicts)} claims stand; {caught} of {len(mutants)} mutants caught.")
    return (stand, caught, failed) == (len(verdicts), len(mutants), len(attempts))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.audit", description="Attack every claim.")
    parser.add_argument(
        "name", nargs="?", default="", help="part of the name of a mechanism or mutant; all if left out"
    )
    parser.add_argument("--seconds", type=float, default=5.0, help="how long each attack by samples may take")
    parser.add_argument("--within", type=float, default=math.inf, help="seconds after which nothing else is begun")
    return parser


if __name__ == "__main__":
    sys.exit(0 if audit() else 1)
