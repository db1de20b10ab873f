"""Where bits come from, and noise that belongs to names: a path for each, whatever else is asked for, and when."""

from __future__ import annotations

import hmac
import math
import multiprocessing
import os
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.randomness import (
    KeyedNoise,
    KeystreamEntropy,
    SecureKeystream,
    SeededKeystream,
    draw_secret,
    keystream,
    secure,
    seeded,
    slow,
)
from chronodp.randomness.integers import uniform_below, uniform_permutations
from chronodp.randomness.keystream import counter_mode, draw_words
from chronodp.randomness.reservoir import Reservoir
from chronodp.randomness.stairs import FINE
from chronodp.randomness.start_check import _decide_no_point, _decide_no_step
from chronodp.randomness.variates import gaussian, laplace
from tests.randomness.replay import Replay, edge_words, random_words


@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=6), st.sampled_from(["laplace", "gaussian"]))
def test_how_a_request_is_cut_does_not_matter(sizes: list[int], kind: str) -> None:
    whole = getattr(seeded(3), kind)(50.0, sum(sizes))
    entropy = seeded(3)
    parts = [getattr(entropy, kind)(50.0, size) for size in sizes]
    assert np.array_equal(whole, np.concatenate(parts))


def test_seeded_entropy_repeats_and_says_so() -> None:
    assert seeded(1).seeded
    assert not secure().seeded
    assert np.array_equal(seeded("x").gaussian(9.0, 100), seeded("x").gaussian(9.0, 100))
    assert not np.array_equal(seeded(1).integers(2**62, 100), seeded(2).integers(2**62, 100))
    assert not np.array_equal(secure().integers(2**62, 100), secure().integers(2**62, 100))


def test_secrets_stay_out_of_printed_forms() -> None:
    assert "12345" not in repr(seeded(12345))
    assert repr(secure()) == "secure()"
    assert repr(SecureKeystream()) == "SecureKeystream()"


def draw_into(queue: multiprocessing.Queue[list[int]], entropy: KeystreamEntropy) -> None:
    drawn = [*entropy.laplace(2.0**20, 50), *entropy.gaussian(2.0**20, 50), *entropy.integers(2**62, 50)]
    queue.put([int(value) for value in drawn])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # forking is the point of the test
@pytest.mark.kill
def test_a_forked_child_never_repeats_its_parent_or_sibling() -> None:
    context = multiprocessing.get_context("fork")
    entropy = secure()
    entropy.laplace(2.0**20, 10), entropy.gaussian(2.0**20, 10), entropy.integers(2**62, 10)  # part-used reservoirs
    queue: multiprocessing.Queue[list[int]] = context.Queue()
    children = [context.Process(target=draw_into, args=(queue, entropy)) for _ in range(2)]
    for child in children:
        child.start()
    draws = [queue.get(timeout=30) for _ in children]
    for child in children:
        child.join()
    draw_into(queue, entropy)
    draws.append(queue.get(timeout=30))
    for first in range(3):
        for second in range(first):
            same = sum(one == two for one, two in zip(draws[first], draws[second], strict=True))
            assert same <= 3


@pytest.mark.parametrize("entropy", [secure(), seeded(8)], ids=repr)
def test_threads_never_share_a_draw(entropy: KeystreamEntropy) -> None:
    drawn: list[int] = []
    lock = threading.Lock()

    def work() -> None:
        for _ in range(20):
            values = entropy.integers(2**62, 500).tolist()
            entropy.laplace(3.0, 1000)
            entropy.gaussian(3.0, 1000)
            with lock:
                drawn.extend(values)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(set(drawn)) == len(drawn) == 40_000


def test_keys_are_renewed(monkeypatch: pytest.MonkeyPatch) -> None:
    keys: list[bytes] = []
    genuine = os.urandom

    def watched(size: int) -> bytes:
        keys.append(genuine(size))
        return keys[-1]

    monkeypatch.setattr(keystream, "urandom", watched)
    monkeypatch.setattr(SecureKeystream, "_bytes_a_key", 8000)
    stream = SecureKeystream()
    for _ in range(5):
        stream.words(500)
    assert len(set(keys)) == 3
    stream.words(5000)  # more than a key's share at once
    assert all(len(key) == 32 for key in keys)


