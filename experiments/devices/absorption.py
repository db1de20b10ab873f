"""Whom to ask in each slot: few devices to see whether anything moved, and more when it did (LDP-IDS).

The guarantee is not made here: each device answers once in any window whoever asks (`WindowAsked`). Here a collector
decides, from answers alone, how to use the devices that are free.

*Fresh answers* under "Over time" in ``docs/explanation/proofs/local.md``: who is asked may depend on all reports so
far.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from chronodp.errors import InvalidArgument
from chronodp.local.longitudinal.protocols import WindowAsked
from chronodp.local.mechanism import ChoiceMechanism
from chronodp.local.plan import LocalPlan
from chronodp.privacy import check_whole
from chronodp.randomness import Entropy, check_entropy

__all__ = ["Absorption"]


class Absorption:
    """Population absorption: a slot in which nothing moved leaves its devices to a later one.

    Devices are thought of in 2 w shares, w the window. Each slot one share is asked whether frequencies lie farther
    from the last release than a new one would err. If so, the shares of the quiet slots before are asked for a new
    release, and as many slots after it stay quiet; otherwise the last release is repeated. In any window at most w
    shares look and at most w release, so there are always enough that are free.
    It pays with many values of few changes; with a handful of values `WindowPopulation` and smoothing is better.

    Each slot: ``look()``, then ``decide(answers)`` with their answers, then ``release(answers)`` with those of whom it
    named. Devices that do not answer make a slot less precise and nothing else.

    References:
        Ren, Shi, Yu, Yang, Zhao, Xu (2022), LDP-IDS: local differential privacy for infinite data streams (LPA).

    >>> from chronodp.local import LocalPlan, RandomizedResponse
    >>> from chronodp.randomness import seeded
    >>> plan = LocalPlan("colour", RandomizedResponse(epsilon=2.0, choices=3), WindowAsked(window=5))
    >>> truth, asking = np.zeros(10_000, dtype=int), Absorption(plan, devices=10_000, entropy=seeded(1))
    >>> for _ in range(6):
    ...     moved = asking.decide(plan.mechanism.perturb(truth[asking.look()], entropy=seeded(2)))
    ...     made = asking.release(plan.mechanism.perturb(truth[moved], entropy=seeded(3)))
    >>> np.abs(made).round(1).tolist()
    [1.0, 0.0, 0.0]
    """

    def __init__(self, plan: LocalPlan, *, devices: int, entropy: Entropy | None = None) -> None:
        if not isinstance(plan.protocol, WindowAsked) or not isinstance(plan.mechanism, ChoiceMechanism):
            raise InvalidArgument("plan", str(plan), "one that names values and asks with WindowAsked")
        self._mechanism = plan.mechanism
        self._law = plan.law
        self._window = plan.protocol.window
        self._share = check_whole("devices", devices, least=2 * self._window) // (2 * self._window)
        self._entropy = check_entropy(entropy)
        self._free_from = np.zeros(devices, dtype=np.int64)
        self._slot, self._anchor, self._shares = 0, -1, 0
        self._released: NDArray[np.float64] = np.full(plan.mechanism.choices, 1.0 / plan.mechanism.choices)

    @property
    def slot(self) -> int:
        """The number of the slot that is going on."""
        return self._slot

    def look(self) -> NDArray[np.int64]:
        """Return the devices that are asked whether anything moved."""
        return self._choose(self._share)

    def decide(self, answers: NDArray[Any]) -> NDArray[np.int64]:
        """Return the devices that are asked for a new release; none if it would err more than the last one is off."""
        offered = min(max(self._slot - self._anchor, 0), self._window)
        self._shares = 0
        if not len(answers) or not offered:
            return np.zeros(0, dtype=np.int64)
        seen = self._law.frequencies(self._mechanism.support(answers), len(answers))
        noise = self._law.sampled_variance(np.clip(seen, 0, 1), len(answers))
        moved = float(np.mean((seen - self._released) ** 2 - noise))
        error = float(np.mean(self._law.sampled_variance(np.clip(seen, 0, 1), offered * self._share)))
        if moved <= error:
            return np.zeros(0, dtype=np.int64)
        self._shares = offered
        return self._choose(offered * self._share)

    def release(self, answers: NDArray[Any]) -> NDArray[np.float64]:
        """Return the frequencies released for this slot, and go on to the next."""
        if len(answers):
            self._released = self._law.frequencies(self._mechanism.support(answers), len(answers))
        if self._shares:
            self._anchor = self._slot + self._shares - 1  # as many slots fall quiet as were absorbed
        self._slot += 1
        return self._released

    def _choose(self, count: int) -> NDArray[np.int64]:
        free = np.flatnonzero(self._free_from <= self._slot)
        if len(free) < count:
            raise AssertionError("fewer devices are free than the shares of a window leave")
        chosen = free[self._entropy.permutations(len(free))[0, :count]]
        self._free_from[chosen] = self._slot + self._window
        return chosen
