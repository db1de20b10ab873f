"""What streams and alerts have released, as numbers that can be drawn."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from chronodp.alerts import AlertDesign
from chronodp.errors import UnknownDocument
from chronodp.ledger import StoredStream
from chronodp.privacy import load
from chronodp.series import Memory, StreamDesign, answer_steps

__all__ = ["Reader", "design_of"]


def design_of(stream: StoredStream) -> StreamDesign | AlertDesign | None:
    """Return the design of a stream or an alert; None for other kinds, whose steps are shown as they are stored."""
    try:
        design: StreamDesign | AlertDesign = load(stream.plan, StreamDesign | AlertDesign)
    except UnknownDocument:
        return None
    return design


@dataclass
class Reader:
    """Turns stored steps into answers, one after another; it remembers what a running answer needs."""

    design: StreamDesign | AlertDesign | None
    step: int = 0
    _memory: Memory | None = None

    def read(self, texts: list[str]) -> list[dict[str, Any]]:
        """Return the answer of every further step: values with intervals, alerts, or what was stored."""
        if isinstance(self.design, StreamDesign):
            return list(self._answers(self.design, texts))
        return list(self._lines(texts))

    def _lines(self, texts: list[str]) -> Iterator[dict[str, Any]]:
        for text in texts:
            self.step += 1
            content = json.loads(text) if text[:1] in '[{"0123456789-' else text
            if isinstance(self.design, AlertDesign) and isinstance(content, dict):
                kind = "alert" if "alert" in content else "watched"
                period = content.get("alert", content.get("saved"))
                yield {"step": self.step, "kind": kind, "period": period, "value": content.get("value")}
            else:
                yield {"step": self.step, "kind": "released", "released": content}

    def _answers(self, design: StreamDesign, texts: list[str]) -> Iterator[dict[str, Any]]:
        if not texts:
            return
        memory = self._memory or Memory.start(design.workload, design.keys)
        released = [json.loads(text) for text in texts]
        values, halves, self._memory = answer_steps(design, memory, released, begin=self.step, level=0.95)
        for row, half in zip(values, halves, strict=True):
            yield {
                "step": self.step + 1,
                "kind": "value",
                "period": self.step,
                "values": [float(value) for value in row],
                "half_width": float(half),
            }
            self.step += 1
