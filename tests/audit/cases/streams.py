"""Streams of a series and of keys: every shape of noise, values that follow the answers, when a key's noise begins."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from chronodp.audit.case import AuditCase, Check
from chronodp.audit.numerical import Linear
from chronodp.audit.statistical import Sampled
from chronodp.ledger import Ledger
from chronodp.privacy import Claim, Event, FailureCost, LaplaceCost, SequenceCost, User
from chronodp.randomness import Entropy
from chronodp.series import CausalFilter, EachPeriod, Ewm, Rolling, RunningTotal, Stream
from chronodp.series.key_streams import KeyStream, look_at
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial

Series = tuple[float, ...]
Floats = NDArray[np.float64]
Adversary = Callable[[Floats | None], Floats]
"""The next value of every stream, from the answers to the last step; None before the first."""

_LOOSE = 0.01
_PERSON = User()


@dataclass(frozen=True, slots=True)
class _Kind:
    """A stream to open: what it answers, for how long, and how often one person is in it."""

    workload: CausalFilter
    delta: float = 0.0
    horizon: int | None = 8
    periods: int = 1

    def open(self, ledger: Ledger, keys: int, entropy: Entropy | None) -> Stream:
        return Stream(
            self.workload,
            horizon=self.horizon,
            change=1.0,
            unit=_PERSON,
            max_periods=self.periods,
            epsilon=1.0,
            delta=self.delta,
            keys=keys,
            ledger=ledger,
            dataset="audit",
            name="audit",
            entropy=entropy,
        )


def _streams() -> Iterator[AuditCase]:
    loud, often = (Linear(), Sampled()), (Linear(),)
    total = RunningTotal()
    yield _stream("a running total, decaying buffers", _Kind(total, _LOOSE), loud)
    yield _stream("a running total, a person in two steps", _Kind(total, _LOOSE, periods=2), often)
    yield _stream("a running total without end, decaying buffers", _Kind(total, _LOOSE, None), often)
    yield _stream("a running total, a tree", _Kind(total, horizon=30), often, steps=30)
    yield _stream("a running total without end, a tree", _Kind(total, horizon=None), often, steps=32)
    yield _stream("a running total, plain Laplace noise", _Kind(total), loud)
    yield _stream("each period, plain Laplace noise", _Kind(EachPeriod()), loud)
    yield _stream("each period, plain Gaussian noise", _Kind(EachPeriod(), _LOOSE, periods=3), often)
    yield _stream("a moving average", _Kind(Rolling(12), _LOOSE, 16, periods=2), often, steps=16)
    yield _stream("a weighted average", _Kind(Ewm(0.1), _LOOSE, 16, periods=2), often, steps=16)
    yield _adaptive("a running total whose one visit follows its answers", _when_noise_is_far)
    yield _adaptive("a running total whose values follow its answers", _pressing)


def _stream(name: str, kind: _Kind, checks: tuple[Check, ...], *, steps: int = 8) -> AuditCase:
    def run(series: Series, *, entropy: Entropy) -> tuple[float, ...]:
        return tuple(_answers(kind, np.array(series)[:, None], entropy)[0].tolist())

    def runs(series: Series, count: int, *, entropy: Entropy) -> Floats:
        return _answers(kind, np.array(series)[:, None].repeat(count, axis=1), entropy)

    quiet = (0.0,) * steps
    return on_trial(
        name,
        run,
        tuple((quiet, change) for change in _visits(steps, kind.periods)),
        _claim(kind),
        *checks,
        many=runs,
        delta=kind.delta,
    )


def _visits(steps: int, periods: int) -> list[Series]:
    """A person who comes so many times in a row from each step on, and one who comes at both ends."""
    places = [range(first, first + periods) for first in range(steps - periods + 1)]
    rows = [tuple(float(step in some) for step in range(steps)) for some in places]
    return [*rows, tuple(float(step in (0, steps - 1)) for step in range(steps))] if periods == 2 else rows


def _answers(kind: _Kind, values: Floats, entropy: Entropy) -> Floats:
    """Return the answers of streams side by side: one stream of as many series, each with its own noise."""
    keys = values.shape[1]
    with temporary_ledger(_PERSON, delta=min(0.5, 2 * kind.delta)) as ledger:
        told = np.asarray(kind.open(ledger, keys, entropy).steps(values if keys > 1 else values[:, 0]).value)
    return told.reshape(len(values), keys).T


def _adaptive(name: str, strategy: Callable[[int, int], Adversary]) -> AuditCase:
    """A game of eight steps in which the adversary sees every answer before choosing the next two values."""
    kind = _Kind(RunningTotal(), _LOOSE)

    def runs(side: int, count: int, *, entropy: Entropy) -> Floats:
        choose = strategy(side, count)
        told: Floats | None = None
        rows = []
        with temporary_ledger(_PERSON, delta=2 * _LOOSE) as ledger:
            live = kind.open(ledger, count, entropy)
            for _ in range(8):
                values = choose(told)
                made = live.step(values if count > 1 else float(values[0])).value
                told = np.atleast_1d(np.asarray(made, dtype=np.float64))
                rows.append(told)
        return np.column_stack(rows)

    return on_trial(
        name,
        lambda side, *, entropy: runs(side, 1, entropy=entropy)[0],
        ((0, 1),),
        _claim(kind),
        Sampled(),
        many=runs,
        delta=_LOOSE,
    )


def _when_noise_is_far(side: int, count: int) -> Adversary:
    """The one visit goes to the first step after an answer that noise has carried far."""
    used = np.zeros(count, dtype=np.bool_)

    def choose(answers: Floats | None) -> Floats:
        far = np.zeros(count, dtype=np.bool_) if answers is None else np.abs(answers) > 1.0
        now = ~used & far
        np.logical_or(used, now, out=used)
        return np.where(now, float(side), 0.0)

    return choose


def _pressing(side: int, count: int) -> Adversary:
    """The visit comes first; then public values press every total back to where it is told to be 0."""

    def choose(answers: Floats | None) -> Floats:
        return np.full(count, float(side)) if answers is None else -answers

    return choose


@cache
def _claim(kind: _Kind) -> Claim:
    with temporary_ledger(_PERSON, delta=min(0.5, 2 * kind.delta)) as ledger:
        return kind.open(ledger, 1, None).certificate.claim


Newcomers = tuple[int, ...]
"""How many people meet a key for the first time in each step."""

_DELTA = 0.02
_UNIT = Event()


def _open_keys(ledger: Ledger, entropy: Entropy | None) -> KeyStream:
    return KeyStream(
        unit=_UNIT,
        horizon=4,
        looks=2,
        epsilon=1.0,
        delta=_DELTA,
        ledger=ledger,
        dataset="audit",
        name="audit",
        entropy=entropy,
    )


def _told_of_keys(new: Newcomers, count: int, *, entropy: Entropy) -> NDArray[np.float64]:
    """Return what is told of so many keys with the same newcomers, each with its own noise: look, then totals."""
    told = np.full((count, 3), -1.0)
    told[:, 1:] = 0.0
    with temporary_ledger(_UNIT, delta=2 * _DELTA, reserve=_DELTA) as ledger:
        live = _open_keys(ledger, entropy)
        people = 0
        for coming in new:
            numbers = range(people, people + coming)
            people += coming
            answer = live.step((f"{key}/{number}", str(key)) for key in range(count) for number in numbers)
            for key, path in answer.past.items():
                told[int(key), 0] = float(answer.look or 0)
                told[int(key), 1 : 1 + len(path)] = path
            for key, value in answer.values.items():
                told[int(key), 1 + (answer.look or 0)] = value
    return told


def _key_streams() -> tuple[AuditCase, ...]:
    def run(new: Newcomers, *, entropy: Entropy) -> tuple[float, ...]:
        return tuple(_told_of_keys(new, 1, entropy=entropy)[0].tolist())

    def case(name: str, one: Newcomers, other: Newcomers) -> AuditCase:
        return on_trial(
            f"a stream of keys, {name}",
            run,
            ((one, other),),
            _key_claim(),
            Sampled(),
            many=_told_of_keys,
            epsilon=1.0,
            delta=_DELTA,
        )

    return (
        case("a record alone", (0, 0, 0, 0), (0, 1, 0, 0)),
        case("a record at the threshold", (6, 0, 0, 0), (6, 0, 0, 1)),
        case("a record that brings a key early", (0, 0, 9, 0), (1, 0, 9, 0)),
    )


@cache
def _key_claim() -> Claim:
    with temporary_ledger(_UNIT, delta=2 * _DELTA, reserve=_DELTA) as ledger:
        return _open_keys(ledger, None).certificate.claim


_PAGE = "docs/explanation/proofs/key-streams.md"
_KEY = "page"
_SCALE = 0.5
_THRESHOLD = 5


@dataclass(frozen=True, slots=True)
class _Key:
    """One key, its holders and its noise, as a look wants to see them."""

    people: NDArray[np.int64]
    noise: NDArray[np.int64]

    @property
    def texts(self) -> list[str]:
        return [_KEY]

    def number(self, text: str) -> int:
        return self.texts.index(text)

    def at(self, look: int, keys: Sequence[str] | None = None) -> NDArray[np.int64]:
        return (self.people if keys is None else self.noise)[look : look + 1]

    def until(self, look: int, keys: Sequence[str | int]) -> NDArray[np.int64]:
        column = self.noise if _KEY in keys else self.people
        return np.repeat(column[: look + 1, None], len(keys), axis=1)


def _tell_key(new: Newcomers, draws: NDArray[np.int64], looked_at: Callable[[int], bool]) -> tuple[int, ...]:
    """Return the look at which the key is told and its noisy totals from there on; nothing if it never is."""
    key = _Key(np.cumsum(new), np.cumsum(draws))
    told: dict[str, int] = {}
    out: list[int] = []
    for look in range(len(new)):
        if key.people[look] and (told or looked_at(look)):
            found = look_at(look, _THRESHOLD, key, key, told, person=1)
            out += [look, int(found.past[-1, 0])] if found.found else found.values.tolist()
            told |= dict.fromkeys(found.found, 0)
    return tuple(out)


def look_at_every_key(new: Newcomers, *, entropy: Entropy) -> tuple[int, ...]:
    """Look at the key at both looks, with noise that began before anyone held it."""
    return _tell_key(new, entropy.laplace(_SCALE, len(new)), lambda _: True)


def look_where_records_came(new: Newcomers, *, entropy: Entropy) -> tuple[int, ...]:
    """Look at the key only if someone met it since the last look."""
    return _tell_key(new, entropy.laplace(_SCALE, len(new)), lambda look: bool(new[look]))


def begin_noise_at_first_sight(new: Newcomers, *, entropy: Entropy) -> tuple[int, ...]:
    """Draw noise for the key from the look on by which someone holds it."""
    draws = entropy.laplace(_SCALE, len(new))
    return _tell_key(new, np.where(np.cumsum(new) > 0, draws, 0), lambda _: True)


def _chance() -> float:
    """Return how likely a key that one person holds alone is told, by all pairs of draws within 60 deviations."""
    sizes = np.arange(-60, 61)
    tails = 0.5 * np.exp(-np.maximum(np.abs(sizes) - 0.5, 0) / _SCALE)  # P(draw >= size), for sizes above 0
    law = np.where(sizes == 0, 1 - 2 * tails[61], tails - 0.5 * np.exp(-(np.abs(sizes) + 0.5) / _SCALE))
    first, second = np.meshgrid(sizes, sizes, indexing="ij")
    passed = (1 + first >= _THRESHOLD) | (1 + first + second >= _THRESHOLD)
    return float((np.outer(law, law) * passed).sum()) * (1 + 1e-9)


_LONE = _chance()
_NEIGHBOURS = (((4, 0), (4, 1)), ((0, 0), (1, 0)), ((0, 6), (1, 6)))
_CLAIM = Claim(User(), SequenceCost((LaplaceCost(sensitivity=1.0, scale=_SCALE), FailureCost(_LONE))), _PAGE)


ENTRIES = (
    Entry("stream of a series", (Stream,),
          "whole numbers on a grid; what rounding adds over all steps is in the sensitivity", _streams),
    Entry("stream of keys", (KeyStream,),
          "whole numbers on a grid; what rounding adds is in the sensitivity and in the thresholds", _key_streams),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    Mutant("keys looked at only where new records came", _CLAIM, look_at_every_key, look_where_records_came,
           _NEIGHBOURS, epsilon=1 / _SCALE, delta=_LONE),
    Mutant("noise of a key that begins when it is first seen", _CLAIM, look_at_every_key, begin_noise_at_first_sight,
           _NEIGHBOURS, epsilon=1 / _SCALE, delta=_LONE),
)  # fmt: skip
