"""Releases of a series, attacked through their public call: shapes, several at once, places, norms, active people."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.accounting import gaussian
from chronodp.audit.case import AuditCase
from chronodp.audit.numerical import GridNoise, Linear, OnGrid
from chronodp.audit.statistical import Sampled
from chronodp.audit.walked import Enumerated
from chronodp.dataset import Aggregate, PlanTogether, Query, TimeSeries, plan_together
from chronodp.engines import Progress, Question, Record, Reference, Totals, reference_totals
from chronodp.privacy import Calendar, Claim, Event, GaussianCost, Grid, RecordUnit, User, Window, presence_of
from chronodp.randomness import Entropy
from chronodp.series import (
    Active,
    Design,
    Ewm,
    Noise,
    Norm,
    Places,
    Plan,
    Rolling,
    RunningTotal,
    Workload,
    draw_noise,
    make_plan,
)
from chronodp.series.shapes import Differenced, SquareRoot, White, stays_sensitivity
from chronodp.spectrum import Lowest, Spectrum
from tests.audit.cases.ledgers import daily, stored_release
from tests.audit.registry import Entry, Mutant, on_trial

_DELTA = 1e-5
_STEPS, _LOOSE = 8, 0.01  # few steps, at a delta at which shapes pay
_QUIET = (0.0,) * _STEPS

Series = tuple[float, ...]


def noisy_numbers(plan: Plan, entropy: Entropy) -> NDArray[np.int64]:
    """Release a plan, ledger and all, and return its noisy numbers in steps of the grid."""
    stored = stored_release(plan, entropy, unit=plan.design.table.unit, delta=min(0.5, 2 * plan.delta))
    return np.array(stored["noisy"][0], dtype=np.int64)


def coarse_plan(visits: tuple[str, ...], *, thin: float = 1.0) -> Plan:
    """Return a plan to count people, on a grid of whole people: so coarse that every outcome can be walked."""
    import pandas

    table = pandas.DataFrame({"who": pandas.Series(visits, dtype=str)})
    table["at"] = pandas.Timestamp("2026-01-01", tz="UTC")
    plan = daily(table, max_periods=1).count().plan(epsilon=8.0)
    (noise,) = plan.design.noises
    coarse = replace(plan.design, noises=(replace(noise, step=1.0, scale=noise.scale * thin),))
    return replace(plan, design=coarse)


def _releases() -> Iterator[AuditCase]:
    yield _release("laplace", 0.0)
    yield _release("gaussian", _DELTA)
    yield from _shaped()
    yield _counted()


def _release(law: str, delta: float) -> AuditCase:
    """One number by itself; many of them are periods of one release, each with noise of its own."""

    def plan_of(totals: Series) -> Plan:
        plan = Aggregate(totals, change=1.0, unit=Event()).plan(epsilon=1.0, delta=delta)
        return _designed(plan, lambda design: design.law == law and isinstance(design.shape, White))

    design = plan_of((0.0,)).design
    (noise,) = design.noises

    def release(value: float, *, entropy: Entropy) -> int:
        return int(noisy_numbers(plan_of((value,)), entropy)[0])

    def releases(value: float, count: int, *, entropy: Entropy) -> NDArray[np.int64]:
        return noisy_numbers(plan_of((value,) * count), entropy)

    shift = math.floor(noise.sensitivity / noise.step)
    return on_trial(
        f"one total with {law} noise",
        release,
        ((0.0, 1.0), (1e6, 1e6 + 1)),
        plan_of((0.0,)).claim,
        OnGrid(GridNoise(noise.law, noise.scale / noise.step, shift)),
        Sampled(),
        many=releases,
        delta=delta,
    )


def _designed(plan: Plan, wanted: Callable[[Design], bool]) -> Plan:
    """Return the plan with the best design of a kind, be it the best of all or one of the alternatives."""
    return replace(plan, design=next(design for design in (plan.design, *plan.others) if wanted(design)))


def _shaped() -> tuple[AuditCase, ...]:
    """A whole series with noise of every shape that a plan can take, one person in two periods of eight."""
    found: dict[tuple[str, str, type], tuple[Workload, Plan]] = {}
    workloads: tuple[Workload, ...] = (RunningTotal(), Rolling(3), Ewm(0.5))
    for workload, delta in itertools.product(workloads, (0.0, _LOOSE)):
        plan = _aggregate(_QUIET).plan(epsilon=1.0, delta=delta, tuned_for=workload)
        for design in (plan.design, *plan.others):
            kind = (str(workload), design.law, type(design.shape))
            if type(design.shape) not in {shape for _, law, shape in found if law == design.law}:
                found[kind] = (workload, replace(plan, design=design))
    return tuple(_shaped_release(workload, plan) for workload, plan in found.values())


def _shaped_release(workload: Workload, like: Plan) -> AuditCase:
    def release(series: Series, *, entropy: Entropy) -> tuple[int, ...]:
        plan = _aggregate(series).plan(epsilon=1.0, delta=like.delta, tuned_for=workload)
        return tuple(noisy_numbers(replace(plan, design=like.design), entropy).tolist())

    return on_trial(
        f"a series with {like.design.law} noise, {like.design.shape}",
        release,
        tuple((_QUIET, change) for change in _person_changes(_STEPS, 2)),
        like.claim,
        Linear(),
        delta=_LOOSE if like.design.law == "gaussian" else 0.0,
    )


def _aggregate(series: Series) -> Aggregate:
    return Aggregate(series, change=1.0, unit=User(), max_periods=2)


def _counted() -> AuditCase:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> int:
        return int(noisy_numbers(coarse_plan(visits), entropy)[0])

    pairs, claim = ((("ann", "ann", "bo"), ("ann",)),), coarse_plan(("ann",)).claim
    return on_trial("people counted, from rows to release", release, pairs, claim, Enumerated())


def _person_changes(horizon: int, periods: int) -> Iterator[tuple[float, ...]]:
    """Yield what a person who adds 1 in so many periods can change."""
    for places in itertools.combinations(range(horizon), periods):
        yield tuple(float(place in places) for place in range(horizon))


Visits = tuple[tuple[str, int], ...]
"""Who came on which day."""

_TOGETHER = 4
_VISITS: Visits = (("bo", 0), ("bo", 1), ("cy", 1), ("cy", 2))
_VISITED: tuple[tuple[Visits, Visits], ...] = (
    ((*_VISITS, ("ann", 1), ("ann", 2)), _VISITS),
    ((*_VISITS, ("ann", 0), ("ann", 3)), _VISITS),
    ((("ann", 0), ("ann", 2)), ()),
)


def _counts_of(visits: Visits) -> Query[Plan]:
    import pandas

    table = pandas.DataFrame({"who": pandas.Series([person for person, _ in visits], dtype=str)})
    table["at"] = pandas.to_datetime([f"2026-01-0{day + 1}" for _, day in visits], utc=True)
    return daily(table, days=_TOGETHER, max_periods=2).count()


def _spectrum(visits: Visits) -> Any:
    totals = [float(sum(day == on for _, day in visits)) for on in range(_TOGETHER)]
    return Spectrum(totals, change=1.0, unit=User(), max_periods=2).plan(Lowest(2), epsilon=1.0)


def _queries(visits: Visits) -> dict[str, Any]:
    days = _counts_of(visits)
    peaks = {"peak": days.peak(every="2D"), "trough": days.trough(every="2D")}
    return {"days": days, "total": days.total(every="2D"), **peaks, "spectrum": _spectrum(visits)}


def _together() -> tuple[AuditCase, ...]:
    return (_shared(0.0), _shared(_LOOSE), _peaks())


def _shared(delta: float) -> AuditCase:
    def plan_of(visits: Visits) -> PlanTogether:
        return plan_together(_queries(visits), epsilon=1.0, delta=delta)

    plan = plan_of(())
    return on_trial(
        f"five queries together, {plan.chosen.law} noise",
        lambda visits, *, entropy: _released(plan_of(visits), entropy),
        _VISITED,
        plan.claim,
        Linear(),
        epsilon=plan.epsilon,
        delta=plan.delta,
    )


def _peaks() -> AuditCase:
    def plan_of(visits: Visits) -> PlanTogether:
        return plan_together({"peak": _counts_of(visits).peak(every="2D")}, epsilon=1.0)

    return on_trial(
        "peaks of two days each",
        lambda visits, *, entropy: _released(plan_of(visits), entropy),
        _VISITED,
        plan_of(()).claim,
        Linear(),
    )


def _released(plan: PlanTogether, entropy: Entropy) -> tuple[int, ...]:
    """All noisy numbers, query by query."""
    parts = stored_release(plan, entropy, unit=User(), delta=2 * _LOOSE)["parts"]
    return tuple(number for name in sorted(parts) for number in _flat(parts[name]["noisy"]))


def _flat(numbers: Any) -> list[int]:
    return [one for part in numbers for one in _flat(part)] if isinstance(numbers, list) else [numbers]


_ACTIVE = 8  # released, after two that are only read
Days = tuple[int, ...]


def _active_plan(days: Days, unit: RecordUnit, max_stays: int | None) -> Plan:
    """Return a plan to count who was active in three days, of one person on these days of ten and one on the fifth."""
    import pandas

    visits = [("ann", day) for day in days] + [("bo", 4)]
    begin = pandas.Timestamp("2026-01-01", tz="UTC")
    table = pandas.DataFrame({"who": [who for who, _ in visits]})
    table["at"] = [begin + pandas.Timedelta(days=day) for _, day in visits]
    series = daily(table, first=3, days=_ACTIVE, unit=unit)
    return series.active("3D", max_stays=max_stays).plan(epsilon=1.0, delta=_LOOSE)


def _active_case(name: str, unit: RecordUnit, max_stays: int | None, days: tuple[tuple[Days, Days], ...]) -> AuditCase:
    def wanted(design: Design) -> bool:
        measure = design.table.measure
        shaped = isinstance(design.shape, Differenced)
        return isinstance(measure, Active) and measure.max_stays == max_stays and shaped

    def plan_of(one: Days) -> Plan:
        plan = _active_plan(one, unit, max_stays)
        return replace(plan, design=next(design for design in (plan.design, *plan.others) if wanted(design)))

    def release(one: Days, *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(noisy_numbers(plan_of(one), entropy).tolist())

    return on_trial(name, release, days, plan_of(()).claim, Linear(), delta=_LOOSE)


def _actives() -> Iterator[AuditCase]:
    # Those that reach farthest: two stays as long as they can be, or one; and others that are cut.
    lives: tuple[Days, ...] = ((2, 6), (2, 3, 7), (2, 4, 8), (0, 5, 6), tuple(range(_ACTIVE)), (0, 4, 8), (1, 5, 6, 9))
    whole: tuple[tuple[Days, Days], ...] = tuple(((), days) for days in lives)
    parts: tuple[tuple[Days, Days], ...] = tuple(((1, 8), (1, day, day + 1, 8)) for day in range(2, 7))
    yield _active_case("active people, two stays of a person", User(), 2, whole)
    yield _active_case("active people, two days of a person", Window(2), None, parts)


_ARGUMENT = "docs/explanation/proofs/active-people.md"
_MU = gaussian.mu_for(1.0, _DELTA)
_FINE = 2.0**-20  # the grid of these releases
_LONG, _WINDOW = 10, 3
_ROOT = SquareRoot(RunningTotal())


@cache
def _question(max_periods: int | None, max_stays: int | None) -> Question:
    days = Calendar("1D", "2026-01-01", "2026-01-13")  # two days are read before the ten that are released
    limits = {"max_periods": max_periods, "window": _WINDOW, "max_stays": max_stays}
    return Question(days, "day", "who", None, Grid(1.0), (0, 1), **limits)  # type: ignore[arg-type]  # by name


def _actives_of(
    sensitivity: float, shape: White | Differenced, max_periods: int | None, max_stays: int | None
) -> Callable[..., tuple[float, ...]]:
    """Release who was active in three days, with noise for the sensitivity that is said to be a person's."""
    question = _question(max_periods, max_stays)

    def release(days: Days, *, entropy: Entropy) -> tuple[float, ...]:
        records = [Record("ann", int(question.calendar.edges[day])) for day in days]
        present = reference_totals(records, question, key="any").people[_WINDOW - 1 :]
        noise = draw_noise(shape, Noise("gaussian", sensitivity, sensitivity / _MU, _FINE), _LONG, 1, entropy)
        return tuple((present + noise[:, 0] * _FINE).tolist())

    return release


