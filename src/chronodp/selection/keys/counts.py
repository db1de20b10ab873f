"""People who hold each key: private numbers, checked without showing them."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from chronodp.errors import InvalidArgument
from chronodp.privacy import as_numbers

__all__ = ["people_counts"]


def people_counts(counts: ArrayLike) -> NDArray[np.int64]:
    """Return counts of people, one a key, if they are whole numbers; no key at all is a list like any other."""
    people = as_numbers("counts", counts, "whole numbers of people, one a key")
    if people.ndim != 1 or (people.size and people.dtype.kind not in "iu"):
        raise InvalidArgument("counts", counts, "whole numbers of people, one a key", private=True)
    whole: NDArray[np.int64] = np.minimum(people, 2**63 - 1).astype(np.int64)
    return whole
