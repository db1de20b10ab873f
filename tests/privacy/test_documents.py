from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given, strategies as st

from chronodp.errors import ChronodpError, InvalidArgument, UnknownDocument
from chronodp.privacy import (
    ApproximateCost,
    AssumedCost,
    Assumption,
    BoundedRangeCost,
    Certificate,
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