def _active_mutant(
    name: str,
    shape: White | Differenced,
    honest: float,
    wrong: float,
    *,
    max_periods: int | None = None,
    max_stays: int | None = None,
    days: int,
) -> Mutant:
    return Mutant(
        name,
        Claim(User(), GaussianCost(honest, honest / _MU), _ARGUMENT),
        _actives_of(honest * (1 + 1e-9), shape, max_periods, max_stays),
        _actives_of(wrong, shape, max_periods, max_stays),
        tuple(((), chosen) for chosen in combinations(range(_LONG + _WINDOW - 1), days)),
        epsilon=1.0,
        delta=_DELTA,
        checks=(Linear(),),
    )


def _stays(runs: int) -> float:
    present = presence_of(User(), horizon=_LONG, window=_WINDOW, max_stays=runs)
    return stays_sensitivity(_ROOT, _LONG, present).l2


_TREE = (("all", "north", "a"), ("all", "north", "b"), ("all", "north", "c"), ("all", "south", "d"))
_LEAVES = tuple(leaf for *_, leaf in _TREE)


def _places_plan(visits: tuple[str, ...], law: str) -> Plan:
    """Return a plan to count people in places, of one person's visits beside those of two others."""
    import pandas

    table = pandas.DataFrame({"county": [*visits, "a", "d"], "who": [*("ann" for _ in visits), "bo", "cy"]})
    table["at"] = pandas.Timestamp("2026-01-01", tz="UTC")
    query = daily(table, max_periods=1).count().by(Places(_TREE, "country", "part", "county"), max_groups=2)
    plan = query.plan(epsilon=1.0, delta=0.0 if law == "laplace" else _LOOSE)
    return replace(plan, design=next(one for one in (plan.design, *plan.others) if one.law == law))


