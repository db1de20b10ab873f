from __future__ import annotations

import numpy as np
import pytest

from chronodp.errors import InvalidArgument
from chronodp.privacy import (
    Assumption,
    Certificate,
    Certified,
    Claim,
    Event,
    GaussianCost,
    Guarantee,
    PureCost,
    User,
    UserPeriod,
)

CLAIM = Claim(User(), GaussianCost(sensitivity=1.0, sigma=5.0), "docs/explanation/proofs/noise.md")


def certificate(*, seeded: bool = False) -> Certificate:
    return Certificate("one noisy count a period", CLAIM, Guarantee(User(), 1.0, 1e-6), "GDP", "grid", seeded=seeded)


def test_a_certificate_says_what_is_protected_what_not_and_first_of_all_a_seed() -> None:
    text = " ".join(str(certificate()).split())
    for part in (User().protects, User().does_not_protect, "(1, 1e-06)", "σ 5", "proofs/noise.md"):
        assert part in text
    assert "SEEDED" not in text
    assert str(certificate(seeded=True)).splitlines()[0].startswith("SEEDED RUN, FOR TESTS ONLY")
    assert str(Guarantee(Event(), 0.5)) == "0.5-differentially private for one row of the table, added or removed"
    with_assumption = Guarantee(User(), 1.0, 1e-6, (Assumption("honest clients", "at most two collude"),))
    assert "assuming honest clients: at most two collude" in str(with_assumption)


def test_post_processing_keeps_the_guarantee_and_is_listed() -> None:
    released = Certified(np.array([1.0, 5.0]), certificate())
    after = released.then(np.cumsum, "running total").then(float_last, "last value")
    assert after.value == 6.0
    assert after.certificate.guarantee == released.certificate.guarantee
    assert after.certificate.claim == released.certificate.claim
    assert after.certificate.processing == ("running total", "last value")
    assert released.certificate.processing == ()
    assert "free: post-processing" in str(after.certificate)
    with pytest.raises(InvalidArgument, match="step"):
        released.then(np.cumsum, " ")


def float_last(values: np.ndarray) -> float:
    return float(values[-1])


def test_refuses_certificates_that_contradict_themselves() -> None:
    with pytest.raises(InvalidArgument, match="for the claim's unit"):
        Certificate("m", CLAIM, Guarantee(UserPeriod("1D"), 1.0), "t", "p")
    with pytest.raises(InvalidArgument, match="claim"):
        Certificate("m", "claim", Guarantee(User(), 1.0), "t", "p")  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="unit must be a unit"):
        Guarantee("user", 1.0)  # type: ignore[arg-type]
    with pytest.raises(InvalidArgument, match="delta"):
        Guarantee(User(), 1.0, 1.0)
    with pytest.raises(InvalidArgument, match="epsilon"):
        Guarantee(User(), 0.0)
    with pytest.raises(InvalidArgument, match="argument"):
        Claim(User(), PureCost(1.0), "")
