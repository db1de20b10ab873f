"""What is kept from others: keys, sealed states, addresses with passwords."""

from __future__ import annotations

import os
from pathlib import Path
from unittest.mock import patch

import numpy as np

import chronodp as cdp
from chronodp.federated.aggregation import Identity
from chronodp.federated.checkpoint import load_checkpoint, save_checkpoint
from chronodp.ledger import FileWitness, Keys
from chronodp.ledger.codec import frame_head, framed_codec
from chronodp.ledger.keyfile import create_keys, read_keys
from chronodp.privacy import dump
from chronodp.series.windowed import Uniform
from chronodp.series.windowed.design import WindowedDesign, design_windowed
from tests.fuzz.target import MARK, Target, loose

__all__ = [
    "NAMES",
    "make_address",
    "make_checkpoint",
    "make_identity",
    "make_keys",
    "make_packed",
    "make_sealed",
    "make_witness",
]

NAMES = ("keys", "witness", "identity", "checkpoint", "sealed", "packed", "address")


def make_keys(folder: Path) -> Target:
    file = folder / "keys.json"
    file.unlink(missing_ok=True)
    keys = create_keys(file, "an id").keys

    def door(content: bytes) -> None:
        file.write_bytes(content)
        read = read_keys(file)
        if read is not None:
            read.keys.unseal(keys.seal(b"x", "y"), "y")
            read.keys.sign(b"x")
            read.marks.read()

    return Target("keys", (file.read_bytes(), b'{"signing": "7346281=", "sealing": "7346281="}'), door, secret=b"")


def make_witness(folder: Path) -> Target:
    file = folder / "witness.json"

    def door(content: bytes) -> None:
        file.write_bytes(content)
        FileWitness(file).saw("a", FileWitness(file).newest("a") + 1)

    return Target("witness", (b'{"a": 3, "b": 5}',), door)


def make_identity(folder: Path) -> Target:
    file = folder / "identity.pem"
    file.unlink(missing_ok=True)
    Identity.create().save(file)

    def door(content: bytes) -> None:
        file.write_bytes(content)
        Identity.load(file)

    return Target("identity", (file.read_bytes(),), door, secret=b"")


def make_checkpoint(folder: Path) -> Target:
    file = folder / "checkpoint.npz"
    save_checkpoint(file, "task", 3, np.zeros(4, dtype=np.float32))

    def door(content: bytes) -> None:
        file.write_bytes(content)
        load_checkpoint(file, "task")

    return Target("checkpoint", (file.read_bytes(),), door)


def make_sealed(_folder: Path) -> Target:
    keys = Keys.create()

    def door(content: bytes) -> None:
        keys.unseal(loose(content), "stream")

    return Target("sealed", (keys.seal(MARK, "stream").encode(),), door, secret=b"")


def make_packed(_folder: Path) -> Target:
    """A stream's state once it is unsealed."""
    design = design_windowed(Uniform(), unit=cdp.Window(3), change=1.0, epsilon=1.0)
    form = framed_codec(WindowedDesign, lambda _: b"", lambda _, memory: memory)

    def door(content: bytes) -> None:
        form.decode(content)

    sealed = frame_head({"design": dump(design), "seeded": True}) + b"memory " + MARK
    return Target("packed", (sealed,), door, secret=b"")


def make_address(folder: Path) -> Target:
    """Addresses of databases lead to this machine alone, where nothing listens; paths lead into the folder."""
    nowhere = {"PGHOSTADDR": "127.0.0.1", "PGPORT": "1", "PGCONNECT_TIMEOUT": "2"}
    inside = folder / "addresses"
    inside.mkdir(exist_ok=True)

    def door(content: bytes) -> None:
        text = loose(content)
        if "://" not in text:
            text = f"{inside}/{text.replace('/', '_').replace(MARK.decode(), '')}"
        try:
            with patch.dict(os.environ, nowhere):
                cdp.Ledger(text, timeout=0.1).close_connection()
        finally:
            for made in inside.iterdir():
                made.unlink()

    seeds = (b"postgresql://ann:7346281@localhost:1/budget?application_name=x", b"mysql://a", b"budget.db")
    return Target("address", seeds, door, secret=b":" + MARK + b"@")