def _placed() -> tuple[AuditCase, ...]:
    return tuple(_on_places(law) for law in ("gaussian", "laplace"))


def _on_places(law: str) -> AuditCase:
    def release(visits: tuple[str, ...], *, entropy: Entropy) -> tuple[int, ...]:
        return tuple(noisy_numbers(_places_plan(visits, law), entropy).tolist())

    nobody: tuple[str, ...] = ()
    return AuditCase(
        name=f"places on three levels with {law} noise",
        mechanism=release,
        neighbours=tuple((nobody, visits) for count in (1, 2) for visits in itertools.combinations(_LEAVES, count)),
        claim=_places_plan((), law).claim,
        delta=0.0 if law == "laplace" else _LOOSE,
        # Estimates of the leaves are all that the noisy numbers of all levels say of them: what a change moves them by
        # is what it moves all levels by.
        checks=(Linear(),),
    )


_STATES, _COUNTIES, _HELD = 3, 4, 4


def _levels() -> NDArray[np.float64]:
    """The matrix from counties to the country, its states and the counties themselves."""
    counties = np.eye(_STATES * _COUNTIES)
    states = np.repeat(np.eye(_STATES), _COUNTIES, axis=1)
    return np.vstack([states.sum(axis=0, keepdims=True), states, counties])


