"""What comes of a case, as digests of four parts, and the file of them: ``python -m tests.twins.digests`` writes it.

Nothing of a document's text or of a class's name is in a digest. What is read from inside stands in ``_Inside`` alone.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import json
import tempfile
import warnings
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import chronodp as cdp
from chronodp.errors import ChronodpError
from chronodp.randomness import seeded
from tests.twins.cases import CASES, FEATURES, UNITS, Case, Unsaid, cases_of, plan_of

__all__ = ["GOLDEN", "PARTS", "found", "stored", "written"]

GOLDEN = Path(__file__).parents[1] / "golden/twins/digests.json"
PARTS = ("design", "totals", "noise", "views")
_LENGTH = 7  # of a digest, in hexadecimal digits
_UNSAID = "-"


def digest(numbers: Iterable[Any]) -> str:
    """Return the digest of numbers and of words: floats to 7 significant digits, integers as they are."""
    hashed = hashlib.sha256()
    for one in numbers:
        if isinstance(one, str):
            hashed.update(f"{one};".encode())
            continue
        array = np.ravel(np.asarray(one))
        if array.dtype.kind == "f":
            largest = np.max(np.abs(array[np.isfinite(array)]), initial=0.0)
            # What cancels is 0, or nearly so on another processor.
            rounded = (np.where(np.abs(array) < 1e-9 * largest, 0.0, array) + 0.0).tolist()
            hashed.update((len(rounded) * "%.6e " % tuple(rounded) + ";").encode())
        else:
            hashed.update((" ".join(map(str, array.tolist())) + ";").encode())
    return hashed.hexdigest()[:_LENGTH]


class _Inside:
    """What no public name tells yet: a redesign changes these few lines, and no digest."""

    @staticmethod
    def same_keys() -> Any:
        """Return what makes a new ledger's secrets the same every time."""
        from chronodp.ledger.keys import Keys

        known = Keys(signing=bytes(range(32)), sealing=bytes(range(32, 64)))
        return mock.patch.object(Keys, "create", return_value=known)

    @staticmethod
    def design(design: Any) -> Iterator[Any]:
        """Yield the numbers of a design: sensitivities, what its shape does, scales and grids."""
        from chronodp.series.shapes.errors import errors_of

        if hasattr(design, "way"):  # of quantiles
            yield design.rank_error
            yield from _numbers(design.way.cost(len(design.quantiles)))
            noises = [design.way.noise] if hasattr(design.way, "noise") else []
        else:
            for bound in design.table.sensitivities(design.shape):
                yield (bound.l1, bound.l2)
            for workload in (cdp.EachPeriod(), cdp.RunningTotal(), cdp.Rolling(3)):
                try:
                    errors = errors_of(workload, design.shape, design.table.horizon)
                except ChronodpError:  # of one period, or of a tree
                    yield _UNSAID
                else:
                    yield (errors.rmse_mean, errors.rmse_max)
            yield design.measured or ()
            yield (design.errors.rmse_mean, design.errors.rmse_max)
            noises = [*design.noises, *(design.missing.noises if design.missing else ())]
        for noise in noises:
            yield (noise.sensitivity, noise.scale, noise.step)

    @staticmethod
    def exact(plan: Any, key: str) -> Iterator[Any]:
        """Yield exact whole numbers of a plan's first reading."""
        exact = plan.read(key=key, progress=_silent)
        if hasattr(exact, "prepared"):  # of plans together
            for name in sorted(exact.prepared):
                yield np.frombuffer(b"".join(exact.prepared[name].content), "<i8")
            for sizes in exact.sizes:
                yield (*sizes.above, sizes.voters)
        elif hasattr(exact, "voters"):
            yield (*exact.above, exact.voters)
        elif hasattr(exact, "people"):
            yield exact.people
            yield from exact.keys
        else:
            yield from exact if isinstance(exact, tuple) else [exact]

    @staticmethod
    def noisy(release: Any) -> Iterator[Any]:
        """Yield the whole numbers that were drawn, with what was found before them."""
        if hasattr(release, "names"):  # of plans together
            for name in release.names:
                if hasattr(release[name], "link"):
                    yield from _Inside.noisy(release[name])
            return
        if release.found is not None:
            found = release.found
            sizes = (found.scale, found.size, found.max_periods, found.max_groups, found.norm)
            yield [float(size) for size in sizes if size is not None]
            yield found.edges or ()
        yield from release.keys or ()
        if hasattr(release.design, "way"):
            yield release._drawn
            return
        for part, noise in zip(release._parts, release.design.noises, strict=False):
            yield np.rint(part / noise.step).astype(np.int64)
        yield release._content.get("missing", ())


def _numbers(cost: Any) -> Iterator[float]:
    """Yield the numbers of a cost, part by part."""
    if dataclasses.is_dataclass(cost):
        for one in dataclasses.fields(cost):
            yield from _numbers(getattr(cost, one.name))
    elif isinstance(cost, tuple):
        for part in cost:
            yield from _numbers(part)
    elif isinstance(cost, int | float):
        yield float(cost)


def _silent(_: float) -> None:
    """Tell nobody how far reading has come."""


