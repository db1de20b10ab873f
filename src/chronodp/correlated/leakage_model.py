"""Measures leakage of one model again and again: what depends on the model alone is computed once.

Which values are called exact, and which bounds certify: ``docs/explanation/proofs/correlated.md``. The smallest of
several true bounds is one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated.ageing import Ages, check_ages
from chronodp.correlated.bounds.ceiling import group_spans
from chronodp.correlated.bounds.influences import Influences, influences
from chronodp.correlated.bounds.memory import memory
from chronodp.correlated.bounds.one_step import one_step
from chronodp.correlated.bounds.ratios import least_ratios
from chronodp.correlated.bounds.reader import Reader
from chronodp.correlated.bounds.rounding import round_up
from chronodp.correlated.bounds.space_time import oscillations, reach_of_release, space_time
from chronodp.correlated.bounds.total_variation import total_variation
from chronodp.correlated.bounds.window import Windows
from chronodp.correlated.chain import CouplingMarkovChain, Floats, Integers
from chronodp.correlated.exact import Adversary, Compared, exact_leakage, outside_values
from chronodp.correlated.joint import LARGEST, LEAST, Joint, JointChain
from chronodp.correlated.query import Query, QueryTable, check_query, tabulate
from chronodp.correlated.sparse_joint import SparseJointChain
from chronodp.errors import InvalidArgument
from chronodp.privacy import check_epsilon, check_whole

__all__ = ["LeakageModel", "Reading", "Released"]

_MOST_GROUPS = 1_000
_SPARE = 23.0  # e^23: more than the sums have terms
_SPARSE = 16  # times as many joint states where coupling is sparse
_LISTED = 2**10  # joint states up to which the whole law of the past is listed


@dataclass(frozen=True, slots=True, eq=False)
class Released:
    """What is released: outputs of aged states with Laplace noise, once or several times in a row.

    Attributes:
        outputs: the query.
        ages: of each sequence.
        epsilon: sensitivity of the query divided by the scale of the noise (ε_C).
        releases: how many in a row, one a period; the newest reads the ages given, the one before it one more, …
    """

    outputs: QueryTable
    ages: NDArray[np.int64]
    epsilon: float
    releases: int = 1

    @property
    def shares(self) -> Floats:
        """The most that one sequence changes the query, as a share of its sensitivity (w_j)."""
        return self.outputs.changes / self.outputs.sensitivity

    @property
    def direct(self) -> Floats:
        """What a sequence that is released without age leaks by itself."""
        return np.where(self.ages == 0, self.shares * self.epsilon, 0.0)

    @property
    def tilts(self) -> Floats:
        """The log range by which each site (age × sequence) is tilted."""
        made = np.zeros((int(self.ages.max()) + self.releases, len(self.ages)))
        for back in range(self.releases):
            made[self.ages + back, np.arange(len(self.ages))] += self.shares * self.epsilon
        return made

    def part(self, members: Integers) -> tuple[QueryTable, NDArray[np.int64]]:
        """Return outputs and ages of some sequences alone, all releases side by side."""
        outputs, ages = self.outputs, self.ages[members]
        parts = np.tile(outputs.parts[:, members], (self.releases, 1, 1))
        back = np.repeat(np.arange(self.releases), len(outputs.largest))
        return QueryTable(parts, outputs.largest * self.releases), ages + back[:, None]


@dataclass(frozen=True, slots=True, eq=False)
class Reading:
    """Leakage about each sequence.

    Attributes:
        exact: computed from the joint law; not a number where that is out of reach.
        bounds: by name, each for every sequence, rounded up.
        reasons: why something was not computed exactly.
    """

    exact: Floats
    bounds: dict[str, Floats]
    reasons: tuple[str, ...]


class LeakageModel:
    """Measures one model.

    Args:
        model: the chain.
        largest: groups of up to so many joint states are computed exactly; up to sixteen times as many where each
            sequence hears few others (paths, rings, trees).
    """

    def __init__(self, model: CouplingMarkovChain, *, largest: int = 2**10) -> None:
        if not isinstance(model, CouplingMarkovChain):
            raise InvalidArgument("model", model, "a CouplingMarkovChain")
        self.model = model
        self.largest = check_whole("largest", largest, least=0, most=LARGEST)

    @cached_property
    def groups(self) -> list[Integers]:
        """The sequences of each group that hear of each other."""
        order = np.argsort(self.model.components, kind="stable")
        return np.split(order, np.flatnonzero(np.diff(self.model.components[order])) + 1)

    @cached_property
    def joints(self) -> dict[int, JointChain]:
        """Groups that are small enough to be listed and have one stationary law that floats can hold, by number."""
        if len(self.groups) > _MOST_GROUPS:
            return {}
        small = [
            number
            for number, members in enumerate(self.groups)
            if len(members) * np.log(self.model.states) <= np.log(max(self.largest, 1)) + 1e-9
        ]
        made = {number: JointChain(self.model.part(self.groups[number])) for number in small}
        return {number: joint for number, joint in made.items() if joint.has_law}

    @cached_property
    def sparse_joints(self) -> dict[int, SparseJointChain]:
        """Groups too large to be listed with their kernel, but whose laws can be carried on without it, by number."""
        if len(self.groups) > _MOST_GROUPS:
            return {}
        m, most = self.model.states, self.largest * _SPARSE
        between = [
            number
            for number, members in enumerate(self.groups)
            if np.log(max(self.largest, 1)) + 1e-9 < len(members) * np.log(m) <= np.log(max(most, 1)) + 1e-9
        ]
        made = {number: SparseJointChain(self.model.part(self.groups[number])) for number in between}
        return {number: joint for number, joint in made.items() if joint.most_laws() > 1 and joint.has_law}

    @cached_property
    def least(self) -> Floats:
        """The least ratios of the last step."""
        return least_ratios(self.model)

    @cached_property
    def field(self) -> Influences:
        """Influences between sites of the past."""
        return influences(self.model)

    @cached_property
    def swings(self) -> dict[tuple[int, int], Floats]:
        """How far the odds of two presents swing by each who is heard, by the two."""
        return oscillations(self.model)

    @cached_property
    def windows(self) -> Windows:
        """Windows of the past around each sequence."""
        return Windows(self.model)

    @cached_property
    def reasons(self) -> tuple[str, ...]:
        """Why some groups are not computed exactly."""
        if len(self.groups) > _MOST_GROUPS:
            return (f"{len(self.groups):,} groups are too many to be computed one by one: bounds instead",)
        exact = self.joints.keys() | self.sparse_joints.keys()
        sizes = [len(members) for number, members in enumerate(self.groups) if number not in exact]
        if not sizes:
            return ()
        size = max(sizes)
        m = self.model.states
        if size * np.log(m) > np.log(max(self.largest, 1)) + 1e-9:
            return (f"a group of {size:,} sequences has {m}^{size} joint states, too many to list: bounds instead",)
        return (
            "a group has several closed classes, so that its past depends on where it began, or probabilities that are "
            "too small for floats: bounds instead",
        )

    def measure(self, released: Released, adversary: Adversary) -> Reading:
        """Return exact leakage where it is in reach, and bounds where it is not."""
        read = self._read(released, adversary, {**self.joints, **self.sparse_joints})
        if not np.isfinite(read.exact).all():
            read.bounds["window"] = self.by_window(released, adversary, np.flatnonzero(np.isnan(read.exact)))
        return read

    def certify(self, released: Released, adversary: Adversary) -> tuple[float, str]:
        """Return the certified leakage about any sequence's present, and what certified it."""
        return _largest_of_least(self.measure(released, adversary).bounds)

    def certify_quickly(self, released: Released, adversary: Adversary) -> tuple[float, str]:
        """Return the same for searches that ask again and again: what takes a second, elimination and windows, is out.

        It is certified as well, and no smaller.
        """
        return _largest_of_least(self._read(released, adversary, self.joints).bounds)

    def any_pair(self, *, query: Query, ages: Ages, epsilon: float, releases: int = 1) -> float:
        """Return what a release tells about any two presents of a group, at these ages or older ones; certified.

        With several sequences an older release may tell more of one of them than a younger one. About any two presents,
        that may differ in every sequence of the group, it never does: no release whose ages are all older by the same
        number of periods, and neither adversary, learns more than this.

        Args:
            query: what is asked of the aged states.
            ages: how old what is read is, for all sequences or for each.
            epsilon: sensitivity of the query divided by the scale of the noise (ε_C).
            releases: how many in a row, one a period, are seen.

        >>> from chronodp.correlated.query import Mean
        >>> slow = CouplingMarkovChain([[0.999, 0.001], [0.001, 0.999]], [[0.5, 0.5], [0.5, 0.5]])
        >>> gauge = LeakageModel(slow)
        >>> [round(gauge.any_pair(query=Mean(), ages=age, epsilon=3.0), 3) for age in (0, 1, 2, 3)]
        [6.0, 5.96, 5.766, 5.545]
        """
        outputs = tabulate(check_query(query), self.model.sequences, self.model.states)
        each = check_ages(ages, self.model.sequences)
        released = Released(outputs, each, check_epsilon(epsilon), check_whole("releases", releases))
        return self.certify_any_pair(released)

    def certify_any_pair(self, released: Released) -> float:
        """Return the certified leakage about any two presents of a group, now or later."""
        exact, hidden, _ = self._exact(released, "any_pair", self.joints)
        return float(round_up(np.fmin(exact + hidden, self._heard(released))).max())

    def bounds(self, released: Released, adversary: Adversary) -> dict[str, Floats]:
        """Return every bound that needs no list of joint states, for every sequence, rounded up."""
        cheap = self.cheap_bounds(released, adversary)
        free = (released.ages == 0) & (released.shares > 0) if adversary == "knows_none" else None
        reach = reach_of_release(self.field, released.tilts, free=free)
        dying = space_time(self.model, reach, swings=self.swings, least=self.least, direct=released.direct)
        return cheap | {"space-time Dobrushin": self.sound(dying)}

    def cheap_bounds(self, released: Released, adversary: Adversary) -> dict[str, Floats]:
        """Return the bounds that take no iteration: the group's ceiling and the last step."""
        heard = self._heard(released)
        found = {"group ceiling": heard, "one step": one_step(self.least, heard=heard, direct=released.direct)}
        oldest = int(released.ages[released.shares > 0].min())
        if adversary == "knows_none" and oldest > 1:
            found["memory"] = memory(self.model, oldest, heard=heard)
        return {
            name: self.sound(bound) if name != "group ceiling" else round_up(bound) for name, bound in found.items()
        }

    def by_window(self, released: Released, adversary: Adversary, targets: Integers) -> Floats:
        """Return the bound by windows of the past, for the sequences asked for; infinite for the others."""
        outputs, ages = released.part(np.arange(self.model.sequences))
        scale = released.outputs.sensitivity / released.epsilon
        each = np.broadcast_to(ages, outputs.parts.shape[:2])
        reader = Reader(outputs, each, scale, adversary == "knows_others", self._heard(released))
        found = np.full(self.model.sequences, np.inf)
        found[targets] = self.windows.bounds(targets, reader) + released.direct[targets]
        return self.sound(found)

    def sound(self, bound: Floats) -> Floats:
        """Round up; what rests on probabilities that floats do not hold, or came out as no number, bounds nothing."""
        return round_up(np.where(np.isnan(bound) | (self.model.smallest < LEAST), np.inf, bound))

    def _by_distance(self, released: Released) -> Floats:
        """The total variation bound for groups whose joint law is listed; infinite for the others."""
        found, heard = np.full(self.model.sequences, np.inf), self._heard(released)
        for number, joint in self.joints.items():
            members = self.groups[number]
            if len(joint.snapshots) <= _LISTED:
                found[members] = total_variation(joint, released.ages[members], heard=heard[members])
        return found

    def _heard(self, released: Released) -> Floats:
        return group_spans(self.model, released.outputs) * released.epsilon * released.releases

    def _read(self, released: Released, adversary: Adversary, joints: Mapping[int, Joint]) -> Reading:
        exact, hidden, reasons = self._exact(released, adversary, joints)
        found = {"exact": round_up(np.where(np.isnan(exact), np.inf, exact + hidden))}
        if not np.isfinite(exact).all():
            found |= self.bounds(released, adversary)
            if adversary == "knows_others" and released.releases == 1:
                found["total variation"] = round_up(self._by_distance(released))
        return Reading(exact, found, reasons)

    def _exact(
        self, released: Released, adversary: Compared, joints: Mapping[int, Joint]
    ) -> tuple[Floats, Floats, tuple[str, ...]]:
        """Return exact leakage, what rounding may hide in it beyond the margin of every bound, and why some is none."""
        exact, hidden = np.full(self.model.sequences, np.nan), np.zeros(self.model.sequences)
        reasons = self.reasons
        scale, heard = released.outputs.sensitivity / released.epsilon, self._heard(released)
        for number, joint in joints.items():
            members = self.groups[number]
            outputs, ages = released.part(members)
            try:
                if isinstance(joint, SparseJointChain):
                    joint.check_work(outputs, int(ages.max()))
                    # Two conditional densities, each a quotient of two sums of entries.
                    hidden[members] = 4 * joint.carried_error(int(ages.max()))
                outside = outside_values(released.outputs, members, releases=released.releases)
                told = exact_leakage(joint, outputs, ages, scale=scale, adversary=adversary, outside=outside)
                if _keeps_digits(joint, int(ages.max()), float(heard[members[0]])):
                    exact[members] = told
                else:
                    reasons = (*self.reasons, "some probabilities are too small for floats: bounds instead")
            except InvalidArgument:
                reasons = (*self.reasons, "the outputs take too many values together: bounds instead")
        return exact, hidden, reasons


def _largest_of_least(bounds: dict[str, Floats]) -> tuple[float, str]:
    least = np.min(list(bounds.values()), axis=0)
    worst = int(least.argmax())
    return float(least[worst]), min(bounds, key=lambda name: float(bounds[name][worst]))


def _keeps_digits(joint: Joint, oldest: int, heard: float) -> bool:
    """Whether what is too small for floats counts for nothing: there is none, or noise hides it (e^-heard)."""
    rarest = float(np.log(joint.stationary[joint.stationary > 0].min()))
    return bool(rarest - min(heard, -oldest * joint.log_smallest) >= np.log(LEAST) + _SPARE)
