"""Whether two datasets of a policy read the same files.

A budget is a dataset's. Two datasets on one file would give its people two whole budgets, so that is refused unless the
owner says that they are about other people: "One budget for the same people" in section 6 of
``docs/explanation/proofs/curator.md``. Files are told by what they are on disk, whatever links and letters lead to
them; where there are none yet, and for patterns, by whether one name could be both.
"""

from __future__ import annotations

import glob
import itertools
import operator
import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeAlias

from chronodp.service.policy import Dataset
from chronodp.settings import Section

__all__ = ["Look", "by_name", "check_files", "on_disk"]


_PATTERN = re.compile(r"[*?[]")  # what `glob.has_magic` looks for
_WAYS = 4096  # in which two patterns are compared before they are taken for one


class _Files(NamedTuple):
    """What a path or pattern stands for.

    Attributes:
        known: device and number of every file or folder that is there now.
        path: the parts of its name, with links followed up to the first part that is a pattern.
        root: device and number of the deepest folder on that way that is there.
        below: what comes after that folder, in small letters: names that differ in these alone are one on some disks.
        fixed: how many parts of the path come before the first that is a pattern.
    """

    known: frozenset[tuple[int, int]]
    path: tuple[str, ...]
    root: tuple[int, int] | None
    below: tuple[str, ...]
    fixed: int

    @property
    def pattern(self) -> bool:
        """Whether the name stands for many."""
        return self.fixed < len(self.path)


Look: TypeAlias = Callable[[str], _Files]
"""How a path or pattern is told from others."""


def check_files(datasets: Mapping[str, Dataset], said: Mapping[str, Section], *, look: Look) -> None:
    """Raise if two datasets read one file and neither is said to be about other people.

    Args:
        datasets: by name.
        said: their sections, for the line.
        look: `on_disk`, or `by_name` where nothing may be looked up.
    """
    sources = {name: one.source for name, one in datasets.items() if not one.other_people}
    for first, second in _pairs(sources, look):
        raise said[second].wrong(
            "source",
            f"of files that no other dataset reads: {first} reads the same, and each has a whole budget for the same "
            "people. Make them one dataset, or say other_people = true if they are about other people",
        )


def _pairs(sources: Mapping[str, str], look: Look) -> Iterator[tuple[str, str]]:
    """Yield every two names whose sources could be one, in their order."""
    if len(sources) < 2:
        return
    names, files = list(sources), [look(source) for source in sources.values()]
    for first, second in sorted(_candidates(files)):
        if files[first].known & files[second].known or _one_file(files[first], files[second]):
            yield names[first], names[second]


def _candidates(files: Sequence[_Files]) -> set[tuple[int, int]]:
    """Return at least every two, by number, that could be one: of ten thousand, most are told apart by how they begin.

    Names that could be one begin alike up to the first sign of a pattern in either, whatever is compared: paths, or
    what comes below one folder. Files are one if they have one number on disk.
    """
    pairs: set[tuple[int, int]] = set()
    holders: dict[tuple[int, int], list[int]] = {}
    beside: dict[tuple[int, int], list[tuple[str, int]]] = {}
    for number, one in enumerate(files):
        for identity in one.known:
            holders.setdefault(identity, []).append(number)
        if one.root is not None:
            beside.setdefault(one.root, []).append((_head(one.below), number))
    for numbers in holders.values():
        pairs.update(itertools.combinations(numbers, 2))
    paths = [(_head(tuple(part.casefold() for part in one.path)), number) for number, one in enumerate(files)]
    for heads in (paths, *beside.values()):
        pairs.update(_nested(heads))
    return pairs


def _head(parts: tuple[str, ...]) -> str:
    """Return a name up to the first sign of a pattern in it, without a stroke at the end: ``**`` may stand for none."""
    return _PATTERN.split(os.sep.join(parts), maxsplit=1)[0].rstrip(os.sep)


def _nested(heads: list[tuple[str, int]]) -> Iterator[tuple[int, int]]:
    """Yield every two of which one begins with the other."""
    around: list[tuple[str, int]] = []  # in order of the alphabet what begins with a text follows it
    for head, number in sorted(heads):
        while around and not head.startswith(around[-1][0]):
            around.pop()
        yield from (min((outer, number), (number, outer)) for _, outer in around)
        around.append((head, number))


