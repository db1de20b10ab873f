"""A plan whose keys are found before its numbers are read, and the release itself.

"Order of events" of ``docs/explanation/proofs/keys.md``: a nonce is drawn after the debit and stored; with the owner's
secret it decides the noise of finding. So a process that dies goes on to the same keys, and whoever reads the ledger
learns nothing of the noise. Where published counts decide, it is their noise too.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Protocol, Unpack

import numpy as np

from chronodp.engines import HeldKeys, Progress
from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_CELLS, Fulfilled, Produce, Staged
from chronodp.privacy import Guarantee, check_delta, check_epsilon
from chronodp.randomness import Entropy, keyed_entropy
from chronodp.report import watched
from chronodp.selection.keys import PublishedCounts, Rounds
from chronodp.series.diagnosis import Diagnosis
from chronodp.series.discover import Discover
from chronodp.series.discovery.describe import describe_discover
from chronodp.series.discovery.design import DiscoverDesign
from chronodp.series.plan import Origin, Plan, Quanta, Terms
from chronodp.series.release import Release, release_text
from chronodp.series.table import Table
from chronodp.series.table_plan import StagedPlan
from chronodp.series.workloads import check_workload

if TYPE_CHECKING:
    import pandas

__all__ = ["DiscoverPlan", "KeysOrigin", "find_keys", "finding_entropy", "make_discover_plan", "published_counts"]

_WORDS = 8  # of 32 bits: as many as the noise's key has


class KeysOrigin(Origin, Protocol):
    """Where the numbers come from, and who holds which key."""

    def held_keys(self, design: DiscoverDesign, *, key: str) -> HeldKeys:
        """Return who holds which key, bounded; nobody may see it."""
        ...

    def moved(self, data: object, table: Table, *, start: Any, end: Any) -> tuple[KeysOrigin, Table]:
        """Return the same question about other data and another stretch of time."""
        ...


@dataclass(frozen=True, slots=True, repr=False)
class DiscoverPlan(StagedPlan[HeldKeys, Release]):
    """One release whose keys are found first; `release` pays for both at once, and `release.keys` says which.

    Attributes:
        design: everything public about it.
    """

    design: DiscoverDesign
    origin: KeysOrigin

    @property
    def cells(self) -> int:
        """How many numbers are stored at most: keys may be fewer."""
        return self.design.most * self.design.beside

    def half_width(self, level: float = 0.95) -> float:
        """Return how far noise carries what the plan is tuned for, of every key that is found, at a level."""
        return Plan(self.design.typical, (), self.design.delta, self.origin).half_width(level)

    @property
    def alternatives(self) -> pandas.DataFrame:
        """The design that is planned, with its error."""
        return Plan(self.design.typical, (), self.design.delta, self.origin).alternatives

    @property
    def candidates(self) -> list[dict[str, Any]]:
        """The alternatives as plain data for JSON."""
        return Plan(self.design.typical, (), self.design.delta, self.origin).candidates

    def read(self, *, key: str, progress: Progress) -> HeldKeys:
        """Return who holds which key, bounded, which nobody may see."""
        held = self.origin.held_keys(self.design, key=key)
        progress(1.0)
        return held

    def diagnose(self, *, bounds: bool = False, progress: Progress | None = None) -> Diagnosis:
        """Read the data and say how its cells are read. FOR THE OWNER ONLY: the figures are not private."""
        if bounds:
            raise InvalidArgument(
                "bounds", True, "left out: how much the bounds remove depends on the keys that are found"
            )
        # Without any key: how other cells are read hangs on none.
        return Plan(self.design.release_design(()), (), self.design.delta, self.origin).diagnose(progress=progress)

    def on(self, data: object, *, start: Any = None, end: Any = None) -> DiscoverPlan:
        """Return the same plan for other data, such as next month's: keys are found anew, and paid for anew.

        Keys of an earlier release are public: ``by(page=release.keys)`` pays for numbers alone.
        """
        origin, table = self.origin.moved(data, self.design.table, start=start, end=end)
        return DiscoverPlan(replace(self.design, table=table), origin)

    def content(self, numbers: HeldKeys) -> tuple[bytes, ...]:
        """Return what identifies the data. Nobody may see it."""
        texts = [part for key in numbers.keys for part in (len(key.encode()).to_bytes(8, "little"), key.encode())]
        return (*texts, numbers.people.astype("<i8").tobytes())

    @property
    def _reading(self) -> str:
        return f"Reading keys in {self.origin}"

    def _released(self, fulfilled: Fulfilled) -> Release:
        return Release(fulfilled.release, fulfilled.signed, parts=fulfilled.parts)

    def find(self, held: HeldKeys, entropy: Entropy) -> tuple[str, ...]:
        """Return the keys that are published, in the order of their bytes."""
        return find_keys(self.design, held, entropy)

    def find_counted(self, held: HeldKeys, entropy: Entropy) -> tuple[tuple[str, ...], Quanta]:
        """Return the keys whose counts decide that they are published, and these counts, with noise."""
        return published_counts(self.design, held, entropy)

    def making(self, exact: HeldKeys, entropy: Entropy, *, key: str, progress: Progress | None) -> Staged:
        """Return the nonce of the noise that finds keys, and the release that follows from it."""
        design = self.design

        def choose_nonce(_: tuple[str, ...]) -> Callable[[], str]:
            return lambda: "".join(f"{word:08x}" for word in entropy.integers(2**32, size=_WORDS).tolist())

        def release(chosen: tuple[str, ...]) -> Produce:
            finding = finding_entropy(key, chosen[0])
            if isinstance(design.finding, PublishedCounts):
                return self._publish(exact, finding, seeded=entropy.seeded)
            found = self.find(exact, finding)
            plan = Plan(design.release_design(found), (), design.delta, self.origin)
            with watched(progress, f"Reading {self.origin}") as tell:
                numbers = plan.read(key=key, progress=tell)
            return lambda: (plan.draw(numbers, entropy), plan.certificate_for(seeded=entropy.seeded))

        return Staged((choose_nonce,), release)

    def _publish(self, held: HeldKeys, entropy: Entropy, *, seeded: bool) -> Produce:
        """Return what writes the keys and the noisy counts by which they were found.

        Nothing is drawn but what the nonce decides: whoever goes on after a crash publishes the same key with the same
        count. A second draw of it would have to be paid for.
        """
        keys, noisy = self.find_counted(held, entropy)
        plan = Plan(self.design.release_design(keys), (), self.design.delta, self.origin)
        return lambda: (release_text(plan.design, [noisy]), plan.certificate_for(seeded=seeded))

    def __repr__(self) -> str:
        table = self.design.table
        guarantee = Guarantee(table.claimed, self.design.epsilon, self.design.typical.delta)
        return f"DiscoverPlan({table.released}, keys of {self.design.column} found; {guarantee})"

    @property
    def _facts(self) -> list[tuple[str, str]]:
        return describe_discover(self.design)


def finding_entropy(key: str, nonce: str) -> Entropy:
    """Return what noise of finding is drawn from: a function of the owner's secret for the request and of the nonce."""
    return keyed_entropy(hmac.digest(bytes.fromhex(key), f"finding keys {nonce}".encode(), "sha256"))