def _noisy_levels(sensitivity: float) -> Callable[..., tuple[float, ...]]:
    def release(counties: tuple[float, ...], *, entropy: Entropy) -> tuple[float, ...]:
        exact = _levels() @ np.array(counties)
        return tuple((exact + entropy.gaussian(sensitivity / _MU / _FINE, len(exact)) * _FINE).tolist())

    return release


def _at_the_number_of_leaves() -> Mutant:
    """A person in four counties, each level said to change by four ones: but a state of four changes by 4 itself."""
    honest = math.sqrt(16 + 16 + 4)
    places = _STATES * _COUNTIES
    nobody = (0.0,) * places
    held = [range(_HELD), range(0, 2 * _HELD, 2), *itertools.combinations(range(5), _HELD)]
    changes = [tuple(float(place in some) for place in range(places)) for some in held]
    return Mutant(
        "levels of places priced at the number of leaves",
        Claim(User(), GaussianCost(honest, honest / _MU), "docs/explanation/proofs/places.md"),
        _noisy_levels(honest * (1 + 1e-9)),
        _noisy_levels(math.sqrt(3 * _HELD)),
        tuple((nobody, change) for change in changes),
        epsilon=1.0,
        delta=_DELTA,
        checks=(Linear(),),
    )


Cells = tuple[tuple[str, int, str, float], ...]
"""Who has how much on which day in which place."""

