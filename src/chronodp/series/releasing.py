"""The one way from a plan to a release: check, read, debit, draw, sign and store.

*Order of events* in ``docs/explanation/proofs/release.md``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Generic, TypeVar

from chronodp.engines import Progress
from chronodp.ledger import Dates, Fulfilled, Ledger, Opening, Produce, Staged, Written, check_ledger
from chronodp.owner import owner_warned
from chronodp.privacy import Certificate, Claim, Shown
from chronodp.randomness import Entropy, check_entropy
from chronodp.report import watched
from chronodp.series.key_text import check_plan_text

__all__ = ["Exact", "ReleasePlan", "Released"]

Exact = TypeVar("Exact")
Released = TypeVar("Released")


class ReleasePlan(Shown, ABC, Generic[Exact, Released]):
    """Something priced that `release` pays for; a plan adds how its data are read and how its noise is drawn."""

    __slots__ = ()

    def release(
        self,
        ledger: Ledger,
        *,
        dataset: str,
        request: str,
        analyst: str = "",
        dates: Dates | None = None,
        entropy: Entropy | None = None,
        progress: Progress | None = None,
    ) -> Released:
        """Debit the cost, draw the noise and return the release, signed and stored; the same request returns it again.

        Guarantee: (epsilon, delta)-differential privacy for the plan's unit, of everything together; exact in finite
        precision. The argument stands where ``claim`` says.

        Args:
            ledger: what pays.
            dataset: whose budget in it.
            request: an id of your choice, once for each release. Under the same id other data, or another plan, are
                refused.
            analyst: whose part of the budget pays.
            dates: days of what has no calendar, such as totals that were added up before, alerts and spectra, for a
                budget that renews: on the clocks of the queries that have one, else on the budget's; or moments with
                an offset.
            entropy: of the noise; secure unless a test says otherwise.
            progress: told which fraction is done; a bar on the terminal if not given.
        """
        check_ledger(ledger)
        bits = check_entropy(entropy)
        days, claim, identity = self._days(dates), self.claim, self.identity
        check_plan_text(identity)
        # What no budget here can pay is refused before any data are read, not only before any noise is drawn.
        ledger.check_fits(
            dataset, claim.cost, unit=claim.unit, analyst=analyst, dates=days, request=request, cells=self.cells
        )
        purpose = (self._purpose, dataset, request)
        # The ledger's own secret decides which periods of a person count, so that a repeated request repeats it.
        key = ledger.keys.derive(*purpose).hex()
        with owner_warned(), watched(progress, self._reading) as tell:
            exact = self.read(key=key, progress=tell)

        fulfilled = ledger.fulfil(
            dataset,
            request=request,
            cost=claim.cost,
            unit=claim.unit,
            plan=identity,
            source=ledger.keys.fingerprint(*self.content(exact), of=purpose),
            produce=self.making(exact, bits, key=key, progress=progress),
            analyst=analyst,
            dates=days,
            openings=self._openings(request, bits),
            cells=self.cells,
        )
        return self._released(fulfilled)

    @property
    @abstractmethod
    def claim(self) -> Claim:
        """Whom the release protects, at what cost, and where the argument stands."""

    @property
    def cells(self) -> int:
        """How many numbers are stored at most, of those that stand beside the text where they are many."""
        return 0

    @abstractmethod
    def read(self, *, key: str, progress: Progress) -> Exact:
        """Return the exact numbers, which nobody may see; ``key`` decides which periods of a person count."""

    @abstractmethod
    def draw(self, numbers: Exact, entropy: Entropy) -> Written:
        """Return the release as it is stored, with fresh noise; whoever calls has debited the cost before."""

    @abstractmethod
    def certificate_for(self, *, seeded: bool) -> Certificate:
        """Return what a release by this plan is certified by."""

    def making(self, exact: Exact, entropy: Entropy, *, key: str, progress: Progress | None) -> Produce | Staged:
        """Return what makes the release after the debit; a plan with private choices before it adds these."""
        del key, progress

        def produce() -> tuple[Written, Certificate]:
            return self.draw(exact, entropy), self.certificate_for(seeded=entropy.seeded)

        return produce

    @property
    @abstractmethod
    def identity(self) -> str:
        """The text that identifies the plan."""

    @abstractmethod
    def content(self, numbers: Exact) -> tuple[bytes, ...]:
        """Return what identifies the data. Nobody may see it."""

    @property
    @abstractmethod
    def _purpose(self) -> str:
        """What the keys of this plan's requests are derived for. Never changes: stored requests are found by it."""

    @property
    @abstractmethod
    def _reading(self) -> str:
        """What a bar says while data are read."""

    @abstractmethod
    def _released(self, fulfilled: Fulfilled) -> Released:
        """Return what the ledger stored, for the caller."""

    def _days(self, given: Dates | None) -> Dates | None:
        """Return when the data begin and end."""
        return given

    def _openings(self, request: str, entropy: Entropy) -> tuple[Opening, ...]:
        """Return the streams that the same cost pays for."""
        del request, entropy
        return ()
