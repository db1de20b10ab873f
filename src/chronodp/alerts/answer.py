"""What the steps of an alert tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["AlertAnswer"]


@dataclass(frozen=True, slots=True)
class AlertAnswer:
    """What one or more steps told; true if any of them fired.

    Attributes:
        period: the number of the step, from 0; of several steps an array.
        fired: whether the value lies beyond the threshold, as far as noise lets see.
        value: with an alert, its noisy value, if values are paid for; None, or of several steps NaN, otherwise.
    """

    period: Any
    fired: Any
    value: Any

    def __bool__(self) -> bool:
        return self.fired if isinstance(self.fired, bool) else bool(np.any(self.fired))
