"""Durable budgets: no release without a committed debit, none twice, and certificates that anyone can verify."""

from chronodp.ledger.accounts import now as now
from chronodp.ledger.address import open_store as open_store
from chronodp.ledger.askers import asked_by as asked_by, asker as asker, asker_of as asker_of
from chronodp.ledger.budget import Budget, Dates as Dates, Part as Part, Renewal as Renewal
from chronodp.ledger.budgets import Entry, place_after as place_after
from chronodp.ledger.certificates import (
    BEGINNING as BEGINNING,
    Link,
    SignedLink,
    check_labels as check_labels,
    check_signed as check_signed,
    digest as digest,
    sign as sign,
    verify,
    verify_chain,
)
from chronodp.ledger.chain_file import chain_pieces as chain_pieces
from chronodp.ledger.choices import Produce as Produce, Staged as Staged
from chronodp.ledger.claims import ClaimCount as ClaimCount
from chronodp.ledger.codec import (
    Snapshot as Snapshot,
    StateCodec as StateCodec,
    frame_head as frame_head,
    framed_codec as framed_codec,
    unframe as unframe,
)
from chronodp.ledger.debits import Charge as Charge, Spend
from chronodp.ledger.durable import DurableStream as DurableStream
from chronodp.ledger.feeding import (
    Feeding as Feeding,
    Gap as Gap,
    feeding_path as feeding_path,
    read_feeding as read_feeding,
    write_feeding as write_feeding,
)
from chronodp.ledger.files import (
    is_arrow_file as is_arrow_file,
    load_release as load_release,
    release_pieces as release_pieces,
    save_release as save_release,
    verify_file as verify_file,
)
from chronodp.ledger.filters import ORDERS as ORDERS, Filter as Filter, Kind as Kind
from chronodp.ledger.keyfile import holds_keys as holds_keys
from chronodp.ledger.keys import Keys as Keys, check_public_key as check_public_key, check_signature as check_signature
from chronodp.ledger.ledger import Ledger, Wanted as Wanted, check_ledger as check_ledger, open_all as open_all
from chronodp.ledger.names import check_name as check_name
from chronodp.ledger.numbers import (
    MOST_CELLS as MOST_CELLS,
    MOST_LISTED as MOST_LISTED,
    PackedNumbers as PackedNumbers,
    Written as Written,
    check_parts as check_parts,
    list_or_pack as list_or_pack,
    numbers_in as numbers_in,
    numbers_within as numbers_within,
    pack as pack,
    read_numbers as read_numbers,
)
from chronodp.ledger.ownership import create_private as create_private, sync_folder as sync_folder
from chronodp.ledger.releases import Fulfilled as Fulfilled
from chronodp.ledger.restoring import Restored as Restored, restore
from chronodp.ledger.signed_release import SignedRelease as SignedRelease
from chronodp.ledger.spending import Spending as Spending, SpentDay as SpentDay
from chronodp.ledger.status import Status
from chronodp.ledger.store import Row as Row, Store as Store, Transaction as Transaction
from chronodp.ledger.stored import (
    ListedRelease as ListedRelease,
    Place as Place,
    StoredRelease as StoredRelease,
    StoredStream as StoredStream,
)
from chronodp.ledger.streams import Opening as Opening, StreamState as StreamState
from chronodp.ledger.tables import make_tables as make_tables
from chronodp.ledger.witness import FileWitness, Witness

__all__ = [
    "Budget",
    "Entry",
    "FileWitness",
    "Ledger",
    "Link",
    "SignedLink",
    "Spend",
    "Status",
    "Witness",
    "restore",
    "verify",
    "verify_chain",
]
