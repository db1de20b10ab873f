"""What the source says of sensitivities, days that add up, and groups."""

from __future__ import annotations

import numpy as np

import chronodp as cdp
from chronodp.accounting import compare, group
from chronodp.privacy import ApproximateCost, Bounds, Contribution, RepeatedCost, per_period
from experiments.verdicts import Verdict


def check_claims() -> list[Verdict]:
    """Return a verdict for each."""
    rows = per_period(cdp.Event(), Bounds(168), Contribution.count()).l1
    mean = Contribution.mean(clip=(0.0, 1.0), people=500)
    share = per_period(cdp.Event("replace"), Bounds(1), mean).l1
    household = per_period(cdp.User(), Bounds(720, 720), Contribution.total(clip=(0.0, 5.0))).l1
    year = compare(RepeatedCost(ApproximateCost(0.1, 1e-9), 365), slack=1e-6)
    formula = group(0.5, 1e-6, 24)
    sigma = cdp.accounting.gaussian.sigma(0.5, 1e-6)
    exact = cdp.accounting.gaussian.delta_of(24 / sigma, formula[0])
    return [
        Verdict(
            "a week's count of anomalies, one event added or removed: sensitivity",
            "1",
            f"{rows:g}",
            "holds" if rows == 1 else "false",
        ),
        Verdict(
            "the mean over n = 500 machines, each clipped to [0, 1]: sensitivity",
            "1/n",
            f"1/{1 / share:g} where the machines are public; where they come and go, a sum and a count are needed",
            "holds" if np.isclose(share, 1 / 500) else "false",
        ),
        Verdict(
            "a household in all T = 720 hours, at most 5 in each: l1 sensitivity of the hourly series",
            "T × P_max = 3600",
            f"{household:g}",
            "holds" if household == 3600 else "false",
        ),
        Verdict(
            "365 daily statistics at (0.1, 1e-9) each",
            "(36.5, 3.65e-7) by basic composition",
            f"ε = {year['basic'].epsilon:.3g}, and {year['optimal'].epsilon:.3g} at δ = {year['optimal'].delta:.2g} by "
            "optimal composition",
            "holds, not tight",
        ),
        Verdict(
            "a group of 24 at (0.5, 1e-6) each: (kε, δ (e^(kε) - 1) / (e^ε - 1))",
            f"({formula[0]:g}, {formula[1]:.2g})",
            f"true of any mechanism; of Gaussian noise δ = {exact:.2g} at the same ε, exactly",
            "holds, not tight" if exact < formula[1] else "holds",
        ),
    ]
