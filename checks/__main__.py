"""``python -m checks quick | test | verify``: the three rings, from the quickest to the whole.

``quick --room alerts`` looks at one room alone, ``verify --part fuzz`` at the parts that have this in their name.
``verify`` leaves out what held before with the same files, so that a run that was cut short goes on; ``verify
--afresh`` forgets that. What each part printed is kept in ``.verify``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence

from checks import parts
from checks.parts import ROOT, Part
from checks.running import Outcome, run, summary
from checks.stamps import Stamps

_KEPT = ROOT / ".verify"


def main() -> int:
    """Run one ring and return 1 if anything in it did not hold."""
    parser = argparse.ArgumentParser(prog="python -m checks", description=__doc__)
    parser.add_argument("ring", choices=("quick", "test", "verify"))
    parser.add_argument("--room", default="", help="of quick: the folder of src/chronodp and tests to look at")
    parser.add_argument("--part", default="", help="of verify: only parts with this in their name")
    parser.add_argument("--afresh", action="store_true", help="of verify: also what held before with the same files")
    told = parser.parse_args()
    if told.room and not (ROOT / "tests" / told.room).is_dir():
        rooms = sorted(path.name for path in (ROOT / "tests").iterdir() if path.is_dir() and path.name[0].isalpha())
        parser.error(f"no room {told.room!r}; there are {', '.join(rooms)}")
    if told.ring == "verify":
        every = parts.verify()
        named = [part for part in every if told.part in part.name]
        if not named:
            parser.error(f"no part with {told.part!r} in its name; there are {'; '.join(part.name for part in every)}")
        outcomes = _verify(named, afresh=told.afresh)
    else:
        outcomes = run(parts.quick(told.room) if told.ring == "quick" else parts.test(), _show)
    print(f"\n{summary(outcomes)}", flush=True)
    return int(not all(outcome.held for outcome in outcomes))


def _verify(every: Sequence[Part], *, afresh: bool) -> list[Outcome]:
    stamps = Stamps(_KEPT)
    before = [] if afresh else [Outcome(part, True, 0.0) for part in every if stamps.held(part)]

    def keep(outcome: Outcome) -> None:
        stamps.keep(outcome.part, held=outcome.held, output=outcome.output)
        _show(outcome)

    known = {outcome.part.name for outcome in before}
    return [*before, *run([part for part in every if part.name not in known], keep, at_once=parts.WORKERS)]


def _show(outcome: Outcome) -> None:
    print(f"\n{outcome.part.name}: {'held' if outcome.held else 'FAILED'} after {outcome.seconds:.0f} s", flush=True)
    if outcome.output.strip() and not outcome.held:
        print(outcome.output, flush=True)


if __name__ == "__main__":
    sys.exit(main())
