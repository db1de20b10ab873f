"""What only the owner of a dataset knows: no ledger holds it, and a dossier never makes it up."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path

from chronodp.errors import InvalidArgument
from chronodp.settings import Setting, Settings, load_settings, text, texts

__all__ = ["ACCESS", "OWNER", "PRODUCTS", "SECTORS", "SOURCES", "UNKNOWN", "Owner", "load_owner"]

UNKNOWN = "not known to chronodp"
"""What a dossier says where the owner has said nothing."""

PRODUCTS = (
    "Summary statistics",
    "Machine learning model",
    "Dataset",
    "Synthetic data",
    "Interactive API",
    "SQL queries",
)
SECTORS = ("Technology", "Healthcare", "Education", "Government", "Energy", "Finance")
SOURCES = ("Static", "Dynamic")
ACCESS = ("Interactive", "Non-interactive")

_LONGEST = 5_000  # letters of one answer


@dataclass(frozen=True, slots=True)
class Owner:
    """What the owner says of a deployment. Everything may be left out; what is, is shown as not known.

    Attributes:
        name: of the deployment, as the public knows it.
        curators: who answers for the data.
        contact: where questions go.
        description: what is published, in a sentence or two.
        intended_use: what it is for.
        region: which region the data are about.
        sector: one of `SECTORS`.
        product: one of `PRODUCTS`.
        unit_of_measurement: of the released values, such as kWh.
        authors: who writes the record for a registry; the curators if not said.
        source: the address of the publication.
        collection: how the data were collected, and what people were told.
        access: who can see the data before noise, and how they are kept.
        exposure: what else is published about the same people, by whom.
        side_channels: what is done about time, memory and messages that could tell of the data.
        justification: why epsilon, delta and the unit are what they are.
        population: who is in the data, and about how many.
        preprocessing: what was done to the data before, and whether bounds were chosen by looking at them.
        source_type: whether the data change, one of `SOURCES`.
        access_type: whether others may ask for releases, one of `ACCESS`.
    """

    name: str = ""
    curators: tuple[str, ...] = ()
    contact: str = ""
    description: str = ""
    intended_use: str = ""
    region: str = ""
    sector: str = ""
    product: str = "Summary statistics"
    unit_of_measurement: str = ""
    authors: tuple[str, ...] = ()
    source: str = ""
    collection: str = ""
    access: str = ""
    exposure: str = ""
    side_channels: str = ""
    justification: str = ""
    population: str = ""
    preprocessing: str = ""
    source_type: str = ""
    access_type: str = ""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name in _LISTS:
                if not isinstance(value, tuple) or not all(isinstance(one, str) and one.strip() for one in value):
                    raise InvalidArgument(field.name, value, "a tuple of texts")
            elif not isinstance(value, str):
                raise InvalidArgument(field.name, value, "a text")
        for name, words in _WORDS.items():
            said = getattr(self, name)
            if said not in words and (said or name == "product"):
                raise InvalidArgument(name, said, f"one of {', '.join(words)}")

    def said(self, name: str) -> str:
        """Return what the owner says of one thing as a text, or that chronodp does not know it."""
        value = getattr(self, name)
        return (value if isinstance(value, str) else ", ".join(value)) or UNKNOWN


_LISTS = ("authors", "curators")
_WORDS = {"product": PRODUCTS, "sector": SECTORS, "source_type": SOURCES, "access_type": ACCESS}


def _setting(name: str) -> Setting:
    if name in _LISTS:
        return texts()
    said = text(longest=_LONGEST)
    return replace(said, schema={"enum": list(_WORDS[name])}) if name in _WORDS else said


OWNER: Settings = {field.name: _setting(field.name) for field in fields(Owner)}
"""What an owner's file may hold."""


def load_owner(path: str | Path) -> Owner:
    """Return what an owner's TOML file says; a key that is not known, or is of another kind, is refused.

    A file as short as this one is enough for a registry's record::

        name = "Load of Mill Town"
        curators = ["Mill Town Utility"]
        description = "Hourly load of households, by district."
        intended_use = "Planning of the grid"
        region = "Mill Town"
    """
    said = load_settings("owner", path, OWNER)
    with said.pointing():
        return Owner(**dict(said))
