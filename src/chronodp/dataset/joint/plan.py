"""Several queries, one price: a plan for all of them, and the release that spends once.

*Composition* and *One debit* of ``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

import datetime as dt
import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from chronodp.dataset.joint.quantiles import QuantilePart, SharedQuantiles
from chronodp.dataset.joint.release import ReleaseTogether, stream_name, together_text
from chronodp.dataset.joint.searches import PricedSearch, all_choices, found_of
from chronodp.dataset.joint.series import FoundPart
from chronodp.dataset.joint.sharing import Part, PlanPart, Ready
from chronodp.dataset.joint.strategies import Request, Strategy
from chronodp.engines import Progress
from chronodp.ledger import Dates, Fulfilled, Opening, Produce, Staged, Written
from chronodp.privacy import (
    Certificate,
    Claim,
    Cost,
    Guarantee,
    PureCost,
    SequenceCost,
    Unit,
    canonical,
    dump,
    microseconds_of,
)
from chronodp.randomness import Entropy
from chronodp.report import watched
from chronodp.series import Found, ReleasePlan
from chronodp.series.finding import identity_of

if TYPE_CHECKING:
    import pandas

__all__ = ["PlanTogether"]

_ARGUMENT = "docs/explanation/proofs/sharing-a-budget.md"


@dataclass(frozen=True, slots=True, repr=False)
class PlanTogether(ReleasePlan[Ready, ReleaseTogether]):
    """Several queries, priced as one and with every error known; `release` spends.

    Alerts are opened by the same transaction that debits; they go on under the name ``request/query``.

    Attributes:
        asked: the queries with their weights.
        parts: of each query that is released, its plan at its share.
        chosen: the strategy with the least error.
        others: the strategies that were weighed and found to have more.
        epsilon: of the guarantee for all of them together.
        delta: of the guarantee; 0 for Laplace noise.
        searches: what finds bounds first, each for all queries that are to find the same.
    """

    asked: tuple[Request, ...]
    parts: Mapping[str, Part] = field(repr=False)
    chosen: Strategy
    others: tuple[Strategy, ...]
    epsilon: float
    delta: float
    searches: tuple[PricedSearch, ...] = ()

    @property
    def unit(self) -> Unit:
        """Who is protected."""
        return self.asked[0].query.unit

    @property
    def cost(self) -> Cost:
        """What all of them cost together."""
        choices = tuple(cost for search in self.searches for cost in search.costs)
        costs = (*choices, *(part.cost for part in self.parts.values()))
        return costs[0] if len(costs) == 1 else SequenceCost(costs)

    @property
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""
        return Claim(self.unit, self.cost, _ARGUMENT)

    @property
    def cells(self) -> int:
        """How many numbers are stored of all series together."""
        series = (part.plan if isinstance(part, PlanPart) else part for part in self.parts.values())
        return sum(one.cells for one in series if isinstance(one, ReleasePlan | FoundPart))

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

    def read(self, *, key: str, progress: Progress) -> Ready:
        """Return what each query's data hold, which nobody may see; of those with bounds to find, how much voters hold.

        One key serves all: a person's periods are chosen alike in every query.
        """
        steps = len(self.parts) + len(self.searches)
        prepared = {
            name: part.prepare(key=key, progress=_within(progress, place, steps))
            for place, (name, part) in enumerate(self.parts.items())
        }
        return Ready(prepared, tuple(search.sizes() for search in self.searches))

    def draw(self, numbers: Ready, entropy: Entropy) -> Written:
        """Return all releases as they are stored, with fresh noise; whoever calls has debited the cost before."""
        return together_text({name: one.draw(entropy) for name, one in numbers.prepared.items()}, self._derived)

    def making(self, exact: Ready, entropy: Entropy, *, key: str, progress: Progress | None) -> Produce | Staged:
        """Return what makes all releases after the debit; where bounds are found, after the choices of these."""
        # Zero-argument super() does not work here: a dataclass with slots is another class than the one it was.
        if not self.searches:
            return ReleasePlan.making(self, exact, entropy, key=key, progress=progress)

        def release(chosen: tuple[str, ...]) -> Produce:
            found = found_of(self.searches, chosen)
            prepared = dict(exact.prepared)
            bounded = {name: part for name, part in self.parts.items() if isinstance(part, FoundPart)}
            with watched(progress, self._reading) as tell:
                for place, (name, part) in enumerate(bounded.items()):
                    bounds = self._found_for(name, found)
                    step = _within(tell, place, len(bounded))
                    prepared[name] = PlanPart(part.bounded(bounds)).prepare(key=key, progress=step)
            ready = Ready(prepared, ())
            words = "; ".join(f"{search.names} found: {one}" for search, one in zip(self.searches, found, strict=True))

            def produce() -> tuple[Written, Certificate]:
                return self.draw(ready, entropy), self.certificate_for(seeded=entropy.seeded, found=words)

            return produce

        choices = all_choices(self.searches, exact.sizes, entropy, progress=progress)
        return Staged(choices, release)

    def _found_for(self, name: str, found: tuple[Found, ...]) -> Found:
        return next(one for search, one in zip(self.searches, found, strict=True) if name in search.members)

    @property
    def identity(self) -> str:
        """The text that identifies the plan."""
        text = together_text({name: part.identity for name, part in self.parts.items()}, self._derived).text
        if not self.searches:
            return text
        return canonical({**json.loads(text), "searches": [json.loads(dump(one.design)) for one in self.searches]})

    def content(self, numbers: Ready) -> tuple[bytes, ...]:
        """Return what identifies the data. Nobody may see it."""
        pieces = tuple(piece for one in numbers.prepared.values() for piece in one.content)
        return (*pieces, *(identity_of(sizes) for sizes in numbers.sizes))

    _purpose = "periods"

    @property
    def _reading(self) -> str:
        return f"Reading for {len(self.parts)} queries"

    def _openings(self, request: str, entropy: Entropy) -> tuple[Opening, ...]:
        """Alerts go on under the name ``request/query``."""
        openings = [part.openings(stream_name(request, name), entropy=entropy) for name, part in self.parts.items()]
        return tuple(opening for some in openings for opening in some)

    def _released(self, fulfilled: Fulfilled) -> ReleaseTogether:
        return ReleaseTogether(fulfilled.release, fulfilled.signed, parts=fulfilled.parts)

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

    def certificate_for(self, *, seeded: bool, found: str = "") -> Certificate:
        """Return what all releases together are certified by; with the bounds that were found, in words."""
        gaussian = self.chosen.law == "gaussian"
        theorem = "Gaussian differential privacy (exact" if gaussian else "basic composition (pure"
        parts = self.parts.values()
        notes = [", alerts by their largest loss"] if any(isinstance(part.cost, PureCost) for part in parts) else []
        if any(isinstance(part, QuantilePart) and part.drawn for part in parts):
            notes.append(", drawn bins by their range")
        return Certificate(
            mechanism=f"{len(self.parts)} of {len(self.asked)} queries with noise of their own, the others read from "
            f"them: {'; '.join(f'{name}, {one}' for name, one in self._described)}{found and f'; {found}'}",
            claim=self.claim,
            guarantee=self.guarantee,
            theorem=f"{theorem}{''.join(notes) if gaussian else ''})",
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

    @property
    def _facts(self) -> list[tuple[str, str]]:
        chosen = self.chosen
        equal = next((one for one in (chosen, *self.others) if one.name == "equal" and one.law == chosen.law), chosen)
        saved = 1 - math.sqrt(chosen.error / equal.error)
        ranks = {one.name for one in self.asked if isinstance(one.query, SharedQuantiles)}
        errors = (
            (f"  {name}", f"{text}; ± {chosen.rmse[name]:.4g}{' ranks' * (name in ranks)} (one deviation)")
            for name, text in self._described
        )
        return [
            ("Releases", f"{len(self.asked)} queries together"),
            *errors,
            *(("Finds", search.words) for search in self.searches),
            ("Protects", f"{self.unit}: {self.unit.protects}"),
            ("Does not protect", self.unit.does_not_protect),
            ("Price", f"{self.guarantee}, once for all of them"),
            ("Shared", f"{chosen.name} ({chosen.law}); error {saved:.0%} below that of equal shares"),
        ]


def _on_clocks_of(moment: dt.date, dates: Dates) -> Dates:
    """Return days as the moments at which they begin on the clocks of another; moments as they are."""
    zone = moment.tzinfo if isinstance(moment, dt.datetime) else dt.UTC
    first, end = (
        day if isinstance(day, dt.datetime) else dt.datetime.combine(day, dt.time(), tzinfo=zone) for day in dates
    )
    return first, end


def _within(tell: Progress, place: int, count: int) -> Progress:
    return lambda fraction: tell((place + fraction) / count)
