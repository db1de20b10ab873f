"""Everything chronodp can refuse, as one tree.

::

    ChronodpError
    ├── InvalidArgument        a parameter outside what is allowed            (also a ValueError)
    │   └── MissingBound       a sensitivity needs a bound nobody declared
    ├── UnknownDocument        a JSON document that is not one of ours        (also a ValueError)
    ├── UnsupportedCost        a theorem that says nothing about this cost    (also a ValueError)
    ├── MissingExtra           a library that only some need is not installed (also an ImportError)
    ├── SourceError            a table that cannot be used as asked; nothing was spent
    │   ├── UnreadableSource   no such file, or one that is damaged, half-written or of another format
    │   ├── UnknownColumn      the table has no column of that name
    │   └── UnsuitableColumn   a column of a type that cannot serve
    ├── LedgerError            the ledger refuses, and nothing was spent
    │   ├── UnknownBudget      no budget of that name is open
    │   ├── BudgetConflict     the name is taken by a budget with other terms
    │   ├── BudgetExhausted    the charge does not fit what is left
    │   ├── UnitMismatch       the cost protects another unit, or rests on an assumption not accepted
    │   ├── RequestConflict    the request id was used for something else, or was lost after its debit
    │   ├── StreamConflict     a step out of order, a finished stream, or one that was rewound
    │   │   └── UnknownStream  no stream of that name was opened
    │   └── LedgerUnavailable  locked, read-only, full, disconnected or of another format
    │       ├── KeysMismatch   the keys are missing, or those of another ledger
    │       ├── LedgerSetBack  an old copy: more was released than it knows
    │       └── TallyMismatch  a lifetime's tally is missing, was changed, or is older than its ledger
    ├── ServiceError           a curator refuses or cannot be reached; it says whether anything was spent
    │   ├── NotSignedIn        no token, or one that is unknown, expired or revoked
    │   ├── NotAllowed         the role or the owner's policy forbids it
    │   ├── NotFound           nothing of that name is there for this caller
    │   ├── TooManyCalls       more calls than the policy allows; wait and ask again
    │   └── ReleaseFailed      a release could not be made; the owner's log has its number
    ├── DeviceRefusal          a device does not answer; nothing was spent or reported
    ├── FederationError        a run across holders cannot go on as asked
    │   ├── AccessDenied       a token that is missing, unknown, expired or of another holder
    │   ├── MessageRefused     a message that was damaged, forged, replayed, or is of another run, round or phase
    │   ├── RoundConflict      a round that is over, or that this holder has shown its share of before
    │   ├── ServerInconsistent the server sent holders different things; nothing more is sent to it
    │   └── TooFewHolders      fewer holders answered than the threshold; the sum stays hidden
    └── CertificateInvalid     a certificate or chain that was not issued like this

One thing is no refusal: `UnreadRows` warns an owner before a release is paid.

Messages name the argument, what was given and what is allowed. They show public parameters only: where an
argument carries data about people, the message says its kind and never its value.
"""

from __future__ import annotations

from chronodp.display import shown

__all__ = [
    "AccessDenied",
    "BudgetConflict",
    "BudgetExhausted",
    "CertificateInvalid",
    "ChronodpError",
    "DeviceRefusal",
    "FederationError",
    "InvalidArgument",
    "KeysMismatch",
    "LedgerError",
    "LedgerSetBack",
    "LedgerUnavailable",
    "MessageRefused",
    "MissingBound",
    "MissingExtra",
    "NotAllowed",
    "NotFound",
    "NotSignedIn",
    "ReleaseFailed",
    "RequestConflict",
    "RoundConflict",
    "ServerInconsistent",
    "ServiceError",
    "SourceError",
    "StreamConflict",
    "TallyMismatch",
    "TooFewHolders",
    "TooManyCalls",
    "UnitMismatch",
    "UnknownBudget",
    "UnknownColumn",
    "UnknownDocument",
    "UnknownStream",
    "UnreadRows",
    "UnreadableSource",
    "UnsuitableColumn",
    "UnsupportedCost",
]


