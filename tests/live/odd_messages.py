"""Messages that someone might forge: JSON at its edges, cut, mutated, nested, doubled; from a seed."""

from __future__ import annotations

import json
import random

__all__ = ["FIELDS", "OddMessages"]

FIELDS: tuple[dict[str, str], ...] = (
    {"time": "at", "user": "who", "value": "kwh", "group": "place", "id": "id"},
    {"time": "at", "user": "who", "value": "kwh"},
    {"time": "at"},
    {"time": "at", "user": "who", "id": "who", "group": "at", "value": "at"},
    {"time": "zé it", "user": "w ho"},
    {"time": 'a"t', "user": "w\\ho"},
)
_NUMBERS = (
    *("0", "-0", "-0.0", "01", "-", "1.", ".5", "+1", "1e5", "1E+5", "1e400", "-1e400", "1e308", "1e-400", "5e-324"),
    *("9007199254740992", "9007199254740993", "-9007199254740993", "9223372036854775807", "9223372036854775808"),
    *("18446744073709551615", "18446744073709551616", f"1{'0' * 22}", f"1{'0' * 45}", f"1{'0' * 308}", f"1{'0' * 309}"),
    *("9" * 4000, "9" * 4001, "9" * 4300, "9" * 4301, "2.2250738585072011e-308", "0.30000000000000004", "1e22", "1e23"),
    *("NaN", "Infinity", "-Infinity", "1767225600.123456", "9007199254.740992", "9007199254.740993", "8.5e15", "1e10"),
    *("2305843009213693951", "2305843009213693952", "2305843009213.6939", "7", "7.0", "7.5", "-5", "--1", "1e5.5"),
)
_TEXTS = (
    *('"1"', '"1.5"', '" 2 "', '"nan"', '"True"', '"true"', '"7.0"', '"7.00"', '"0"', '""', '" "', '"ann"', '"north"'),
    *('"2026-01-01T00:00:00Z"', '"2026-01-01"', '"2026-03-29T02:30:00"', '"0001-01-01T00:00:00+14:00"', '"24:00"'),
    *('"9999-12-31T23:59:59"', '"10000-01-01"', '"\\u0061nn"', '"\\ud800"', '"\\udc00\\ud800"', '"\\ud83d\\ude00"'),
    *('"\\u00e9"', '"é"', '"😀"', '"\u2028"', '"\\n"', '"\\x"', '"\\u12"', '"a\\/b"', '"\x7f"', '"a\tb"', '"\x00"'),
    *('"\\u0000"', '"\ufeffx"', '"\\\\"', '"\\""', '"x', "'x'"),
)
_OTHERS = ("null", "true", "false", "nul", "[]", "{}", "[1]", '{"a":1}', "[1,]", '{"a":}', "{a:1}", "")
_PIECES = (b'"', b"\\", b"{", b"}", b"[", b"]", b",", b":", b"\xff", b"\xed\xa0\x80", b"\xc3", b"\n", b" ", b"0", b"e")
_GOOD = {"at": "1767225600.5", "kwh": "2.5", "place": '"north"'}


class OddMessages:
    """Makes messages with the given fields.

    Args:
        seed: of the choice.
        fields: names of the wanted fields.
    """

    def __init__(self, seed: int, fields: tuple[str, ...]) -> None:
        self._chance, self._fields = random.Random(seed), fields

    def make(self) -> bytes:
        """Return the next message."""
        chance = self._chance
        kind, good = chance.random(), chance.choice((0.5, 0.9, 1.0))
        objects = [self._object(good) for _ in range(chance.choice((0, 1, 2, 3, 3)))]
        if kind < 0.6:
            text = self._object(good)
        elif kind < 0.75:
            text = "[" + ",".join(objects * chance.choice((1, 1, 1, 90))) + "]"
        elif kind < 0.9:
            text = chance.choice(("\n", "\r\n", "\n\n", " \n")).join(objects)
        else:
            one = self._object(good)
            text = chance.choice(
                (self._cell(), "", "  ", f"{one}x", f" {one} ", one * 2, f'"x":"{one}', f"\ufeff{one}")
            )
        message = text.encode()
        return self._mutated(message) if chance.random() < 0.25 else message

    def _object(self, good: float) -> str:
        chance, items = self._chance, []
        for field in chance.sample(self._fields, k=len(self._fields)):
            usual = _GOOD.get(field, f'"ann{chance.randint(0, 30)}"')
            items.append(f"{self._key(field)}:{usual if chance.random() < good else self._cell()}")
            if chance.random() < 0.05:
                items.append(f"{self._key(field)} : {self._cell()}")
        if chance.random() < 0.2:
            items.insert(chance.randint(0, len(items)), f'"more":{self._cell()}')
        if chance.random() < 0.05:
            items.pop()
        return "{" + ",".join(items) + "}"

    def _key(self, field: str) -> str:
        kind = self._chance.random()
        if kind < 0.94:
            return json.dumps(field, ensure_ascii=kind < 0.5)
        return '"' + "".join(f"\\u{ord(sign):04x}" for sign in field) + '"'

    def _cell(self) -> str:
        chance = self._chance
        if chance.random() < 0.05:
            depth = chance.choice((3, 150, 199, 201, 300, 2_000, 100_000))
            return chance.choice(("[" * depth + "]" * depth, '{"a":' * depth + "1" + "}" * depth, "[" * depth))
        return chance.choice(chance.choice((_NUMBERS, _TEXTS, _OTHERS)))

    def _mutated(self, message: bytes) -> bytes:
        chance, changed = self._chance, bytearray(message)
        for _ in range(chance.randint(1, 3)):
            at = chance.randint(0, len(changed))
            size = chance.choice((0, 0, 1, 1, 3))
            changed[at : at + size] = chance.choice((b"", bytes([chance.randrange(256)]), chance.choice(_PIECES)))
        return bytes(changed)