class _Town:
    """A ledger that pays for every case, always with the same secrets."""

    def __init__(self, folder: Path) -> None:
        with _Inside.same_keys():
            self.ledger = cdp.Ledger(folder / "budget.db")
        self._open: set[str] = set()

    def of_case(self, case: Case) -> tuple[str, ...]:
        """Return the digests of the parts of a case; where it is refused, the kind of the refusal for each."""
        try:
            plan = plan_of(case)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                totals = [one for key in ("00", "5a", "ff") for one in _Inside.exact(plan, 32 * key)]
                release = self._released(case, plan)
        except Unsaid:
            return (_UNSAID,) * len(PARTS)
        except ChronodpError as refusal:
            return (type(refusal).__name__, *(_UNSAID,) * (len(PARTS) - 1))
        parts = [release[name] for name in release.names] if hasattr(release, "names") else [release]
        design = [*_numbers(plan.claim.cost), plan.cells]
        for part in parts:
            if hasattr(part, "design"):
                design += _Inside.design(part.design)
        views = [one for part in parts for one in _views(part, _turn(case))]
        return digest(design), digest(totals), digest(_Inside.noisy(release)), digest(views)

    def _released(self, case: Case, plan: Any) -> Any:
        budget = f"{case.unit} of {', '.join(case.features)}"
        if budget not in self._open:
            self.ledger.open(budget, unit=plan.claim.unit, epsilon=1e6, delta=0.1, reserve=0.05)
            self._open.add(budget)
        request = f"{case.price} {case.reading}"
        return plan.release(self.ledger, dataset=budget, request=request, entropy=seeded(request), progress=_silent)


def _turn(case: Case) -> int:
    """Return the number of a case among those of its features: each looks at other views."""
    return [*UNITS].index(case.unit) * len(CASES) + CASES.index((case.price, case.reading))


_OTHERS: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("running_total", (), {"level": 0.8}),
    ("rolling", (3,), {}),
    ("resample", ("7D",), {}),
    ("each_period", (), {"simultaneous": True}),
    ("ewm", (0.3,), {}),
    ("linear", ((1.0, -0.5),), {}),
    ("over", (), {}),
    ("share", (), {}),
    ("change", (), {"baseline": ("2026-03-02", "2026-03-09")}),
    ("publish", (), {"relative": 0.5}),
    ("quantile", (0.5,), {}),
    ("at", (), {"region": "north"}),
    ("at_level", ("part",), {}),
    ("ratio", (), {}),
)
_OF_QUANTILES: tuple[tuple[str, tuple[Any, ...], dict[str, Any]], ...] = (
    ("each_period", (), {"level": 0.5}),
    ("quantile", (0.5,), {}),
    ("quantile", (0.25,), {"level": 0.8}),
    ("quantile", (0.75,), {"every": "7D"}),
)


def _views(release: Any, turn: int) -> Iterator[Any]:
    """Yield the tables of five views: periods by themselves, and four of the others by turns."""
    yield from _table(release, "each_period" if hasattr(release, "each_period") else "", (), {})
    others = [_OTHERS[(turn + 3 * step) % len(_OTHERS)] for step in range(4)]
    for name, given, named in others if hasattr(release, "rolling") else _OF_QUANTILES:
        yield from _table(release, name, given, named)


def _table(release: Any, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Iterator[Any]:
    """Yield values and ends of intervals of a view; the kind of refusal where it has none."""
    if not hasattr(release, name or "to_pandas"):
        yield _UNSAID
        return
    try:
        if name == "ratio":  # of each longer period to all
            given = (release.over(),)
        table = (getattr(release, name)(*given, **named) if name else release).to_pandas()
    except ChronodpError as refusal:
        yield type(refusal).__name__
        return
    for column in ("value", "lower", "upper", "value_to"):
        if column in table:
            yield table[column].to_numpy(float)


def found(cases: Iterable[Case], folder: Path) -> dict[Case, tuple[str, ...]]:
    """Return the digests of some cases by their parts."""
    town = _Town(folder)
    try:
        return {case: town.of_case(case) for case in cases}
    finally:
        town.ledger.close_connection()


@functools.cache
def stored() -> Mapping[Case, tuple[str, ...]]:
    """Return the digests of all cases, as the file has them."""
    lines, digests = json.loads(GOLDEN.read_text(encoding="utf-8")), {}
    for case in all_cases():
        line = lines[_line(case)]
        if len(case.features) == 1:
            digests[case] = tuple(line[part].split()[CASES.index((case.price, case.reading))] for part in PARTS)
        else:
            digests[case] = tuple(line[case.features[1]].split())
    return digests


def written(digests: Mapping[Case, tuple[str, ...]]) -> str:
    """Return the text of the file.

    A line for a feature under a unit has six digests of each part, a price and a reading each; one for a feature with
    others has one of each part.
    """
    lines: dict[str, dict[str, str]] = {}
    for case, parts in digests.items():
        line = lines.setdefault(_line(case), {})
        if len(case.features) == 1:
            line.update({name: f"{line.get(name, '')} {one}".strip() for name, one in zip(PARTS, parts, strict=True)})
        else:
            line[case.features[1]] = " ".join(parts)
    return "{\n" + ",\n".join(f"{json.dumps(name)}: {json.dumps(line)}" for name, line in lines.items()) + "\n}\n"


def all_cases() -> Iterator[Case]:
    """Yield every case, in the order of the file."""
    return (case for feature in FEATURES for case in cases_of(feature))


def _line(case: Case) -> str:
    return f"{case.features[0]}, {case.unit if len(case.features) == 1 else 'with others'}"


def main() -> None:
    """Write the file anew; a later change of it says in its commit which parts moved, and why they may."""
    digests = {}
    for feature in FEATURES:
        with tempfile.TemporaryDirectory() as folder:
            digests.update(found(cases_of(feature), Path(folder)))
        print(f"{feature}: {len(digests):,} cases", flush=True)
    GOLDEN.parent.mkdir(exist_ok=True)
    GOLDEN.write_text(written(digests), encoding="utf-8")


if __name__ == "__main__":
    main()
