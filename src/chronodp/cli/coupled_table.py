"""A table of several sequences, read as states on a public grid of time: a column for each, or rows by key."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from chronodp.cli.coupled import parse_cuts, to_states
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, check_whole

__all__ = ["By", "End", "Every", "Missing", "Sequences", "Start", "StateColumns", "States", "Value", "state_columns"]

End = Annotated[str, typer.Option(help="When the last period ends.")]
Every = Annotated[str, typer.Option(help="Length of a period, such as `1h`.")]
Missing = Annotated[int, typer.Option(help="The state of a period without a number.")]
By = Annotated[
    str | None,
    typer.Option(help="Instead of --sequence: one column of keys that names the sequence of each row: `sensor=a,b,c`."),
]
Sequences = Annotated[
    list[str] | None, typer.Option("--sequence", help="A column that holds one sequence. Repeated, in their order.")
]
Start = Annotated[str, typer.Option(help="When the first period begins.")]
States = Annotated[
    int | None, typer.Option(help="How many states, where columns hold their numbers from 0; instead of --cuts.")
]
Value = Annotated[str | None, typer.Option(help="With --by: the column with the numbers.")]


def state_columns(
    *,
    time: str,
    sequence: list[str] | None,
    by: str | None,
    value: str | None,
    cuts: list[str] | None,
    states: int | None,
    missing: int,
) -> StateColumns:
    """Return how a table is read, from the words of options."""
    if (not sequence) == (by is None):
        raise InvalidArgument("sequence", ", ".join(sequence or []) or None, "given, or --by instead of it")
    if (by is None) != (value is None):
        raise InvalidArgument("value", value, "given with --by, and only there")
    column, sign, keys = (by or "").partition("=")
    names = sequence or keys.split(",")
    if by is not None and not (column and sign and all(names)):
        raise InvalidArgument("by", by, "a column and its public keys, such as sensor=a,b,c")
    if len(set(names)) < len(names):
        raise InvalidArgument("sequence" if sequence else "by", ", ".join(names), "sequences that differ")
    numbers = tuple((name, None) if value is None else (value, _holds(column, name)) for name in names)
    return StateColumns(time, names, numbers, parse_cuts(cuts, states, len(names)), missing)


def _holds(column: str, key: str) -> str:
    """Return the condition that a cell holds a key."""
    name, text = column.replace('"', '""'), key.replace("'", "''")
    return f"\"{name}\" = '{text}'"


@dataclass(frozen=True)
class StateColumns:
    """Which columns hold sequences, and which number is which state: public rules alone.

    Attributes:
        time: the column with the time.
        names: of the sequences.
        numbers: for each sequence the column with its numbers, and which rows are its own; None for all.
        cuts: between states, for each sequence; as many for all.
        missing: the state of a period without a number.
    """

    time: str
    names: list[str]
    numbers: tuple[tuple[str, str | None], ...]
    cuts: list[NDArray[np.float64]]
    missing: int

    def __post_init__(self) -> None:
        check_whole("missing", self.missing, least=0, most=self.states - 1)

    @property
    def states(self) -> int:
        """How many each sequence has."""
        return len(self.cuts[0]) + 1

    def read(self, data: str, calendar: Calendar) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
        """Return the state of every period and sequence, and where no number was; no row can cause a refusal.

        Each period is read by itself, from the mean of its rows: one changed record changes one state.
        """
        from chronodp.engines import find_source, read_series

        source = find_source(data)
        columns = [
            read_series(source, calendar, time=self.time, value=column, where=where) for column, where in self.numbers
        ]
        numbers = np.stack(columns, axis=1)
        absent = np.isnan(numbers)
        return np.where(absent, self.missing, to_states(numbers, self.cuts)), absent
