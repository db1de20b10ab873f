"""What the sources say and what we find: ``python -m experiments``, with names of rooms to see fewer.

Examples:
    python -m experiments correlated_sequences            a table
    python -m experiments --json                          one JSON object
    python -m experiments --data folder --write           write the documentation's page, as `make figures` does
    python -m experiments --figures pages                 every figure as HTML, SVG and CSV
    python -m experiments --sources folder                find every quoted string in the sources' text
    python -m experiments --coverage                      break every computation in turn
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from rich.console import Console
from rich.markup import escape
from rich.progress import track
from rich.table import Table

from experiments.claims.attribution import missing_tokens
from experiments.claims.claim import Claim, Finding
from experiments.claims.coverage import coverage_page, killed_by
from experiments.claims.datasets import given
from experiments.claims.gathering import ROOMS, all_claims, all_figures
from experiments.claims.page import as_dict, page
from experiments.figures import Figure
from experiments.figures.gallery import GALLERIES, gallery_page
from experiments.figures.writing import Kind, write_figure

PAGES = Path(__file__).parent.parent / "docs" / "generated"


def main(words: list[str] | None = None) -> int:
    """Run the command; return its exit code."""
    options = _parser().parse_args(words)
    if options.write and options.rooms:
        raise SystemExit("--write makes whole pages: leave the names of rooms out")
    if options.write:
        PAGES.mkdir(exist_ok=True)
    data, rooms = given(options.data), options.rooms or ROOMS
    if options.figures is not None:
        return _draw(all_figures(data, rooms), options.figures, write=options.write)
    claims = all_claims(data, rooms)
    if options.sources is not None:
        return _attribute(claims, options.sources)
    if options.coverage:
        return _cover(claims, write=options.write)
    findings = _find(claims)
    if options.write:
        (PAGES / "verdicts.md").write_text(page(findings), encoding="utf-8")
    elif options.json:
        print(json.dumps({"findings": [as_dict(finding) for finding in findings]}, ensure_ascii=False))
    else:
        _show(findings)
    return 0


def _find(claims: list[Claim]) -> list[Finding]:
    return [claim.find() for claim in track(claims, "reading", console=Console(stderr=True), transient=True)]


def _show(findings: list[Finding]) -> None:
    table = Table("claim", "in our words", "stated", "we find", "verdict", show_lines=True)
    for finding in findings:
        claim = finding.claim
        cells = (f"{claim.id}\n{claim.place}", claim.says, claim.statement, finding.shown, finding.verdict)
        table.add_row(*map(escape, cells), style="red" if finding.contradicted else None)
    Console().print(table)


def _attribute(claims: list[Claim], folder: Path) -> int:
    missing = missing_tokens(claims, folder)
    tokens = sum(len(claim.tokens) for claim in claims)
    print("\n".join(missing) or f"all {tokens:,} quoted strings stand in their sources")
    return int(bool(missing))


def _cover(claims: list[Claim], *, write: bool) -> int:
    findings = _find([claim for claim in claims if claim.readings and not claim.slow])
    text = coverage_page(findings, killed_by(findings, lambda name: print(name, file=sys.stderr)))
    if write:
        (PAGES / "verdict-coverage.md").write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    return 0


def _draw(figures: list[Figure], folder: Path, *, write: bool) -> int:
    kinds: tuple[Kind, ...] = ("svg", "csv") if write else ("html", "svg", "csv")
    for figure in track(figures, "drawing", console=Console(stderr=True), transient=True):
        write_figure(figure, PAGES / "figures" if write else folder, kinds)
    for gallery, name in GALLERIES.items():
        text = gallery_page(figures, gallery, pictures="figures" if write else ".")
        (PAGES if write else folder).joinpath(name).write_text(text, encoding="utf-8")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m experiments", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("rooms", nargs="*", choices=[*ROOMS, []], metavar="room", help=f"of {', '.join(ROOMS)}")
    parser.add_argument("--json", action="store_true", help="one JSON object on standard output")
    parser.add_argument("--write", action="store_true", help="write the documentation's page, galleries or coverage")
    parser.add_argument(
        "--data", action="append", default=[], metavar="folder|role=file", help="real series in place of made-up ones"
    )
    parser.add_argument(
        "--figures", nargs="?", const=Path("figures"), type=Path, metavar="folder", help="draw every figure"
    )
    parser.add_argument("--sources", type=Path, metavar="folder", help="find every quoted string in the sources' text")
    parser.add_argument("--coverage", action="store_true", help="break every computation in turn")
    return parser


if __name__ == "__main__":
    sys.exit(main())
