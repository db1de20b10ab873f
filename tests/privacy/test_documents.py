"""Units, costs, guarantees and certificates: what they say, what they refuse, and the same from JSON and back."""

from __future__ import annotations

import copy
import dataclasses
import json
import math
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from chronodp.errors import ChronodpError, InvalidArgument, UnknownDocument
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    BoundedRangeCost,
    Calendar,
    Certificate,
    Certified,
    Claim,
    Cost,
    Event,
    FailureCost,
    GaussianCost,
    Guarantee,
    LaplaceCost,
    PureCost,
    RandomizedResponseCost,
    RepeatedCost,
    SequenceCost,
    Swap,
    Unit,
    User,
    UserPeriod,
    Window,
    dump,
    load,
)

positive = st.floats(1e-12, 1e12)
single = st.one_of(
    st.builds(PureCost, positive),
    st.builds(BoundedRangeCost, positive),
    st.builds(ApproximateCost, positive, st.floats(1e-300, 0.999)),
    st.builds(FailureCost, st.floats(1e-300, 0.999)),
    st.builds(LaplaceCost, positive, positive),
    st.builds(GaussianCost, positive, positive),
    st.builds(RandomizedResponseCost, positive, st.integers(2, 1000)),
)
costs = st.recursive(
    single,
    lambda inner: st.one_of(
        st.builds(SequenceCost, st.lists(inner, min_size=1, max_size=4).map(tuple)),
        st.builds(RepeatedCost, inner, st.integers(1, 10**9)),
        st.builds(AssumedCost, inner, st.builds(Assumption, st.just("Markov"), st.just("order one"))),
    ),
    max_leaves=8,
)


@given(costs)
def test_costs_survive_json(cost: Cost) -> None:
    text = dump(cost)
    assert load(text, Cost) == cost
    assert dump(load(json.loads(text), Cost)) == text


def test_the_json_form_is_stable() -> None:
    assert dump(GaussianCost(sensitivity=1.0, sigma=50.0)) == '{"kind":"gaussian","sensitivity":1.0,"sigma":50.0}'
    assert dump(FailureCost(4e-7)) == '{"delta":4e-07,"kind":"failure"}'
    assert dump(UserPeriod("1D")) == '{"every":"1D","kind":"user_period","relation":"add_remove"}'
    assert dump(Swap(4)) == '{"block":4,"kind":"swap"}'
    assert dump(Window(24)) == '{"kind":"window","periods":24,"relation":"add_remove"}'


def test_a_certificate_survives_json() -> None:
    claim = Claim(Event(), SequenceCost((PureCost(0.5), RepeatedCost(LaplaceCost(1.0, 2.0), 3))), "a page")
    certificate = Certificate(
        "test", claim, Guarantee(Event(), 2.0, 1e-9, (Assumption("a", "b"),)), "basic", "grid"
    ).after("summed")
    assert load(dump(certificate), Certificate) == certificate


def test_refuses_what_it_does_not_know(subtests: pytest.Subtests) -> None:
    for text, message in [
        (
            '{"kind":"magic","epsilon":1}',
            "unknown kind 'magic' here; known: approximate, assumed, bounded_range, failure, gaussian",
        ),
        ('{"kind":"user"}', "unknown kind 'user' here"),
        ('{"epsilon":1}', "unknown kind None"),
        ('{"kind":["pure"]}', "unknown kind"),
        ("[]", "unknown kind"),
        ("{", "not a JSON document"),
        ('{"kind":"pure"}', "kind 'pure' needs the field epsilon"),
        ('{"kind":"pure","epsilon":1,"delta":0}', "kind 'pure' has no field delta; fields: epsilon"),
        ('{"kind":"repeated","cost":{"kind":"unheard"},"times":2}', "unknown kind 'unheard'"),
        ('{"kind":"pure","epsilon":NaN}', "a number beyond all floats"),
        ('{"kind":"pure","epsilon":1e999}', "a number beyond all floats"),
        ('{"kind":"pure","epsilon":"\\ud800"}', "it is not UTF-8"),
        ('{"kind":' + "[" * 100_000, "it is nested too deep"),  # for every Python: newer ones read 5,000
        ('{"kind":' + "9" * 5000 + "}", "a number or date that cannot be read"),
    ]:
        with subtests.test(message=message), pytest.raises(UnknownDocument, match=re.escape(message)):
            load(text, Cost)


def test_numbers_in_documents_are_checked_like_arguments(subtests: pytest.Subtests) -> None:
    for text in [
        '{"kind":"pure","epsilon":"1"}',
        '{"kind":"pure","epsilon":true}',
        '{"kind":"gaussian","sensitivity":1,"sigma":0}',
        '{"kind":"repeated","cost":{"kind":"pure","epsilon":1},"times":0}',
        '{"kind":"repeated","cost":{"kind":"user"},"times":2}',
        '{"kind":"sequence","costs":[]}',
        '{"kind":"sequence","costs":[1]}',
        '{"kind":"assumed","cost":{"kind":"pure","epsilon":1},"assumption":"Markov"}',
    ]:
        with subtests.test(text=text), pytest.raises(InvalidArgument):
            load(text, Cost)


def test_costs_refuse_what_is_no_number_of_their_range() -> None:
    builds: dict[str, Callable[[Any], Cost]] = {
        "epsilon": PureCost,
        "sensitivity": lambda wrong: LaplaceCost(wrong, 1.0),
        "scale": lambda wrong: LaplaceCost(1.0, wrong),
        "sigma": lambda wrong: GaussianCost(1.0, wrong),
    }
    for value in (0, 0.0, -1.0, math.nan, math.inf, -math.inf, None, "1", True, 10**400, [1.0]):
        for name, build in builds.items():
            with pytest.raises(InvalidArgument, match=f"^{name} must be a finite number above 0; got "):
                build(value)
    delta: Any
    for delta in (0, -1e-9, 1, 1.5, math.nan, math.inf, None, "0.1"):
        with pytest.raises(InvalidArgument, match=r"^delta must be a number strictly between 0 and 1; got "):
            ApproximateCost(1.0, delta)


def test_messages_do_not_repeat_what_arrays_hold() -> None:
    secret = [123456.789]
    with pytest.raises(ChronodpError) as caught:
        PureCost(secret)  # type: ignore[arg-type]
    assert "123456" not in str(caught.value)
    assert "a list" in str(caught.value)


def test_things_without_a_json_form_say_so() -> None:
    with pytest.raises(UnknownDocument, match="a dict has no JSON form"):
        dump({})
    with pytest.raises(UnknownDocument):
        load(dump(Event()), Cost)
    assert load(dump(Event()), Unit) == Event()


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


RECORDS: list[Any] = [GaussianCost(1, 2), Guarantee(User(), 1), Window(24, every="1h")]
RECORDS += [Calendar("1h", "2026-01-01", "2026-01-02")]


def test_records_in_their_checked_form_are_copied_compared_and_hashed() -> None:
    for record in RECORDS:
        for other in (pickle.loads(pickle.dumps(record)), copy.deepcopy(record), dataclasses.replace(record)):
            assert (other, hash(other), repr(other)) == (record, hash(record), repr(record))
        with pytest.raises(dataclasses.FrozenInstanceError):
            setattr(record, dataclasses.fields(record)[0].name, 1)
