"""Several queries, one price: a plan for all of them, and the release that spends once.

*Composition* and *One debit* of ``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

import datetime as dt
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chronodp.dataset.joint.release import ReleaseTogether, stream_name, together_text
from chronodp.dataset.joint.sharing import Part, Prepared
from chronodp.dataset.joint.strategies import Request, Strategy
from chronodp.engines import Progress
from chronodp.ledger import Dates, Fulfilled, Opening
from chronodp.privacy import (
    Certificate,
    Claim,
    Cost,
    Guarantee,
    PureCost,
    SequenceCost,
    Unit,
    labelled,
    microseconds_of,
)
from chronodp.randomness import Entropy
from chronodp.series import ReleasePlan

if TYPE_CHECKING:
    import pandas

__all__ = ["PlanTogether"]

_ARGUMENT = "docs/explanation/proofs/sharing-a-budget.md"


@dataclass(frozen=True, slots=True, repr=False)
class PlanTogether(ReleasePlan[dict[str, Prepared], ReleaseTogether]):
    """Several queries, priced as one and with every error known; `release` spends.

    Alerts are opened by the same transaction that debits; they go on under the name ``request/query``.

    Attributes:
        asked: the queries with their weights.
        parts: of each query that is released, its plan at its share.
        chosen: the strategy with the least error.
        others: the strategies that were weighed and found to have more.
        epsilon: of the guarantee for all of them together.
        delta: of the guarantee; 0 for Laplace noise.
    """

    asked: tuple[Request, ...]
    parts: Mapping[str, Part] = field(repr=False)
    chosen: Strategy
    others: tuple[Strategy, ...]
    epsilon: float
    delta: float

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.asked[0].query.unit

    @property
    def cost(self) -> Cost:
        """What all of them cost together."""
        costs = tuple(part.cost for part in self.parts.values())
        return costs[0] if len(costs) == 1 else SequenceCost(costs)

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return Claim(self.unit, self.cost, _ARGUMENT)

    @property
    def guarantee(self) -> Guarantee:
        """What is promised for all of them together."""
        return Guarantee(self.unit, self.epsilon, self.delta)

    @property
    def strategies(self) -> pandas.DataFrame:
        """Every strategy with its error, the chosen one first: of all numbers together, and of each query's one."""
        import pandas

        rows = [
            {
                "strategy": strategy.name,
                "noise": strategy.law,
                "error": strategy.error,
                **{f"rmse {one.name}": strategy.rmse[one.name] for one in self.asked},
            }
            for strategy in (self.chosen, *self.others)
        ]
        return pandas.DataFrame(rows)

    @property
    def shares(self) -> pandas.DataFrame:
        """What each query is given: a share (an epsilon, or for Gaussian noise a mu) or what answers it; its error."""
        import pandas

        chosen = self.chosen
        rows = [
            {
                "query": one.name,
                "share": chosen.shares.get(one.name, 0.0),
                "answered_from": chosen.sources.get(one.name, ""),
                "numbers": one.query.numbers,
                "weight": one.weight,
                "rmse": chosen.rmse[one.name],
            }
            for one in self.asked
        ]
        return pandas.DataFrame(rows)

    def read(self, *, key: str, progress: Progress) -> dict[str, Prepared]:
        """Return what each query's data hold, which nobody may see.

        One key serves all: a person's periods are chosen alike in every query.
        """
        count = len(self.parts)
        return {
            name: part.prepare(key=key, progress=_within(progress, place, count))
            for place, (name, part) in enumerate(self.parts.items())
        }

    def draw(self, numbers: dict[str, Prepared], entropy: Entropy) -> str:
        """Return the text of all releases, with fresh noise; whoever calls has debited the cost before."""
        return together_text({name: one.draw(entropy) for name, one in numbers.items()}, self._derived)

    @property
    def identity(self) -> str:
        """The text that identifies the plan."""
        return together_text({name: part.identity for name, part in self.parts.items()}, self._derived)

    def content(self, numbers: dict[str, Prepared]) -> tuple[bytes, ...]:
        """Return what identifies the data. Nobody may see it."""
        return tuple(piece for one in numbers.values() for piece in one.content)

    _purpose = "periods"

    @property
    def _reading(self) -> str:
        return f"Reading for {len(self.parts)} queries"

    def _openings(self, request: str, entropy: Entropy) -> tuple[Opening, ...]:
        """Alerts go on under the name ``request/query``."""
        openings = [part.openings(stream_name(request, name), entropy=entropy) for name, part in self.parts.items()]
        return tuple(opening for some in openings for opening in some)

    def _released(self, fulfilled: Fulfilled) -> ReleaseTogether:
        return ReleaseTogether(fulfilled.release, fulfilled.signed)

    @property
    def _derived(self) -> dict[str, tuple[str, str | None]]:
        queries = {one.name: one.query for one in self.asked}
        found = {}
        for name, source in self.chosen.sources.items():
            how = queries[name].follows_from(queries[source])
            if how is None:
                raise AssertionError("only what follows is answered from another release")
            found[name] = (source, how.every)
        return found

    def _days(self, given: Dates | None) -> Dates | None:
        """All data together; None if some part has no dates, which a budget that renews then refuses."""
        own = [part.dates for part in self.parts.values()]
        known = [dates for dates in own if dates is not None]
        if len(known) < len(own):
            if given is None or not known:
                return given
            known.append(_on_clocks_of(known[0][0], given))
        edges = [edge for dates in known for edge in dates if isinstance(edge, dt.datetime)]
        return min(edges, key=microseconds_of), max(edges, key=microseconds_of)

    def certificate_for(self, *, seeded: bool) -> Certificate:
        """Return what all releases together are certified by."""
        gaussian = self.chosen.law == "gaussian"
        theorem = "Gaussian differential privacy (exact" if gaussian else "basic composition (pure"
        bounded = gaussian and any(isinstance(part.cost, PureCost) for part in self.parts.values())
        return Certificate(
            mechanism=f"{len(self.parts)} of {len(self.asked)} queries with noise of their own, the others read from "
            f"them: {'; '.join(f'{name}, {one}' for name, one in self._described)}",
            claim=self.claim,
            guarantee=self.guarantee,
            theorem=theorem + (", alerts by their largest loss)" if bounded else ")"),
            precision="whole numbers, each query on a grid of its own; the noise has exactly the stated law, and what "
            "rounding adds is in the sensitivities",
            seeded=seeded,
        )

    @property
    def _described(self) -> list[tuple[str, str]]:
        return [
            (
                one.name,
                f"read from {self.chosen.sources[one.name]}" if one.name in self.chosen.sources else str(one.query),
            )
            for one in self.asked
        ]

    def __repr__(self) -> str:
        return f"PlanTogether({', '.join(one.name for one in self.asked)}; {self.guarantee})"

    def __str__(self) -> str:
        chosen = self.chosen
        equal = next((one for one in (chosen, *self.others) if one.name == "equal" and one.law == chosen.law), chosen)
        saved = 1 - math.sqrt(chosen.error / equal.error)
        errors = ((f"  {name}", f"{text}; ± {chosen.rmse[name]:.4g} (one deviation)") for name, text in self._described)
        lines = [
            ("Releases", f"{len(self.asked)} queries together"),
            *errors,
            ("Protects", f"{self.unit}: {self.unit.protects}"),
            ("Unprotected", self.unit.does_not_protect),
            ("Price", f"{self.guarantee}, once for all of them"),
            ("Shared", f"{chosen.name} ({chosen.law}); error {saved:.0%} below that of equal shares"),
        ]
        return labelled(lines)


def _on_clocks_of(moment: dt.date, dates: Dates) -> Dates:
    """Return days as the moments at which they begin on the clocks of another; moments as they are."""
    zone = moment.tzinfo if isinstance(moment, dt.datetime) else dt.UTC
    first, end = (
        day if isinstance(day, dt.datetime) else dt.datetime.combine(day, dt.time(), tzinfo=zone) for day in dates
    )
    return first, end


def _within(tell: Progress, place: int, count: int) -> Progress:
    return lambda fraction: tell((place + fraction) / count)
