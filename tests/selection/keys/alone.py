"""What a Gaussian threshold costs if it is all that is bought; a ledger charges more, it adds noise and failure.

"Bought alone" of ``docs/explanation/proofs/keys.md``.
"""

from __future__ import annotations

import math

from scipy.special import erfcx, log_ndtr, ndtr, ndtri_exp

from chronodp.privacy import check_fraction, check_number, check_positive, check_whole

__all__ = ["alone_delta", "alone_threshold"]


def alone_threshold(sigma: float, delta: float, most: int) -> float:
    """Return τ = 1 + σ z(1 − (1 − delta)^(1/most)): people, and noise, at which a lone key passes within ``delta``.

    For planning: floats, to 1e-13. What decides is `Rounds`, whose thresholds are proven.
    """
    check_positive("sigma", sigma)
    each = -math.expm1(math.log1p(-check_fraction("delta", delta)) / check_whole("most", most))
    return 1 - sigma * float(ndtri_exp(math.log(each)))


def alone_delta(epsilon: float, sigma: float, threshold: float, most: int) -> float:
    """Return delta at ``epsilon`` of counts with noise that are published from a threshold on, ``most`` keys a unit.

    With q the probability that one lone key passes, l_j = j ln(1 − q) and μ_j = √(most − j) / σ, it is the largest,
    over j lone keys of most, of 1 − e^l_j + e^l_j δ(ε − l_j; μ_j) and δ(ε + l_j; μ_j): a key is lone or shared, never
    both, so the two deltas do not add. Of units that are added or removed. For planning: in floats, to about 1e-12.

    >>> round(alone_delta(1.0, 4.225101357215768, 21.083699498630054, 1) * 1e6, 9)
    1.0
    """
    check_number("epsilon", epsilon)
    check_positive("sigma", sigma)
    kept = float(log_ndtr((check_number("threshold", threshold) - 1) / sigma))
    worst = 0.0
    for lone in range(check_whole("most", most) + 1):
        silent, mu = lone * kept, math.sqrt(most - lone) / sigma
        added = -math.expm1(silent) + math.exp(silent) * _delta(epsilon - silent, mu)
        worst = max(worst, added, _delta(epsilon + silent, mu))
    return worst


def _delta(epsilon: float, mu: float) -> float:
    """δ of mu-GDP at any epsilon, below 0 too, where it is at least 1 − e^epsilon."""
    if not mu:
        return max(0.0, -math.expm1(epsilon))
    upper, lower = mu / 2 - epsilon / mu, -mu / 2 - epsilon / mu
    if upper > 0:
        return float(ndtr(upper)) - math.exp(epsilon + float(log_ndtr(lower)))
    # e^ε Φ(lower) = e^(−upper²/2) erfcx(−lower/√2) / 2: the same factor before both terms.
    fall = float(erfcx(-upper / math.sqrt(2))) - float(erfcx(-lower / math.sqrt(2)))
    return 0.5 * math.exp(-upper * upper / 2) * fall
