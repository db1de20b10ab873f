"""Blurred times: every order of small blocks, of tables and of streams; what others say instead; mistakes."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from chronodp.audit.case import AuditCase, Unfit
from chronodp.audit.exact import Outcomes, outcomes
from chronodp.audit.walked import Enumerated, Known
from chronodp.privacy import Claim, PureCost, Swap
from chronodp.randomness import Entropy
from chronodp.temporal import (
    Backward,
    BlockShuffle,
    BlurredStream,
    Forward,
    NoisySort,
    Threshold,
    blur_times,
    release_times,
)
from tests.audit.cases.ledgers import temporary_ledger
from tests.audit.registry import Entry, Mutant, on_trial

Values = tuple[Any, ...]


@dataclass(frozen=True)
class Orders:
    """The orders that a mechanism puts ``length`` values into.

    Attributes:
        mechanism: called as ``mechanism(values, entropy=entropy)``, returning as many values in another order.
        length: how many.
        most_runs: paths that may be walked.
    """

    mechanism: Callable[..., Values]
    length: int
    most_runs: int = 1_000_000

    def __call__(self, values: Values, *, entropy: Entropy) -> Values:
        """Run the mechanism once."""
        return self.mechanism(values, entropy=entropy)

    @cached_property
    def orders(self) -> Outcomes:
        """How likely each order is: place i of the output holds the value that came at order[i]."""
        places = tuple(range(self.length))
        found = self._walk(places)
        # On values that fall instead of rising, and lie elsewhere, the same places must be chosen as often.
        turned = self._walk(tuple(-7 * place - 3 for place in places))
        if {_places(order): chance for order, chance in turned.probabilities.items()} != found.probabilities:
            raise Unfit("its order depends on the values, so one walk does not serve them all")
        return found

    def law(self, values: Values) -> Outcomes:
        """Return the law of the output on values."""
        law = self.orders
        made: dict[Hashable, Fraction] = {}
        for order, chance in law.probabilities.items():
            output = tuple(values[place] for place in _items(order))
            made[output] = made.get(output, Fraction(0)) + chance
        return Outcomes.of(made, law.unresolved)

    def _walk(self, values: Values) -> Outcomes:
        def run(entropy: Entropy) -> object:
            return self.mechanism(values, entropy=entropy)

        return outcomes(run, most_runs=self.most_runs)


def _places(order: Hashable) -> Values:
    return tuple((value + 3) // -7 for value in _items(order))


def _items(order: Hashable) -> Values:
    if not isinstance(order, tuple):
        raise Unfit("it returns no tuple of values")
    return order


_LONGEST = 7


def swaps(values: Values) -> tuple[tuple[Values, Values], ...]:
    """Return every pair that differs by exchanging two values."""
    found = []
    for one, two in itertools.combinations(range(len(values)), 2):
        other = list(values)
        other[one], other[two] = other[two], other[one]
        found.append((values, tuple(other)))
    return tuple(found)


def _shuffles() -> tuple[AuditCase, ...]:
    return tuple(
        _shuffle(block, epsilon) for block, epsilon in ((3, 0.7), (4, 3.0), (5, 1.0), (6, 1.3), (_LONGEST, 1.0))
    )


def _shuffle(block: int, epsilon: float) -> AuditCase:
    mechanism = BlockShuffle(block, epsilon)

    def perturb(values: Values, *, entropy: Entropy) -> Values:
        return tuple(mechanism.perturb(np.array(values), entropy=entropy).values.tolist())

    first = tuple(range(block))
    # By symmetry of the law every swap tells as much; ends, neighbours and the middle are compared all the same.
    pairs = swaps(first)
    tied = (0, 0, *range(1, block - 1))
    return on_trial(
        f"block of {block}",
        Orders(perturb, block),
        (*(pairs if block < 6 else (pairs[0], pairs[block - 2], pairs[-1])), swaps(tied)[1]),
        mechanism.claim,
        Known(),
    )


def _sorts() -> tuple[AuditCase, ...]:
    two, three = NoisySort(1, 4.0, steps=1), NoisySort(2, 100.0, steps=1)

    def sort_two(values: Values, *, entropy: Entropy) -> Values:
        return tuple(two.perturb(np.array(values), entropy=entropy).values.tolist())

    def sort_three(values: Values, *, entropy: Entropy) -> Values:
        return tuple(three.perturb(np.array(values), entropy=entropy).values.tolist())

    return (
        on_trial("noisy sort of two values", sort_two, (((0, 1), (1, 0)),), two.claim, Enumerated()),
        on_trial("noisy sort of three values", sort_three, swaps((0, 1, 2)), three.claim, Enumerated()),
    )


def _tables() -> tuple[AuditCase, ...]:
    """Two people, of whom one begins inside a block; blocks are cut by the clock, and values of a block swapped."""
    shuffle, sort = BlockShuffle(3, 1.0), NoisySort(1, 40.0, steps=1)

    def blur(values: Values, *, entropy: Entropy) -> Values:
        made = blur_times(_people(values), shuffle, time="at", user="who", values=["held"], entropy=entropy)
        return tuple(made.frame["held"].tolist())

    def release(values: Values, *, entropy: Entropy) -> Values:
        return _paid(_people(values), shuffle, entropy, start=3, end=6)

    def sorted_release(values: Values, *, entropy: Entropy) -> Values:
        return _paid(_rows(values), sort, entropy)

    return (
        AuditCase(
            name="a table of two people",
            mechanism=blur,
            # Times 4, 5 | 6 of one person and 3, 4, 5 of another: blocks are 3 to 5 and 6 to 8.
            neighbours=tuple((_BASE, _exchanged(_BASE, *places)) for places in ((0, 1), (3, 4), (3, 5))),
            claim=shuffle.claim,
            checks=(Enumerated(),),
        ),
        on_trial(
            "a table that is paid for, from one border of a block to the next",
            release,
            tuple((_BASE, _exchanged(_BASE, *places)) for places in ((0, 1), (3, 5))),
            shuffle.claim,
            Enumerated(),
        ),
        on_trial("a table sorted by noisy times", sorted_release, (((0, 1), (1, 0)),), sort.claim, Enumerated()),
    )


_BASE = (0, 1, 2, 3, 4, 5)


def _exchanged(values: Values, one: int, two: int) -> Values:
    other = list(values)
    other[one], other[two] = other[two], other[one]
    return tuple(other)


def _people(values: Values) -> Any:
    import pandas

    return pandas.DataFrame({"at": [4, 5, 6, 3, 4, 5], "who": [*["ann"] * 3, *["bo"] * 3], "held": list(values)})


def _rows(values: Values) -> Any:
    import pandas

    return pandas.DataFrame({"at": range(len(values)), "who": ["ann"] * len(values), "held": list(values)})


def _paid(
    table: Any, mechanism: BlockShuffle | NoisySort, entropy: Entropy, start: int | None = None, end: int | None = None
) -> Values:
    with temporary_ledger(mechanism.claim.unit) as ledger:
        made = release_times(
            table,
            mechanism,
            time="at",
            user="who",
            values=["held"],
            ledger=ledger,
            dataset="audit",
            request="audit",
            entropy=entropy,
            start=start,
            end=end,
        )
    return tuple(made.frame["held"].tolist())


def _streams() -> tuple[AuditCase, ...]:
    mechanism = BlockShuffle(3, 1.0)

    def run(values: Values, *, entropy: Entropy) -> Values:
        with temporary_ledger(mechanism.claim.unit) as ledger:
            live = BlurredStream(mechanism, ledger=ledger, dataset="audit", name="audit", entropy=entropy)
            told = [live.step(value).values for value in values]
            return (*told, live.finish().values)

    values = (0, 1, 2, 3, 4)
    return (
        on_trial(
            "a stream of a block and a part of one",
            run,
            tuple((values, _exchanged(values, *places)) for places in ((0, 1), (0, 2), (3, 4))),
            mechanism.claim,
            Enumerated(),
        ),
    )


Series = tuple[int, ...]

_ARGUMENT = "docs/explanation/proofs/temporal.md"


def shuffle_block(values: Series, *, entropy: Entropy) -> Series:
    """Release a block in a random order, at ε = 1."""
    return _released(BlockShuffle(3, 1.0), values, entropy)


def shuffle_block_too_little(values: Series, *, entropy: Entropy) -> Series:
    """Release a block in a random order with odds of staying two per cent too high."""
    return _released(BlockShuffle(3, 1.02), values, entropy)


def shuffle_whole(values: Series, *, entropy: Entropy) -> Series:
    """Shuffle four values as one block, at ε = 1."""
    return _released(BlockShuffle(4, 1.0), values, entropy)


def shuffle_twice(values: Series, *, entropy: Entropy) -> Series:
    """Shuffle blocks of two, then blocks of two on a grid moved by one, and claim that no border is left."""
    first = _released(BlockShuffle(2, 1.0), values, entropy)
    return (first[0], *_released(BlockShuffle(2, 1.0), first[1:3], entropy), first[3])


def shuffle_fours(values: Series, *, entropy: Entropy) -> Series:
    """Shuffle blocks of four, at ε = 2.2."""
    return _released(BlockShuffle(4, 2.2), values, entropy)


def send_ahead(values: Series, *, entropy: Entropy) -> Series:
    """Send each value to an empty one of the next four times, which is no differential privacy."""
    return _released(Threshold(4, 2.2), values, entropy)


def sort_by_noisy_time(values: Series, *, entropy: Entropy) -> Series:
    """Order two values by time plus noise on a coarse grid; ties fall at random."""
    return _released(NoisySort(1, 4.0, steps=1), values, entropy)


def sort_stably(values: Series, *, entropy: Entropy) -> Series:
    """Order two values by time plus noise on a coarse grid; ties keep their order, and tell it."""
    keys = np.arange(len(values)) + entropy.laplace(0.5, len(values))
    return tuple(values[index] for index in np.argsort(keys, kind="stable").tolist())


def _released(mechanism: BlockShuffle | NoisySort | Threshold, values: Series, entropy: Entropy) -> Series:
    return tuple(mechanism.perturb(values, entropy=entropy).values.tolist())


ENTRIES = (
    Entry("blurred times of a table", (blur_times, release_times),
          "whole numbers; blocks cut at the same instants for every table", _tables),
    Entry("blurred times of a stream", (BlurredStream,),
          "whole numbers; the odds of staying are a ratio of whole numbers at most e^ε", _streams),
    Entry("block shuffle", (BlockShuffle,),
          "whole numbers; the odds of staying are a ratio of whole numbers at most e^ε", _shuffles),
    Entry("noisy sort", (NoisySort,), "whole numbers on a grid of time; ties fall at random, evenly", _sorts),
    Entry("Backward, Forward and Threshold", (Backward, Forward, Threshold), "whole numbers",
          unclaimed="no differential privacy: a marginal dispatch budget, and what an observer rules out"),
)  # fmt: skip


MUTANTS: tuple[Mutant, ...] = (
    Mutant("block shuffle with odds of staying above e^ε", Claim(Swap(3), PureCost(1.0), _ARGUMENT), shuffle_block,
           shuffle_block_too_little, (((1, 2, 3), (2, 1, 3)), ((1, 2, 3), (3, 2, 1)))),
    Mutant("block shuffles on two grids, one moved against the other", Claim(Swap(4), PureCost(1.0), _ARGUMENT),
           shuffle_whole, shuffle_twice, (((1, 2, 3, 4), (1, 3, 2, 4)), ((1, 2, 3, 4), (2, 1, 3, 4)))),
    Mutant("the Threshold mechanism labelled TLDP", Claim(Swap(4), PureCost(2.2), _ARGUMENT), shuffle_fours, send_ahead,
           (((1, 2, 3, 4, 5), (2, 1, 3, 4, 5)),)),
    Mutant("noisy sort of two values whose ties keep their order", Claim(Swap(2), PureCost(1.6), _ARGUMENT),
           sort_by_noisy_time, sort_stably, (((1, 2), (2, 1)),)),
)  # fmt: skip
