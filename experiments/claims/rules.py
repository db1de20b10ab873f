"""The comparisons that turn values into verdicts. Each also knows a value that it must judge otherwise.

A rule sees what a reading returned, what the source states and the tolerance, and answers whether they agree and, for
a bound, whether it is attained. ``nudged`` is what keeps a rule honest: a value that agrees where the given one does
not, or that does not where it does. A verdict that such a value cannot turn says nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple

from experiments.claims.tolerance import Tolerance
from experiments.claims.values import Heights, Pair, numbers, short

__all__ = ["Judgement", "Rule"]

_FAR = 1e3


class Judgement(NamedTuple):
    """Whether a value agrees with what is stated, and whether a bound is attained."""

    agrees: bool
    tight: bool = True


@dataclass(frozen=True, slots=True)
class Rule:
    """A comparison: how it judges, a value that it judges otherwise, and its words."""

    name: str
    judge: Callable[[Any, Any, Tolerance], Judgement]
    nudged: Callable[[Any, Any, Tolerance], Any]
    states: Callable[[Any, Tolerance], str]
    shows: Callable[[Any], str]


def _close(value: float, stated: float, tolerance: Tolerance) -> bool:
    return abs(value - stated) <= tolerance.absolute + tolerance.relative * abs(stated)


def _listed(value: Any) -> str:
    many = numbers(value)
    if len(many) > 6:
        return f"{short(min(many))} to {short(max(many))} ({len(many)} values)"
    return ", ".join(map(short, many))


def _number(value: Any, stated: Any, tolerance: Tolerance) -> Judgement:
    found, wanted = numbers(value), numbers(stated)
    if len(wanted) == 1:
        wanted *= len(found)
    return Judgement(
        len(wanted) == len(found) and all(_close(v, s, tolerance) for v, s in zip(found, wanted, strict=True))
    )


def _number_nudged(value: Any, stated: Any, tolerance: Tolerance) -> Any:
    agrees = _number(value, stated, tolerance).agrees
    wanted = numbers(stated)
    if len(wanted) == 1:
        wanted *= len(numbers(value))
    return [s + _FAR * (1 + abs(s) + tolerance.absolute) * agrees for s in wanted]


number = Rule("number", _number, _number_nudged, lambda s, t: f"{_listed(s)}{t}", _listed)


def _below(value: Any, stated: Any, tolerance: Tolerance) -> Judgement:
    return Judgement(max(numbers(value)) < stated + tolerance.absolute)


def _below_nudged(value: Any, stated: Any, tolerance: Tolerance) -> Any:
    far = _FAR * (1 + abs(stated) + tolerance.absolute)
    return stated + far if _below(value, stated, tolerance).agrees else stated - far


below = Rule("below", _below, _below_nudged, lambda s, t: f"below {short(s)}{t}", lambda v: f"at most {_most(v)}")


def _above(value: Any, stated: Any, tolerance: Tolerance) -> Judgement:
    return Judgement(min(numbers(value)) > stated - tolerance.absolute)


def _above_nudged(value: Any, stated: Any, tolerance: Tolerance) -> Any:
    far = _FAR * (1 + abs(stated) + tolerance.absolute)
    return stated - far if _above(value, stated, tolerance).agrees else stated + far


above = Rule("above", _above, _above_nudged, lambda s, t: f"above {short(s)}{t}", lambda v: f"at least {_least(v)}")


def _most(value: Any) -> str:
    return short(max(numbers(value)))


def _least(value: Any) -> str:
    return short(min(numbers(value)))


def _bound(value: Sequence[Pair], _: Any, tolerance: Tolerance) -> Judgement:
    """The first of every pair is the truth, the second what is claimed to bound it."""
    gaps = [pair.found - pair.against - tolerance.absolute - tolerance.relative * abs(pair.against) for pair in value]
    tight = any(abs(pair.found - pair.against) <= tolerance.tight * max(1.0, abs(pair.against)) for pair in value)
    return Judgement(bool(value) and max(gaps) <= 0, tight)


def _bound_nudged(value: Sequence[Pair], stated: Any, tolerance: Tolerance) -> Any:
    if not _bound(value, stated, tolerance).agrees:
        return [Pair(pair.against, pair.against, pair.at) for pair in value] or [Pair(0.0, 0.0)]
    return [Pair(pair.against + _FAR * (1 + abs(pair.against)), pair.against, pair.at) for pair in value]


def _worst(value: Sequence[Pair]) -> str:
    worst = max(value, key=lambda pair: round(pair.found - pair.against, 12))
    beyond = sum(round(pair.found - pair.against, 12) > 0 for pair in value)
    if len(value) == 1:
        return str(worst)
    return (
        f"{beyond:,} of {len(value):,} beyond; the worst {worst}"
        if beyond
        else f"none of {len(value):,} beyond; the closest {worst}"
    )


bound = Rule("bound", _bound, _bound_nudged, lambda s, _: str(s), _worst)


def _equal(value: Sequence[Pair], _: Any, tolerance: Tolerance) -> Judgement:
    return Judgement(bool(value) and all(_close(pair.found, pair.against, tolerance) for pair in value))


def _equal_nudged(value: Sequence[Pair], stated: Any, tolerance: Tolerance) -> Any:
    far = _FAR * _equal(value, stated, tolerance).agrees
    return [Pair(pair.against + far * (1 + abs(pair.against)), pair.against, pair.at) for pair in value] or [Pair(0, 0)]


def _furthest(value: Sequence[Pair]) -> str:
    # What rounding alone tells apart is alike: the first is shown, on every processor.
    worst = max(value, key=lambda pair: round(abs(pair.found - pair.against), 12))
    if len(value) == 1:
        return str(worst)
    if not round(abs(worst.found - worst.against), 12):
        return f"all {len(value):,} alike; {worst}"
    return f"{len(value):,} compared; the furthest apart {worst}"


equal = Rule("equal", _equal, _equal_nudged, lambda s, t: f"{s}{t}", _furthest)


def _argmin_at(value: Heights, stated: float, tolerance: Tolerance) -> Judgement:
    """A valley with its least at the stated place: it falls strictly before and rises strictly after."""
    heights = list(value.heights)
    least = heights.index(min(heights))
    steps = [after - before for before, after in pairwise(heights)]
    return Judgement(
        abs(value.places[least] - stated) <= tolerance.absolute
        and all(step < 0 for step in steps[:least])
        and all(step > 0 for step in steps[least:])
    )


def _argmin_nudged(value: Heights, stated: float, tolerance: Tolerance) -> Any:
    if _argmin_at(value, stated, tolerance).agrees:
        return Heights(value.places, [-height for height in value.heights])
    return Heights(value.places, [(place - stated) ** 2 for place in value.places])


def _valley(value: Heights) -> str:
    heights = list(value.heights)
    least, most_ = heights.index(min(heights)), heights.index(max(heights))
    return (
        f"least {short(heights[least])} at {short(value.places[least])}, "
        f"most {short(heights[most_])} at {short(value.places[most_])}"
    )


argmin_at = Rule(
    "argmin_at", _argmin_at, _argmin_nudged, lambda s, _: f"falls to its least at {short(s)}, then rises", _valley
)


def _falling(value: Sequence[float], _: Any, tolerance: Tolerance) -> Judgement:
    return Judgement(len(value) > 1 and all(b < a + tolerance.absolute for a, b in pairwise(value)))


def _rising(value: Sequence[float], _: Any, tolerance: Tolerance) -> Judgement:
    return Judgement(len(value) > 1 and all(b > a - tolerance.absolute for a, b in pairwise(value)))


def _ramp(sign: int, judge: Callable[[Any, Any, Tolerance], Judgement]) -> Callable[[Any, Any, Tolerance], Any]:
    def nudged(value: Any, stated: Any, tolerance: Tolerance) -> Any:
        step = sign * _FAR * (1 + tolerance.absolute) * (1 if judge(value, stated, tolerance).agrees else -1)
        return [step * place for place in range(max(2, len(value)))]

    return nudged


falling = Rule("falling", _falling, _ramp(1, _falling), lambda s, _: str(s or "falls"), _listed)
rising = Rule("rising", _rising, _ramp(-1, _rising), lambda s, _: str(s or "rises"), _listed)


def _order(value: Sequence[Pair], _: Any, tolerance: Tolerance) -> Judgement:
    """The first of every pair is the smaller."""
    return Judgement(bool(value) and all(pair.found < pair.against + tolerance.absolute for pair in value))


def _most_pairs(value: Sequence[Pair], stated: Any, tolerance: Tolerance) -> Judgement:
    share = stated if isinstance(stated, float) else 0.5
    smaller = sum(pair.found < pair.against + tolerance.absolute for pair in value)
    return Judgement(smaller > share * len(value))


def _swapped(judge: Callable[[Any, Any, Tolerance], Judgement]) -> Callable[[Any, Any, Tolerance], Any]:
    def nudged(value: Sequence[Pair], stated: Any, tolerance: Tolerance) -> Any:
        far = _FAR * (1 + tolerance.absolute) * (1 if judge(value, stated, tolerance).agrees else -1)
        return [Pair(pair.against + far, pair.against, pair.at) for pair in value] or [Pair(-1.0, 1.0)]

    return nudged


def _wins(value: Sequence[Pair]) -> str:
    smaller = sum(pair.found < pair.against for pair in value)
    if len(value) == 1:
        return str(value[0])
    return f"in {smaller:,} of {len(value):,}"


order = Rule("order", _order, _swapped(_order), lambda s, _: str(s), _wins)
most = Rule(
    "most",
    _most_pairs,
    _swapped(_most_pairs),
    lambda s, _: f"in more than {s:.0%}" if isinstance(s, float) else str(s),
    _wins,
)


def _orders(value: float, stated: float, tolerance: Tolerance) -> Judgement:
    return Judgement(all(one > 0 and abs(math.log10(one) - stated) <= tolerance.absolute for one in numbers(value)))


def _orders_nudged(value: float, stated: float, tolerance: Tolerance) -> Any:
    return 10.0 ** (stated + (2 + 2 * tolerance.absolute) * _orders(value, stated, tolerance).agrees)


orders = Rule(
    "orders",
    _orders,
    _orders_nudged,
    lambda s, t: f"{short(s)}{t} orders of magnitude",
    lambda v: ", ".join(f"{math.log10(one):.2f}" for one in numbers(v)) + " orders",
)


def _optimum(value: Sequence[Pair], _: Any, tolerance: Tolerance) -> Judgement:
    """The first of every pair is what the claimed choice gives, the second the least that any choice gives."""
    return Judgement(bool(value) and all(_no_worse(pair, tolerance) for pair in value))


def _no_worse(pair: Pair, tolerance: Tolerance) -> bool:
    return pair.found <= pair.against + tolerance.absolute + tolerance.relative * abs(pair.against)


def _optimum_nudged(value: Sequence[Pair], stated: Any, tolerance: Tolerance) -> Any:
    far = _FAR * _optimum(value, stated, tolerance).agrees
    return [Pair(pair.against + far * (1 + abs(pair.against)), pair.against, pair.at) for pair in value] or [Pair(0, 0)]


def _regret(value: Sequence[Pair]) -> str:
    worse = [pair for pair in value if pair.found > pair.against * (1 + 1e-12)]
    if not worse:
        return f"the best in all {len(value):,}" if len(value) > 1 else f"the best: {short(value[0].found)}"
    worst = max(worse, key=lambda pair: pair.found - pair.against)
    return f"not the best in {len(worse):,} of {len(value):,}; the worst {worst}"


optimum = Rule("optimum", _optimum, _optimum_nudged, lambda s, _: str(s), _regret)


def _existence(value: Sequence[bool], _: Any, __: Tolerance) -> Judgement:
    return Judgement(any(value))


def _always(value: Sequence[bool], _: Any, __: Tolerance) -> Judgement:
    return Judgement(len(value) > 0 and all(value))


existence = Rule(
    "existence",
    _existence,
    lambda v, s, t: [not _existence(v, s, t).agrees] * max(1, len(v)),
    lambda s, _: str(s),
    lambda v: f"in {sum(map(bool, v)):,} of {len(v):,}",
)
always = Rule(
    "always",
    _always,
    lambda v, s, t: [not _always(v, s, t).agrees] * max(1, len(v)),
    lambda s, _: str(s),
    lambda v: f"in {sum(map(bool, v)):,} of {len(v):,}",
)


def _limit(value: Sequence[float], stated: float, tolerance: Tolerance) -> Judgement:
    """The distances to the limit fall, and the last is within the tolerance."""
    apart = [abs(one - stated) for one in value]
    near = apart[-1] <= tolerance.absolute + tolerance.relative * abs(stated)
    return Judgement(near and all(b <= a + tolerance.absolute for a, b in pairwise(apart)))


def _limit_nudged(value: Sequence[float], stated: float, tolerance: Tolerance) -> Any:
    if _limit(value, stated, tolerance).agrees:
        return [stated + _FAR * (1 + abs(stated))] * len(value)
    return [stated] * len(value)


limit = Rule(
    "limit",
    _limit,
    _limit_nudged,
    lambda s, t: f"tends to {short(s)}{t}",
    lambda v: f"{_listed(list(v)[:4])} … {short(list(v)[-1])}",
)


def every(*rules: Rule) -> Rule:
    """Return a rule of several parts: values and statements are tuples, and all parts must agree."""

    def judge(value: Any, stated: Any, tolerance: Tolerance) -> Judgement:
        found = [rule.judge(v, s, tolerance) for rule, v, s in zip(rules, value, stated, strict=True)]
        return Judgement(all(one.agrees for one in found), all(one.tight for one in found))

    def nudged(value: Any, stated: Any, tolerance: Tolerance) -> Any:
        agrees = judge(value, stated, tolerance).agrees
        parts = []
        for rule, v, s in zip(rules, value, stated, strict=True):
            turn = agrees or not rule.judge(v, s, tolerance).agrees
            parts.append(rule.nudged(v, s, tolerance) if turn else v)
        return tuple(parts)

    def states(stated: Any, tolerance: Tolerance) -> str:
        return "; ".join(rule.states(s, tolerance) for rule, s in zip(rules, stated, strict=True))

    def shows(value: Any) -> str:
        return "; ".join(rule.shows(v) for rule, v in zip(rules, value, strict=True))

    return Rule(" and ".join(rule.name for rule in rules), judge, nudged, states, shows)
