"""Durable budgets: no release without a committed debit, none twice, and certificates that anyone can verify."""

from chronodp.ledger.budget import Budget
from chronodp.ledger.certificates import Link, SignedLink, registry_entry, verify, verify_chain
from chronodp.ledger.debits import Charge
from chronodp.ledger.keys import Keys
from chronodp.ledger.ledger import Entry, Ledger, check_ledger
from chronodp.ledger.requests import Fulfilled
from chronodp.ledger.status import NativeSum, Status
from chronodp.ledger.stored import StoredRelease, StoredStream
from chronodp.ledger.streams import Opening, StreamState
from chronodp.ledger.witness import FileWitness, Witness

__all__ = [
    "Budget",
    "Charge",
    "Entry",
    "FileWitness",
    "Fulfilled",
    "Keys",
    "Ledger",
    "Link",
    "NativeSum",
    "Opening",
    "SignedLink",
    "Status",
    "StoredRelease",
    "StoredStream",
    "StreamState",
    "Witness",
    "check_ledger",
    "registry_entry",
    "verify",
    "verify_chain",
]
