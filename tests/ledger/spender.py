"""A process that spends as fast as it can: ``python -m tests.ledger.spender ADDRESS START SECONDS SIGMA [KEYS]``.

It prints how many debits were granted, its longest wait and how many were refused.
"""

from __future__ import annotations

import sys
import time

from chronodp import User
from chronodp.errors import BudgetExhausted
from chronodp.ledger import Ledger
from chronodp.privacy import GaussianCost


def main() -> None:
    address, start, seconds, sigma = sys.argv[1], *map(float, sys.argv[2:5])
    keys = sys.argv[5] if len(sys.argv) > 5 else None
    cost, granted, refused, longest = GaussianCost(1.0, sigma), 0, 0, 0.0
    with Ledger(address, keys=keys, timeout=10.0) as ledger:
        ledger.status("crowd")
        time.sleep(max(0.0, start - time.time()))
        while (begun := time.time()) < start + seconds and not refused:
            try:
                ledger.spend("crowd", cost, unit=User())
                granted += 1
            except BudgetExhausted:
                refused += 1
            longest = max(longest, time.time() - begun)
    print(granted, longest, refused)


if __name__ == "__main__":
    main()
