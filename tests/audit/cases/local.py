"""Devices: one report of every mechanism, drawn in arrays and by the shipped device file; every protocol over time."""

from __future__ import annotations

import itertools
import math
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase
from chronodp.audit.devices import AuditedChance, report_history
from chronodp.audit.statistical import Sampled
from chronodp.audit.walked import Enumerated
from chronodp.local import (
    Device,
    Fresh,
    Hybrid,
    LaplaceNumber,
    LocalHashing,
    LocalMechanism,
    LocalPlan,
    Memoised,
    OneBit,
    OptimizedUnary,
    Piecewise,
    RandomizedResponse,
    Slots,
    SymmetricUnary,
    WindowAsked,
    WindowBudget,
    WindowPopulation,
    simulate,
    start,
)
from chronodp.privacy import History, Unit, Window
from chronodp.randomness import Entropy
from tests.audit.registry import Entry

__all__ = ["ENTRIES"]

Values = tuple[float, ...]
Pairs = tuple[tuple[Any, Any], ...]

_RANGE, _QUARTERS = (-1.0, 3.0), (-1.0, 0.0, 1.0, 2.0, 3.0)
_ONE: tuple[tuple[LocalMechanism, Sequence[float]], ...] = (
    (RandomizedResponse(1.0, 3), range(3)),
    (OptimizedUnary(1.0, 4), range(4)),
    (SymmetricUnary(1.0, 4), range(4)),
    (OneBit(1.0, _RANGE, grid=4), _QUARTERS),
    (Piecewise(1.0, _RANGE, grid=7), _QUARTERS),
    (Hybrid(1.0, _RANGE, grid=12), _QUARTERS),
    (LaplaceNumber(2.0, _RANGE, grid=1), (-1.0, 3.0)),
)
_PROTOCOLS = (Fresh(3), Slots(4, 2), Memoised(1.0, horizon=3), WindowBudget(2), WindowPopulation(2))
_ANSWER = RandomizedResponse(0.5, 2)


def _reports() -> tuple[AuditCase, ...]:
    return (*(_in_array(*one) for one in _ONE), *(_on_device(*one) for one in _ONE), _hashed(), _hashed_on_device())


def _in_array(mechanism: LocalMechanism, values: Sequence[float]) -> AuditCase:
    def perturb(value: float, *, entropy: Entropy) -> Values:
        return tuple(mechanism.perturb([value], entropy=entropy).ravel().tolist())

    return AuditCase(
        name=f"{type(mechanism).__name__}, in arrays",
        mechanism=perturb,
        neighbours=tuple(itertools.combinations(values, 2)),
        claim=mechanism.claim,
        checks=(Enumerated(),),
    )


def _on_device(mechanism: LocalMechanism, values: Sequence[float]) -> AuditCase:
    plan = LocalPlan("audit", mechanism, Fresh(horizon=1))
    return AuditCase(
        name=f"{type(mechanism).__name__}, on a device",
        mechanism=_teller(plan.compiled),
        neighbours=tuple(((one,), (two,)) for one, two in itertools.combinations(values, 2)),
        claim=mechanism.claim,
        checks=(Enumerated(),),
    )


def _teller(compiled: dict[str, Any]) -> Callable[..., object]:
    def tell(history: Values, *, entropy: Entropy) -> object:
        return report_history(compiled, history, entropy=entropy)

    return tell


def _hashed() -> AuditCase:
    """There are too many hashes to walk through: the likelihood is known, and samples follow it."""
    mechanism = LocalHashing(1.0, 1000)
    keep, other = mechanism.weights
    prime = mechanism.table["prime"]

    def perturbs(value: int, count: int, *, entropy: Entropy) -> NDArray[np.uint32]:
        return mechanism.perturb(np.full(count, value), entropy=entropy)

    def likelihood(output: NDArray[np.uint32], value: int) -> float:
        multiplier, shift, bucket = output.tolist()
        return math.log(keep if (multiplier * value + shift) % prime % mechanism.buckets == bucket else other)

    return AuditCase(
        name="LocalHashing, in arrays",
        mechanism=lambda value, *, entropy: tuple(perturbs(value, 1, entropy=entropy)[0].tolist()),
        many=perturbs,
        neighbours=((0, 1), (0, 999)),
        claim=mechanism.claim,
        checks=(Sampled(),),
        likelihood=likelihood,
    )


def _hashed_on_device() -> AuditCase:
    """The device's own code, with a prime so small that every hash can be walked through."""
    compiled = LocalPlan("audit", LocalHashing(1.0, 4), Fresh(horizon=1)).compiled
    small = {**compiled, "mechanism": {**compiled["mechanism"], "prime": 5}}
    return AuditCase(
        name="LocalHashing, on a device",
        mechanism=_teller(small),
        neighbours=tuple(((one,), (two,)) for one, two in itertools.combinations(range(4), 2)),
        claim=LocalHashing(1.0, 4).claim,
        checks=(Enumerated(),),
    )


