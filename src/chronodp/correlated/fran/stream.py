"""FRAN as a stream: snapshots in, aged and noisy answers out, each on disk before it is published."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from numpy.typing import ArrayLike

from chronodp.correlated.ageing import Ages
from chronodp.correlated.chain import CouplingMarkovChain
from chronodp.correlated.exact import Adversary
from chronodp.correlated.fran.advance import advance
from chronodp.correlated.fran.design import FranDesign
from chronodp.correlated.fran.plan import design_fran
from chronodp.correlated.fran.present import ONE_RECORD, AboutThePresent
from chronodp.correlated.fran.promise import certificate_of, stated
from chronodp.correlated.fran.state import FranState, begin
from chronodp.correlated.leakage_model import LeakageModel
from chronodp.correlated.query import Query
from chronodp.ledger import DurableStream, Ledger, Snapshot, StateCodec, frame_head, unframe
from chronodp.privacy import Certificate, User, Window, dump, load
from chronodp.randomness import Entropy

__all__ = ["Fran", "FranAnswer"]


@dataclass(frozen=True, slots=True)
class FranAnswer:
    """What is released in one period. All of it is public.

    Attributes:
        period: its number, from 0.
        value: the answer: a number, an array for several queries, or None while nothing is old enough.
    """

    period: int
    value: Any


def _head(snapshot: Snapshot[FranDesign, FranState]) -> bytes:
    present = dump(stated(snapshot.design))
    return frame_head({"design": snapshot.plan, "present": present, "seeded": snapshot.seeded})


def _body(snapshot: Snapshot[FranDesign, FranState]) -> bytes:
    return snapshot.state.to_bytes(snapshot.design.states)


def _decode(sealed: bytes) -> Snapshot[FranDesign, FranState]:
    head, state = unframe(sealed)
    design = replace(load(head["design"], FranDesign), present=load(head["present"], AboutThePresent))
    return Snapshot(head["design"], design, FranState.from_bytes(state), bool(head["seeded"]))


class Fran(DurableStream[FranDesign, FranState]):
    """Releases a query of aged states with Laplace noise, period after period (freshness-regulated adaptive noise).

    Guarantee: all releases together are (``design.epsilon``, 0)-differentially private for the unit, whatever the
    data are; that is paid when the stream opens. If the data follow the model, one release reveals no more about the
    present than ``present`` says; that is written into the certificate and lowers no price. Ages and noise depend on
    public parameters only. The argument stands in ``docs/explanation/proofs/correlated.md``.

    Args:
        model: the chain, public or paid for; or a `LeakageModel` of it.
        query: Mean(), Sum(), WeightedSum((…)), Maximum() or Several((…)).
        ages: how many periods ago sequences are read, for all or for each.
        epsilon: of each release (ε_C), or several to be used in turn; or
        target: the most that one release may reveal about the present.
        adversary: against whom the target holds: 'knows_others' or 'knows_none'.
        unit: whom the price is for: Window(w, relation='replace') or User(relation='replace').
        horizon: how many periods; None if not known.
        ledger: what pays, once, when the stream opens; and where it lives.
        dataset: whose budget pays.
        name: of the stream.
        analyst: whose part of the budget pays.
        entropy: of the noise; secure unless a test says otherwise.

    References:
        Luo, Zhang, Xu, Chen, Huang, Correlated-sequence differential privacy, Algorithm 1.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> from chronodp.correlated import CouplingMarkovChain, Mean
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("ward", unit=cdp.Window(1, relation="replace"), epsilon=1.0)
    >>> model = CouplingMarkovChain([[0.7, 0.3], [0.3, 0.7]], [[0.75, 0.25], [0.25, 0.75]])
    >>> live = Fran(model, query=Mean(), ages=2, epsilon=1.0, ledger=ledger, dataset="ward", name="alarms")
    >>> [live.step(snapshot).value is None for snapshot in ([0, 1], [1, 1], [1, 0])]
    [True, True, False]
    >>> Fran.resume(ledger, "alarms").period, round(live.present.knows_others, 3)
    (3, 0.153)
    >>> ledger.close_connection()
    """

    codec = StateCodec(_body, _decode, _head)
    takes = ("design", FranDesign, "what design_fran(...) returns")

    def __init__(
        self,
        model: CouplingMarkovChain | LeakageModel,
        *,
        query: Query,
        ages: Ages,
        epsilon: float | tuple[float, ...] | None = None,
        target: float | None = None,
        adversary: Adversary = "knows_others",
        unit: Window | User = ONE_RECORD,
        horizon: int | None = None,
        ledger: Ledger,
        dataset: str,
        name: str,
        analyst: str = "",
        entropy: Entropy | None = None,
    ) -> None:
        design = design_fran(
            model,
            query=query,
            ages=ages,
            epsilon=epsilon,
            target=target,
            adversary=adversary,
            unit=unit,
            horizon=horizon,
        )
        self._open(design, ledger, dataset, name, analyst, entropy)

    @property
    def present(self) -> AboutThePresent:
        """What one release reveals about the present, if the data follow the model."""
        return stated(self.design)

    @property
    def certificate(self) -> Certificate:
        """What is promised for all releases together, and what the model says of the present beside it."""
        return certificate_of(self.design, seeded=self._seeded)

    def step(self, snapshot: ArrayLike) -> FranAnswer:
        """Take the states of one period, one a sequence, and release the answer about those that are old enough."""
        with self._lock:
            before = self._state
            after, released = advance(self.design, before, snapshot, self._entropy)
            self._commit(
                after, [None if released is None else released.tolist()], finished=after.step == self.design.horizon
            )
        if released is None:
            return FranAnswer(before.step, None)
        return FranAnswer(before.step, float(released[0]) if len(released) == 1 else released)

    def __repr__(self) -> str:
        return f"Fran({self.design.query}, {self.design.sequences} sequences, {self.period} periods)"

    @classmethod
    def _start(cls, design: FranDesign, entropy: Entropy) -> FranState:
        del entropy
        return begin(design)

    @classmethod
    def _plan(cls, design: FranDesign) -> str:
        return dump(replace(design, present=None))  # what is said beside the guarantee identifies no stream
