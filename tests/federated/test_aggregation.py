"""Sums through masks: the right one, whoever falls silent, or none."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument, MessageRefused, RoundConflict, TooFewHolders
from chronodp.federated.aggregation import AggregationClient, Context, Identity, Phase, Terms, aggregate
from chronodp.federated.aggregation.terms import usual_threshold
from tests.cases import case
from tests.conftest import Trials
from tests.federated.crowd import Meeting, PeopleIndex


def test_the_sum_is_the_plain_sum() -> None:
    bits: int
    count: int
    for bits in [16, 32, 64]:
        for count in [2, 3, 7]:
            with case(bits, count):
                crowd = PeopleIndex(count, bits=bits, size=70_001)
                total = aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__)
                assert total.survivors == crowd.terms.names
                assert total.values.tolist() == crowd.plain(crowd.terms.names)


@pytest.mark.slow
def test_holders_may_fall_silent_in_any_phase(trials: Trials) -> None:
    random = np.random.default_rng(5)
    done = aborted = 0
    for number in range(trials(200, least=60)):
        count = int(random.integers(2, 10))
        crowd = PeopleIndex(count, threshold=int(random.integers(count // 2 + 1, count + 1)), seed=number)
        falling = random.choice(crowd.terms.names, size=int(random.integers(0, count)), replace=False)
        silent = {str(name): Phase(int(random.integers(0, 5))) for name in falling}
        expected = tuple(name for name in crowd.terms.names if silent.get(name, Phase.UNMASK) > Phase.MASK)
        if count - len(silent) < crowd.terms.threshold:
            with pytest.raises(TooFewHolders, match="are needed: the sum stays hidden"):
                aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent=silent)
            aborted += 1
            continue
        total = aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent=silent)
        assert total.survivors == expected
        assert total.values.tolist() == crowd.plain(expected)
        done += 1
    assert done >= 10
    assert aborted >= 10


@pytest.mark.slow
def test_the_threshold_is_exact_in_every_phase() -> None:
    for phase in Phase:
        crowd = PeopleIndex(6)
        assert crowd.terms.threshold == 5
        aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent={"h03": phase})
        both = {"h03": phase, "h05": phase}
        with pytest.raises(TooFewHolders, match=f"4 of 6 holders answered in phase {phase.name.lower()}"):
            aggregate(crowd.identities, crowd.terms, crowd.context, crowd.vectors.__getitem__, silent=both)


def test_a_message_counts_once_and_not_after_its_phase() -> None:
    crowd = PeopleIndex(4)
    meeting = Meeting(crowd)
    for phase in Phase:
        for name in meeting.server.members:
            message = meeting.answer(name)
            assert meeting.server.receive(message) == name
            assert meeting.server.receive(message) == name
        if phase is not Phase.UNMASK:
            meeting.server.advance()
    assert meeting.server.total().values.tolist() == crowd.plain(crowd.terms.names)
    meeting = Meeting(PeopleIndex(4))
    late = meeting.answer("h02")
    for name in ("h00", "h01", "h03"):
        meeting.server.receive(meeting.answer(name))
    assert meeting.server.missing == ("h02",)
    meeting.server.advance()
    with pytest.raises(MessageRefused, match="another phase"):
        meeting.server.receive(late)
    assert meeting.server.members == ("h00", "h01", "h03")


def test_a_client_answers_once_in_order_and_as_itself() -> None:
    crowd = PeopleIndex(3)
    client = crowd.client("h00")
    with pytest.raises(RoundConflict, match="out of order"):
        client.share(b"")
    client.advertise()
    with pytest.raises(RoundConflict, match="out of order"):
        client.advertise()
    crowd = PeopleIndex(3)
    with pytest.raises(InvalidArgument, match="the one that the roster has"):
        AggregationClient(Identity.create(), "h00", crowd.terms, crowd.context)
    other = Context(bytes(32), 0, 0, bytes(32))
    with pytest.raises(InvalidArgument, match="of a run with these terms"):
        crowd.client("h00", other)


def test_a_wrong_vector_is_refused_without_showing_it() -> None:
    for wrong in (np.zeros(4, "<u4"), np.zeros(5, "<u8"), np.full(5, 77.25), np.zeros((5, 1), "<u4")):
        meeting = Meeting(PeopleIndex(3))
        meeting.go_to(Phase.MASK)
        with pytest.raises(InvalidArgument, match="5 numbers of the ring") as refused:
            meeting.clients["h00"].mask(meeting.server.told("h00"), wrong)
        assert "77" not in str(refused.value)


def test_false_shares_are_noticed() -> None:
    """A holder that shares something else than its secrets spoils the round, and is named."""
    for silent in (frozenset({"h01"}), frozenset[str]()):
        meeting = Meeting(PeopleIndex(4))
        liar = meeting.clients["h01"]
        meeting.go_to(Phase.SHARE)
        kept = liar._masks, liar._seed
        liar._masks, liar._seed = Meeting(meeting.crowd).clients["h01"]._masks, bytes(32)
        for name in meeting.server.members:
            meeting.server.receive(meeting.answer(name))
        meeting.server.advance()
        liar._masks, liar._seed = kept
        meeting.go_to(Phase.UNMASK, silent=silent)
        for name in meeting.server.members:
            meeting.server.receive(meeting.answer(name))
        with pytest.raises(MessageRefused, match="h01 gave the others shares of something else"):
            meeting.server.total()


@given(st.integers(2, 300))
def test_the_usual_threshold_withstands_a_third_of_liars(count: int) -> None:
    threshold = usual_threshold(count)
    assert 3 * threshold > 2 * count >= 3 * (threshold - 1)
    colluders = 2 * threshold - count - 1
    assert 3 * (colluders + 1) >= count
    assert colluders < threshold


def test_terms_that_protect_nobody_are_refused() -> None:
    people = sorted((name, Identity.create().public) for name in "abcd")
    good = {"run": "r", "task": "", "roster": tuple(people), "threshold": 3, "size": 1, "bits": 32}
    assert Terms(**good).colluders == 1  # type: ignore[arg-type]
    for change, said in (
        ({"threshold": 2}, "threshold must be a whole number from 3 to 4"),
        ({"threshold": 5}, "threshold must be a whole number from 3 to 4"),
        ({"roster": tuple(people[:1])}, "roster must be a whole number from 2"),
        ({"roster": tuple(reversed(people))}, "in order of name"),
        ({"roster": (people[0], ("b", people[0][1]))}, "a key of its own"),
        ({"roster": (("a b", bytes(32)), people[1])}, "roster must be a name"),
        ({"bits": 31}, "bits must be one of 16, 32, 64"),
        ({"size": 0}, "size must be"),
        ({"run": "../x"}, "run must be a name"),
    ):
        with pytest.raises(InvalidArgument, match=said):
            Terms(**{**good, **change})  # type: ignore[arg-type]