def _over_time() -> tuple[AuditCase, ...]:
    found = []
    for protocol in _PROTOCOLS:
        plan = LocalPlan("audit", _ANSWER, protocol)
        found += [_subject(f"devices, {protocol}", plan, _teller(plan.compiled))]
        found += [_subject(f"simulated fleet, {protocol}", plan, _fleet(plan))]
    kept = LocalPlan("audit", OneBit(0.5, (0.0, 2.0), grid=2), Memoised(1.0, horizon=3))
    found += [_subject("devices, a counter rounded to one bit and kept", kept, _teller(kept.compiled), (0.0, 1.0, 2.0))]
    return (*found, _file(), _asked())


def _subject(name: str, plan: LocalPlan, tell: Callable[..., object], values: Sequence[float] = (0, 1)) -> AuditCase:
    return AuditCase(
        name=name,
        mechanism=tell,
        neighbours=_neighbours(plan.claim.unit, values, plan.horizon or 4),
        claim=plan.claim,
        checks=(Enumerated(),),
    )


def _neighbours(unit: Unit, values: Sequence[float], length: int) -> Pairs:
    """Every pair of histories that a claim speaks of."""
    pairs = itertools.combinations(itertools.product(values, repeat=length), 2)
    if isinstance(unit, History):
        return tuple(pair for pair in pairs if unit.changes == "any" or _pattern(pair[0]) == _pattern(pair[1]))
    if not isinstance(unit, Window):
        raise AssertionError("claims over time are for histories or windows")
    return tuple(pair for pair in pairs if _spread(*pair) <= unit.periods)


def _pattern(history: Values) -> tuple[int, ...]:
    return tuple(history.index(value) for value in history)


def _spread(one: Values, two: Values) -> int:
    places = [place for place, (first, second) in enumerate(zip(one, two, strict=True)) if first != second]
    return places[-1] - places[0] + 1


def _fleet(plan: LocalPlan) -> Callable[..., object]:
    def tell(history: Values, *, entropy: Entropy) -> object:
        made = simulate(plan, np.array([history]), entropy=entropy)
        return tuple(sorted(zip(made["slot"].tolist(), made["answer"].ravel().tolist(), strict=True)))

    return tell


def _file() -> AuditCase:
    """The device with its durable state: the same slot asked twice has one answer."""
    plan = LocalPlan("audit", _ANSWER, Memoised(1.0, horizon=2))

    def tell(history: Values, *, entropy: Entropy) -> object:
        chance = AuditedChance(entropy)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "device.json"
            start(path, plan.compiled, chance=chance)
            told = []
            for slot, value in enumerate(history):
                for _ in range(2):
                    report = Device(path, plan.compiled, chance=chance).send(value, slot=slot)
                    told.append(None if report is None else tuple(report["answer"]))
        return tuple(told)

    return _subject("a device with its file, every slot asked twice", plan, tell)


def _asked() -> AuditCase:
    """Four devices and a collector who decides whom to ask; one device differs within two slots."""
    mechanism = RandomizedResponse(0.7, 2)
    plan = LocalPlan("audit", mechanism, WindowAsked(2))

    def ask(histories: tuple[Values, ...], *, entropy: Entropy) -> object:
        told: list[tuple[int, int]] = []
        free = list(entropy.permutations(len(histories))[0])
        for slot in range(len(histories[0])):
            heard = sum(answer for _, answer in told)
            asked = [free.pop() for _ in range(1 + heard % 2)]  # whom it asks hangs on what it has heard
            answers = mechanism.perturb([histories[device][slot] for device in asked], entropy=entropy)
            told += zip(map(int, asked), answers.tolist(), strict=True)
        return tuple(told)

    others = ((0, 0), (1, 1), (0, 1))
    return AuditCase(
        name="devices asked by a collector who goes by their answers",
        mechanism=ask,
        neighbours=((((0, 0), *others), ((1, 1), *others)), (((0, 1), *others), ((1, 0), *others))),
        claim=plan.claim,
        checks=(Enumerated(),),
    )


ENTRIES = (
    Entry(
        name="one report of a device",
        covers=(*(type(mechanism) for mechanism, _ in _ONE), LocalHashing),
        precision="whole numbers in a table; odds rounded down",
        cases=_reports,
    ),
    Entry(
        name="reports of a device over time",
        covers=(*(type(protocol) for protocol in _PROTOCOLS), WindowAsked, Device, simulate, start),
        precision="whole numbers in a table; odds rounded down",
        cases=_over_time,
    ),
)
