"""Several queries on one budget: the best shares, one price, one release."""

from chronodp.dataset.joint.plan import PlanTogether
from chronodp.dataset.joint.planner import plan_together
from chronodp.dataset.joint.release import ReleaseTogether
from chronodp.dataset.joint.sharing import Following, Part, Prepared, Shareable, terms_of
from chronodp.dataset.joint.split import best_shares, equal_shares
from chronodp.dataset.joint.strategies import Strategy

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
