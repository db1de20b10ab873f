"""What an owner decides: which data may be asked, how, by whom, and for how much."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import get_args

from chronodp.dataset import GridSeries
from chronodp.engines import FUNCTIONS, Reading
from chronodp.ledger import Renewal
from chronodp.privacy import Calendar
from chronodp.privacy.units import RecordUnit
from chronodp.series import ASKABLE, Discover, Find
from chronodp.series.measures import Clip, Statistic
from chronodp.service.edge import EdgeLimits
from chronodp.service.period_lengths import grid_within, periods_covering

__all__ = [
    "EXPRESSION_FUNCTIONS",
    "MEASURES",
    "WORKLOADS",
    "Allotment",
    "Allowed",
    "Column",
    "Dataset",
    "Discoverable",
    "Groups",
    "Policy",
    "RunLimits",
]

MEASURES = (*ASKABLE, *get_args(Statistic))
EXPRESSION_FUNCTIONS = tuple(name.lower() for name in FUNCTIONS)
WORKLOADS = ("each_period", "running_total", "rolling", "ewm", "filter", "hierarchy")


@dataclass(frozen=True, slots=True)
class Column:
    """A column that may be added up or binned. What a person has in a period goes with how long the period is.

    Attributes:
        clips: the widest clip that may be asked, by length of a period; the dataset's own length is among them.
        about: what it holds.
        norms: the largest l2 norm of a person's whole series that may be asked, by length of a period; where there is
            none, that of a series which has the widest clip's farther end in every cell.
        usual: what one person usually has in a period, as publicly declared, by length of a period.
    """

    clips: Mapping[str, Clip]
    about: str = ""
    norms: Mapping[str, float] = field(default_factory=dict)
    usual: Mapping[str, float] = field(default_factory=dict)

    def clip_of(self, every: str) -> Clip | None:
        """Return the widest clip of periods of a length; None where the owner declared none of them."""
        return self.clips.get(every)


@dataclass(frozen=True, slots=True)
class Groups:
    """A column that may split a question: its public keys, and how many people each has, as publicly declared."""

    keys: tuple[str, ...]
    people: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Allotment:
    """An analyst's part of a dataset's budget; the whole pays as well, so that pooling parts does not help."""

    epsilon: float
    delta: float
    reserve: float | None = None


@dataclass(frozen=True, slots=True)
class Discoverable:
    """Keys that nobody declared and that a private step may find.

    Attributes:
        columns: whose keys; of a column made of others, all of those.
        longest: bytes of the longest key that may be published, as UTF-8.
        max_keys: how many keys of one person may count, over the whole series or, as the unit has it, in a period.
    """

    columns: tuple[str, ...]
    longest: int = Discover().longest
    max_keys: int = 50


@dataclass(frozen=True, slots=True)
class Allowed:
    """Which questions may be asked. Every rule reads the question alone, never the data.

    Attributes:
        measures: of `MEASURES`.
        workloads: of `WORKLOADS`.
        grids: lengths of periods that may be asked.
        epsilon: the most that one release may cost, as an epsilon at the dataset's delta; None for no limit but the
            budget.
        delta: the largest delta that one release may state.
        cells: the most numbers in one release.
        least_group: the least declared number of people behind every group.
        expression_columns: columns that may stand in filters and derived columns.
        expression_functions: functions that may, of CASE, COALESCE, ABS and so on, in small letters.
        find: which bounds may be left to a private step; a clip is then looked for within the widest.
        discover: which keys may be found by a private step; None for none.
        places: whether every level of a public tree of places may be asked.
        missing: whether the private figure of what bounds took away may be asked.
        max_groups: in how many groups of a period one person may count; None for no limit.
    """

    measures: tuple[str, ...]
    workloads: tuple[str, ...]
    grids: tuple[str, ...]
    epsilon: float | None
    delta: float
    cells: int
    least_group: int
    expression_columns: tuple[str, ...] = ()
    expression_functions: tuple[str, ...] = ()
    find: tuple[str, ...] = ()
    discover: Discoverable | None = None
    places: bool = True
    missing: bool = True
    max_groups: int | None = None


@dataclass(frozen=True)
class Dataset:
    """One table of people's records, what is public about it, and its budget.

    Attributes:
        name: by which it is asked for.
        source: path or glob of its files; never shown.
        about: what it is, in words.
        time: the column with the time of a row.
        user: the column with the person.
        calendar: the whole public grid.
        unit: who is protected.
        max_periods: how many periods of one person count unless a question says otherwise, by length of a period;
            empty where the unit needs none.
        usual_periods: how many periods one person usually has, as publicly declared, by length of a period.
        people: how many people there are, as publicly declared; 0 if it is not.
        columns: what may be added up.
        groups: what may split it.
        allowed: which questions may be asked.
        epsilon: of the whole budget.
        delta: of the whole budget.
        renews: when the budget starts anew for new data.
        analysts: who may ask, with their parts.
        share: whether analysts see each other's releases, and get them again for nothing.
        reading: how cells are written.
        reserve: the part of the whole budget's delta for failures, which finding keys needs; None for none.
        other_people: whether the owner says that it is about other people than any dataset that reads the same files.
    """

    name: str
    source: str = field(repr=False)
    about: str
    time: str
    user: str | None
    calendar: Calendar
    unit: RecordUnit
    max_periods: Mapping[str, int]
    usual_periods: Mapping[str, int]
    people: int
    columns: Mapping[str, Column]
    groups: Mapping[str, Groups]
    allowed: Allowed
    epsilon: float
    delta: float
    renews: Renewal | None
    analysts: Mapping[str, Allotment]
    share: bool
    reading: Reading = field(default_factory=Reading)
    reserve: float | None = None
    other_people: bool = False

    def most_periods(self, every: str) -> int | None:
        """Return how many periods of a length count of one person; None where the unit needs no such limit.

        Where the owner declared none of this length, as many as the same stretch of the dataset's own can touch.
        """
        return self._most_on(grid_within(self.calendar, every))

    def _most_on(self, grid: Calendar) -> int | None:
        """Return how many periods of a grid count of one person, at most all of them."""
        if not self.max_periods:
            return None
        declared = self.max_periods.get(grid.every)
        if declared is None:
            declared = periods_covering(self.calendar, self.max_periods[self.calendar.every], grid)
        return min(declared, len(grid))

    def series(
        self,
        grid: Calendar | None = None,
        *,
        max_periods: int | Find | None = None,
        where: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> GridSeries:
        """Return the series on its whole grid, or on another; nothing is read.

        The policy's limit of periods, if it is more than the grid has, means all of them.
        """
        if grid == self.calendar and max_periods is None and where is None and not columns:
            return self._whole
        calendar = self.calendar if grid is None else grid
        most = max_periods
        if most is None:  # a limit above the whole grid is a mistake of the policy, and told there
            most = self.max_periods.get(calendar.every) if grid is None else self._most_on(grid)
        return self._laid_out(calendar, most, where=where, columns=columns)

    @cached_property
    def _whole(self) -> GridSeries:
        """The series that most questions are about."""
        return self._laid_out(self.calendar, self._most_on(self.calendar))

    def _laid_out(
        self,
        calendar: Calendar,
        max_periods: int | Find | None,
        *,
        where: str | None = None,
        columns: Mapping[str, str] | None = None,
    ) -> GridSeries:
        return GridSeries(
            calendar,
            self.source,
            time=self.time,
            user=self.user,
            unit=self.unit,
            max_periods=max_periods,
            reading=self.reading,
            where=where,
            columns=columns,
        )


@dataclass(frozen=True, slots=True)
class RunLimits:
    """How the service runs.

    Attributes:
        title: shown on the page.
        floor: seconds that every release takes at least.
        quantum: seconds in whole numbers of which a longer one ends.
        parallel: jobs at a time in each worker.
        rate: calls a second of one token.
        waiting: jobs of one caller that may wait at a time, so that nobody keeps all others waiting.
        lease: seconds after which the job of a worker that fell silent is taken over.
        session: seconds that signing in on the page lasts.
        edge: what is let in: connections, times, strangers.
    """

    title: str = "chronodp curator"
    floor: float = 1.0
    quantum: float = 1.0
    parallel: int = 2
    rate: float = 20.0
    waiting: int = 50
    lease: float = 15.0
    session: float = 8 * 3600.0
    edge: EdgeLimits = field(default_factory=EdgeLimits)


@dataclass(frozen=True)
class Policy:
    """Everything an owner decided.

    Attributes:
        datasets: by name.
        running: how the service runs.
        warnings: what the owner may not have meant, each with its line.
    """

    datasets: Mapping[str, Dataset]
    running: RunLimits
    warnings: tuple[str, ...] = ()

    @cached_property
    def analysts(self) -> tuple[str, ...]:
        """Everyone who may ask something."""
        return tuple(sorted({name for dataset in self.datasets.values() for name in dataset.analysts}))
