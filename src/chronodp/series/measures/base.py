"""What every measure decides for itself: what it needs of a table, its numbers, their grid, and how they are read out.

The rest of the library asks the measure. A new one is one file here, its question in `series.questions`, its option in
``cli`` and its argument in ``docs/explanation/proofs``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from chronodp.display import amount
from chronodp.engines import Totals
from chronodp.postprocess import Law
from chronodp.privacy import Calendar, Contribution, counted
from chronodp.series.measures.group_clips import Clip, GroupClips
from chronodp.series.noise import Noise, with_grid

__all__ = ["Clip", "Each", "Floats", "Measure", "Quanta", "Statistic"]

Floats: TypeAlias = NDArray[np.float64]
Statistic: TypeAlias = Literal["total", "peak", "trough"]
Quanta: TypeAlias = NDArray[np.int64]
Each: TypeAlias = Literal["", "row", "person", "person and period"]


class OfBlocks(Protocol):
    """What the rest of the library asks of a measure that is made of shorter periods."""

    @property
    def statistic(self) -> Statistic:
        """What is taken of them."""
        ...

    @property
    def of(self) -> Measure:
        """What is counted or added up in each."""
        ...

    @property
    def calendar(self) -> Calendar:
        """The shorter periods."""
        ...

    @property
    def extreme(self) -> bool:
        """Whether it is the largest or the least: sums of these say nothing."""
        ...

    def gather(self, numbers: Quanta, starts: NDArray[np.int64], stops: NDArray[np.int64]) -> Quanta:
        """Return the number of each block from those of its periods."""
        ...


class OfPresence(Protocol):
    """What the rest of the library asks of a measure of who was active lately."""

    @property
    def window(self) -> str:
        """For how long an active period makes a person present."""
        ...

    @property
    def max_stays(self) -> int | None:
        """How many stays of a person count; None for all."""
        ...

    def periods_on(self, calendar: Calendar) -> int:
        """Return how many periods of a grid the window has."""
        ...


class Measure(ABC):
    """What is released of each period."""

    __slots__ = ()

    finished: ClassVar[bool] = False
    """Whether its numbers come bounded and added up, and not from rows."""

    whole: ClassVar[bool] = False
    """Whether its numbers are whole, and what a unit adds never goes against their sign: counts."""

    noun: ClassVar[str] = ""
    """What one of its numbers is called where that is neither a count nor a sum: a mean, a variance."""

    kinds: ClassVar[tuple[str, ...]] = ("number",)
    """What its kinds of numbers are called, one for each of its contributions."""

    averages: ClassVar[bool] = False
    """Whether longer periods have its mean and not its sum: running totals of it say nothing."""

    ratio: ClassVar[bool] = False
    """Whether it is made of several noisy numbers, one of them a count: `read_out` then makes it and its band."""

    size_name: ClassVar[str] = ""
    """The argument that hangs on the size of what people have, where that can be found; empty if it cannot."""

    noise_in_all: ClassVar[float] = 1.0
    """How many times the noise of its first kind of numbers the error of all of them together is, at most."""

    in_blocks: ClassVar[bool] = False
    """Whether totals, peaks and troughs over longer periods can be made of it."""

    @property
    @abstractmethod
    def label(self) -> str:
        """What the numbers are, in a word."""

    def label_for(self, called: str | None) -> str:
        """Return what the numbers are, in a word, where one of those protected is called so."""
        del called
        return self.label

    @property
    @abstractmethod
    def reach(self) -> float:
        """The largest number that one person adds, before anything is taken away."""

    @property
    def each(self) -> Each:
        """Of what a number is, where it is of one: a row, a person, or a person in a period; "" where it adds up."""
        return ""

    @property
    def norm(self) -> float | None:
        """The largest l2 norm of a person's whole series, where that is what bounds it."""
        return None

    @property
    def read_column(self) -> str | None:
        """The column that is read, if any."""
        return None

    @property
    def declared(self) -> tuple[str, Clip] | None:
        """The argument that says between which ends values count, and these ends; None if there are none."""
        return None

    @property
    def clips(self) -> GroupClips | None:
        """The clip of each group, where groups have their own; numbers of a group are then in parts of it."""
        return None

    @property
    def bin_edges(self) -> tuple[float, ...]:
        """The edges of bins, if there are any."""
        return ()

    @property
    def asked_quantiles(self) -> tuple[float, ...]:
        """The quantiles that are asked for, where these are released and not the numbers themselves; else none."""
        return ()

    @property
    def bins(self) -> int:
        """How many numbers of each kind a period has."""
        return 1

    @property
    def bins_of_one(self) -> int:
        """In how many of them one person counts."""
        return 1

    @property
    def bins_touched(self) -> int:
        """In how many of them one person can change anything: more than in which one counts, where weight is shared."""
        return self.bins_of_one

    @property
    def row_weight(self) -> int | None:
        """The weight of how many rows one person has, where rows count and not people's totals; None otherwise."""
        return None

    @property
    def divisor(self) -> int | None:
        """The public number of people that sums are divided by, if they are."""
        return None

    @property
    def block(self) -> OfBlocks | None:
        """The measure itself if it is made of shorter periods."""
        return None

    @property
    def presence(self) -> OfPresence | None:
        """The measure itself if it counts who was active in several periods."""
        return None

    @property
    def bounded_by_period(self) -> bool:
        """Whether each period of a person is bounded by itself: neither a norm nor stays bound all of them."""
        return self.norm is None and self.presence is None

    @property
    def negative(self) -> bool:
        """Whether the numbers may be below 0 without any noise."""
        return False

    @abstractmethod
    def contributions(self, *, rounding: float = 0.0) -> tuple[Contribution, ...]:
        """Return what one unit can do to each number of a cell, ``rounding`` of finished totals included."""

    def bounded_by(self, size: float) -> Measure:
        """Return the measure with sizes so many times as large as its own; of those with a `size_name` only."""
        del size
        raise AssertionError("asked where a size is found only")

    def with_edges(self, edges: tuple[float, ...]) -> Measure:
        """Return the measure with other edges of its bins; of those whose `size_name` is 'edges' only."""
        del edges
        raise AssertionError("asked where edges are found only")

    def opposite(self, part: Contribution) -> Fraction | None:
        """Return how far what a person adds can go against the sign of its largest; None if as far."""
        return part.exchange - part.presence

    def row_step(self, noise_step: float) -> float:
        """Return the step of the grid on which rows are added up, given that of the noise."""
        return noise_step

    @abstractmethod
    def clip_in_quanta(self, step: float) -> tuple[int, int]:
        """Return the range of a person's total in steps of the grid on which rows are added up."""

    def norm_in_quanta(self, step: float) -> int | None:
        """Return the norm of a person's whole series in whole steps; None where each cell is bounded by itself."""
        del step
        return None

    def squares_shift(self, noises: Sequence[Noise]) -> int | None:
        """Return by how many bits people's squares are shifted down before they are added up; None if none are."""
        del noises
        return None

    def numbers(self, totals: Totals, *, clip: tuple[int, int], noises: Sequence[Noise]) -> tuple[Quanta, ...]:
        """Return the numbers of each kind, in steps of their noise's grid."""
        del clip, noises
        return (totals.sums,)

    def read_out(
        self, parts: tuple[Floats, ...], terms: Floats, *, noises: Sequence[Noise], level: float
    ) -> tuple[Floats, Floats, Floats]:
        """Return values and the ends of their intervals from sums of each kind of noisy numbers; of a `ratio` only.

        ``terms`` are the sums of squared weights with which draws enter each row of the sums.
        """
        del parts, terms, noises, level
        raise AssertionError("asked of ratios only")

    def together(self, periods: int) -> str:
        """Return how a number is made of so many periods, in words before what is released."""
        return f"mean over {counted(periods, 'period')} of"

    def on_grid(self, law: Law, index: int, sensitivity: float, scale: float, *, times: int) -> Noise:
        """Return noise for the numbers of a kind; one person adds to each as often as ``times``."""
        del index
        return with_grid(law, sensitivity, scale, reach=times * self.reach, width=self.reach, whole=self.whole)

    @abstractmethod
    def to_question(self) -> dict[str, Any]:
        """Return the measure as a curator is asked for it."""

    @abstractmethod
    def words(self, called: str | None = None) -> str:
        """Return what is released in plain words, with what one of those protected is called if that is no person."""

    def open_words(self, called: str | None = None) -> str:
        """Return what is released in plain words while its sizes, or edges, are still to be found."""
        words = self.words(called)
        return f"{words}, by a size that a private step finds" if self.size_name == "edges" else words

    def words_alone(self) -> str:
        """Return what is released in plain words where every row stands for itself."""
        return self.words()

    @property
    def note(self) -> str:
        """What a reader should know of how it is made; empty if nothing."""
        return ""

    def error(self, width: float) -> str:
        """Return the half-width of a band of 95 % in words."""
        return f"± {amount(width)} in 95 of 100 periods"

    def __str__(self) -> str:
        return self.words()
