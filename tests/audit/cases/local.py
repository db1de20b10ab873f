"""Devices: one report of every mechanism, in arrays and by the shipped file; every protocol over time; mistakes."""

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
    WHOLE,
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
from chronodp.privacy import Claim, History, PureCost, Report, Unit, Window
from chronodp.randomness import Entropy
from tests.audit.registry import Entry, Mutant, on_trial

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

    return on_trial(
        f"{type(mechanism).__name__}, in arrays",
        perturb,
        tuple(itertools.combinations(values, 2)),
        mechanism.claim,
        Enumerated(),
    )


def _on_device(mechanism: LocalMechanism, values: Sequence[float]) -> AuditCase:
    plan = LocalPlan("audit", mechanism, Fresh(horizon=1))
    return on_trial(
        f"{type(mechanism).__name__}, on a device",
        _teller(plan.compiled),
        tuple(((one,), (two,)) for one, two in itertools.combinations(values, 2)),
        mechanism.claim,
        Enumerated(),
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

    return on_trial(
        "LocalHashing, in arrays",
        lambda value, *, entropy: tuple(perturbs(value, 1, entropy=entropy)[0].tolist()),
        ((0, 1), (0, 999)),
        mechanism.claim,
        Sampled(),
        many=perturbs,
        likelihood=likelihood,
    )


def _hashed_on_device() -> AuditCase:
    """The device's own code, with a prime so small that every hash can be walked through."""
    compiled = LocalPlan("audit", LocalHashing(1.0, 4), Fresh(horizon=1)).compiled
    small = {**compiled, "mechanism": {**compiled["mechanism"], "prime": 5}}
    return on_trial(
        "LocalHashing, on a device",
        _teller(small),
        tuple(((one,), (two,)) for one, two in itertools.combinations(range(4), 2)),
        LocalHashing(1.0, 4).claim,
        Enumerated(),
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
    return on_trial(name, tell, _neighbours(plan.claim.unit, values, plan.horizon or 4), plan.claim, Enumerated())


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
    return on_trial(
        "devices asked by a collector who goes by their answers",
        ask,
        ((((0, 0), *others), ((1, 1), *others)), (((0, 1), *others), ((1, 0), *others))),
        plan.claim,
        Enumerated(),
    )


_ARGUMENT = "docs/explanation/proofs/local.md"
_BITS = tuple(itertools.combinations(itertools.product((0, 1), repeat=3), 2))


def _response(epsilon: float) -> RandomizedResponse:
    return RandomizedResponse(epsilon, choices=2)


def _unary(**changes: int) -> dict[str, Any]:
    compiled = LocalPlan("unary", OptimizedUnary(1.0, choices=3), Fresh(horizon=1)).compiled
    return {**compiled, "mechanism": {**compiled["mechanism"], **changes}}


def toss_exactly(bit: int, *, entropy: Entropy) -> int:
    """Tell the truth with probability e/(e + 1), by a coin of whole numbers."""
    table = _response(1.0).table
    return bit if entropy.coins(table["keep"], table["whole"]) else 1 - bit


def toss_in_floats(bit: int, *, entropy: Entropy) -> int:
    """Compare a float of eight random bits with e/(e + 1): 188 of 256 fall below it, which is more."""
    uniform = int(entropy.integers(256, size=1)[0]) / 256
    return bit if uniform < math.e / (math.e + 1) else 1 - bit


ENTRIES = (
    Entry("one report of a device", (*(type(mechanism) for mechanism, _ in _ONE), LocalHashing),
          "whole numbers in a table; odds rounded down", _reports),
    Entry("reports of a device over time",
          (*(type(protocol) for protocol in _PROTOCOLS), WindowAsked, Device, simulate, start),
          "whole numbers in a table; odds rounded down", _over_time),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    Mutant("fresh answers over time at the price of one", Claim(History(), PureCost(1.0), _ARGUMENT),
           _teller(LocalPlan("split", _response(1 / 3), Fresh(horizon=3)).compiled),
           _teller(LocalPlan("unsplit", _response(1.0), Fresh(horizon=3)).compiled), _BITS),
    Mutant("kept answers said to protect any two histories", Claim(History(), PureCost(2.0), _ARGUMENT),
           _teller(LocalPlan("two levels", _response(0.5), Memoised(1.0, horizon=3)).compiled),
           _teller(LocalPlan("one level", _response(1.0), Memoised(1.0, horizon=3)).compiled), _BITS),
    Mutant("a coin decided by comparing floats", Claim(Report(), PureCost(1.0), _ARGUMENT), toss_exactly,
           toss_in_floats, ((0, 1),)),
    Mutant("unary encoding with all of epsilon for each of the two bits that differ",
           Claim(Report(), PureCost(1.0), _ARGUMENT), _teller(_unary()),
           _teller(_unary(held=WHOLE - OptimizedUnary(1.0, choices=3).numerators[1])), (((0,), (1,)), ((1,), (2,)))),
)  # fmt: skip
