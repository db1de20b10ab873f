"""The collector: millions of reports in, counts out. It trusts no report's shape and counts no id twice."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument, MissingBound, UnreadableSource
from chronodp.local.device import LAST_SLOT, VERSION
from chronodp.local.hashing import LocalHashing
from chronodp.local.identity import SeenIds
from chronodp.local.mechanism import NumberMechanism
from chronodp.local.plan import LocalPlan
from chronodp.local.report_counts import Dropped, ReportCounts
from chronodp.local.reports import MARK, Records, parse_lines, parse_records, plan_number, record_type
from chronodp.local.values import choices_of
from chronodp.privacy import check_whole

__all__ = ["Collector"]

_BATCH = 2**23  # reports whose ids are compared together
_CHUNK = 2**14  # reports that stay near the processor while they are checked
_COUNTED = 2**20  # reports that are put in the order of their slots together
_LINES = 2**16
_MOST_VALUES = 2**20
_MOST_CELLS = 2**28


class Collector:
    """Counts the reports of one plan.

    Args:
        plan: what devices were asked.
        slots: which slots are collected; all of the plan's if it has an end.
        candidates: of a `LocalHashing` plan, the values to be counted; all of a small alphabet if not given.
        part: of several collectors that work side by side, which one this is and how many there are: it leaves
            reports of the others' ids alone, so that a report sent to two of them counts once.

    >>> from chronodp.local import Collector, Fresh, LocalPlan, RandomizedResponse, simulate
    >>> from chronodp.randomness import seeded
    >>> plan = LocalPlan("online", RandomizedResponse(epsilon=1.0), Fresh(horizon=2))
    >>> reports = simulate(plan, np.ones((1000, 2), dtype=int), entropy=seeded(1))
    >>> collector = Collector(plan)
    >>> collector.add(reports)
    >>> collector.add(reports[:10])                       # a replay
    >>> collector.tally.reports.tolist(), collector.tally.dropped.duplicate
    ([1000, 1000], 10)
    """

    def __init__(
        self,
        plan: LocalPlan,
        *,
        slots: range | None = None,
        candidates: ArrayLike | None = None,
        part: tuple[int, int] = (0, 1),
    ) -> None:
        if not isinstance(plan, LocalPlan):
            raise InvalidArgument("plan", plan, "a LocalPlan")
        self.plan = plan
        self._slots = _check_slots(plan, slots)
        self._candidates = _check_candidates(plan, candidates)
        if not isinstance(part, tuple) or len(part) != 2:
            raise InvalidArgument("part", part, "a pair: which one this is, and how many there are")
        check_whole("part", part[0], least=0, most=check_whole("part", part[1]) - 1)
        self._part = part
        wide = 2 if isinstance(plan.mechanism, NumberMechanism) else len(self._candidates)
        if len(self._slots) * wide > _MOST_CELLS:
            raise InvalidArgument("slots", f"{len(self._slots)} × {wide} values", f"at most {_MOST_CELLS} counts")
        kind = np.float64 if isinstance(plan.mechanism, NumberMechanism) else np.int64
        self._sums: NDArray[Any] = np.zeros((len(self._slots), wide), dtype=kind)
        self._reports = np.zeros(len(self._slots), dtype=np.int64)
        self._dropped = Dropped()
        self._seen = SeenIds()

    @property
    def tally(self) -> ReportCounts:
        """What was counted so far."""
        parts = (self._part[0],), self._part[1]
        counts = self._reports.copy(), self._candidates, self._sums.copy()
        return ReportCounts(self.plan.digest, self._slots.start, parts, *counts, self._dropped)

    def add(self, records: Records) -> None:
        """Count reports given as an array (`make_records`, `parse_records`)."""
        if not isinstance(records, np.ndarray) or records.dtype != record_type(self.plan):
            raise InvalidArgument("records", records, "an array of this plan's reports", private=True)
        for first in range(0, len(records), _BATCH):
            self._take(records[first : first + _BATCH])

    def read(self, path: str | Path, *, progress: Callable[[float], None] = lambda _: None) -> None:
        """Count the reports of a file: records if it ends in ``.bin``, otherwise lines of JSON."""
        source = Path(path)
        if source.suffix == ".bin":
            records, rest = parse_records(self.plan, source)
            self._dropped += Dropped(malformed=int(rest > 0))
            for first in range(0, len(records), _BATCH):
                self.add(records[first : first + _BATCH])
                progress(min(first + _BATCH, len(records)) / len(records))
            return
        try:
            size = max(source.stat().st_size, 1)
            with source.open(encoding="utf-8", errors="replace") as lines:
                done = 0
                while batch := list(itertools.islice(lines, _LINES)):
                    self.add_lines(batch)
                    done += sum(map(len, batch))
                    progress(min(done / size, 1.0))
        except OSError:
            raise UnreadableSource(f"{source.name} cannot be read") from None

    def add_lines(self, lines: Iterable[str]) -> None:
        """Count reports given as lines of JSON; lines that are none are dropped."""
        records, malformed = parse_lines(self.plan, lines)
        self._dropped += Dropped(malformed=malformed)
        self.add(records)

    def _take(self, records: Records) -> None:
        """Check reports and compare their ids; on the way only digests, places and answers are kept."""
        digests = np.empty(len(records), dtype=np.uint64)
        places = np.empty(len(records), dtype=np.uint16 if len(self._slots) <= 2**16 else np.int64)
        answers = np.empty(len(records), dtype=records.dtype["answer"])
        end = 0
        for first in range(0, len(records), _CHUNK):
            # A copy: what is checked is what is counted, whoever writes to the file meanwhile. By bytes, which are
            # copied many times faster than fields.
            copied = np.frombuffer(records[first : first + _CHUNK].tobytes(), dtype=records.dtype)
            sound = self._checked(copied)
            begin, end = end, end + len(sound)
            digests[begin:end] = self._seen.digests(sound["id"])
            places[begin:end] = sound["slot"] - np.uint32(self._slots.start)
            answers[begin:end] = sound["answer"]
        fresh = self._seen.take(digests[:end])
        del digests
        places, answers = places[:end], answers[:end]
        if not fresh.all():
            self._dropped += Dropped(duplicate=int(np.count_nonzero(~fresh)))
            places, answers = places[fresh], answers[fresh]
        for first in range(0, len(places), _COUNTED):
            self._count(places[first : first + _COUNTED], answers[first : first + _COUNTED])

    def _checked(self, records: Records) -> Records:
        """Return the reports of this part that are sound, and note why others are not."""
        if self._part[1] > 1:
            records = records[records["id"][:, 0] % np.uint64(self._part[1]) == self._part[0]]
        known = (records["mark"] == MARK) & (records["version"] == VERSION)
        ours = records["plan"] == plan_number(self.plan)
        timely = (records["slot"] >= self._slots.start) & (records["slot"] < self._slots.stop)
        sound = self.plan.mechanism.valid(records["answer"])
        kept = known & ours & timely & sound
        if kept.all():
            return records
        self._dropped += Dropped(
            malformed=int(np.count_nonzero(~known)),
            other_plan=int(np.count_nonzero(known & ~ours)),
            slot=int(np.count_nonzero(known & ours & ~timely)),
            answer=int(np.count_nonzero(known & ours & timely & ~sound)),
        )
        left: Records = records[kept]
        return left

    def _count(self, places: NDArray[Any], answers: NDArray[Any]) -> None:
        """Add answers to what their slots have."""
        order = np.argsort(places, kind="stable")  # small numbers sort several times faster
        answers, places = answers[order], places[order]
        starts = [0, *(np.flatnonzero(places[1:] != places[:-1]) + 1).tolist(), len(places)]
        for first, last in itertools.pairwise(starts):
            place = int(places[first])
            self._reports[place] += last - first
            self._sums[place] += self._summed(answers[first:last])

    def _summed(self, answers: NDArray[Any]) -> NDArray[Any]:
        mechanism = self.plan.mechanism
        if isinstance(mechanism, NumberMechanism):
            amounts = mechanism.amounts(answers)
            middle = sum(mechanism.clip) / 2
            return np.array([amounts.sum(), ((amounts - middle) ** 2).sum()])
        if isinstance(mechanism, LocalHashing):
            return mechanism.support(answers, candidates=self._candidates)
        return mechanism.support(answers)


def _check_slots(plan: LocalPlan, slots: range | None) -> range:
    if slots is None:
        if plan.horizon is None:
            raise MissingBound("slots", "the plan has no end; give a range such as range(0, 90)")
        return range(plan.horizon)
    last = plan.horizon if plan.horizon is not None else LAST_SLOT + 1
    if not isinstance(slots, range) or slots.step != 1 or not 0 <= slots.start < slots.stop <= last:
        raise InvalidArgument("slots", str(slots), f"a range of slots within 0 to {last - 1}")
    return slots


def _check_candidates(plan: LocalPlan, candidates: ArrayLike | None) -> NDArray[np.int64]:
    mechanism = plan.mechanism
    if isinstance(mechanism, NumberMechanism):
        if candidates is not None:
            raise InvalidArgument("candidates", candidates, "left out: the plan asks for amounts")
        return np.zeros(0, dtype=np.int64)
    if candidates is None:
        if mechanism.choices > _MOST_VALUES:
            raise MissingBound("candidates", f"an alphabet of {mechanism.choices} values is not counted whole")
        return np.arange(mechanism.choices)
    if not isinstance(mechanism, LocalHashing):
        raise InvalidArgument("candidates", candidates, "left out: only a LocalHashing plan counts some values only")
    return choices_of(candidates, mechanism.choices)
