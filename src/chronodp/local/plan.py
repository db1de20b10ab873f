"""A plan: what devices are asked, how they answer over time, and what that gives away; compiled for a device."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Self

from chronodp.errors import InvalidArgument, UnknownDocument
from chronodp.local.device import VERSION, digest
from chronodp.local.law import Law
from chronodp.local.longitudinal import (
    Fresh,
    Lifetime,
    Memoised,
    Protocol,
    Slots,
    TwoLevels,
    WindowAsked,
    WindowBudget,
    WindowPopulation,
    lifetime_of,
    two_levels,
)
from chronodp.local.longitudinal.lifetime import times
from chronodp.local.mechanism import ChoiceMechanism, LocalMechanism
from chronodp.local.numbers import OneBit
from chronodp.local.response import RandomizedResponse
from chronodp.privacy import (
    AssumedCost,
    Assumption,
    Certificate,
    Changes,
    Claim,
    Guarantee,
    History,
    PureCost,
    Window,
    document,
    load,
    to_document,
)
from chronodp.reading import parse_json

__all__ = ["ONE_DEVICE", "LocalPlan"]

ONE_DEVICE = Assumption(
    "one device a person", "nobody has two devices in the fleet, or what they hold is not about one"
)

_ARGUMENT = "docs/explanation/proofs/local.md"


@document("local_plan")
@dataclass(frozen=True)
class LocalPlan:
    """What a fleet of devices is asked. Free: it reads no data.

    Guarantee: as `lifetime` says, against everyone who sees the reports, the collector included; exact, and kept by the
    device itself. The argument stands in ``docs/explanation/proofs/local.md``.

    Args:
        name: of the question.
        mechanism: how one value is answered; its epsilon is that of one report.
        protocol: when a device answers, and what it keeps. `Memoised` goes with `RandomizedResponse` and `OneBit`.

    >>> from chronodp.local import Memoised, RandomizedResponse, Slots
    >>> ask = RandomizedResponse(epsilon=0.5, choices=2)
    >>> print(LocalPlan("online", ask, Slots(horizon=90, reports=3)).lifetime.any_pattern)
    1.5
    >>> kept = LocalPlan("online", ask, Memoised(permanent_epsilon=1.0, horizon=4)).lifetime
    >>> f"{kept.same_pattern:.2f} {kept.any_pattern:.2f} {kept.linkable}"
    '1.61 2.03 True'
    """

    name: str
    mechanism: LocalMechanism
    protocol: Protocol

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not 0 < len(self.name) <= 200:
            raise InvalidArgument("name", self.name, "a text of 1 to 200 characters")
        if not isinstance(self.mechanism, LocalMechanism):
            raise InvalidArgument("mechanism", self.mechanism, "a mechanism such as RandomizedResponse or OneBit")
        if not isinstance(self.protocol, Protocol):
            raise InvalidArgument("protocol", self.protocol, "a protocol such as Slots(horizon=90, reports=3)")
        if isinstance(self.protocol, Memoised):
            if not isinstance(self.mechanism, RandomizedResponse | OneBit):
                raise InvalidArgument("mechanism", self.mechanism, "RandomizedResponse or OneBit if answers are kept")
            two_levels(self.protocol.permanent_epsilon, self.mechanism.epsilon, self._kept_choices)

    @property
    def _kept_choices(self) -> int:
        return self.mechanism.choices if isinstance(self.mechanism, RandomizedResponse) else 2

    @cached_property
    def levels(self) -> TwoLevels | None:
        """The two levels of kept answers, if they are kept."""
        if not isinstance(self.protocol, Memoised):
            return None
        return two_levels(self.protocol.permanent_epsilon, self.mechanism.epsilon, self._kept_choices)

    @cached_property
    def law(self) -> Law:
        """How often a report names a value that is held, and one that is not; exact for this protocol."""
        if self.levels is not None:
            return Law(*self.levels.first)
        if isinstance(self.mechanism, ChoiceMechanism | OneBit):
            return self.mechanism.law
        raise InvalidArgument("mechanism", self.mechanism, "one that names values; this one names amounts")

    @cached_property
    def lifetime(self) -> Lifetime:
        """What all reports of one device give away at worst."""
        return lifetime_of(self.mechanism.epsilon, self.protocol, self.levels)

    @property
    def horizon(self) -> int | None:
        """How many slots there are; None if there is no end."""
        return self.protocol.horizon if isinstance(self.protocol, Fresh | Slots | Memoised) else None

    @property
    def sampled(self) -> bool:
        """Whether a slot hears a random part of the devices, whose choice adds to the error."""
        return isinstance(self.protocol, Slots | WindowPopulation | WindowAsked)

    @property
    def claim(self) -> Claim:
        """What is promised for the whole life of a device, or for any window of it."""
        match self.protocol:
            case WindowBudget(window=window):
                cost = AssumedCost(PureCost(times(window, self.mechanism.epsilon)), ONE_DEVICE)
                return Claim(Window(window, "replace"), cost, _ARGUMENT)
            case WindowPopulation(window=window) | WindowAsked(window=window):
                cost = AssumedCost(PureCost(self.mechanism.epsilon), ONE_DEVICE)
                return Claim(Window(window, "replace"), cost, _ARGUMENT)
        if math.isinf(self.lifetime.any_pattern):
            # A counter rounded at a secret threshold repeats itself by sides of the threshold, not by values.
            changes: Changes = "crossing" if isinstance(self.mechanism, OneBit) else "same"
            return Claim(History(changes), PureCost(self.lifetime.same_pattern), _ARGUMENT)
        return Claim(History(), PureCost(self.lifetime.any_pattern), _ARGUMENT)

    @property
    def certificate(self) -> Certificate:
        """What is promised, in words."""
        claim = self.claim
        assumed = (ONE_DEVICE,) if isinstance(claim.cost, AssumedCost) else ()
        cost = claim.cost.cost if isinstance(claim.cost, AssumedCost) else claim.cost
        if not isinstance(cost, PureCost):
            raise AssertionError("claims of plans are pure")
        return Certificate(
            mechanism=f"{type(self.mechanism).__name__} on the device; {self.protocol}",
            claim=claim,
            guarantee=Guarantee(claim.unit, cost.epsilon, assumptions=assumed),
            theorem="sums over reports (pure)" if self.levels is None else "kept answers (pure)",
            precision="whole numbers in a table; odds rounded down",
        )

    @cached_property
    def compiled(self) -> dict[str, Any]:
        """What a device is given: tables of whole numbers, and what they give away."""
        life = self.lifetime
        told = {"report": life.report, "same_pattern": life.same_pattern, "any_pattern": life.any_pattern}
        return {
            "format": "chronodp device plan",
            "version": VERSION,
            "name": self.name,
            "mechanism": self.mechanism.table,
            "protocol": self._compiled_protocol(),
            "epsilon": {key: value if math.isfinite(value) else "unbounded" for key, value in told.items()},
            "linkable": life.linkable,
            "source": to_document(self),
        }

    @property
    def digest(self) -> str:
        """The name of the plan in reports."""
        return digest(self.compiled)

    def save(self, path: str | Path) -> Path:
        """Write what a device is given."""
        target = Path(path)
        target.write_text(json.dumps(self.compiled, indent=2, sort_keys=True, allow_nan=False), encoding="utf-8")
        return target

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Return the plan in a file that `save` wrote; a table that does not follow from its parameters is refused."""
        try:
            content = parse_json(Path(path).read_bytes())
            plan: Self = load(content["source"], cls)
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise UnknownDocument(f"{Path(path).name} is no device plan ({type(error).__name__})") from None
        if plan.compiled != content:
            raise UnknownDocument(f"{Path(path).name} was altered: its tables do not follow from its parameters")
        return plan

    def __str__(self) -> str:
        return f"{self.name}: {type(self.mechanism).__name__}, {self.protocol}. In all, {self.lifetime}."

    def _compiled_protocol(self) -> dict[str, Any]:
        match self.protocol:
            case Fresh(horizon=horizon):
                return {"kind": "fresh", "horizon": horizon}
            case Slots(horizon=horizon, reports=reports):
                return {"kind": "slots", "horizon": horizon, "reports": reports}
            case Memoised(horizon=horizon, max_values=most):
                levels = self.levels
                if levels is None:
                    raise AssertionError("kept answers have two levels")
                odds = {"keep": levels.keep, "whole": levels.whole}
                again = {"keep_again": levels.keep_again, "whole_again": levels.whole_again}
                limit = min(levels.choices, most or levels.choices)
                return {"kind": "memoised", "horizon": horizon, "max_values": limit, **odds, **again}
            case WindowBudget(window=window):
                return {"kind": "window", "window": window, "reports": window, "phased": False}
            case WindowPopulation(window=window):
                return {"kind": "window", "window": window, "reports": 1, "phased": True}
            case WindowAsked(window=window):
                return {"kind": "window", "window": window, "reports": 1, "phased": False}
