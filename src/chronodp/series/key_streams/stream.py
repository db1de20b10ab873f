"""Keys that appear over time: told once enough people hold them, with their past, and carried on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from chronodp.errors import InvalidArgument, LedgerUnavailable
from chronodp.ledger import DurableStream, Ledger, framed_codec
from chronodp.postprocess import quantiles
from chronodp.privacy import Certificate, Claim, Guarantee, check_fraction
from chronodp.privacy.units import RecordUnit
from chronodp.randomness import Entropy, draw_secret
from chronodp.series.key_streams.answer import KeyAnswer
from chronodp.series.key_streams.design import LONGEST_KEY, KeyStreamDesign, design_key_stream
from chronodp.series.key_streams.holders import Holders, from_row, to_rows
from chronodp.series.key_streams.look import Told, look_at
from chronodp.series.key_streams.paths import KeyPaths
from chronodp.series.window_rows import Row

__all__ = ["KeyStream"]

_ARGUMENT = "docs/explanation/proofs/key-streams.md"
_SECRET = 32  # bytes of each of the two secrets

Pairs = Iterable[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _State:
    """What a stream of keys must remember beside its rows: two secrets, and how many pairs the rows hold."""

    noise: bytes
    names: bytes
    pairs: int

    def to_bytes(self) -> bytes:
        return self.noise + self.names + self.pairs.to_bytes(8, "big")

    @classmethod
    def from_bytes(cls, stored: bytes) -> Self:
        if len(stored) != 2 * _SECRET + 8:
            raise ValueError("no state of a stream of keys")
        return cls(stored[:_SECRET], stored[_SECRET : 2 * _SECRET], int.from_bytes(stored[2 * _SECRET :], "big"))


class KeyStream(DurableStream[KeyStreamDesign, _State]):
    """Finds keys that nobody declared, and tells at a few public times how many people have met each so far.

    Guarantee: everything told of all steps is (epsilon, delta)-differentially private for the unit, however records are
    chosen, if HMAC-SHA256 and AES-256 cannot be told from random functions. A key that one unit holds alone is told
    with probability at most ``key_delta``. Nothing is announced that is not on disk. The argument stands in
    ``docs/explanation/proofs/key-streams.md``.

    Args:
        unit: who is protected: User(), UserPeriod("1D", timezone="UTC") or Event().
        horizon: how many steps there will be.
        looks: how many of them tell something, evenly over the horizon; 12 unless told otherwise. Few looks find more.
        max_keys: for `User`, how many keys of one person count: the first ones.
        max_groups: for `UserPeriod`, how many keys of one person count in a step.
        max_periods: for `UserPeriod`, how many steps one calendar period holds.
        longest: bytes of a key's text, in UTF-8; longer keys are left out.
        epsilon: of the guarantee for the whole stream, paid at once when it opens.
        delta: of that guarantee.
        key_delta: the part of it for keys that one unit holds alone, which the budget's reserve pays; 0.4 of delta
            unless told otherwise.
        ledger: what pays, and where the stream lives.
        dataset: whose budget pays.
        name: of the stream.
        analyst: whose part of the budget pays.
        entropy: of the stream's secret; secure unless a test says otherwise.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> from chronodp.series.key_streams import KeyStream
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("web", unit=cdp.User(), epsilon=1.0, delta=1e-6, reserve=4e-7)
    >>> live = KeyStream(unit=cdp.User(), horizon=4, looks=2, max_keys=3, epsilon=1.0, delta=1e-6,
    ...                  ledger=ledger, dataset="web", name="pages")
    >>> live.design.people_needed.round().tolist()
    [45.0, 50.0]
    >>> live.step([(f"reader {number}", "/home") for number in range(500)]).look is None
    True
    >>> live.step([("reader 0", "/secret")]).found
    ('/home',)
    >>> KeyStream.resume(ledger, "pages").period
    2
    >>> ledger.close_connection()
    """

    _holders: Holders
    _paths: KeyPaths
    _told: dict[str, int]
    """Keys with their numbers, in the order they were told."""
    _looks: dict[int, int]
    _stale: bool

    columns: ClassVar[tuple[str, ...]] = ("group", "until", "value", "lower", "upper")
    codec = framed_codec(
        KeyStreamDesign, lambda snapshot: snapshot.state.to_bytes(), lambda _, stored: _State.from_bytes(stored)
    )
    takes = ("design", KeyStreamDesign, "a KeyStreamDesign")

    def __init__(
        self,
        *,
        unit: RecordUnit,
        horizon: int,
        looks: int | None = None,
        max_keys: int | None = None,
        max_groups: int | None = None,
        max_periods: int | None = None,
        longest: int = LONGEST_KEY,
        epsilon: float,
        delta: float,
        key_delta: float | None = None,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> None:
        design = design_key_stream(
            unit=unit,
            horizon=horizon,
            looks=looks,
            max_keys=max_keys,
            max_groups=max_groups,
            max_periods=max_periods,
            longest=longest,
            epsilon=epsilon,
            delta=delta,
            key_delta=key_delta,
        )
        self._open(design, ledger, dataset, name, analyst, entropy)

    @property
    def certificate(self) -> Certificate:
        """What is promised for all steps together."""
        design = self.design
        return Certificate(
            mechanism=f"keys found at {design.looks} looks in {design.horizon:,} steps, with people so far; Gaussian "
            f"noise, {design.shape}; a key that one unit holds alone is told with probability at most "
            f"{design.key_delta:g}",
            claim=Claim(design.unit, design.cost, _ARGUMENT),
            guarantee=Guarantee(design.unit, design.epsilon, design.delta),
            theorem=f"{design.noise.theorem}; then a failure of probability {design.key_delta:g}",
            precision=f"whole numbers on a grid of {design.noise.step:g}; what rounding adds over {design.looks:,} "
            "looks is in the sensitivity and in the thresholds. Computational: the noise of a key is a function of the "
            "stream's secret, by HMAC-SHA256 and AES-256",
            seeded=self._seeded,
        )

    @property
    def keys(self) -> tuple[str, ...]:
        """All keys told so far, in the order they were told: public."""
        return tuple(self._told)

    def step(self, pairs: Pairs, *, period: int | None = None, level: float = 0.95) -> KeyAnswer:
        """Take the records of the next step, and tell what there is to tell after it.

        Args:
            pairs: (person, key) of each record; repeated ones count once.
            period: the number of the step, checked if given: steps come one after another, none twice.
            level: how often an interval holds the number before noise.
        """
        check_fraction("level", level)
        people, keys = _checked(pairs)
        design = self.design
        with self._lock:
            if self._stale:
                self._prepare()
            step = self.period
            self._check_next(period, 1, length=design.horizon, left_out="give each an empty list")
            met = self._holders.choose(step, people, keys)
            rows = list(to_rows(met, len(self._holders.texts)))
            state = _State(self._state.noise, self._state.names, self._state.pairs + len(met.keys))
            # Until all is on disk memory is ahead of it: whatever goes wrong, it is then made anew from there.
            self._stale = True
            self._holders.add(met)
            told = self._look(step)
            released = None if told is None else told.to_json()
            self._commit(state, [released], finished=step + 1 == design.horizon, rows=rows)
            if told is not None:
                self._told |= {key: self._holders.number(key) for key in told.found}
            self._stale = False
            return self._answer(step, told, level)

    def released(self, *, level: float = 0.95) -> list[KeyAnswer]:
        """Return the answers of all looks so far, read back from the ledger; nothing is spent."""
        check_fraction("level", level)
        told = self._committed()
        before = list[str]()
        answers = []
        for step, content in enumerate(told):
            if content is not None:
                one = Told.from_json(self._looks[step], before, content)
                before += one.found
                answers.append(self._answer(step, one, level))
        return answers

    def release_windows(self, first: int, totals: Sequence[Pairs], *, level: float = 0.95) -> list[list[Row]]:
        """Release windows from ``first`` on, each given by its pairs of people and keys, as rows by window."""
        return [
            self._rows_of(self.step(pairs, period=first + place, level=level)) for place, pairs in enumerate(totals)
        ]

    def released_windows(self, first: int, end: int, *, level: float = 0.95) -> list[list[Row]]:
        """Return rows of windows released before, as `release_windows` did."""
        by_step = {answer.period: answer for answer in self.released(level=level)}
        return [self._rows_of(by_step[step]) if step in by_step else [] for step in range(first, end)]

    def __repr__(self) -> str:
        return f"KeyStream({self.name!r}, {self.design.unit}, {self.period} steps, {len(self._told)} keys told)"

    @classmethod
    def _start(cls, design: KeyStreamDesign, entropy: Entropy) -> _State:
        del design
        return _State(draw_secret(entropy), draw_secret(entropy), 0)

    def _prepare(self) -> None:
        design = self.design
        self._looks = {step: look for look, step in enumerate(design.look_steps)}
        self._holders, self._paths = Holders(design, self._state.names), KeyPaths(design, self._state.noise)
        for row in self._rows():
            self._holders.add(from_row(row))
        if self._holders.pairs != self._state.pairs:
            raise LedgerUnavailable(f"rows of stream {self.name!r} are missing: put the newest ledger back")
        self._told = {}
        for content in self._committed():
            if content is not None:
                self._told |= {key: self._holders.number(key) for key, _ in content["found"]}
        self._stale = False

    def _look(self, step: int) -> Told | None:
        """Return what is told after a step; None if it is no look."""
        look = self._looks.get(step)
        if look is None:
            return None
        design = self.design
        return look_at(look, int(design.quanta[look]), self._holders, self._paths, self._told, person=design.person)

    def _answer(self, step: int, told: Told | None, level: float) -> KeyAnswer:
        design = self.design
        if told is None:
            return KeyAnswer(step, None, (), {}, {}, np.zeros(0))
        width, grid = float(quantiles("gaussian", [1], level)[0]), design.noise.step
        past = {key: path * grid for key, path in zip(told.found, told.past.T, strict=True)}
        values = {key: float(value) * grid for key, value in zip(told.before, told.values.tolist(), strict=True)}
        values |= {key: float(path[-1]) for key, path in past.items()}
        return KeyAnswer(step, told.look, told.found, values, past, width * design.deviations[: told.look + 1])

    def _rows_of(self, answer: KeyAnswer) -> list[Row]:
        """Return a row for each key and look that is told: of new keys all looks so far, of others the last."""
        rows = list[Row]()
        for key, value in answer.values.items():
            path = answer.past.get(key)
            looks = range(len(path)) if path is not None else [answer.look or 0]
            for look in looks:
                number, half = float(path[look]) if path is not None else value, float(answer.half[look])
                until = self.design.look_steps[look]
                rows.append(
                    {"group": key, "until": until, "value": number, "lower": number - half, "upper": number + half}
                )
        return rows


def _checked(pairs: Any) -> tuple[list[str], list[str]]:
    """Return people and keys, if all are names."""
    allowed = "pairs of texts, (person, key), none of them empty"
    people, keys = list[str](), list[str]()
    try:
        for person, key in pairs:
            people.append(person)
            keys.append(key)
    except (TypeError, ValueError):
        raise InvalidArgument("pairs", None, allowed, private=True) from None
    for name in (*people, *keys):
        if not isinstance(name, str) or not name:
            raise InvalidArgument("pairs", None, allowed, private=True)
    return people, keys
