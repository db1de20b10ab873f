"""Durable budgets: no release without a committed debit, none twice, and certificates that anyone can verify."""

from chronodp.ledger.budget import Budget
from chronodp.ledger.budgets import Entry
from chronodp.ledger.certificates import Link, SignedLink, registry_entry, verify, verify_chain
from chronodp.ledger.debits import Charge, Spend
from chronodp.ledger.keys import Keys
from chronodp.ledger.ledger import Ledger, check_ledger
from chronodp.ledger.packing import Form, Standing, packed
from chronodp.ledger.requests import Fulfilled
from chronodp.ledger.restoring import Restored, restore
from chronodp.ledger.running import Running
from chronodp.ledger.status import NativeSum, Status
from chronodp.ledger.stored import StoredRelease, StoredStream
from chronodp.ledger.streams import Opening, StreamState
from chronodp.ledger.witness import FileWitness, Witness

__all__ = [
    "Budget",
    "Charge",
    "Entry",
    "FileWitness",
    "Form",
    "Fulfilled",
    "Keys",
    "Ledger",
    "Link",
    "NativeSum",
    "Opening",
    "Restored",
    "Running",
    "SignedLink",
    "Spend",
    "Standing",
    "Status",
    "StoredRelease",
    "StoredStream",
    "StreamState",
    "Witness",
    "check_ledger",
    "packed",
    "registry_entry",
    "restore",
    "verify",
    "verify_chain",
]
