"""Noise that belongs to names: one path for each, whenever and with whatever others it is asked for."""

from __future__ import annotations

import hmac
import math
from typing import ClassVar

import numpy as np
import pytest
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.randomness import KeyedNoise, draw_secret, secure, seeded, slow
from chronodp.randomness.keystream import counter_mode, draw_words

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
    from dataclasses import replace

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
