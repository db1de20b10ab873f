"""Changes of a text that keep some of its structure: flip, cut, repeat, splice, and odd things for its tokens."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

__all__ = ["KINDS", "ODD", "Edit", "apply", "random_edits"]

Kind = Literal["flip", "cut", "repeat", "splice", "replace", "insert"]
KINDS: tuple[Kind, ...] = get_args(Kind)
_TOKEN = re.compile(rb'"(?:[^"\\\n]|\\.)*"|-?[0-9][0-9.eE+-]*|[A-Za-z_][A-Za-z0-9_]*|[\[\]{}:,=/]')
_LONGEST = 200_000

ODD: tuple[bytes, ...] = (
    b"",
    b"0",
    b"-1",
    b"1.5",
    b"2147483648",
    b"9223372036854775808",
    b"18446744073709551616",
    b"1" + b"0" * 400,
    b"9" * 5000,
    b"1e999",
    b"-1e999",
    b"1e308",
    b"1e-320",
    b"-0.0",
    b"NaN",
    b"-Infinity",
    b"nan",
    b"inf",
    b"null",
    b"true",
    b"{}",
    b"[]",
    b"[[]]",
    b'[{"kind":"user"}]',
    b'{"kind":"event","relation":"replace"}',
    b'""',
    b'"x"',
    b'"\\ud800"',
    b'"\\u0000"',
    b'"' + b"a" * 3000 + b'"',
    b"[" * 3000,
    b'{"a":' * 3000,
    b"[" * 400 + b"]" * 400,
    b"a." * 400 + b"b=1\n",
    b"\x00",
    b"\xff\xfe",
    b"\xed\xa0\x80",
    b"\xef\xbb\xbf",
    b"\n",
    b"\r",
    b"\xe2\x80\xa8",
    b'"',
    b"'",
    b"\\",
    b"=",
    b"://",
    b"%",
    b"\xd9\xa3",
    b"1_0",
    b"0x10",
    b"1h",
    b"999999Y",
    b"2026-02-30",
    b"0001-01-01",
    b"9999-12-31T23:59:59.999999-23:59",
    b"1970-01-01T00:00:00+00:00",
    b"Europe/Berlin",
    b"../x",
)
"""Tokens that programs stumble over."""


@dataclass(frozen=True)
class Edit:
    """One change: where, as a part of the text, how much, and which odd token or other seed it takes."""

    kind: Kind
    at: float
    size: int
    pick: int


def apply(edits: Sequence[Edit], content: bytes, seeds: Sequence[bytes]) -> bytes:
    """Return a text after changes."""
    for edit in edits:
        place = int(edit.at * (len(content) + 1))
        end = place + edit.size
        match edit.kind:
            case "flip":
                changed = bytearray(content)
                if changed:
                    changed[place % len(changed)] ^= 1 << edit.pick % 8
                content = bytes(changed)
            case "cut":
                content = content[:place] + content[end:]
            case "repeat":
                content = content[:end] + content[place:end] * (edit.pick % 5) + content[end:]
            case "splice":
                other = seeds[edit.pick % len(seeds)]
                content = content[:place] + other[int(edit.at * len(other)) :]
            case "replace":
                tokens = list(_TOKEN.finditer(content))
                if tokens:
                    token = tokens[int(edit.at * len(tokens)) % len(tokens)]
                    content = content[: token.start()] + ODD[edit.pick % len(ODD)] + content[token.end() :]
            case "insert":
                content = content[:place] + ODD[edit.pick % len(ODD)] + content[place:]
    return content[:_LONGEST]


def random_edits(chance: random.Random) -> list[Edit]:
    """Return one to four changes."""
    return [
        Edit(chance.choice(KINDS), chance.random(), chance.choice((1, 1, 2, 4, 16, 64)), chance.randrange(1000))
        for _ in range(chance.choice((1, 1, 2, 4)))
    ]