class ChronodpError(Exception):
    """The root of every error that chronodp raises on purpose. Names in its message are seen and not obeyed."""

    def __str__(self) -> str:
        return shown(super().__str__())


class InvalidArgument(ChronodpError, ValueError):
    """An argument lies outside what is allowed.

    Attributes:
        name: the argument, as the caller wrote it.
        allowed: what would have been accepted, and so what to change.

    With ``private`` the message tells the kind of what was given and nothing else of it. With ``place`` what was given
    names a file, and is told also of one that is not to be repeated.
    """

    def __init__(self, name: str, given: object, allowed: str, *, private: bool = False, place: bool = False) -> None:
        self.name = name
        self.allowed = allowed
        self._kind = "" if given is None or place else type(given).__name__
        described = _with_article(type(given).__name__) if private else _describe(given)
        # Of what is missing there is nothing to tell.
        got = "" if given is None and allowed.startswith("given") else f"; got {described}"
        super().__init__(f"{name} must be {allowed}{got}")

    def concealed(self) -> InvalidArgument:
        """Return the same refusal without the value: what was given stands in a file, which is not repeated."""
        fresh = InvalidArgument.__new__(type(self))
        fresh.name, fresh.allowed, fresh._kind = self.name, self.allowed, self._kind
        if self._kind:
            fresh.args = (f"{self.name} must be {self.allowed}; got {_with_article(self._kind)}",)
        else:
            fresh.args = self.args
        return fresh

    def renamed(self, name: str) -> InvalidArgument:
        """Return the same refusal, concealed, under another name: where in a file what was given stands."""
        fresh = self.concealed()
        fresh.args = (name + str(fresh).removeprefix(self.name),)
        fresh.name = name
        return fresh


class MissingBound(InvalidArgument):
    """A sensitivity was asked for without the bound that makes it finite."""

    def __init__(self, name: str, why: str) -> None:
        self.name = name
        self.allowed = why
        self._kind = ""
        ChronodpError.__init__(self, f"{name} is missing: {why}")


class UnknownDocument(ChronodpError, ValueError):
    """A JSON document does not describe anything chronodp knows.

    ``of_file`` says the same without a word of the document, for one that stands in a file.
    """

    def __init__(self, message: str, *, of_file: str | None = None) -> None:
        self._of_file = of_file or message
        super().__init__(message)

    def concealed(self) -> UnknownDocument:
        """Return the same refusal without a word of the document."""
        return UnknownDocument(self._of_file)


class UnsupportedCost(ChronodpError, ValueError):
    """A composition theorem, or the rule of a budget, makes no statement about the cost it was given."""


class MissingExtra(ChronodpError, ImportError):
    """A library that only some need is not installed; the message has the command that installs it."""

    def __init__(self, library: str, extra: str) -> None:
        super().__init__(f"{library} is not installed: pip install 'chronodp[{extra}]'", name=library)


class SourceError(ChronodpError):
    """A table cannot be used as asked. Nothing was spent; the message names files and columns, never a value."""


class UnreadableSource(SourceError):
    """There is no such file, or it is damaged, half-written or of another format."""


class UnknownColumn(SourceError):
    """The table has no column of that name; the message tells the nearest, and of tables with a schema all others."""


class UnsuitableColumn(SourceError):
    """A column has a type that cannot serve as time, person, value or group."""


class UnreadRows(UserWarning):
    """Rows of a table that a release cannot read, or of which none counts. For the owner's eyes only.

    It comes before anything is spent: ``warnings.simplefilter("error", UnreadRows)`` stops such releases there. Nothing
    of it is published.
    """


class LedgerError(ChronodpError):
    """The ledger refuses. Nothing was spent by the call that raised it."""


class UnknownBudget(LedgerError):
    """No budget of that name is open; the message lists those that are."""


class BudgetConflict(LedgerError):
    """The name is taken by a budget with other terms, or the budget is closed."""


