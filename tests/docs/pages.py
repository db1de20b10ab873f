"""The pages that people read, taken apart: prose, links, blocks of code and commands."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
SHELLS = {"bash", "console", "sh"}
_FENCED = re.compile(r"^```(\{?\w*\}?)[^\n]*\n(.*?)^```$", flags=re.DOTALL | re.MULTILINE)
_INDENTED = re.compile(r"(?:(?<=\n\n)|\A)(?: {4}.*\n|\n(?= {4}))+")


@dataclass(frozen=True)
class Block:
    """A fenced block of a page, with its language."""

    page: Path
    language: str
    text: str


def pages() -> list[Path]:
    """Return every page in the order of its path; what a build of the documentation writes is left out."""
    found = [path for path in ROOT.glob("*.md") if path.is_file()]
    for folder in ("benchmarks", "docs", "examples", "experiments"):
        found += (ROOT / folder).rglob("*.md")
    made = [ROOT / "docs" / part for part in ("_build", "generated", "examples/generated", "reference/generated")]
    return sorted(path for path in found if not any(path.is_relative_to(folder) for folder in made))


def blocks(page: Path) -> list[Block]:
    """Return the fenced blocks of a page."""
    return [Block(page, *found) for found in _FENCED.findall(page.read_text(encoding="utf-8"))]


def prose(page: Path) -> str:
    """Return a page without its fenced blocks."""
    return _FENCED.sub("", page.read_text(encoding="utf-8"))


def links(page: Path) -> list[str]:
    """Return the targets of a page's links, pictures included."""
    return re.findall(r"\]\(([^()\s]+)\)", re.sub(r"`[^`\n]*`", "", prose(page)))


def anchors(page: Path) -> set[str]:
    """Return the anchors of a page's headings, as GitHub and the documentation make them."""
    heads = re.findall(r"^#+ (.+)$", prose(page), flags=re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


def commands(page: Path) -> Iterator[list[str]]:
    """Yield the words of each ``chronodp`` command that a page shows, in blocks or in running text."""
    told = re.findall(r"`(chronodp [^`]+)`", prose(page).replace("\n", " "))
    for line in [*typed(page), *map(_pipeline, told)]:
        yield from (words[1:] for words in line if words[0] == "chronodp")


def typed(page: Path) -> list[list[list[str]]]:
    """Return the lines that a page has one type in a shell, each as the commands of a pipeline."""
    parts = [*_INDENTED.findall(prose(page)), *(block.text for block in blocks(page) if block.language in SHELLS)]
    lines = [line.removeprefix("$ ") for part in parts for line in part.replace("\\\n", " ").splitlines()]
    return [_pipeline(line) for line in lines if "chronodp" in line.split()]


def _pipeline(line: str) -> list[list[str]]:
    """Return the commands of a line of shell: pipes and ``&&`` part them, and a comment ends them."""
    reader = shlex.shlex(line.strip(), posix=True, punctuation_chars="|&")
    reader.whitespace_split = True
    found: list[list[str]] = [[]]
    for word in reader:
        if set(word) <= {"|", "&"}:
            found.append([])
        else:
            found[-1].append(word)
    return found