@pytest.mark.parametrize("below", [1, 2, 3, 5, 8, 100])
def test_integers_are_exactly_uniform_over_the_words(below: int) -> None:
    bits = max(1, (below - 1).bit_length())
    words = np.arange(2**bits, dtype=np.int64)  # every pattern of the bits that count, once
    rejected = [np.arange(2**bits, dtype=np.int64)[below - 1 :: -1]] * 2 if below > 1 else []
    drawn = uniform_below(Replay(words, *rejected), np.full(len(words), below, dtype=np.int64))
    accepted = drawn[:below] if below > 1 else drawn
    assert accepted.tolist() == (list(range(below)) if below > 1 else [0, 0])
    assert drawn.min() >= 0
    assert drawn.max() < below


def test_one_bound_draws_the_same_as_that_bound_repeated() -> None:
    for below in (1, 2, 3, 5, 16, 19, 256, 1000, 2**40 + 1, 2**62, 3**39, 2**63 - 1):
        repeated = np.full(3000, below, dtype=np.int64)
        assert np.array_equal(seeded(5).integers(below, 3000), seeded(5).integers(repeated)), below
        assert seeded(5).integers(below).shape == ()


def test_integers_take_any_bounds_up_to_the_largest() -> None:
    bounds = np.array([1, 2, 2**31, 2**53 + 1, 2**62, 2**63 - 1])
    drawn = seeded(4).integers(bounds, size=(1000, 6))
    assert drawn.shape == (1000, 6)
    assert (drawn >= 0).all()
    assert (drawn < bounds).all()
    assert drawn[:, 5].max() > 2**62


def test_permutations_with_equal_words_are_drawn_again() -> None:
    tied, fresh = np.array([5, 5, 1, 2, 3, 9], dtype=np.int64), np.array([8, 4, 6], dtype=np.int64)
    rows = uniform_permutations(Replay(tied, fresh), 2, 3)
    assert rows[0].tolist() == [1, 2, 0]
    assert rows[1].tolist() == [0, 1, 2]


@pytest.mark.slow
def test_exponential_coins_agree_with_the_slow_path_on_the_same_bits() -> None:
    words = np.concatenate([edge_words(), random_words(3000, 2)])
    chance, family = np.random.default_rng(1), laplace()
    edges = np.append(np.zeros(family.stairs.spare), family.stairs.edges)[words & (family.stairs.layers - 1)]
    exact = edges / FINE * np.abs(words * 2.0**-63)  # of the steps; for the rest any threshold will do
    near = exact + chance.choice([-1.0, 0.0, 1.0], len(words)) * chance.uniform(0, 1e-13, len(words))
    thresholds = np.maximum(np.where(chance.random(len(words)) < 0.5, near, chance.exponential(2.0, len(words))), 0.0)
    # One draw of the rest is chosen too; after it further bits are the same, however many are asked for.
    bits = words, random_words(3 * 2048, 3)
    found = Reservoir(Replay(*bits), family, batch=len(words)).exceed(thresholds)
    careful = replace(family, transform=_decide_no_step, judge=_decide_no_point)
    assert np.array_equal(found, Reservoir(Replay(*bits), careful, batch=len(words)).exceed(thresholds))
    on_steps = edges > 0
    assert found[on_steps & (exact > thresholds + 1e-12)].all()
    assert not found[on_steps & (exact < thresholds - 1e-12)].any()


def test_a_variate_is_rounded_at_the_scale_that_took_it() -> None:
    """Small requests at changing scales, with coins between them, use the variates in order, each of them once."""
    requests = [(3.0, 5), (3.0, 7), (3.0, 40), (2.0**20, 3), (3.0, 30), (2.0**20, 3), (2.0**20, 200), (0.3, 0)] * 3
    mixed = Reservoir(SeededKeystream(4), gaussian(), batch=512)
    drawn = [(scale, mixed.draw(scale, size)) for scale, size in requests]
    total = sum(size for _, size in requests)
    whole = Reservoir(SeededKeystream(4), gaussian(), batch=512).draw(2.0**25, total)
    done = 0
    for scale, part in drawn:
        # A fraction within 2^-25 of a half could be rounded to the other side; these seeds have none.
        assert np.array_equal(part, np.rint(whole[done : done + len(part)] / 2.0**25 * scale)) or scale > 3
        assert np.abs(part - whole[done : done + len(part)] / 2.0**25 * scale).max(initial=0) < 0.6
        done += len(part)
    coins = Reservoir(SeededKeystream(4), laplace(), batch=512)
    first, excess, second = coins.draw(2.0**25, 5), coins.exceed(np.full(9, 0.7)), coins.draw(2.0**25, 5)
    whole = Reservoir(SeededKeystream(4), laplace(), batch=512).draw(2.0**25, 19)
    assert np.array_equal(np.concatenate([first, second]), np.concatenate([whole[:5], whole[14:]]))
    assert np.array_equal(excess, np.abs(whole[5:14]) > 0.7 * 2.0**25)


