"""Which connections are open, whose they are, and which one gives way when there is no room."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

__all__ = ["Connections", "Line"]


@dataclass(eq=False, slots=True)
class Line:
    """One open connection.

    Attributes:
        owner: the caller's token, or the address while nobody knows them.
        drop: ends it at once.
        known: whether its last call came with a token or session that holds.
        busy: whether a whole head has come that is not answered yet.
        shared: whether it is a proxy's, and so many people's.
    """

    owner: str
    drop: Callable[[], object]
    known: bool = False
    busy: bool = False
    shared: bool = False

    @property
    def rank(self) -> int:
        """How late it gives way: half-sent heads and idle strangers first, calls of whoever is known never."""
        return 2 * (self.known or self.shared) + self.busy


_LAST = 3


class Connections:
    """The connections of one worker; used in its event loop only.

    >>> dropped: list[str] = []
    >>> def line(owner: str, **how: bool) -> Line:
    ...     return Line(owner, lambda: dropped.append(owner), **how)
    >>> open_ = Connections(most=2, per_caller=2)
    >>> [open_.enter(line(owner)) for owner in ("slow", "ana", "ben")]
    [True, True, True]
    >>> dropped, len(open_)
    (['slow'], 2)
    """

    def __init__(self, *, most: int, per_caller: int) -> None:
        self._most, self._per_caller = most, per_caller
        self._ranks: tuple[dict[Line, None], ...] = ({}, {}, {}, {})  # each by age
        self._owners: dict[str, dict[Line, None]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._ranks))

    def enter(self, line: Line) -> bool:
        """Take a new connection, and return whether there was room: strangers that wait give way to newer ones."""
        if len(self) >= self._most and not self.make_room():
            return False
        self._add(line)
        return self._trim(line)

    def leave(self, line: Line) -> None:
        """Forget a connection; one that is not there is nothing."""
        for rank in self._ranks:
            rank.pop(line, None)
        mine = self._owners.get(line.owner, {})
        mine.pop(line, None)
        if not mine:
            self._owners.pop(line.owner, None)

    def settle(self, line: Line, *, busy: bool, owner: str | None = None, known: bool | None = None) -> bool:
        """Note what has become of a connection, and return whether its owner may hold it."""
        if line not in self._ranks[line.rank]:
            return False
        owner = line.owner if owner is None or line.shared else owner
        known = line.known if known is None or line.shared else known
        if (busy, owner, known) == (line.busy, line.owner, line.known):
            return True  # it stays as old as it is
        self.leave(line)
        line.busy, line.owner, line.known = busy, owner, known
        self._add(line)
        return self._trim(line)

    def make_room(self) -> bool:
        """Drop the connection that gives way first, and return whether there was one."""
        victim = next((line for rank in self._ranks[:_LAST] for line in rank), None)
        if victim is not None:
            self._drop(victim)
        return victim is not None

    def _add(self, line: Line) -> None:
        self._ranks[line.rank][line] = None
        self._owners.setdefault(line.owner, {})[line] = None

    def _trim(self, line: Line) -> bool:
        """Drop what an owner has too many of, and return whether that suffices."""
        mine = self._owners[line.owner]
        while len(mine) > self._per_caller and not line.shared:
            victim = min(mine, key=lambda one: one.rank)  # of those, the oldest
            if victim.rank == _LAST:
                return False
            self._drop(victim)
            if victim is line:
                return False
        return True

    def _drop(self, line: Line) -> None:
        self.leave(line)
        line.drop()
