"""All verdicts on one page, gathered from the experiments: ``python -m experiments --write``."""

from __future__ import annotations

import sys
from pathlib import Path

HERE = Path(__file__).parent
PAGE = HERE.parent / "docs" / "explanation" / "verdicts.md"

_HEAD = """# What the sources say, and what we find

Gathered by `python -m experiments --write` from the tables that each experiment writes into its README
(`python -m experiments.textbook --write`). Every row is computed with
chronodp; "false" means that a computation contradicts the source.
"""


def verdicts_page() -> str:
    """Return every experiment's table of verdicts under its title."""
    parts = [_HEAD]
    for readme in sorted(HERE.glob("*/README.md")):
        text = readme.read_text(encoding="utf-8")
        title = text.partition("\n")[0].removeprefix("# ")
        table = [line for line in text.splitlines() if line.startswith("|")]
        if table:
            parts += [f"## {title}", "", f"`python -m experiments.{readme.parent.name}`", "", *table, ""]
    return "\n".join(parts).rstrip() + "\n"


if __name__ == "__main__":
    if "--write" in sys.argv[1:]:
        PAGE.write_text(verdicts_page(), encoding="utf-8")
    else:
        print(verdicts_page(), end="")
