"""How limits that an owner declares for one length of a period are read for another.

"Limits go with the length of a period" in section 6 of ``docs/explanation/proofs/curator.md``: any limit of periods is
sound, since it is enforced on the rows; this one covers the same stretch of time, wherever it begins.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from chronodp.privacy import Calendar, moment_at

__all__ = ["grid_within", "periods_covering"]


@lru_cache(maxsize=4096)
def grid_within(whole: Calendar, every: str) -> Calendar:
    """Return whole periods of another length from the same start, as many as fit; where none does it is refused.

    >>> grid_within(Calendar("1h", "2026-01-01", "2026-02-01"), "1W").end
    '2026-01-29T00:00:00+00:00'
    """
    edges = whole.divided(every)
    if len(edges) < 2 or edges[-1] == whole.edges[-1]:
        return Calendar(every, whole.start, whole.end, whole.timezone)
    return Calendar(every, whole.start, moment_at(int(edges[-1])).astimezone(whole.zone).isoformat(), whole.timezone)


@lru_cache(maxsize=4096)
def periods_covering(whole: Calendar, periods: int, grid: Calendar) -> int:
    """Return how many periods of a grid so many periods of the dataset's own, on end, can touch; at least 1.

    >>> january = Calendar("1h", "2026-01-01", "2026-02-01")
    >>> days = Calendar("1D", "2026-01-01", "2026-02-01")
    >>> [periods_covering(january, hours, days) for hours in (1, 24, 48, 744)]
    [1, 2, 3, 31]
    """
    edges, most = whole.edges, min(periods, len(whole))
    first = np.searchsorted(grid.edges, edges[: len(edges) - most], side="right") - 1
    last = np.searchsorted(grid.edges, edges[most:], side="left")
    # Of a stretch that reaches beyond the grid only what lies on it counts.
    touched = np.minimum(last, len(grid)) - np.maximum(first, 0)
    return max(1, int(touched.max()))
