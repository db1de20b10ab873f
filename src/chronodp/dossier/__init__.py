"""Dossiers: what a ledger knows of its releases, for readers who have never heard of it. They spend nothing."""

from chronodp.dossier.facts import Facts as Facts, gather as gather
from chronodp.dossier.loss import Loss as Loss
from chronodp.dossier.owner import OWNER as OWNER, UNKNOWN as UNKNOWN, Owner, load_owner as load_owner
from chronodp.dossier.published import Published as Published
from chronodp.dossier.streams import PublishedStream as PublishedStream
from chronodp.dossier.verification import Verified as Verified, verify_dossier
from chronodp.dossier.writing import check_folder as check_folder, write_dossier, write_dossiers as write_dossiers
from chronodp.dossier.zipping import check_zip as check_zip, zip_folder as zip_folder

__all__ = ["Owner", "verify_dossier", "write_dossier"]