def test_what_was_given_out_is_not_changed_by_later_draws() -> None:
    entropy = seeded(2)
    kept = []
    for _ in range(4):
        given = entropy.gaussian(5.0, 10)
        kept.append(given.copy())
        given[:] = 0
    assert np.array_equal(seeded(2).gaussian(5.0, 40), np.concatenate(kept))


def test_sure_coins() -> None:
    entropy = seeded(6)
    assert not entropy.coins(0, 7, size=1000).any()
    assert entropy.coins(7, 7, size=1000).all()
    assert entropy.exponential_coins(np.zeros(1000)).all()
    assert not entropy.exponential_coins(np.full(1000, 1e9)).any()
    assert entropy.exponential_coins(0.5).shape == ()


def test_empty_and_shaped_requests() -> None:
    assert (secure().integers(5, 0).shape, secure().coins(1, 2, 0).shape) == ((0,), (0,))  # before anything was drawn
    entropy = seeded(1)
    assert entropy.laplace(3.0, 0).shape == (0,)
    assert entropy.gaussian(3.0, (2, 0, 3)).shape == (2, 0, 3)
    assert entropy.gaussian(3.0, (4, 5)).shape == (4, 5)
    assert entropy.integers(np.zeros(0, dtype=np.int64)).shape == (0,)
    assert entropy.permutations(1, rows=3).tolist() == [[0], [0], [0]]


REFUSED: list[tuple[Callable[[Any], object], str]] = [
    (lambda entropy: entropy.laplace(1.0, -1), "size must be a whole number of at least 0"),
    (lambda entropy: entropy.laplace(1.0, 2.5), "size"),
    (lambda entropy: entropy.integers(0, 3), "below must be whole numbers of at least 1"),
    (lambda entropy: entropy.integers(2.5, 3), "below must be whole numbers"),
    (lambda entropy: entropy.integers(2**64 - 1, 3), "below must be whole numbers below 2"),
    (lambda entropy: entropy.integers([2, 3], 3), r"size must be a shape that numbers of shape \(2,\) fit into"),
    (lambda entropy: entropy.coins([1, 1], 2, 3), "size must be a shape"),
    (lambda entropy: entropy.coins(3, 2, 3), "numerators must be from 0 to the denominator 2"),
    (lambda entropy: entropy.coins(-1, 2, 3), "numerators"),
    (lambda entropy: entropy.coins(1, 0, 3), "denominator"),
    (lambda entropy: entropy.coins(1, 2**63, 3), "denominator"),
    (lambda entropy: entropy.exponential_coins([-1.0]), "exponents must be finite numbers of at least 0"),
    (lambda entropy: entropy.exponential_coins([math.nan]), "exponents"),
    (lambda entropy: entropy.exponential_coins([math.inf]), "exponents"),
    (lambda entropy: entropy.exponential_coins(["a"]), "exponents"),
    (lambda entropy: entropy.permutations(0), "count"),
    (lambda entropy: entropy.permutations(3, rows=0), "rows"),
    (lambda _: seeded(1.5), "seed must be a whole number or a text"),  # type: ignore[arg-type]
    (lambda _: seeded(True), "seed"),
]


def test_refuses_bad_requests() -> None:
    for call, message in REFUSED:
        with pytest.raises(InvalidArgument, match=message):
            call(seeded(1))
    for scale in (0, -1.0, math.nan, math.inf, 2.0**31, 2.0**-31, None, "3"):
        for kind in ("laplace", "gaussian"):
            with pytest.raises(InvalidArgument, match="scale must be"):
                getattr(seeded(1), kind)(scale, 3)


SECRET = bytes(range(32))


@given(
    st.lists(st.text(st.characters(), max_size=8), min_size=1, max_size=5, unique=True),
    st.integers(0, 9),
    st.integers(0, 9),
)
def test_a_path_does_not_depend_on_what_else_is_asked_for(names: list[str], begin: int, more: int) -> None:
    noise = KeyedNoise(SECRET)
    together = noise.gaussian(2.0**20, names, begin=begin, end=begin + more)
    assert together.shape == (more, len(names))
    for column, name in enumerate(names):
        alone = KeyedNoise(SECRET).gaussian(2.0**20, [name], begin=0, end=20)[:, 0]
        assert together[:, column].tolist() == alone[begin : begin + more].tolist()


