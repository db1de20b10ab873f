"""What one release may cost, in the dataset's own currency: an epsilon at the dataset's delta.

An epsilon alone says nothing while its delta is free: (0.5, 0.03) is worth 1.85 at a delta of 1e-6. So what a release
costs is converted as the ledger adds it up, by mu of Gaussian noise or by epsilons where there is none, at the one
delta that all releases of the dataset share. "What one release may cost" in section 6 of
``docs/explanation/proofs/curator.md``.
"""

from __future__ import annotations

from chronodp.accounting import basic, epsilon_at, gather, gaussian
from chronodp.errors import NotAllowed
from chronodp.privacy import Cost
from chronodp.service.policy import Dataset
from chronodp.service.refusals import refuse

__all__ = ["check_delta_asked", "check_price"]


def _is_within(cost: Cost, epsilon: float, delta: float) -> bool:
    """Return whether (epsilon, delta) holds of Gaussian noise: one look, where its own epsilon takes a dozen."""
    spending = gather(cost)
    left = spending.left_of(delta)
    return bool(spending.gaussian) and left > 0 and gaussian.delta_of(gaussian.mu(spending), epsilon) <= left


def check_delta_asked(dataset: Dataset, delta: float) -> None:
    """Raise if a release would state a larger delta than the policy allows."""
    most = dataset.allowed.delta
    if delta > most:
        raise refuse("delta", f"{delta:g}", f"at most {most:g}" if most else "0: no delta may be stated")


def check_price(dataset: Dataset, cost: Cost) -> None:
    """Raise if a release costs more than the policy allows, the delta that its failures bring along included."""
    check_delta_asked(dataset, basic.deltas(gather(cost)))
    most = dataset.allowed.epsilon
    if most is None or _is_within(cost, most, dataset.delta) or (price := epsilon_at(cost, dataset.delta)) <= most:
        return
    at = f" at the dataset's delta of {dataset.delta:g}" if dataset.delta else ""
    raise NotAllowed(
        f"the owner's policy does not allow a release that costs epsilon {_shown(price, most)}{at}",
        argument="epsilon",
        mend=f"ask for less: one release may cost at most {most:g}{at}",
    )


def _shown(price: float, most: float) -> str:
    """Return a price with as many digits as tell it from what is allowed."""
    digits = next((digits for digits in range(3, 17) if float(f"{price:.{digits}g}") > most), 17)
    return f"{price:.{digits}g}"
