"""Several queries on one budget: the best shares, one price, one release."""

from chronodp.dataset.together.plan import PlanTogether
from chronodp.dataset.together.planner import plan_together
from chronodp.dataset.together.release import ReleaseTogether
from chronodp.dataset.together.sharing import Following, Part, Prepared, Shareable, terms_of
from chronodp.dataset.together.split import best_shares, equal_shares
from chronodp.dataset.together.strategies import Strategy

__all__ = [
    "Following",
    "Part",
    "PlanTogether",
    "Prepared",
    "ReleaseTogether",
    "Shareable",
    "Strategy",
    "best_shares",
    "equal_shares",
    "plan_together",
    "terms_of",
]
