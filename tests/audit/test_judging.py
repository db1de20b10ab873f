"""Verdicts: mutants caught, sound mechanisms passed, and mechanisms that cannot be judged never passed."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from chronodp.audit import Allowance, AuditCase, Check, Linear, Verdict, judge, judge_all
from chronodp.audit.statistical import Sampled
from chronodp.audit.walked import Enumerated
from chronodp.privacy import Claim, PureCost, Report
from chronodp.randomness import Entropy, seeded
from tests.audit.__main__ import audit
from tests.audit.attacks import ATTACKS, Attempt
from tests.audit.cases import lifetimes
from tests.audit.mutants import MUTANTS
from tests.audit.registry import Entry, Mutant, entries
from tests.conftest import SCALE, Trials

SMALL = Allowance(samples=25_000)
LARGE = Allowance(samples=150_000)  # for what samples alone must catch: with fewer, luck would miss one now and then
CLAIM = Claim(Report(), PureCost(1.0), "here")
SLOW_TWINS = {"absorption without nullification", "shares of a window that come back at once"}


# Those of lives are judged by `test_lifetimes.py`, to the last digit of what they lose.
JUDGED = [mutant for mutant in MUTANTS if SCALE >= 1 or mutant not in lifetimes.MUTANTS]


@pytest.mark.parametrize("mutant", JUDGED, ids=lambda mutant: mutant.name)
@pytest.mark.slow
def test_the_broken_twin_is_caught_and_the_sound_one_passes(mutant: Mutant, trials: Trials) -> None:
    whole = trials(100) == 100
    if mutant.name in SLOW_TWINS and not whole:
        pytest.skip("at stated counts only: `make verify`, or `python -m tests.audit`")
    sampled = Sampled() in mutant.checks
    allowance = LARGE if sampled and whole else SMALL
    sound, (broken,) = judged_once(mutant, allowance), judge_all(mutant.cases[1:], allowance)
    if sampled and not whole and (broken.outcome != "refuted" or broken.lower < mutant.epsilon):
        sound, (broken,) = judged_once(mutant, LARGE), judge_all(mutant.cases[1:], LARGE)  # not caught by few yet
    assert sound.passed, sound
    assert broken.outcome == "refuted", broken
    assert broken.lower >= mutant.epsilon


SOUND: dict[object, Verdict] = {}


def judged_once(mutant: Mutant, allowance: Allowance) -> Verdict:
    """Judge the sound mechanism of a mutant; several have the same, on the same neighbours and with the same claim."""
    sound = mutant.cases[0]
    key = (id(mutant.sound), repr((sound.neighbours, sound.claim, sound.epsilon, sound.delta, sound.checks, allowance)))
    if key not in SOUND:
        (SOUND[key],) = judge_all((sound,), allowance)
    return SOUND[key]


@pytest.mark.slow
def test_twins_run_on_real_entropy_too(subtests: pytest.Subtests) -> None:
    for case in (case for mutant in MUTANTS for case in mutant.cases):
        with subtests.test(case.name):
            assert case.run(case.neighbours[0][0], seeded(1)) is not None


@pytest.mark.slow
def test_the_table_of_all_shows_what_holds_and_what_was_caught(capsys: pytest.CaptureFixture[str]) -> None:
    assert audit(["comparator"], progress=lambda _: None)
    assert audit(["shuffle that exchanges"], progress=lambda _: None)
    shown = capsys.readouterr().out
    assert "2 of 2 claims stand" in shown
    assert "1 of 1 mutants caught" in shown
    assert not audit(["comparator", "--within", "1e-9"], progress=lambda _: None)
    with pytest.raises(SystemExit, match="perpetual motion"):
        audit(["perpetual motion"])


def test_there_are_twins_enough_and_no_two_of_a_name() -> None:
    assert len({mutant.name for mutant in MUTANTS}) == len(MUTANTS) >= 20
    assert {entry.name for entry in entries()} >= {*TWINNED, *ELSEWHERE}


# Sound twins of mutants run what these cover, and pass above: they are judged again at stated counts only.
TWINNED = {
    "alert (sparse vector)",
    "block shuffle",
    "bounds found privately",
    "keys found by their published counts",
    "keys found by the optimal rule",
    "keys found by weights",
    "noisy sort",
    "private steps on a secret sample",
    "quantiles as drawn bins",
    "the k largest keys, peeled",
    "whole series scaled to a norm",
}
# Those of lives are judged by `test_lifetimes.py`.
ELSEWHERE = {entry.name for entry in lifetimes.ENTRIES}
CLAIMED = [
    entry for entry in entries() if not entry.unclaimed and (SCALE >= 1 or entry.name not in {*TWINNED, *ELSEWHERE})
]


@pytest.mark.parametrize("entry", CLAIMED, ids=lambda entry: entry.name)
@pytest.mark.slow
def test_mechanisms_pass(entry: Entry, trials: Trials) -> None:
    # All its cases, and samples of a second each, at stated counts only: `make verify`, or `python -m tests.audit`.
    whole = trials(100) == 100
    cases = tuple(itertools.islice(entry.cases(), None if whole else 1))
    verdicts = judge_all(cases, Allowance(samples=20_000, seconds=1.0 if whole else 0.2))
    if not whole and any(verdict.outcome == "cannot be judged" for verdict in verdicts):
        # A machine that stood still for a moment left time for so few samples that all were the same.
        verdicts = judge_all(cases, Allowance(samples=20_000, seconds=2.0))
    assert {verdict.case.name: (verdict.outcome, verdict.reason) for verdict in verdicts if not verdict.passed} == {}
    assert all(verdict.lower <= verdict.case.epsilon * (1 + 1e-9) for verdict in verdicts)


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.__name__)
@pytest.mark.slow
def test_attacks_break_the_naive_version_alone(attack: Callable[..., Attempt]) -> None:
    # Linkage is right 98.6 % of the time: 100 guesses would fail to show it one time in 20, so many one in 10^10.
    trials, ours = (200, 90) if attack.__name__ == "linkage" else (100, 30)
    attempt = attack(trials, None if SCALE >= 1 else ours)
    missed = attempt.our_guesses - attempt.our_hits
    if replace(attempt, our_hits=trials - missed, our_guesses=trials).breaks_ours:
        attempt = attack(trials)  # so few were missed that the rest could break the promise yet
    assert attempt.breaks_naive
    assert not attempt.breaks_ours


def toss(data: int, entropy: Entropy) -> int:
    return data ^ int(not entropy.coins(3, 5))


def raises(data: int, *, entropy: Entropy) -> int:
    toss(data, entropy)
    raise ValueError("out of range")


def raises_late(data: int, *, entropy: Entropy) -> int:
    if int(entropy.integers(200, 1)[0]) == 0:
        raise ZeroDivisionError
    return toss(data, entropy)


def always(data: int, *, entropy: Entropy) -> int:  # noqa: ARG001 (what is tried)
    return 7


def changes_shape(data: int, *, entropy: Entropy) -> object:
    return np.zeros(1 + int(entropy.integers(2, 1)[0])) + data


def generator(data: int, *, entropy: Entropy) -> object:
    return (part for part in (data, toss(data, entropy)))


COUNTER = itertools.count()


def counts_its_calls(data: int, *, entropy: Entropy) -> int:
    return toss(data, entropy) + 2 * (next(COUNTER) % 3)


def finds_randomness_elsewhere(data: int, *, entropy: Entropy) -> int:  # noqa: ARG001 (what is tried)
    return data ^ int(np.random.default_rng().random() > 0.6)


MEMORY: list[int] = [0]


def remembers_the_last_input(data: int) -> int:
    before, MEMORY[0] = MEMORY[0], data
    return data ^ int(random.random() > (0.6 if before == data else 0.5))


USES = itertools.count()


def wears_out(data: int) -> int:
    worn = next(USES) > 3_000
    return data ^ int(random.random() > (0.5 if worn else 0.7))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("mechanism", "reason"),
    [
        (raises, "it raises ValueError: out of range"),
        (raises_late, "it raises ZeroDivisionError"),
        (always, "it is not random"),
        (changes_shape, "outputs change their shape"),
        (generator, "cannot be compared"),
        (counts_its_calls, "keeps state, or finds randomness elsewhere"),
        (finds_randomness_elsewhere, "keeps state, or finds randomness elsewhere"),
        (remembers_the_last_input, "it keeps state"),
        (wears_out, "it keeps state"),
    ],
    ids=lambda part: getattr(part, "__name__", ""),
)
def test_what_cannot_be_judged_is_never_passed(mechanism: Callable[..., object], reason: str) -> None:
    case = AuditCase(name="own", mechanism=mechanism, neighbours=((0, 1),), claim=CLAIM)
    verdict = judge(case, Allowance(samples=50_000))
    assert verdict.outcome == "cannot be judged"
    assert not verdict.passed
    assert reason in verdict.reason


def test_no_auditor_passes_or_breaks_on_what_cannot_be_judged(subtests: pytest.Subtests) -> None:
    checks: tuple[Check, ...] = (Enumerated(), Linear(), Sampled())
    for check, mechanism in itertools.product(checks, (raises, raises_late, always)):
        case = AuditCase(name="own", mechanism=mechanism, neighbours=((0, 1),), claim=CLAIM, checks=(check,))
        with subtests.test(check=check, mechanism=mechanism.__name__):
            assert judge(case, Allowance(samples=50_000)).outcome == "cannot be judged"


@pytest.mark.slow
def test_an_honest_mechanism_with_randomness_of_its_own_is_judged() -> None:
    def own(data: int) -> int:
        return data ^ int(random.random() > 0.6)

    case = AuditCase(name="own", mechanism=own, neighbours=((0, 1),), claim=CLAIM)
    assert judge(case, SMALL).outcome == "not refuted"
    small = replace(case, claim=Claim(Report(), PureCost(0.3), "here"), epsilon=0.3)
    assert judge(small, SMALL).outcome == "refuted"  # the truth is ln 1.5 = 0.405


def test_exactness_cannot_be_had_without_entropy() -> None:
    case = AuditCase(
        name="own", mechanism=lambda data: data, neighbours=((0, 1),), claim=CLAIM, checks=(Enumerated(), Sampled())
    )
    assert "takes no entropy" in judge(replace(case, checks=(Enumerated(),)), SMALL).reason
    assert not judge(case, SMALL).passed


def test_what_is_not_reached_in_time_is_not_passed() -> None:
    mutant = MUTANTS[0]
    assert {verdict.outcome for verdict in judge_all(mutant.cases, SMALL, within=0.0)} == {"not reached"}


@pytest.mark.slow
def test_judges_see_no_names() -> None:
    seen: list[str] = []

    class Spy:
        auditor = "spy"

        def attack(self, case: AuditCase, allowance: Allowance) -> object:
            seen.append(case.name)
            return Sampled().attack(case, allowance)

    def respond(data: int, *, entropy: Entropy) -> int:
        return toss(data, entropy)

    cases = [
        AuditCase(name=name, mechanism=respond, neighbours=((0, 1),), claim=CLAIM, checks=(Spy(),))  # type: ignore[arg-type]
        for name in ("sound", "broken")
    ]
    assert [verdict.case.name for verdict in judge_all(cases, Allowance(samples=2_000))] == ["sound", "broken"]
    assert sorted(seen) == ["case 1", "case 2"]