class BudgetExhausted(LedgerError):
    """The charge does not fit what is left; the message shows asked, spent, left and what would fit.

    Attributes:
        measure: what the budget's rule adds up.
        asked: how much of it the charge would take.
        spent: how much is spent.
        limit: how much may be spent.
        left: how much is left.
    """

    def __init__(
        self,
        message: str,
        *,
        measure: str = "",
        asked: float | None = None,
        spent: float | None = None,
        limit: float | None = None,
        left: float | None = None,
    ) -> None:
        self.measure, self.asked, self.spent, self.limit, self.left = measure, asked, spent, limit, left
        super().__init__(message)


class UnitMismatch(LedgerError):
    """The cost protects a unit that does not imply the budget's, or rests on an assumption it does not accept."""


class RequestConflict(LedgerError):
    """A request id was used before for something else, or was debited and lost before its release was stored."""


class StreamConflict(LedgerError):
    """A step out of order, a finished stream, a stream of another plan, or a ledger that was set back in time."""


class UnknownStream(StreamConflict):
    """No stream or alert of that name was opened in this ledger."""


class LedgerUnavailable(LedgerError):
    """The ledger cannot be used now: locked, read-only, full, disconnected, or of another format."""


class KeysMismatch(LedgerUnavailable):
    """The ledger's keys are not where they were looked for, or belong to another ledger; none are made silently."""


class LedgerSetBack(LedgerUnavailable):
    """The ledger is an old copy: its keys, or a witness, have seen more than it knows."""


class TallyMismatch(LedgerUnavailable):
    """The tally of a lifetime is not the one that its ledger vouches for: missing, changed, or an old copy."""


class ServiceError(ChronodpError):
    """A curator refuses, or cannot be reached.

    Attributes:
        argument: what to change, if it is one thing.
        mend: what to do about it.
    """

    def __init__(self, message: str, *, argument: str | None = None, mend: str = "") -> None:
        self.argument, self.mend = argument, mend
        super().__init__(message)


class NotSignedIn(ServiceError):
    """There is no token, or one that is unknown, expired or revoked."""


class NotAllowed(ServiceError):
    """The caller's role or the owner's policy forbids it. Nothing was read or spent."""


class NotFound(ServiceError):
    """Nothing of that name is there for this caller."""


class TooManyCalls(ServiceError):
    """More calls than the policy allows; wait and ask again."""


class ReleaseFailed(ServiceError):
    """A release could not be made; the owner's log has it under the number in the message."""


class DeviceRefusal(ChronodpError):
    """A device does not answer: its budget, state, plan, slot or value forbids it. Nothing was spent or told."""


class FederationError(ChronodpError):
    """A run across holders cannot go on as asked; the message says whether it can be taken up again."""


class AccessDenied(FederationError):
    """A token is missing, unknown, expired or belongs to another holder."""


class MessageRefused(FederationError):
    """A message was damaged, forged or replayed, or belongs to another run, round, phase or model."""


class RoundConflict(FederationError):
    """A round is over, or this holder has taken part in it before and would tell about one update twice."""


class ServerInconsistent(FederationError):
    """The server told holders different things about who takes part, so nothing more is told to it."""


class TooFewHolders(FederationError):
    """Fewer holders answered than the threshold; the round is aborted and its sum stays hidden."""


class CertificateInvalid(ChronodpError):
    """A certificate, signature or chain is not what its issuer signed; the message names the fault."""


def _with_article(kind: str) -> str:
    return f"{'an' if kind[:1] in tuple('aeiouAEIO') else 'a'} {kind}"


def _describe(given: object) -> str:
    kind = type(given).__name__
    if isinstance(given, str | int | float | bool) or given is None:
        text = repr(given)
        return f"{text if len(text) <= 60 else text[:57] + '...'} ({kind})"
    if isinstance(given, tuple) and all(isinstance(part, int | float) for part in given) and len(given) <= 8:
        return repr(given)
    return f"a {kind}"
