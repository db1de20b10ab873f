"""A blurred stream: values in, the same values at blurred times out, each on disk before it is told."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

from chronodp.errors import InvalidArgument, StreamConflict
from chronodp.ledger import Form, Ledger, Running, Spend, Standing
from chronodp.privacy import Cost, Swap, dump, load
from chronodp.randomness import Entropy, check_entropy
from chronodp.temporal.block_shuffle import BlockShuffle
from chronodp.temporal.blurred import Promise
from chronodp.temporal.mechanisms import Online, promise_of
from chronodp.temporal.online import Slot, WaitingValues, advance, finish, start
from chronodp.temporal.statement import UNPROTECTED

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


class BlurredStream:
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

    mechanism: Online
    _running: Running[Online, WaitingValues]

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
        if not isinstance(mechanism, Online):
            raise InvalidArgument("mechanism", mechanism, "BlockShuffle, Backward, Forward or Threshold")
        bits = check_entropy(entropy)
        cost, unit = _price(mechanism)
        self.mechanism = mechanism
        self._running = Running.open(
            _FORM,
            name,
            Standing(dump(mechanism), mechanism, start(mechanism, bits), bits.seeded),
            Spend(dataset, cost, unit, analyst),
            ledger=ledger,
            entropy=bits,
        )

    @classmethod
    def resume(cls, ledger: Ledger, name: str, *, entropy: Entropy | None = None) -> Self:
        """Return a stream where it stands, after a restart or a crash."""
        stream = cls.__new__(cls)
        stream._running = Running.resume(_FORM, ledger, name, entropy=entropy)
        stream.mechanism = stream._running.design
        return stream

    @property
    def period(self) -> int:
        """The number of the next value, from 0."""
        return self._running.memory.step

    @property
    def promise(self) -> Promise:
        """What holds of all releases together: a certificate, or the statement of a mechanism that gives none."""
        return promise_of(self.mechanism, seeded=self._running.seeded)

    def step(self, value: object) -> Released:
        """Take the next value, or a list of channels, and return what is released now."""
        kept = _check_value(value)
        running = self._running
        with running.lock:
            self._check_open()
            after, slots = advance(self.mechanism, running.memory, kept, running.entropy)
            return self._announce(after, slots, finished=False)

    def finish(self) -> Released:
        """End the stream and return what was still to come: a last block, or values sent to later times."""
        running = self._running
        with running.lock:
            self._check_open()
            after, slots = finish(self.mechanism, running.memory, running.entropy)
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
        self._running.advance(after, [slots], finished=finished)
        return made

    def _check_open(self) -> None:
        if self._running.finished:
            raise StreamConflict(f"stream {self._running.name!r} is finished: open another")


def _price(mechanism: Online) -> tuple[Cost, Swap]:
    if isinstance(mechanism, BlockShuffle):
        return mechanism.claim.cost, Swap(mechanism.block)
    return UNPROTECTED, Swap(mechanism.window)


def _check_value(value: object) -> object:
    plain = value.tolist() if hasattr(value, "tolist") else value
    parts = plain if isinstance(plain, list) else [plain]
    # A whole number of thousands of digits has no form in JSON.
    if not all(isinstance(part, _PLAIN) and not (type(part) is int and abs(part) >= _LARGEST) for part in parts):
        raise InvalidArgument(
            "value", value, "a number, a text or None, or a list of them, one a channel", private=True
        )
    return plain


def _seal(standing: Standing[Online, WaitingValues]) -> bytes:
    waiting = standing.memory
    content = {"mechanism": standing.plan, "step": waiting.step, "slots": waiting.slots, "seeded": standing.seeded}
    return json.dumps(content).encode()


def _unseal(state: bytes) -> Standing[Online, WaitingValues]:
    content = json.loads(state)
    mechanism: Online = load(content["mechanism"], Online)
    waiting = WaitingValues(content["step"], content["slots"])
    return Standing(content["mechanism"], mechanism, waiting, bool(content["seeded"]))


_FORM = Form(_seal, _unseal)
