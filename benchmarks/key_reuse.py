"""Keys decided by the numbers that are published anyway, beside a part of the price that finds them: is it worth it?

For one period that is ``Discover(share=0)``. For more nothing of it is in the library:
``docs/explanation/decisions/series-and-streams.md`` says why.
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from benchmarks.harness import Topic, show
from benchmarks.key_rules import DELTA, EPSILON, LONE, MU
from benchmarks.key_tables import KeyTable, key_tables
from chronodp.privacy import decimal_value
from chronodp.randomness import seeded
from chronodp.selection.keys import CountNoise, PublishedCounts, Rounds
from chronodp.selection.keys.threshold import Held, threshold_for

SEEDS, MONTHS, SHARES = 3, 12, (0.2, 0.5)
PERSON, BAND = 2**22, 1.96  # steps of one person's count, and deviations to an end of a band of 95 %
FEWEST = 10  # keys, below which no part of them is told
MOST_ROWS = 10**6  # of tables that are looked at: a larger one says the same


def measure() -> Topic:
    topic = Topic(
        f"Keys found by the published numbers themselves, or by a part of the price, ε = {EPSILON:g}, δ = {DELTA:g}",
        "python -m benchmarks.key_reuse",
        (
            "table",
            "keys of a person",
            "periods",
            *(f"keys, share {share:g}" for share in SHARES),
            "keys, numbers reused",
            *(f"noise of a number, share {share:g}" for share in SHARES),
            "noise, numbers reused",
            "bands that miss, numbers reused",
            "periods of a holder",
        ),
        everywhere=True,
    )
    for table in key_tables():
        if len(table.frame) > MOST_ROWS:
            continue
        for most in table.most:
            for periods in (1, MONTHS):
                topic.rows.append((table.name, most, periods, *_compared(table, most, periods)))
    topic.notes = [
        "unit User; the number of a key and a period counts the people who hold it there, at most so many keys of each;"
        f" with periods, {MONTHS} of them: months of flights, and rows of made tables spread evenly",
        "reused, of one period: `Discover(share=0)`; of more, which is refused: a key is published if its noisy numbers"
        f" sum up to a threshold. A key of one person alone is published with probability {LONE:g}; noise is one"
        " standard deviation of one number",
        "bands that miss: of 95 %, of published numbers of one period, which are published because they are large;"
        " with a share 5 % do",
        f"share, and reused of one period: mean of {SEEDS} seeds; reused of more: expected. Tables of at most "
        f"{MOST_ROWS:,} rows",
    ]
    return topic


def _compared(table: KeyTable, most: int, periods: int) -> tuple[str, ...]:
    rules = [Rounds(MU * math.sqrt(share), LONE, most) for share in SHARES]
    # One person moves `most` keys of each period by 1; a key that they hold alone sums up to `periods`.
    deviation = math.sqrt(most * periods) / MU
    shared, reused, spread, missed = [0.0] * len(rules), 0.0, 0.0, 0.0
    for seed in range(SEEDS):
        pairs = _chosen(table, most, periods, seed)
        held = np.bincount(pairs.key, pairs.periods)
        if periods == 1:
            number, misses = _published(held[held > 0].astype(np.int64), deviation, most, seed)
            reused, missed = reused + number / SEEDS, missed + misses / SEEDS
        else:
            reused += _expected(held[held > 0], deviation, most, periods) / SEEDS
        spread += float(pairs.periods.mean()) / SEEDS
        for place, rule in enumerate(rules):
            found = rule.decide(partial(pairs.weigh, rule), seeded(seed)).found
            shared[place] += int((found & (held > 0)).sum()) / SEEDS
    noises = [*(deviation / math.sqrt(1 - share) for share in SHARES), deviation]
    share = f"{100 * missed / max(reused, 1):.0f} %" if periods == 1 and reused >= FEWEST else "–"
    return (
        *(f"{keys:,.1f}" for keys in (*shared, reused)),
        *(f"{noise:.1f}" for noise in noises),
        share,
        f"{spread:.2f}",
    )


def _published(held: NDArray[np.int64], deviation: float, most: int, seed: int) -> tuple[int, int]:
    """Return how many keys their own counts publish, and how many of these counts are farther off than a band is."""
    noise = CountNoise("gaussian", deviation * PERSON, PERSON)
    decided = PublishedCounts(LONE, most).decide(held, noise, seeded(seed))
    off = np.abs(decided.noisy[decided.found] / PERSON - held[decided.found])
    return int(decided.found.sum()), int((off > BAND * deviation).sum())


def _expected(held: NDArray[Any], deviation: float, most: int, periods: int) -> float:
    """Return how many keys the sums of their numbers would publish."""
    summed = deviation * math.sqrt(periods)
    threshold = threshold_for(summed, decimal_value(LONE), Held([periods] * most))
    return float(ndtr((held + 0.5 - threshold) / summed).sum())


class Pairs(NamedTuple):
    """Each pair of a person and a key that counts, and in how many periods."""

    person: NDArray[np.int64]
    key: NDArray[np.int64]
    periods: NDArray[np.int64]

    def weigh(self, rule: Rounds, dropped: NDArray[np.bool_] | None) -> NDArray[np.int64]:
        """Return the sum of people's weights on each key."""
        left = np.ones(len(self.key), bool) if dropped is None else ~dropped[self.key]
        held = np.bincount(self.person, left).astype(np.int64)[self.person]
        return np.bincount(self.key, np.array([0, *rule.weights])[held] * left).astype(np.int64)


def _chosen(table: KeyTable, most: int, periods: int, seed: int) -> Pairs:
    rng = np.random.default_rng(seed)
    frame = table.frame.filter(table.frame["person"].is_valid())
    person, key = (
        frame[name].combine_chunks().dictionary_encode().indices.to_numpy().astype(np.int64)
        for name in ("person", "key")
    )
    period = np.zeros(len(person), np.int64)
    if periods > 1 and table.days == 1:
        period = rng.integers(periods, size=len(person))  # rows of made tables are spread evenly
    elif periods > 1:
        period = frame["day"].to_numpy().astype("datetime64[M]").astype(np.int64) % MONTHS
    cells = np.unique((person << 32) | (key << 8) | period)
    pairs, counts = np.unique(cells >> 8, return_counts=True)
    order = np.lexsort((rng.random(len(pairs)), pairs >> 24))
    pairs, counts = pairs[order], counts[order]
    person = pairs >> 24
    begins = np.flatnonzero(np.r_[True, person[1:] != person[:-1]])
    place = np.arange(len(pairs)) - np.repeat(begins, np.diff(np.r_[begins, len(pairs)]))
    kept = place < most
    return Pairs(person[kept], pairs[kept] & (2**24 - 1), counts[kept])


if __name__ == "__main__":
    show(measure)
