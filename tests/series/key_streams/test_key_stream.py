"""A stream of keys: what counts, what is told when, and that it goes on as if nothing had happened."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from chronodp import Event, Ledger, User, UserPeriod
from chronodp.errors import InvalidArgument, LedgerUnavailable, StreamConflict, UnknownDocument, UnsupportedCost
from chronodp.ledger.keys import Keys
from chronodp.randomness import KeyedNoise, seeded
from chronodp.series import RunningTotal, Stream
from chronodp.series.key_streams import KeyStream, KeyStreamDesign, design_key_stream
from chronodp.series.key_streams.holders import Holders, from_row, to_rows
from chronodp.series.key_streams.paths import KeyPaths
from chronodp.series.shapes.buffered import BufferedLinear

SECRET = bytes(range(32))
DAY = UserPeriod("1D", timezone="UTC")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    with Ledger(tmp_path / "budget.db") as opened:
        opened.open("web", unit=User(), epsilon=2000.0, delta=1e-3, reserve=9e-4)
        yield opened


def opened(ledger: Ledger, **terms: Any) -> KeyStream:
    """A stream whose noise is far below one person."""
    given = {"horizon": 6, "looks": 3, "max_keys": 2, "epsilon": 1500.0, "delta": 1e-4, **terms}
    return KeyStream(unit=User(), ledger=ledger, dataset="web", name="pages", **given)


def crowd(count: int, key: str, *, first: int = 0) -> list[tuple[str, str]]:
    return [(f"p{number}", key) for number in range(first, first + count)]


def test_keys_are_told_with_their_past_and_carried_on(ledger: Ledger) -> None:
    live = opened(ledger)
    assert live.design.look_steps == (1, 3, 5)
    needed = live.design.people_needed
    assert needed.max() < 6
    steps = [
        [*crowd(20, "/home"), ("p0", "/alone")],
        crowd(1, "/slow", first=50),
        [],
        crowd(30, "/slow", first=51),
        crowd(3, "/home", first=40),
        crowd(20, "/home"),  # again: they count once
    ]
    answers = [live.step(pairs, period=period) for period, pairs in enumerate(steps)]
    assert [answer.look for answer in answers] == [None, 0, None, 1, None, 2]
    assert [answer.found for answer in answers] == [(), ("/home",), (), ("/slow",), (), ()]
    assert {key: round(value) for key, value in answers[3].values.items()} == {"/home": 20, "/slow": 31}
    assert answers[3].past["/slow"].round().tolist() == [1, 31]
    assert {key: round(value) for key, value in answers[5].values.items()} == {"/home": 23, "/slow": 31}
    assert live.finished
    assert live.keys == ("/home", "/slow")
    with pytest.raises(StreamConflict):
        live.step([])
    looks = [answer for answer in answers if answer.look is not None]
    for told, again in zip(looks, KeyStream.resume(ledger, "pages").released(), strict=True):
        assert replace(told, past={}, half=again.half) == replace(again, past={})
        assert all(np.array_equal(told.past[key], again.past[key]) for key in told.found)
        assert np.array_equal(told.half, again.half)


@pytest.mark.slow
def test_a_resumed_stream_tells_what_an_unbroken_one_tells(ledger: Ledger, tmp_path: Path) -> None:
    """Resumed after every step, from rows and secret alone: the same keys, at the same steps, to the last digit."""
    chance = np.random.default_rng(3)
    steps = [[(f"p{chance.integers(300)}", f"/{chance.geometric(0.2)}") for _ in range(200)] for _ in range(12)]
    terms: dict[str, Any] = {"horizon": 12, "looks": 6, "max_keys": 3, "epsilon": 1.0, "delta": 1e-4}
    whole = opened(ledger, **terms, entropy=seeded(8))
    with Ledger(tmp_path / "other.db") as other:
        other.open("web", unit=User(), epsilon=1.0, delta=1e-3, reserve=9e-4)
        opened(other, **terms, entropy=seeded(8))
        for pairs in steps:
            told = whole.step(pairs)
            again = KeyStream.resume(other, "pages").step(pairs)
            assert (told.found, told.values) == (again.found, again.values)
            for key in told.found:
                assert np.array_equal(told.past[key], again.past[key])
    assert len(whole.keys) >= 3
    assert "SEEDED RUN" in str(whole.certificate)


@pytest.mark.slow
@pytest.mark.parametrize("looks", [2, 12, 52])
def test_a_path_carried_on_is_the_path_from_the_first_look(looks: int) -> None:
    design = design_key_stream(unit=User(), horizon=looks, looks=looks, max_keys=3, epsilon=1.0, delta=1e-6)
    names = [f"key {number}" for number in range(2 * looks)]
    carried = KeyPaths(design, SECRET)
    scale = design.noise.scale / design.noise.step
    for look in range(looks):
        keys = names[: 2 * look + 1]  # new ones come with every look
        now = carried.at(look, keys)
        anew = KeyPaths(design, SECRET)
        assert np.array_equal(now, anew.until(look, keys)[-1])
        for at in (0, len(keys) // 2, len(keys) - 1):  # alone as among others
            assert anew.until(look, [keys[at]])[-1, 0] == now[at]
    # C w = z up to what the bound says: the noise is that of the shape.
    assert isinstance(design.shape, BufferedLinear)
    path = KeyPaths(design, SECRET).until(looks - 1, names)
    noise = np.diff(path, axis=0, prepend=0)
    column = design.shape.coefficients(looks)
    shaped = np.array([sum(column[back] * noise[at - back] for back in range(at + 1)) for at in range(looks)])
    draws = KeyedNoise(SECRET).gaussian(scale, names, begin=0, end=looks)
    assert np.abs(shaped - draws).max() <= 0.5 + 1e-3


def counted(unit: Any, steps: list[list[tuple[str, str]]], **limits: int) -> tuple[list[Counter[str]], Holders]:
    """Return how many people first met each key, by step."""
    design = design_key_stream(unit=unit, horizon=len(steps), looks=len(steps), epsilon=1.0, delta=1e-6, **limits)
    holders = Holders(design, SECRET)
    new = []
    for step, pairs in enumerate(steps):
        met = holders.choose(step, [person for person, _ in pairs], [key for _, key in pairs])
        stored = [from_row(row) for row in to_rows(met, len(holders.texts))]
        for one in stored:
            holders.add(one)
        new.append(Counter(holders.texts[number] for number in met.keys.tolist()))
    return new, holders


records = st.lists(
    st.lists(st.tuples(st.sampled_from("abc"), st.sampled_from(["k", "l", "m", "n", "o"])), max_size=6),
    min_size=1,
    max_size=4,
)


def changes(one: list[Counter[str]], other: list[Counter[str]]) -> dict[str, list[int]]:
    keys = {key for counter in (*one, *other) for key in counter}
    moved = {key: [here[key] - there[key] for here, there in zip(one, other, strict=True)] for key in keys}
    return {key: path for key, path in moved.items() if any(path)}


@pytest.mark.slow
@given(records, st.integers(1, 4))
def test_one_person_moves_each_of_max_keys_keys_once(steps: list[list[tuple[str, str]]], most: int) -> None:
    full, _ = counted(User(), steps, max_keys=most)
    rest, _ = counted(User(), [[pair for pair in pairs if pair[0] != "a"] for pairs in steps], max_keys=most)
    moved = changes(full, rest)
    assert len(moved) <= most
    assert all(sorted(path)[-1] == 1 and sum(map(abs, path)) == 1 for path in moved.values())


@pytest.mark.slow
@given(records, st.integers(1, 3), st.data())
def test_one_step_of_a_person_puts_off_at_most_max_groups_meetings(
    steps: list[list[tuple[str, str]]], most: int, data: st.DataObject
) -> None:
    """Meetings go, or are put off to a later step: the changes that the reach allows for."""
    gone = data.draw(st.integers(0, len(steps) - 1))
    less = [[pair for pair in pairs if pair[0] != "a" or step != gone] for step, pairs in enumerate(steps)]
    full, _ = counted(DAY, steps, max_groups=most, max_periods=1)
    rest, _ = counted(DAY, less, max_groups=most, max_periods=1)
    moved = changes(full, rest)
    assert len(moved) <= most
    for path in moved.values():
        assert path[gone] == 1
        assert [number for number in path if number] in ([1], [1, -1])


@pytest.mark.slow
@given(records, st.data())
def test_one_record_moves_one_key(steps: list[list[tuple[str, str]]], data: st.DataObject) -> None:
    places = [(step, at) for step, pairs in enumerate(steps) for at in range(len(pairs))]
    if not places:
        return
    step, at = data.draw(st.sampled_from(places))
    less = [list(pairs) for pairs in steps]
    del less[step][at]
    moved = changes(counted(Event(), steps)[0], counted(Event(), less)[0])
    assert len(moved) <= 1
    assert all([number for number in path if number] in ([1], [1, -1]) for path in moved.values())


def test_what_counts_does_not_depend_on_the_order_or_on_others() -> None:
    pairs = [("a", key) for key in "klmnop"] + [("b", key) for key in "pqrs"]
    kept = set()
    for seed in range(6):
        shuffled = list(np.random.default_rng(seed).permutation(np.array(pairs)))
        others = [(f"x{number}", key) for number, key in itertools.product(range(seed), "sponmlkqr")]
        new, holders = counted(User(), [[(str(a), str(b)) for a, b in shuffled] + others], max_keys=3)
        alone, _ = counted(User(), [others], max_keys=3)
        assert sum(new[0].values()) == 6 + 3 * seed
        kept.add(tuple(sorted((new[0] - alone[0]).items())))
        assert holders.pairs == 6 + 3 * seed
    assert len(kept) == 1


def test_long_keys_are_left_out_and_names_are_checked(ledger: Ledger) -> None:
    live = opened(ledger, longest=4)
    live.step([*crowd(30, "ééé"), *crowd(30, "éé")])
    assert live.step([]).found == ("éé",)
    for wrong in ([("p", "")], [("", "k")], [("p", 7)], [("p",)], 7, ["ab", "c"]):
        with pytest.raises(InvalidArgument, match="pairs") as caught:
            live.step(wrong)  # type: ignore[arg-type]
        assert "'ab'" not in str(caught.value)
    assert live.period == 2


def test_nothing_is_told_twice_or_by_two(ledger: Ledger) -> None:
    live = opened(ledger)
    twin = KeyStream.resume(ledger, "pages")
    live.step(crowd(20, "/a"))
    with pytest.raises(StreamConflict, match="resume its newest state"):
        twin.step(crowd(20, "/b"))
    with pytest.raises(StreamConflict, match="was released before"):
        live.step([], period=0)
    assert live.step(crowd(20, "/b")).found == ("/a", "/b")
    # A stream whose commit failed forgets what it had taken in, and goes on from the disk.
    assert twin._holders.texts == ["/b"]
    twin._stored = live._stored
    twin._snapshot = live._snapshot
    twin.step([])
    assert twin._holders.texts == ["/a", "/b"]


def test_the_certificate_and_the_price_say_what_they_rest_on(ledger: Ledger) -> None:
    live = opened(ledger, epsilon=1.0, delta=1e-6)
    text = str(live.certificate)
    assert "with probability at most 4e-07" in text
    for words in ("Computational", "HMAC-SHA256", "(1, 1e-06)-differentially private"):
        assert words in text, words
    assert ledger.status("web").charges == 1
    assert "0 keys told" in repr(live)


def test_a_budget_without_a_reserve_refuses_before_anything_is_read(tmp_path: Path) -> None:
    with Ledger(tmp_path / "plain.db") as plain:
        plain.open("web", unit=User(), epsilon=200.0, delta=1e-3)
        with pytest.raises(UnsupportedCost, match="open with reserve=4e-05 or more"):
            opened(plain)
        assert plain.status("web").charges == 0


def test_rows_that_are_gone_are_noticed(ledger: Ledger) -> None:
    opened(ledger).step(crowd(3, "/a"))
    with ledger._store.transaction() as transaction:
        transaction.run("DELETE FROM stream_rows")
    with pytest.raises(LedgerUnavailable, match="rows of stream 'pages' are missing"):
        KeyStream.resume(ledger, "pages")


@pytest.mark.slow
def test_large_steps_are_cut_into_rows() -> None:
    design = design_key_stream(unit=Event(), horizon=1, epsilon=1.0, delta=1e-6)
    holders = Holders(design, SECRET)
    people = [f"p{number}" for number in range(70_000)]
    keys = [f"k{number % 50_000}" for number in range(70_000)]
    met = holders.choose(0, people, keys)
    rows = list(to_rows(met, 0))
    assert len(rows) == 3
    for row in rows:
        holders.add(from_row(row))
    assert sorted(holders.texts) == sorted(set(keys))
    assert holders.at(0).sum() == 70_000
    assert not holders.choose(0, people, keys).keys.size


def test_streams_of_other_kinds_are_refused(ledger: Ledger) -> None:
    opened(ledger)
    with pytest.raises(UnknownDocument, match="another kind"):
        Stream.resume(ledger, "pages")
    terms: dict[str, Any] = {"unit": User(), "max_periods": 1, "epsilon": 1.0, "ledger": ledger, "dataset": "web"}
    Stream(RunningTotal(), horizon=3, change=1.0, name="x", **terms)
    with pytest.raises(UnknownDocument, match="another kind"):
        KeyStream.resume(ledger, "x")


def test_secrets_are_sealed_and_never_shown(ledger: Ledger, tmp_path: Path) -> None:
    live = opened(ledger)
    live.step([("very private person", "/very private key")])
    assert b"private" not in b"".join(path.read_bytes() for path in tmp_path.glob("budget.db*"))
    assert isinstance(ledger.keys, Keys)
    assert "secret" not in repr(live._snapshot).lower()
    assert isinstance(live.design, KeyStreamDesign)