def test_a_large_request_is_made_of_the_same_paths() -> None:
    names = [f"key {number}" for number in range(3_000)]
    noise = KeyedNoise(SECRET)
    whole = noise.gaussian(1000.0, names, begin=0, end=40)
    assert np.array_equal(whole[7:12, 1_999:2_003], noise.gaussian(1000.0, names[1_999:2_003], begin=7, end=12))
    deviation = float(whole.std()) / 1000
    assert abs(deviation - 1) < 6.5 / math.sqrt(2 * whole.size)  # false alarm below 1e-9
    assert not abs(0.9 * deviation - 1) < 6.5 / math.sqrt(2 * whole.size)
    # Neighbouring places, and neighbouring names, have nothing to do with each other.
    for first, second in ((whole[:-1], whole[1:]), (whole[::2], whole[1::2]), (whole[:, :-1], whole[:, 1:])):
        together = float((first * second).mean()) / 1e6
        assert abs(together) < 6.5 / math.sqrt(first.size)


def test_words_are_those_of_the_written_rule() -> None:
    """HMAC-SHA256 of the length and the name is the key of AES-256; its block j makes draws 2 j and 2 j + 1."""
    name, scale = "é", 2.0**20
    content = name.encode()
    key = hmac.digest(SECRET, len(content).to_bytes(8, "big") + content, "sha256")
    encryptor = Cipher(algorithms.AES(key), modes.CTR(bytes(16))).encryptor()
    words = np.frombuffer(encryptor.update(bytes(160)), dtype="<i8")
    made = KeyedNoise(SECRET).gaussian(scale, [name], begin=0, end=20)[:, 0]
    for draw, value in enumerate(made.tolist()):
        pair, cosine = divmod(draw, 2)
        radius, angle = (
            slow.UniformReal(int(words[2 * pair + which]), _Words(key, (2 * pair + 1 + which) * 2**64))
            for which in (0, 1)
        )
        assert value == slow.gaussian(radius, angle, scale, cosine=bool(cosine))


class _Words:
    seeded: ClassVar[bool] = True

    def __init__(self, key: bytes, first: int) -> None:
        self._cipher = counter_mode(key, first)

    def words(self, count: int) -> np.typing.NDArray[np.int64]:
        return draw_words(self._cipher, count)


def test_the_slow_path_takes_its_further_bits_from_the_same_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """With every draw decided slowly paths are the same, and one asked for again takes the same bits again."""
    fast = KeyedNoise(SECRET).gaussian(2.0**29, ["a", "b"], begin=0, end=7)
    monkeypatch.setattr("chronodp.randomness.keyed.checked", _never_certain)
    slowly = KeyedNoise(SECRET)
    assert np.array_equal(slowly.gaussian(2.0**29, ["a", "b"], begin=0, end=7), fast)
    assert np.array_equal(slowly.gaussian(2.0**29, ["b"], begin=3, end=4), fast[3:4, 1:])


def _never_certain(family):  # type: ignore[no-untyped-def]
    return replace(family, transform=lambda words, out, work: out.fill(np.nan))  # noqa: ARG005


def test_no_two_names_and_no_two_secrets_share_a_path() -> None:
    noise = KeyedNoise(SECRET)
    paths = noise.gaussian(2.0**20, ["a", "b", "", "a ", "A"], begin=0, end=8).T
    other = KeyedNoise(draw_secret(seeded(4))).gaussian(2.0**20, ["a"], begin=0, end=8).T
    assert len({tuple(path) for path in [*paths.tolist(), *other.tolist()]}) == 6


def test_secrets_are_fresh_whole_and_never_shown() -> None:
    assert len(draw_secret(secure())) == 32
    assert draw_secret(secure()) != draw_secret(secure())
    assert draw_secret(seeded(1)) == draw_secret(seeded(1))
    assert repr(KeyedNoise(SECRET)) == "KeyedNoise(...)"
    with pytest.raises(InvalidArgument, match="32 bytes") as caught:
        KeyedNoise(b"short secret")
    assert "short" not in str(caught.value)
    with pytest.raises(InvalidArgument, match="scale"):
        KeyedNoise(SECRET).gaussian(2.0**31, ["a"], begin=0, end=1)
