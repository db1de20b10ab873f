"""The statistical auditor: samples a mechanism as a black box and proves a lower bound on its epsilon.

A first sample chooses neighbours and an event that tells them apart; a second one, fresh, counts how often the event
comes. Since the event was fixed before, the counts are binomial, and an exact test of them gives a lower
bound of epsilon that is wrong with at most the stated probability. ``docs/explanation/proofs/auditing.md``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from chronodp.audit.allowance import Allowance
from chronodp.audit.bounds import Counts, Rule, largest_refuted, rules_for
from chronodp.audit.case import AuditCase, Reached, Unfit
from chronodp.audit.fitness import check_output_varies, check_replay, check_stateless
from chronodp.audit.outputs import Outputs, collect
from chronodp.audit.scores import Score, by_likelihood, learn
from chronodp.randomness import Entropy, secure

__all__ = ["Event", "Sampled", "best_event", "prove"]

Floats = NDArray[np.float64]

_FIRST = 0.2  # share of the samples that choose the event
_MOST_FIRST = 1_000_000
_LEAST = 200  # with fewer nothing is proved, however little time there is
_FEWEST = 20  # times that an event must come in the choosing sample to be chosen
_BATCH = 1_000_000
_PATIENCE = 0.2  # seconds that the pace is measured over: what a call costs once must not count for each output
_PACING = 0.1  # of the seconds given, the most that the pace is measured over
_CUTS = 400
_FEW = 10  # times on the neighbour below which luck decides what the choosing sample shows: the proof doubts it too
_DOUBT = 3.0  # deviations of the choosing sample taken off when events are compared: rare ones must not win by luck


@dataclass(frozen=True, slots=True, eq=False)
class Event:
    """Outputs that score at least a cut: more likely on ``first`` than on ``second``.

    Attributes:
        name: what the score looks at.
        first: the input on which the event is likely.
        second: its neighbour.
        score: of an output.
        sign: 1, or -1 if low scores make the event.
        cuts: where it begins, after the sign; several make as many tests, which share the error.
        weights: of the count on the neighbour, for the bound; one a cut. A cut may come with two.
        evidence: what the choosing sample shows, for comparing events.
    """

    name: str
    first: Any
    second: Any
    score: Score
    sign: int
    cuts: tuple[float, ...]
    weights: tuple[float, ...]
    evidence: float

    def count(self, outputs: Outputs) -> NDArray[np.int64]:
        """Return how many outputs fall in, for each cut."""
        scores = np.sort(self.sign * self.score(outputs))
        return np.asarray(len(scores) - np.searchsorted(scores, self.cuts, side="left"))


@dataclass(frozen=True, slots=True)
class Stakes:
    """What a choice of event is for: it is made on few samples, and proved on many at a small error.

    Attributes:
        choosing: samples that choose.
        proving: samples that prove.
        sure: deviations that the proof takes off.
    """

    choosing: int
    proving: int
    sure: float

    def promise(self, rule: Rule, first: NDArray[np.int64], second: NDArray[np.int64], runs: int) -> Floats:
        """Return the level that counts in a sample of so many runs promise to prove, luck in that sample taken off."""
        high, low = (first + 0.5) / (runs + 1), (second + 0.5) / (runs + 1)
        shown = rule.level(high, low)
        off = _DOUBT + self.sure * math.sqrt(runs / self.proving)
        with np.errstate(invalid="ignore"):
            spread = np.hypot(
                shown - rule.level(high - np.sqrt(high * (1 - high) / runs), low),
                shown - rule.level(high, low + np.sqrt(low * (1 - low) / runs)),
            )
            return np.asarray(np.nan_to_num(shown - off * spread, nan=-np.inf))

    def rarer(self, rule: Rule, counts: NDArray[np.int64], runs: int) -> list[int]:
        """Return places of rare events to prove beside the one that promises most, for rules that rare events break.

        How rare the best one is, few samples do not tell: so several share the error.
        """
        least = max(_FEWEST / self.proving, 2 / runs)
        shares = np.geomspace(0.3, least, rule.rare) if rule.rare else np.zeros(0)
        return [int(np.argmin(np.abs(counts / runs - share))) for share in shares]


@dataclass(frozen=True, slots=True)
class Sampled:
    """Attack by samples alone.

    >>> from chronodp.privacy import Claim, PureCost, Report
    >>> def respond(bit, *, entropy):
    ...     return bit ^ int(not entropy.coins(3, 4))
    >>> coin = AuditCase(name="a coin", mechanism=respond, neighbours=((0, 1),),
    ...                claim=Claim(Report(), PureCost(0.9), "my notes"))
    >>> reached = Sampled().attack(coin, Allowance(samples=20_000))
    >>> reached.refuted, 0.95 < reached.lower < 1.1
    (True, True)
    """

    @property
    def auditor(self) -> str:
        """Its name."""
        return "statistical"

    def attack(self, case: AuditCase, allowance: Allowance) -> Reached:
        """Return the lower bound on epsilon that samples prove."""
        entropy = secure()
        rules = rules_for(case.claim, case.delta)
        first, second = _sizes(case, allowance, entropy, len(rules))
        sure = float(ndtri(1 - allowance.error / len(rules)))
        events = _choose(case, rules, Stakes(first, second, sure), entropy)
        chosen = [(rule, event) for rule, event in zip(rules, events, strict=True) if event is not None]
        lowers = prove(case, chosen, second, allowance.error / len(rules), entropy)
        found = [(lower, event) for lower, (_, event) in zip(lowers, chosen, strict=True)]
        if not found:
            return Reached(self.auditor, 0.0, None, False, "nothing told the neighbours apart")
        lower, event = max(found, key=lambda pair: pair[0])
        return Reached(self.auditor, lower, None, lower > case.epsilon, event.name)


def prove(
    case: AuditCase, chosen: Sequence[tuple[Rule, Event]], samples: int, error: float, entropy: Entropy
) -> list[float]:
    """Return for each event the lower bound on epsilon from fresh samples, each wrong with at most ``error``.

    Events on the same input are counted in the same samples: errors add up whether they come together or not.
    """
    inputs = {id(data): data for _, event in chosen for data in (event.first, event.second)}
    hits: dict[tuple[int, int], NDArray[np.int64]] = {}  # of each input, and each event that looks at it
    for key, data in inputs.items():
        looking = [place for place, (_, event) in enumerate(chosen) if key in (id(event.first), id(event.second))]
        for batch in _batches(case, data, samples, entropy):
            for place in looking:
                hits[key, place] = chosen[place][1].count(batch) + hits.get((key, place), 0)
    found = []
    for place, (rule, event) in enumerate(chosen):
        counts = (hits[id(event.first), place].tolist(), hits[id(event.second), place].tolist())
        each = error / len(event.cuts)
        levels = (
            largest_refuted(rule, Counts(first, second, samples), weight, each)
            for first, second, weight in zip(*counts, event.weights, strict=True)
        )
        found.append(max(map(rule.epsilon, levels)))
    return found


def best_event(
    name: str, score: Score, pair: tuple[Any, Any], samples: tuple[Outputs, Outputs], rule: Rule, stakes: Stakes
) -> Event:
    """Return the cut of a score, from either side, that promises most for the proving sample."""
    scores = [score(part) for part in samples]
    best: Event | None = None
    for sign in (1, -1):
        likely, other = (np.sort(sign * part) for part in (scores if sign == 1 else scores[::-1]))
        pooled = np.unique(np.concatenate([likely, other]))
        if len(pooled) > _CUTS:
            # Quantiles, and closer ones at the top, where the events of a small delta are.
            shares = np.concatenate([np.linspace(0, 1, _CUTS // 2), 1 - np.geomspace(1e-5, 0.5, _CUTS // 2)])
            pooled = np.unique(np.quantile(pooled, np.clip(shares, 0, 1), method="higher"))
        counts = [len(part) - np.searchsorted(part, pooled, side="left") for part in (likely, other)]
        evidence = np.where(counts[0] >= _FEWEST, stakes.promise(rule, counts[0], counts[1], len(likely)), -np.inf)
        at = int(np.argmax(evidence))
        if best is None or evidence[at] > best.evidence:
            first, second = pair if sign == 1 else pair[::-1]
            cuts, weights = [], []
            for place in (at, *stakes.rarer(rule, counts[0], len(likely))):
                seen = int(counts[0][place]), int(counts[1][place])
                for doubt in (1.0,) if seen[1] >= _FEW else (1.0, _DOUBT):
                    cuts.append(float(pooled[place]))
                    weights.append(_weight(rule, *seen, len(likely), doubt))
            best = Event(name, first, second, score, sign, tuple(cuts), tuple(weights), float(evidence[at]))
    if best is None:
        raise AssertionError("both signs were tried")
    return best


def _weight(rule: Rule, first: int, second: int, runs: int, doubt: float) -> float:
    """Return the slope of the rule where the proof will end: so many deviations of each count below what is shown."""
    high, low = (first + 0.5) / (runs + 1), (second + 0.5) / (runs + 1)
    off = doubt / math.sqrt(runs)
    return rule.slope(max(high - off * math.sqrt(high * (1 - high)), 0.0), low + off * math.sqrt(low * (1 - low)))


def _choose(case: AuditCase, rules: tuple[Rule, ...], stakes: Stakes, entropy: Entropy) -> list[Event | None]:
    best: list[Event | None] = [None] * len(rules)
    check_replay(case)
    varied = False
    for pair in case.neighbours:
        samples = (_sample(case, pair[0], stakes.choosing, entropy), _sample(case, pair[1], stakes.choosing, entropy))
        varied = varied or check_output_varies(samples)
        check_stateless(case, pair, samples, entropy)
        # Scores are learnt from one half and compared by the other: on its own half the longest memory would win.
        learning, comparing = (_halves(samples, which) for which in (0, 1))
        for name, score in _scores(case, pair, learning):
            for place, rule in enumerate(rules):
                event, known = best_event(name, score, pair, comparing, rule, stakes), best[place]
                if known is None or event.evidence > known.evidence:
                    best[place] = event
    check_replay(case)
    if not varied:
        seen = f"each input gave one output, in {stakes.choosing:,} tries"
        raise Unfit(f"it is not random, as far as was seen: {seen}; more samples or seconds see more")
    return best


def _halves(samples: tuple[Outputs, Outputs], which: int) -> tuple[Outputs, Outputs]:
    half = len(samples[0]) // 2
    ends = (0, half) if which == 0 else (half, None)
    return samples[0].part(*ends), samples[1].part(*ends)


def _scores(case: AuditCase, pair: tuple[Any, Any], samples: tuple[Outputs, Outputs]) -> Iterator[tuple[str, Score]]:
    if case.likelihood is not None:
        yield "likelihood ratio", by_likelihood(case.likelihood, *pair)
    yield from learn(*samples)


def _sizes(case: AuditCase, allowance: Allowance, entropy: Entropy, rules: int) -> tuple[int, int]:
    """Return how many samples choose, for each input of each pair, and how many prove."""
    pairs = len(case.neighbours)
    first = min(int(allowance.samples * _FIRST), _MOST_FIRST)
    second = allowance.samples - first
    if allowance.seconds is not None:
        pace = _seconds_each(case, entropy, min(_PATIENCE, _PACING * allowance.seconds))
        first = min(first, int(_FIRST * allowance.seconds / pace / 2 / pairs))
        second = min(second, int((1 - _FIRST) * allowance.seconds / pace / 2 / rules))
    return max(first // (1 if allowance.seconds else pairs), _LEAST), max(second, _LEAST)


def _seconds_each(case: AuditCase, entropy: Entropy, patience: float) -> float:
    # What many outputs at once cost is seen from many; the first call may also load what it needs.
    data, size = case.neighbours[0][0], 20
    _sample(case, data, 1, entropy)
    while True:
        started = time.perf_counter()
        _sample(case, data, size, entropy)
        taken = time.perf_counter() - started
        if taken > patience or size >= _BATCH:
            return max(taken, 1e-6) / size
        size *= 4


def _sample(case: AuditCase, data: object, size: int, entropy: Entropy) -> Outputs:
    if case.many is not None:
        made = _many(case, data, size, entropy)
        if len(made) != size:
            raise Unfit(f"it was asked for {size} outputs and returned {len(made)}")
        return collect(made)
    return collect([case.run(data, entropy) for _ in range(size)])


def _many(case: AuditCase, data: object, size: int, entropy: Entropy) -> Any:
    many: Callable[..., object] | None = case.many
    if many is None:
        raise AssertionError("asked only where there is one")
    try:
        return many(data, size, entropy=entropy)
    except Exception as error:  # a stranger's mechanism may raise anything; it is reported, never passed
        raise Unfit(f"it raises {type(error).__name__}: {error}") from error


def _batches(case: AuditCase, data: object, size: int, entropy: Entropy) -> Iterator[Outputs]:
    for start in range(0, size, _BATCH):
        yield _sample(case, data, min(_BATCH, size - start), entropy)