_THREE = Calendar("1D", "2026-01-01", "2026-01-04")
_SIDES = ("north", "south")
_NORM = 5.0
STRICT = 1e-6
FIRST = int(_THREE.edges[0])
_CELLS: Cells = (("bo", 0, "north", 2.0), ("bo", 1, "south", -1.0), ("cy", 2, "north", 40.0))
_EVERYWHERE: Cells = tuple(("ann", day, place, 3.0) for day in range(3) for place in _SIDES)
_LATE: Cells = (("ann", 0, "north", 1.0), ("ann", 1, "south", -30.0), ("ann", 2, "south", 7.0))
_ONCE: Cells = (("ann", 1, "north", 60.0),)
NEIGHBOURS: tuple[tuple[Cells, Cells], ...] = tuple(((*_CELLS, *ann), _CELLS) for ann in (_EVERYWHERE, _LATE, _ONCE))


class Scaled:
    """Sums by day and place, every person's series scaled to a norm of 5."""

    def __init__(self, engine: Reference | None = None) -> None:
        """Take the engine that adds up; another than the plain one is a mistake."""
        self._engine = Reference() if engine is None else engine

    @property
    def claim(self) -> Claim:
        """Whom it protects, at what cost."""
        return self._plan(()).claim

    def __call__(self, cells: Cells, *, entropy: Entropy) -> list[list[int]]:
        """Release the sums by the public call and return the numbers that were stored."""
        made = stored_release(self._plan(cells), entropy, unit=User(), delta=1e-5)
        noisy: list[list[int]] = made["noisy"]
        return noisy

    def _plan(self, cells: Cells) -> Plan:
        world = [Record(who, int(_THREE.edges[day]), much, (place,)) for who, day, place, much in cells]
        series = daily(world, days=3, engine=self._engine)
        return series.sum("kwh", bound=Norm(_NORM)).by(place=_SIDES).plan(epsilon=1.0, delta=STRICT)


def _scaled() -> tuple[AuditCase, ...]:
    sums = Scaled()
    return (
        on_trial(
            "whole series scaled to a norm, Gaussian noise",
            sums,
            NEIGHBOURS,
            sums.claim,
            Linear(),
            epsilon=1.0,
            delta=STRICT,
        ),
    )


Seen = Callable[[Record, Record], bool]
"""Whether the factor of one cell sees another of the same person."""


class _WronglyScaled(Reference):
    """An engine that scales each cell by the norm of those cells of its person that it sees."""

    def __init__(self, sees: Seen, *, short: float = 1.0) -> None:
        self._sees, self._short = sees, short

    def totals(self, source: Any, question: Question, *, key: str, progress: Progress = lambda _: None) -> Totals:
        """Return totals of cells scaled so; each person has one row in a cell here."""
        most = (question.norm or 0) * question.grid.step
        scaled = [replace(one, number=self._scale(one, list(source), most)) for one in source]
        return super().totals(scaled, replace(question, norm=None), key=key, progress=progress)

    def _scale(self, one: Record, everyone: list[Record], most: float) -> float:
        seen = (other.number or 0.0 for other in everyone if other.person == one.person and self._sees(one, other))
        length = math.hypot(*seen) * self._short
        return (one.number or 0.0) * min(1.0, most / length if length else 1.0)


_MISTAKES: dict[str, Reference] = {
    # A place at a time: a person in two places has the norm twice, √2 in all.
    "whole series scaled group by group, charged once": _WronglyScaled(lambda one, other: one.keys == other.keys),
    # Who has little on the first day keeps all of the others.
    "whole series scaled by its first period": _WronglyScaled(lambda _, other: other.instant == FIRST),
    # A norm that noise made a tenth too short: the factor is that much too large.
    "whole series scaled by a noisy norm": _WronglyScaled(lambda _, __: True, short=0.9),
}
Floats = NDArray[np.float64]
Mechanism = Callable[..., tuple[float, ...]]

_LENGTH = 12


def _noisy(matrix: Floats, sensitivity: float) -> Mechanism:
    """Release a linear map of a series with Gaussian noise for the sensitivity that is said to be its own."""

    def release(series: Series, *, entropy: Entropy) -> tuple[float, ...]:
        scale = sensitivity / _MU / _FINE
        return tuple((matrix @ np.array(series) + entropy.gaussian(scale, len(matrix)) * _FINE).tolist())

    return release


