"""``benchmarks/RESULTS.md``: a section a benchmark, in it a table of each kind of machine, or one for all.

A run writes the table of the machine that it ran on; the other machine's keeps its figures, its day and its commit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from benchmarks.harness import ABSENT, EVERYWHERE, Topic

__all__ = ["MACHINES", "RESULTS", "Results", "Section", "Table"]

RESULTS = Path(__file__).with_name("RESULTS.md")
MACHINES = ("x86_64", "aarch64")
_HEAD = """\
# Benchmark results

Times and rates have a table for each kind of machine, with the day, and the commit that was measured or that wrote
it down: figures of one table can be compared, those of two machines cannot. What is computed or counted is the same
on every machine and stands once. `python -m benchmarks --write NAME` measures anew and writes the table of the machine
that it runs on; `make bench` does so for all. A library that could not be had is "not installed" in its cells.

"""
_HERE = "Of this run: "


@dataclass(frozen=True)
class Table:
    """What one run found.

    Attributes:
        where: the kind of machine, or that it is the same on every one.
        day: when it was measured.
        commit: what was measured.
        lines: the table in Markdown, its heading first.
        notes: what was compared, and what else was found.
    """

    where: str
    day: str
    commit: str
    lines: tuple[str, ...]
    notes: tuple[str, ...] = ()

    @property
    def absent(self) -> int:
        """How many cells say that a library was not there."""
        return sum(one.count(ABSENT) for one in self.lines)

    @property
    def rows(self) -> list[dict[str, str]]:
        """The cells of each line, by their headings."""
        heads, _, *rows = [[cell.strip() for cell in one.strip("|").split("|")] for one in self.lines]
        return [dict(zip(heads, row, strict=True)) for row in rows]


@dataclass(frozen=True)
class Section:
    """One benchmark, and its tables by machine."""

    name: str
    title: str
    command: str
    tables: tuple[Table, ...]

    def with_topic(self, topic: Topic, where: str, day: str, commit: str) -> Section:
        """Return the section with what a run found in place of what that machine had."""
        found = Table(EVERYWHERE if topic.everywhere else where, day, commit, topic.lines(), tuple(topic.notes))
        if any(one.where == found.where == EVERYWHERE and one.absent < found.absent for one in self.tables):
            return self  # it holds here too, and knows more libraries
        kept = [one for one in self.tables if EVERYWHERE not in {one.where, found.where} and one.where != found.where]
        tables = sorted([*kept, found], key=lambda one: [*MACHINES, one.where].index(one.where))
        return replace(self, title=topic.title, command=topic.command, tables=tuple(tables))

    def on(self, machine: str) -> Table | None:
        """Return the table that holds for a machine."""
        return next((one for one in self.tables if one.where in {machine, EVERYWHERE}), None)

    def to_markdown(self) -> str:
        """Return the section; notes that all tables share stand once, below them."""
        notes = list(dict.fromkeys(chain.from_iterable(table.notes for table in self.tables)))
        shared = [note for note in notes if all(note in table.notes for table in self.tables)]
        blocks = [f"<!-- {self.name} -->\n## {self.title}", f"`{self.command}`"]
        for table in self.tables:
            blocks += [f"### {table.where} · {table.day} · {table.commit}", "\n".join(table.lines)]
            blocks += [_HERE + note for note in table.notes if note not in shared]
        blocks += [f"Not measured on {machine} yet." for machine in MACHINES if self.on(machine) is None]
        blocks += ["\n".join(f"- {note}" for note in shared)] if shared else []
        return "\n\n".join(blocks) + "\n"


@dataclass(frozen=True)
class Results:
    """The whole file: what each kind of machine was when it last measured, and the sections by name."""

    machines: dict[str, str]
    sections: dict[str, Section]

    @classmethod
    def read(cls, text: str) -> Results:
        """Return what a results file says."""
        head, *parts = text.split("<!-- ")
        said = [one[2:].partition(": ") for one in head.splitlines() if one.startswith("- ")]
        found = [_section(*part.split(" -->\n", 1)) for part in parts]
        return cls({name: what for name, _, what in said}, {section.name: section for section in found})

    def with_topic(self, name: str, topic: Topic, *, where: str, day: str, commit: str) -> Results:
        """Return the results with one table written anew."""
        section = self.sections.get(name, Section(name, topic.title, topic.command, ()))
        return replace(self, sections={**self.sections, name: section.with_topic(topic, where, day, commit)})

    def to_markdown(self, order: list[str]) -> str:
        """Return the file, its sections in an order; one that is measured no longer is left out."""
        machines = "".join(f"- {name}: {what}\n" for name, what in self.machines.items())
        sections = (self.sections[name].to_markdown() for name in order if name in self.sections)
        return "\n".join([_HEAD + machines, *sections])


def _section(name: str, body: str) -> Section:
    before, *parts = body.split("\n### ")
    title, command = (one for one in before.splitlines() if one)
    shared = [one[2:] for one in parts[-1].splitlines() if one.startswith("- ")]
    return Section(name, title.removeprefix("## "), command.strip("`"), tuple(_table(part, shared) for part in parts))


def _table(part: str, shared: list[str]) -> Table:
    heading, *rest = part.splitlines()
    where, day, commit = heading.split(" · ")
    here = [one.removeprefix(_HERE) for one in rest if one.startswith(_HERE)]
    return Table(where, day, commit, tuple(one for one in rest if one.startswith("|")), (*shared, *here))
