"""Changes of a text that keep some of its structure: flip, cut, repeat, splice, and odd things for its tokens."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

__all__ = ["ODD", "change"]

_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?[0-9][0-9.eE+-]*|[A-Za-z_][A-Za-z0-9_]*|[\[\]{}:,=/]')
_LONGEST = 200_000

ODD: tuple[bytes, ...] = (
    *(b"", b"0", b"-1", b"1.5", b"2147483648", b"9223372036854775808", b"18446744073709551616", b"1" + b"0" * 400),
    *(b"9" * 5000, b"1e999", b"-1e999", b"1e308", b"1e-320", b"-0.0", b"NaN", b"-Infinity", b"nan", b"inf"),
    *(b"null", b"true", b"{}", b"[]", b"[[]]", b'[{"kind":"user"}]', b'{"kind":"event","relation":"replace"}'),
    *(b'""', b'"x"', b'"\\ud800"', b'"\\u0000"', b'"' + b"a" * 3000 + b'"', b"[" * 3000, b'{"a":' * 3000),
    *(b"[" * 400 + b"]" * 400, b"a." * 400 + b"b=1\n", b"\x00", b"\xff\xfe", b"\xed\xa0\x80", b"\xef\xbb\xbf"),
    *(b"\n", b"\r", b"\xe2\x80\xa8", b'"', b"'", b"\\", b"=", b"://", b"%", b"\xd9\xa3", b"1_0", b"0x10", b"1h"),
    *(b"999999Y", b"2026-02-30", b"0001-01-01", b"9999-12-31T23:59:59.999999-23:59", b"1970-01-01T00:00:00+00:00"),
    *(b"Europe/Berlin", b"../x"),
)
"""Tokens that programs stumble over."""


def change(content: bytes, seeds: Sequence[bytes], chance: random.Random) -> bytes:
    """Return a text after one to four changes; ``seeds`` are others that parts are taken from."""
    for _ in range(chance.choice((1, 1, 2, 4))):
        at = chance.random()
        place = int(at * (len(content) + 1))
        end = place + chance.choice((1, 1, 2, 4, 16, 64))
        match chance.choice(("flip", "cut", "repeat", "splice", "replace", "insert")):
            case "flip" if content:
                place %= len(content)
                content = content[:place] + bytes([content[place] ^ 1 << chance.randrange(8)]) + content[place + 1 :]
            case "cut":
                content = content[:place] + content[end:]
            case "repeat":
                content = content[:end] + content[place:end] * chance.randrange(5) + content[end:]
            case "splice":
                other = chance.choice(seeds)
                content = content[:place] + other[int(at * len(other)) :]
            case "replace":
                if tokens := list(_TOKEN.finditer(content)):
                    token = chance.choice(tokens)
                    content = content[: token.start()] + chance.choice(ODD) + content[token.end() :]
            case "insert":
                content = content[:place] + chance.choice(ODD) + content[place:]
    return content[:_LONGEST]
