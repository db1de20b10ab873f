"""Durable budgets: no release without a committed debit, none twice, and certificates that anyone can verify."""

from chronodp.ledger.budget import Budget
from chronodp.ledger.budgets import Entry
from chronodp.ledger.certificates import Link, SignedLink, registry_entry, verify, verify_chain
from chronodp.ledger.codec import Snapshot, StateCodec, framed_codec
from chronodp.ledger.debits import Charge, Spend
from chronodp.ledger.durable import DurableStream
from chronodp.ledger.keys import Keys
from chronodp.ledger.ledger import Ledger, check_ledger
from chronodp.ledger.requests import Fulfilled
from chronodp.ledger.restoring import Restored, restore
from chronodp.ledger.status import NativeSum, Status
from chronodp.ledger.stored import StoredRelease, StoredStream
from chronodp.ledger.streams import Opening, StreamState
from chronodp.ledger.witness import FileWitness, Witness

__all__ = [
    "Budget",
    "Charge",
    "DurableStream",
    "Entry",
    "FileWitness",
    "Fulfilled",
    "Keys",
    "Ledger",
    "Link",
    "NativeSum",
    "Opening",
    "Restored",
    "SignedLink",
    "Snapshot",
    "Spend",
    "StateCodec",
    "Status",
    "StoredRelease",
    "StoredStream",
    "StreamState",
    "Witness",
    "check_ledger",
    "framed_codec",
    "registry_entry",
    "restore",
    "verify",
    "verify_chain",
]
