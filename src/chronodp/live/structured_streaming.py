"""Spark Structured Streaming: each micro-batch is one release, and its id the request id.

A batch that runs again after a crash, with the same id, returns the release that is stored; nothing is debited twice.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from chronodp.engines import is_spark_frame
from chronodp.errors import InvalidArgument
from chronodp.ledger import Ledger, check_ledger
from chronodp.privacy import check_whole
from chronodp.randomness import Entropy
from chronodp.series import Plan, Release

__all__ = ["BatchSink"]


@dataclass(frozen=True, slots=True)
class BatchSink:
    """What ``foreachBatch`` calls: one release for each batch of a stream.

    Guarantee: every batch is a release of the plan and costs as much; releases add up in the ledger. It rests on one
    assumption, which is the owner's to keep: which batch a row comes in, and that there is a batch, may depend on that
    row and on the clock, not on other people's rows. So let a clock cut batches (``trigger(processingTime=...)`` or a
    run each day), and set no limit on rows or files a batch: under one, a person more moves the rows of all others.

    Args:
        plan: of any data with the same columns; its question is asked of each batch.
        ledger: what pays.
        dataset: whose budget in it.
        name: of the stream; batch 7 is the request ``name/7``.
        deliver: what is done with a batch's id and release. It may be called again with the same: batches repeat.
        span: start and end of the grid of a batch, from its id alone; the plan's own if not given.
        analyst: whose part of the budget pays.
        entropy: of the noise; secure unless a test says otherwise.
    """

    plan: Plan
    ledger: Ledger
    dataset: str
    name: str
    deliver: Callable[[int, Release], object]
    span: Callable[[int], tuple[Any, Any]] | None = None
    analyst: str = ""
    entropy: Entropy | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not isinstance(self.plan, Plan):
            raise InvalidArgument("plan", self.plan, "a Plan")
        check_ledger(self.ledger)
        if not self.name or not isinstance(self.name, str):
            raise InvalidArgument("name", self.name, "a name for the stream")

    def __call__(self, batch: Any, number: int) -> None:
        """Release one batch, or return to what was released before under its number."""
        if not is_spark_frame(batch):
            raise InvalidArgument("batch", batch, "a Spark frame, as foreachBatch hands it over", private=True)
        check_whole("number", number, least=0)
        start, end = (None, None) if self.span is None else self.span(number)
        request = f"{self.name}/{number}"
        if request in self.ledger.status(self.dataset).unreleased:
            # Debited by a run that died before anything was stored. Its noise may have been seen, so the batch is lost:
            # going on without it is safe, and refusing it would hold up the stream for ever.
            return
        plan = self.plan.on(batch, start=start, end=end)
        release = plan.release(
            self.ledger,
            dataset=self.dataset,
            request=request,
            analyst=self.analyst,
            entropy=self.entropy,
            progress=lambda _: None,
        )
        self.deliver(number, release)
