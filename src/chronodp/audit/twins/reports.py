"""Mistakes over time: answers drawn once and charged once, leakage by a formula that is too small."""

from __future__ import annotations

from chronodp.audit.twins.catalogue import Twin
from chronodp.privacy import AssumedCost, Assumption, Claim, PureCost, Report, User
from chronodp.randomness import Entropy

__all__ = ["TWINS"]

History = tuple[int, ...]

_AUDIT = "docs/explanation/proofs/auditing.md"
_SHARE = (62245, 100_000)  # e^0.5 / (1 + e^0.5), rounded down: two answers of it cost 1
_WHOLE = (73105, 100_000)  # e / (1 + e), rounded down
_CHAIN = Assumption("a Markov chain", "the value moves from 0 to 1 with probability 0.01 and back with 0.5")


def answer_each_time(history: History, *, entropy: Entropy) -> History:
    """Answer every day with a share of the budget."""
    return tuple(_answer(bit, _SHARE, entropy) for bit in history)


def answer_each_value_once(history: History, *, entropy: Entropy) -> History:
    """Draw one answer for each value and repeat it, charged as one answer: a change of answers tells of a change."""
    answers: dict[int, int] = {}
    for bit in history:
        if bit not in answers:
            answers[bit] = _answer(bit, _WHOLE, entropy)
    return tuple(answers[bit] for bit in history)


def answer_fresh_for_one_price(history: History, *, entropy: Entropy) -> History:
    """Answer every day with the whole budget, charged once."""
    return tuple(_answer(bit, _WHOLE, entropy) for bit in history)


def release_aged(now: int, *, entropy: Entropy) -> int:
    """Tell yesterday's value with noise that was computed from the exact leakage."""
    return _yesterday(now, entropy) + int(entropy.laplace(1 / 0.8, 1)[0])


def release_aged_by_theorem(now: int, *, entropy: Entropy) -> int:
    """Tell yesterday's value with the noise of the paper's theorems 1 and 2, which call its leakage 0.49."""
    return _yesterday(now, entropy) + int(entropy.laplace(1.0, 1)[0])


def _answer(bit: int, chance: tuple[int, int], entropy: Entropy) -> int:
    return bit if entropy.coins(*chance) else 1 - bit


def _yesterday(now: int, entropy: Entropy) -> int:
    # A chain of two states runs backwards as it runs forwards.
    return int(bool(entropy.coins(1, 2))) if now else int(bool(entropy.coins(1, 100)))


TWINS: tuple[Twin, ...] = (
    Twin(
        name="memoised answers counted once",
        claim=Claim(Report(), PureCost(1.0), _AUDIT),
        epsilon=1.0,
        delta=0.0,
        sound=answer_each_time,
        broken=answer_each_value_once,
        neighbours=(((0, 0), (0, 1)), ((0, 0), (1, 1))),
    ),
    Twin(
        name="fresh answers every day counted once",
        claim=Claim(Report(), PureCost(1.0), _AUDIT),
        epsilon=1.0,
        delta=0.0,
        sound=answer_each_time,
        broken=answer_fresh_for_one_price,
        neighbours=(((0, 0), (1, 1)),),
    ),
    Twin(
        name="leakage of aged data by the CSDP theorems 1 and 2",
        claim=Claim(User(relation="replace"), AssumedCost(PureCost(0.49), _CHAIN), _AUDIT),
        epsilon=0.49,
        delta=0.0,
        sound=release_aged,
        broken=release_aged_by_theorem,
        neighbours=((0, 1),),
    ),
)