def _shape_mutant(
    name: str, matrix: Floats, honest: float, wrong: float, user: tuple[Series, ...], argument: str
) -> Mutant:
    length = matrix.shape[1]
    claim = Claim(User() if len(user[0]) == _LENGTH else Event(), GaussianCost(honest, honest / _MU), argument)
    return Mutant(
        name,
        claim,
        _noisy(matrix, honest * (1 + 1e-9)),
        _noisy(matrix, wrong),
        tuple(((0.0,) * length, change) for change in user),
        epsilon=1.0,
        delta=_DELTA,
        checks=(Linear(),),
    )


def _spaced() -> Mutant:
    """A person in two periods six apart, seen through the root of a moving average of six, which rises again."""
    column = _root_of_moving_average(6, _LENGTH)
    matrix = np.array([[column[row - at] if row >= at else 0.0 for at in range(_LENGTH)] for row in range(_LENGTH)])
    changes = [_at(one, two) for one in range(_LENGTH) for two in range(one + 6, _LENGTH)]
    honest = max(float(np.linalg.norm(matrix @ np.array(change))) for change in changes)
    formula = float(np.linalg.norm(matrix @ np.array(_at(0, 6))))  # exact only for columns that never rise
    return _shape_mutant(
        "the spacing formula on a shape that rises again",
        matrix,
        honest,
        formula,
        tuple(changes),
        "docs/explanation/proofs/shapes.md",
    )


def _skipped_root() -> Mutant:
    """A person in three periods of the square-root shape, charged for one."""
    length = _LENGTH
    column = SquareRoot(RunningTotal()).coefficients(length)
    matrix = np.array([[column[row - at] if row >= at else 0.0 for at in range(length)] for row in range(length)])
    changes = tuple(_at(one, one + 1, one + 2) for one in range(length - 2))
    honest = max(float(np.linalg.norm(matrix @ np.array(change))) for change in changes)
    return _shape_mutant(
        "three periods of a person at the root of three",
        matrix,
        honest,
        math.sqrt(3) * float(np.linalg.norm(column)),
        changes,
        "docs/explanation/proofs/shapes.md",
    )


def _at(*places: int) -> Series:
    return tuple(float(place in places) for place in range(_LENGTH))


def _root_of_moving_average(width: int, length: int) -> Floats:
    """Return the column whose square, as a filter, is the moving average."""
    target = np.where(np.arange(length) < width, 1.0 / width, 0.0)
    column = np.zeros(length)
    column[0] = math.sqrt(target[0])
    for place in range(1, length):
        column[place] = (target[place] - column[1:place] @ column[1:place][::-1]) / (2 * column[0])
    return column


ENTRIES = (
    Entry("release of a series", (Plan, make_plan, Noise, Aggregate, TimeSeries, Query),
          "whole numbers on a grid; noise of exactly the stated law; rounding of shapes is in the sensitivity",
          _releases),
    Entry("several queries together", (PlanTogether, plan_together),
          "whole numbers, each query on a grid of its own; what rounding adds is in the sensitivities", _together),
    Entry("people who were active lately", (Active, Differenced),
          "whole numbers on a grid; noise of exactly the stated law; rounding of shapes is in the sensitivity",
          _actives),
    Entry("places of a public hierarchy", (Places,),
          "whole numbers on one grid; noise of exactly the stated law on every level; what adds up is whole", _placed),
    Entry("whole series scaled to a norm", (Plan,),
          "cells scaled in whole numbers, towards zero; noise as implemented, on its grid", _scaled),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    _active_mutant("two active days of a person, charged as two numbers", White(), math.sqrt(2 * _WINDOW), math.sqrt(2),
                   max_periods=2, days=2),
    _active_mutant("a person who counts once a window, charged once", White(), math.sqrt(_WINDOW), 1.0, max_periods=1,
                   days=1),
    _active_mutant("two stays of a person, charged as one", Differenced(_ROOT), _stays(2), _stays(1), max_stays=2,
                   days=2),
    _at_the_number_of_leaves(),
    *(Mutant(name, Scaled().claim, Scaled(), Scaled(engine), NEIGHBOURS, 1.0, STRICT, (Linear(),))
      for name, engine in _MISTAKES.items()),
    _spaced(),
    _skipped_root(),
)  # fmt: skip
