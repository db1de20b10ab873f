"""Choose one of several public candidates: debit, draw, store, sign."""

from __future__ import annotations

from collections.abc import Sequence

from chronodp.errors import InvalidArgument
from chronodp.ledger import Dates, Ledger, check_ledger
from chronodp.privacy import Certificate, Claim, Guarantee, Unit, dump
from chronodp.randomness import Entropy, check_entropy
from chronodp.selection.choice import Choice, choice_text
from chronodp.selection.design import ChoiceDesign, design_choice
from chronodp.selection.mechanisms import ChoiceMechanism, PermuteAndFlip
from chronodp.selection.pick import pick
from chronodp.selection.score_gaps import check_utilities
from chronodp.selection.utilities import MonotoneUtilities, Utilities

__all__ = ["choose"]

_ARGUMENT = "docs/explanation/proofs/selection.md"


def choose(
    candidates: Sequence[str],
    utilities: Utilities | MonotoneUtilities,
    *,
    epsilon: float,
    unit: Unit,
    mechanism: ChoiceMechanism | None = None,
    purpose: str = "",
    ledger: Ledger,
    dataset: str,
    request: str,
    analyst: str = "",
    dates: Dates | None = None,
    entropy: Entropy | None = None,
) -> Choice:
    """Choose a candidate, likely one of the best; the same request again returns the same choice.

    P(chosen) falls by e^(-epsilon / 2) for each ``change`` of utility behind the best, by e^-epsilon if utilities are
    monotone.

    Guarantee: epsilon-differential privacy for ``unit``, exact in finite precision, if one unit changes utilities as
    their type and ``change`` say; by the exponential mechanism also an epsilon-bounded range, which a budget with a
    delta pays for by less (`BoundedRangeCost`). The debit is on disk before anything is drawn. The argument stands in
    ``docs/explanation/proofs/selection.md``.

    Args:
        candidates: public names, fixed without looking at the data.
        utilities: one number for each, as `Utilities` or, for counts under "added or removed", `MonotoneUtilities`.
        epsilon: of the guarantee.
        unit: who is protected.
        mechanism: PermuteAndFlip() unless told otherwise; ExponentialMechanism() or NoisyMax().
        purpose: what the utilities say, in words; part of the certificate.
        ledger: what pays.
        dataset: whose budget in it.
        request: an id of your choice, once for each choice. Under the same id other utilities are refused.
        analyst: whose part of the budget pays.
        dates: days of the data, for a budget that renews.
        entropy: of the draw; secure unless a test says otherwise.

    References:
        McKenna, Sheldon (2020), Permute-and-flip: a new mechanism for differentially private selection.

    >>> import pathlib, tempfile, chronodp as cdp
    >>> ledger = cdp.Ledger(pathlib.Path(tempfile.mkdtemp()) / "budget.db")
    >>> ledger.open("survey", unit=cdp.User(), epsilon=2.0)
    >>> votes = MonotoneUtilities([12, 85, 40], change=1)
    >>> made = choose(("red", "green", "blue"), votes, epsilon=1.0, unit=cdp.User(), ledger=ledger, dataset="survey",
    ...               request="colour", entropy=cdp.randomness.seeded(1))
    >>> made.winner, round(made.design.shortfall(0.99), 1)
    ('green', 5.3)
    >>> ledger.close_connection()
    """
    check_ledger(ledger)
    if not isinstance(utilities, Utilities | MonotoneUtilities):
        allowed = "Utilities(values, change) or MonotoneUtilities(values, change)"
        raise InvalidArgument("utilities", utilities, allowed, private=True)
    design = design_choice(
        PermuteAndFlip() if mechanism is None else mechanism,
        candidates,
        unit=unit,
        change=utilities.change,
        monotone=isinstance(utilities, MonotoneUtilities),
        epsilon=epsilon,
        purpose=purpose,
    )
    check_utilities(design, utilities)
    bits = check_entropy(entropy)

    def produce() -> tuple[str, Certificate]:
        return choice_text(design, pick(design, utilities, bits)), _certificate(design, seeded=bits.seeded)

    fulfilled = ledger.fulfil(
        dataset,
        request=request,
        cost=design.cost,
        unit=unit,
        plan=dump(design),
        source=ledger.keys.fingerprint(utilities.values.astype("<f8").tobytes(), of=("choice", dataset, request)),
        produce=produce,
        analyst=analyst,
        dates=dates,
    )
    return Choice(fulfilled.release, fulfilled.signed)


def _certificate(design: ChoiceDesign, *, seeded: bool) -> Certificate:
    among = f"one of {len(design.candidates):,} candidates"
    kind = "monotone" if design.monotone else "general"
    about = f" by {design.purpose}" if design.purpose else ""
    return Certificate(
        mechanism=f"{among}{about}; {design.mechanism}, {kind} utilities of change {design.change:g}",
        claim=Claim(design.unit, design.cost, _ARGUMENT),
        guarantee=Guarantee(design.unit, design.epsilon),
        theorem="definition (pure)",
        precision=f"utilities in whole steps of {design.step:g}; exact coins, slope rounded down",
        seeded=seeded,
    )
