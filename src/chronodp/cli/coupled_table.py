"""A table with a column for each sequence, read as states on a public grid of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
import typer
from numpy.typing import NDArray

from chronodp.cli.coupled import to_states
from chronodp.errors import InvalidArgument
from chronodp.privacy import Calendar, check_whole

__all__ = ["End", "Every", "Missing", "Sequences", "Start", "StateColumns", "States"]

End = Annotated[str, typer.Option(help="When the last period ends.")]
Every = Annotated[str, typer.Option(help="Length of a period, such as `1h`.")]
Missing = Annotated[int, typer.Option(help="The state of a period without a number.")]
Sequences = Annotated[
    list[str], typer.Option("--sequence", help="A column that holds one sequence. Repeated, in their order.")
]
Start = Annotated[str, typer.Option(help="When the first period begins.")]
States = Annotated[
    int | None, typer.Option(help="How many states, where columns hold their numbers from 0; instead of --cuts.")
]


@dataclass(frozen=True)
class StateColumns:
    """Which columns hold sequences, and which number is which state: public rules alone.

    Attributes:
        time: the column with the time.
        names: the columns with the sequences.
        cuts: between states, for each sequence; as many for all.
        missing: the state of a period without a number.
    """

    time: str
    names: list[str]
    cuts: list[NDArray[np.float64]]
    missing: int

    def __post_init__(self) -> None:
        if len(set(self.names)) < len(self.names):
            raise InvalidArgument("sequence", ", ".join(self.names), "columns that differ")
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
        columns = [read_series(source, calendar, time=self.time, value=name) for name in self.names]
        numbers = np.stack(columns, axis=1)
        absent = np.isnan(numbers)
        return np.where(absent, self.missing, to_states(numbers, self.cuts)), absent
