"""Signed messages, each bound to its run, round, attempt, phase, sender and model.

What every message carries, by "The protocol" in ``docs/explanation/proofs/secure-aggregation.md``. An envelope, numbers
with their greatest byte first:

    0 … 22       magic                       95           phase
    23 … 54      run                         96 … 159     sender, filled up with zeros
    55 … 58      round                       160 … 223    signature of all the rest
    59 … 62      attempt                     224 …        content
    63 … 94      digest of the parameters
"""

from __future__ import annotations

import struct

from chronodp.errors import MessageRefused
from chronodp.federated.aggregation.identity import Identity, signed_by
from chronodp.federated.aggregation.terms import Context, Phase, Terms

__all__ = ["HEADER_BYTES", "open_envelope", "seal", "sender_of"]

_MAGIC = b"chronodp aggregation 1\0"
_HEADER = struct.Struct(">23s32sII32sB64s")  # magic, run, round, attempt, parameters, phase, sender
_SIGNATURE = 64
HEADER_BYTES = _HEADER.size + _SIGNATURE  # what an envelope adds to its content


def seal(identity: Identity, sender: str, context: Context, phase: Phase, content: bytes) -> bytes:
    """Return content with a header that says where it belongs, signed."""
    header = _HEADER.pack(
        _MAGIC,
        context.run,
        context.round_number,
        context.attempt,
        context.parameters,
        phase,
        sender.encode().ljust(64, b"\0"),
    )
    return header + identity.sign(header + content) + content


def open_envelope(message: bytes, terms: Terms, context: Context, phase: Phase) -> tuple[str, bytes]:
    """Return who sent a message and its content; refused unless it is genuine and belongs here.

    Raises:
        MessageRefused: with the first thing that is wrong.
    """
    sender = sender_of(message)
    header, signature = message[: _HEADER.size], message[_HEADER.size : HEADER_BYTES]
    content = message[HEADER_BYTES:]
    _, run, round_number, attempt, parameters, sent_in, _ = _HEADER.unpack(header)
    public = dict(terms.roster).get(sender)
    if public is None:
        raise MessageRefused("a message comes from a holder that is not in the roster")
    for what, told, wanted in (
        ("run, or of a run with other terms", run, context.run),
        (f"round: {round_number}, not {context.round_number}", round_number, context.round_number),
        (f"attempt: {attempt}, not {context.attempt}", attempt, context.attempt),
        ("model: its sender started from other parameters", parameters, context.parameters),
        ("phase", sent_in, phase),
    ):
        if told != wanted:
            raise MessageRefused(f"a message of {sender} is of another {what}")
    if not signed_by(public, signature, header + content):
        raise MessageRefused(f"a message of {sender} was forged or changed on its way")
    return sender, content


def sender_of(message: bytes) -> str:
    """Return who a message says it is from; whether that is true is for `open_envelope` to tell."""
    if len(message) < HEADER_BYTES:
        raise MessageRefused("a message is too short to be one")
    magic, *_, name = _HEADER.unpack(message[: _HEADER.size])
    if magic != _MAGIC:
        raise MessageRefused("a message is not one of secure aggregation, or of another version")
    return bytes(name).rstrip(b"\0").decode("ascii", "replace")
