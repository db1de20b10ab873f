"""What a stream has answered so far, as a small chart and as a figure: of released numbers only."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Protocol

import numpy as np

from chronodp.report import Line, series_figure, small_chart
from chronodp.series.stream_design import StreamDesign

__all__ = ["stream_chart", "stream_figure"]

_LINES = 8  # of series side by side; more cannot be told apart
_STEPS = 100_000  # that are read back for a picture nobody asked for


class Answered(Protocol):
    """A stream that can be read back."""

    @property
    def name(self) -> str:
        """Its name."""
        ...

    @property
    def design(self) -> StreamDesign:
        """Everything public about it."""
        ...

    @property
    def period(self) -> int:
        """How many steps there were."""
        ...

    def released(self) -> Any:
        """Return all answers so far."""
        ...


def stream_chart(stream: Answered) -> str:
    """Return a small chart of the first series; nothing where there is little to see, or very much to read."""
    if not 2 <= stream.period <= _STEPS:
        return ""
    line = next(_lines(stream))
    return f"<figure>{small_chart(*map(np.asarray, (line.values, line.lower, line.upper)), name=line.name)}</figure>"


def stream_figure(stream: Answered) -> Any:
    """Return a Plotly figure of all answers."""
    words = str(stream.design.workload)
    figure = series_figure(list(_lines(stream)), title=f"{stream.name}: {words}", value_name=words)
    figure.update_xaxes(title_text="step")
    return figure


def _lines(stream: Answered) -> Iterator[Line]:
    made, keys = stream.released(), stream.design.keys
    for place in range(min(keys, _LINES)):
        ends = [part if keys == 1 else part[:, place] for part in (made.value, made.lower, made.upper)]
        yield Line(stream.name if keys == 1 else f"{stream.name} {place + 1}", made.period, *ends)