def by_name(source: str) -> _Files:
    """Return what a path or pattern stands for by its name alone; no disk is asked."""
    parts = Path(os.path.normpath(source)).parts
    return _Files(frozenset(), parts, None, tuple(part.casefold() for part in parts), len(_fixed(parts)))


def on_disk(source: str) -> _Files:
    """Return what a path or pattern stands for on this machine now."""
    found = glob.glob(source, recursive=True) if glob.has_magic(source) else [source]
    whole = Path(os.path.abspath(source)).parts
    fixed = _fixed(whole)
    real = Path(os.path.realpath(os.path.join(*fixed))).parts
    parts = (*real, *whole[len(fixed) :])
    there, deepest = len(parts), os.path.join(*parts)
    while there and not os.path.isdir(deepest):
        there, deepest = there - 1, os.path.dirname(deepest)
    root = _identity(deepest) if there else None
    below = tuple(part.casefold() for part in parts[there:])
    return _Files(frozenset(filter(None, map(_identity, found))), parts, root, below, len(real))


def _fixed(parts: tuple[str, ...]) -> tuple[str, ...]:
    """Return the parts of a name before the first that is a pattern."""
    return tuple(itertools.takewhile(lambda part: not glob.has_magic(part), parts))


def _identity(path: str) -> tuple[int, int] | None:
    """Return what a file or folder is on disk; None if it is not there or cannot be seen."""
    try:
        seen = os.stat(path)
    except OSError:
        return None
    return seen.st_dev, seen.st_ino


def _one_file(one: _Files, other: _Files) -> bool:
    """Return whether a file that may not be there yet could be both."""
    beside = one.root is not None and one.root == other.root
    if one.pattern or other.pattern:
        heads = min(one.fixed, other.fixed)  # most differ there already, and there may be a thousand of them
        same = one.path[:heads] == other.path[:heads] and _overlap(one.path[heads:], other.path[heads:])
        return same or (beside and _overlap(one.below, other.below))
    if one.known and other.known:
        return False  # both are there, and the disk tells them apart
    return one.path == other.path or (beside and one.below == other.below)


def _overlap(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
    """Return whether two names could be one, part by part; of a pattern with too many ways to tell, that they could."""
    # No recursion: a name may have a thousand parts.
    reached: set[tuple[int, int]] = set()
    waiting = [(0, 0)]
    while waiting and len(reached) < _WAYS:
        here, there = place = waiting.pop()
        if place in reached:
            continue
        reached.add(place)
        rest, others = one[here : here + 1], other[there : there + 1]
        if not rest and not others:
            return True
        if "**" in rest:
            waiting += [(here + 1, there), (here, there + 1)] if others else [(here + 1, there)]
        elif "**" in others:
            waiting += [(here, there + 1), (here + 1, there)] if rest else [(here, there + 1)]
        elif rest and others and _match(rest[0], others[0]):
            waiting.append((here + 1, there + 1))
    return bool(waiting)


def _match(one: str, other: str) -> bool:
    """Return whether two parts of names, each perhaps with ``*``, ``?`` or ``[...]``, could be one part."""
    if not (glob.has_magic(one) or glob.has_magic(other)):
        return one == other
    others = _signs(other)
    # Of every beginning of the other: whether it could be the beginning of the one that was looked at so far.
    same = [True, *itertools.accumulate((sign == "*" for sign in others), operator.and_)]
    for sign in _signs(one):
        before, same = same, [same[0] and sign == "*"]
        for place, beside in enumerate(others):
            if "*" in (sign, beside):
                same.append(before[place + 1] or same[place])
            else:
                same.append(before[place] and (sign == beside or "?" in (sign, beside)))
    return bool(same[-1])


def _signs(part: str) -> list[str]:
    """Return the letters of a part of a name; of a set of letters, any one."""
    signs, place = [], 0
    while place < len(part):
        end = part.find("]", place + 2) if part[place] == "[" else -1
        signs.append(part[place] if end < 0 else "?")
        place = place + 1 if end < 0 else end + 1
    return signs
