"""A blurred stream: values in, the same values at blurred times out, each on disk before it is published."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.ledger import DurableStream, Ledger, Snapshot, StateCodec
from chronodp.privacy import Cost, Swap, Unit, load
from chronodp.randomness import Entropy
from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.blurred import Promise
from chronodp.temporal.mechanisms import Online, promise_of
from chronodp.temporal.online import Slot, WaitingValues, advance, finish, start
from chronodp.temporal.published.statement import UNPROTECTED

__all__ = ["BlurredStream", "Released"]

_LARGEST = 10**4000
_PLAIN = (str, int, float, bool, type(None))


@dataclass(frozen=True, slots=True)
class Released:
    """What a step releases. All of it is public.

    Attributes:
        first: the period that the first of the values is released for.
        values: for consecutive periods; none while a block fills.
        filled: for each of them, whether a value is released there; where not, the value is None.
    """

    first: int
    values: tuple[Any, ...]
    filled: tuple[bool, ...]


def _body(snapshot: Snapshot[Online, WaitingValues]) -> bytes:
    waiting = snapshot.state
    content = {"mechanism": snapshot.plan, "step": waiting.step, "slots": waiting.slots, "seeded": snapshot.seeded}
    return json.dumps(content).encode()


def _decode(sealed: bytes) -> Snapshot[Online, WaitingValues]:
    content = json.loads(sealed)
    mechanism: Online = load(content["mechanism"], Online)
    waiting = WaitingValues(content["step"], content["slots"])
    return Snapshot(content["mechanism"], mechanism, waiting, bool(content["seeded"]))


class BlurredStream(DurableStream[Online, WaitingValues]):
    """Blurs the times of one person's values as they come, with bounded delay.

    A budget counts all that it pays as if it were about the same person: give every person a dataset of their own. Open
    one stream for a person's values and never two over the same values: blocks are counted from a stream's first value,
    and costs add up only where each block is released whole and alike.

    `BlockShuffle` releases a block when its last value has come: at most k - 1 periods late, (k - 1) / 2 on average.
    `Backward`, `Forward` and `Threshold` release at every step.

    Guarantee: of `BlockShuffle`, ε-differential privacy for `Swap` of all releases together, however long the stream
    runs; it pays once, when the stream opens. The others give no differential privacy and cannot be paid for as if they
    did: the ledger records that their owner accepted so, and only a budget opened with
    ``accepts=("times are not protected",)`` lets them run. The argument stands in
    ``docs/explanation/proofs/temporal.md``.

    Args:
        mechanism: BlockShuffle, Backward, Forward or Threshold.
        ledger: what pays, and where the stream lives.
        dataset: whose budget pays.
        name: of the stream.
        analyst: whose part of the budget pays.
        entropy: of the draws; secure unless a test says otherwise.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> from chronodp.temporal import BlockShuffle
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("watch", unit=cdp.privacy.Swap(3), epsilon=1.0)
    >>> live = BlurredStream(BlockShuffle(3, 1.0), ledger=ledger, dataset="watch", name="pulse")
    >>> [len(live.step(value).values) for value in (71, 74, 70, 90)]
    [0, 0, 3, 0]
    >>> BlurredStream.resume(ledger, "pulse").finish().values
    (90,)
    >>> ledger.close_connection()
    """

    codec = StateCodec(_body, _decode)
    takes = ("mechanism", Online, "BlockShuffle, Backward, Forward or Threshold")

    def __init__(
        self,
        mechanism: Online,
        *,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> None:
        self._open(mechanism, ledger, dataset, name, analyst, entropy)

    @property
    def mechanism(self) -> Online:
        """What blurs the times."""
        return self.design

    @property
    def period(self) -> int:
        """The number of the next value, from 0."""
        return self._state.step

    @property
    def promise(self) -> Promise:
        """What holds of all releases together: a certificate, or the statement of a mechanism that gives none."""
        return promise_of(self.mechanism, seeded=self._seeded)

    def step(self, value: object) -> Released:
        """Take the next value, or a list of channels, and return what is released now."""
        kept = _check_value(value)
        with self._lock:
            self._check_open()
            after, slots = advance(self.mechanism, self._state, kept, self._entropy)
            return self._announce(after, slots, finished=False)

    def finish(self) -> Released:
        """End the stream and return what was still to come: a last block, or values sent to later times."""
        with self._lock:
            self._check_open()
            after, slots = finish(self.mechanism, self._state, self._entropy)
            return self._announce(after, slots, finished=True)

    def __repr__(self) -> str:
        return f"BlurredStream({self.mechanism}, {self.period} values taken)"

    def _announce(self, after: WaitingValues, slots: list[Slot], *, finished: bool) -> Released:
        """Commit what is about to be told; only then is it told."""
        behind = len(slots) if isinstance(self.mechanism, BlockShuffle) or not finished else 0
        made = Released(
            first=after.step - behind,
            values=tuple(slot[0] if slot else None for slot in slots),
            filled=tuple(bool(slot) for slot in slots),
        )
        self._commit(after, [slots], finished=finished)
        return made

    def _check_open(self) -> None:
        if self.finished:
            raise StreamConflict(f"stream {self.name!r} is finished: open another")

    @classmethod
    def _start(cls, design: Online, entropy: Entropy) -> WaitingValues:
        return start(design, entropy)

    @classmethod
    def _price(cls, design: Online) -> tuple[Cost, Unit]:
        if isinstance(design, BlockShuffle):
            return design.claim.cost, Swap(design.block)
        return UNPROTECTED, Swap(design.window)


def _check_value(value: object) -> object:
    plain = value.tolist() if hasattr(value, "tolist") else value
    parts = plain if isinstance(plain, list) else [plain]
    # A whole number of thousands of digits has no form in JSON.
    if not all(isinstance(part, _PLAIN) and not (type(part) is int and abs(part) >= _LARGEST) for part in parts):
        raise InvalidArgument(
            "value", value, "a number, a text or None, or a list of them, one a channel", private=True
        )
    return plain