def find_keys(design: DiscoverDesign, held: HeldKeys, entropy: Entropy) -> tuple[str, ...]:
    """Return the keys that are published, in the order of their bytes."""
    rule = design.finding
    if isinstance(rule, PublishedCounts):
        return published_counts(design, held, entropy)[0]
    if not isinstance(rule, Rounds):
        found = np.flatnonzero(rule.decide(held.people, entropy))[: design.most]
    else:
        decided = rule.decide(lambda dropped: held.weigh(rule.weights, dropped), entropy)
        found = np.flatnonzero(decided.largest(design.most))
    return tuple(held.keys[place] for place in found)


def published_counts(design: DiscoverDesign, held: HeldKeys, entropy: Entropy) -> tuple[tuple[str, ...], Quanta]:
    """Return the keys that are published, in the order of their bytes, and the noisy counts that decided it."""
    rule = design.finding
    if not isinstance(rule, PublishedCounts):
        raise AssertionError("asked where published counts decide")
    decided = rule.decide(held.people, design.count_noise, entropy)
    found = np.flatnonzero(decided.largest(design.most))
    return tuple(held.keys[place] for place in found), decided.noisy[found].reshape(1, -1)


def make_discover_plan(table: Table, discover: Discover, origin: KeysOrigin, **terms: Unpack[Terms]) -> DiscoverPlan:
    """Return the plan that finds keys first."""
    epsilon, delta = check_epsilon(terms["epsilon"]), check_delta(terms["delta"])
    if terms["missing"] is not None:
        allowed = "left out where keys are found: ask it of a second question, by(...=release.keys)"
        raise InvalidArgument("missing", "Missing()", allowed)
    design = DiscoverDesign(table, discover, epsilon, delta, check_workload(terms["tuned_for"]))
    if not design.most:
        allowed = f"few enough for at most {MOST_CELLS:,} cells (periods × groups × bins) of a key: longer periods"
        raise InvalidArgument("groups", f"{design.beside:,} cells of every key", allowed)
    _ = design.typical  # refuses what cannot be drawn
    return DiscoverPlan(design, origin)
