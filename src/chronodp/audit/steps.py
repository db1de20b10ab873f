"""The law of a few steps of a stream: states that were reached on different paths are walked through once.

A stream of n steps has far more paths than states. The auditor walks every draw of one step from every state that can
be reached, once, and multiplies. Paths whose answer lies far out may be ended there: what follows is left out, which
can only hide a loss, never invent one.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, TypeVar

from chronodp.audit.enumerated_entropy import EnumeratedEntropy, Unfollowed
from chronodp.audit.exact import Outcomes, total
from chronodp.randomness import Entropy

__all__ = ["StepEnumerator"]

State = TypeVar("State")


def _never(output: Hashable) -> bool:  # noqa: ARG001 (of the field it is the default of)
    return False


@dataclass(frozen=True, slots=True)
class _Branches(Generic[State]):
    """Where one step leads: shares over ``whole``, each with a state and an answer; and what was not followed."""

    ways: list[tuple[int, State, Hashable]]
    lost: int
    whole: int


@dataclass(frozen=True, slots=True)
class StepEnumerator(Generic[State]):
    """A stream as the exact auditor sees it; a mechanism whose input is a sequence of values.

    Attributes:
        start: the first state, from what is drawn before any value comes.
        step: one step: state, value and entropy in, the next state and the answer out.
        key: what tells states apart.
        ends: whether a path is followed no further after an answer.
        entropy: makes the entropy of one run from its script.
    """

    start: Callable[[Entropy], State]
    step: Callable[[State, Any, Entropy], tuple[State, Hashable]]
    key: Callable[[State], Hashable]
    ends: Callable[[Hashable], bool] = _never
    entropy: Callable[[Sequence[int]], EnumeratedEntropy] = EnumeratedEntropy

    def __call__(self, values: Sequence[Any], *, entropy: Entropy) -> tuple[Hashable, ...]:
        """Run the stream once and return its answers, up to the one that ends it."""
        state = self.start(entropy)
        told: tuple[Hashable, ...] = ()
        for value in values:
            state, answer = self.step(state, value, entropy)
            told = (*told, answer)
            if self.ends(answer):
                break
        return told

    def law(self, values: Sequence[Any]) -> Outcomes:
        """Return the law of all answers to the values, one after another."""
        (found,) = self.laws([values])
        return found

    def laws(self, inputs: Iterable[Sequence[Any]]) -> list[Outcomes]:
        """Return the law of each input: what one value does to one state is walked through once for all of them."""
        walked: dict[tuple[Hashable, Any], _Branches[State]] = {}
        return [self._law(values, walked) for values in inputs]

    def _law(self, values: Sequence[Any], walked: dict[tuple[Hashable, Any], _Branches[State]]) -> Outcomes:
        opened = self._branches(lambda entropy: (self.start(entropy), None))
        # Whole numbers over one denominator, which grows with each step: fractions in lowest terms take longer.
        whole, lost = opened.whole, opened.lost
        # Different states may hide behind equal answers: paths are told apart by both.
        paths: dict[tuple[tuple[Hashable, ...], Hashable], tuple[int, State]]
        paths = {((), self.key(state)): (share, state) for share, state, _ in opened.ways}
        done: dict[Hashable, int] = {}
        for value in values:
            states = {key: state for (_, key), (_, state) in paths.items()}
            for key, state in states.items():
                if (key, value) not in walked:
                    walked[key, value] = self._branches(partial(self.step, state, value))
            known = {key: walked[key, value] for key in states}
            common = math.lcm(*(branches.whole for branches in known.values()))
            whole, lost, done = whole * common, lost * common, {told: share * common for told, share in done.items()}
            times = {key: common // branches.whole for key, branches in known.items()}
            following: dict[tuple[tuple[Hashable, ...], Hashable], tuple[int, State]] = {}
            for (told, key), (share, _) in paths.items():
                here = share * times[key]
                lost += here * known[key].lost
                for part, after, answer in known[key].ways:
                    now = (*told, answer)
                    if self.ends(answer):
                        done[now] = done.get(now, 0) + here * part
                        continue
                    place = (now, self.key(after))
                    before = following.get(place, (0, after))[0]
                    following[place] = (before + here * part, after)
            paths = following
        for (told, _), (share, _state) in paths.items():
            done[told] = done.get(told, 0) + share
        return Outcomes(done, lost, whole)

    def _branches(self, run: Callable[[Entropy], tuple[State, Hashable]]) -> _Branches[State]:
        found: dict[Hashable, tuple[dict[int, int], State, Hashable]] = {}  # shares summed by their denominator
        lost: dict[int, int] = {}
        script: list[int] = []
        while True:
            entropy = self.entropy(script)
            try:
                state, answer = run(entropy)
            except Unfollowed:
                reached = lost
            else:
                reached = found.setdefault((self.key(state), answer), ({}, state, answer))[0]
            reached[entropy.whole] = reached.get(entropy.whole, 0) + entropy.share
            script = entropy.following()
            if not script:
                break
        whole = math.lcm(*lost, *{part for parts, _, _ in found.values() for part in parts})
        ways = [(total(parts, whole), state, answer) for parts, state, answer in found.values()]
        return _Branches(ways, total(lost, whole), whole)
