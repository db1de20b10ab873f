"""The planner of several queries: computes the error of every strategy from public numbers, and takes the least.

Its shares are checked by the ledger's own rule before the plan is handed out: "Finite precision" of
``docs/explanation/proofs/sharing-a-budget.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from chronodp.accounting import gaussian
from chronodp.alerts import AlertDesign, AlertPlan
from chronodp.dataset.aggregate import Aggregate
from chronodp.dataset.joint.alarms import SharedAlert
from chronodp.dataset.joint.plan import PlanTogether
from chronodp.dataset.joint.quantiles import SharedQuantiles
from chronodp.dataset.joint.searches import left_for_numbers, searches_for
from chronodp.dataset.joint.series import SharedSeries
from chronodp.dataset.joint.sharing import Part, Shareable
from chronodp.dataset.joint.spectra import SharedSpectrum
from chronodp.dataset.joint.strategies import Request, Strategy, strategies_for
from chronodp.dataset.query import Query
from chronodp.dataset.records import Records
from chronodp.errors import InvalidArgument
from chronodp.ledger import MOST_CELLS, Filter
from chronodp.postprocess import Law
from chronodp.privacy import LONGEST, check_delta, check_epsilon, check_number, check_positive, check_text
from chronodp.privacy.units import check_record_unit
from chronodp.series import Discover, Plan
from chronodp.spectrum import SpectrumPlan

__all__ = ["Together", "Weights", "plan_together"]

Together = Query[Plan] | Aggregate | AlertDesign | AlertPlan | SpectrumPlan | Shareable
"""What can be planned together."""
Weights = Sequence[float] | Mapping[str, float]

_NAME = "a name of 1 to 200 characters"
_HAIR = 1e-12  # left unspent, so that rounding in whoever adds the costs up cannot carry them over the guarantee


def plan_together(
    queries: Sequence[Together] | Mapping[str, Together],
    *,
    epsilon: float,
    delta: float = 0.0,
    weights: Weights | None = None,
) -> PlanTogether:
    """Return the plan for several queries about the same people with the least error within (epsilon, delta). Free.

    The error is the sum of the squared errors of all numbers, each with its query's weight. Shares have a closed form
    (`best_shares`); a query that follows from another's release is answered from it, for nothing, where that is better.

    Guarantee: everything released together is (epsilon, delta)-differentially private for the unit that all queries
    name. The argument stands in ``docs/explanation/proofs/sharing-a-budget.md``.

    Args:
        queries: a list, or a dictionary by name: queries of a `TimeSeries`, each period for itself, also with bounds to
            `Find`: what several are to find of the same rows is found once and paid once; `Aggregate`; an
            alert by its design and a spectrum by its plan, whose own price is replaced by a share; or anything that is
            `Shareable`. Errors of quantiles are those of ranks. An alert whose unit leaves open how long periods are,
            or in which zone, means what the others do: it is certified for that, and its ``change`` must be true of it.
        epsilon: of the guarantee for all of them together.
        delta: of the guarantee; 0 for a pure one.
        weights: how much the squared error of one number of each query counts. By default 1 / scale², where scale is
            the most that one unit adds to such a number: errors then count in people. Where a size is found, errors
            count in that size.

    >>> import chronodp as cdp
    >>> meters = cdp.TimeSeries("jan.parquet", time="read_at", user="meter_id", every="1h", start="2026-01-01",
    ...                         end="2026-01-31", unit=cdp.User(), max_periods=720)
    >>> load = meters.sum("kwh", clip=(0.0, 5.0))
    >>> plan = plan_together({"load": load, "total": load.total(every="1D")}, epsilon=1.0, weights=(1.0, 1.0))
    >>> plan.strategies[["strategy", "error"]].round(-8)
             strategy         error
    0  shared release  3.730000e+10
    1         optimal  4.560000e+10
    2           equal  7.780000e+10
    """
    whole_epsilon, whole_delta = check_epsilon(epsilon), check_delta(delta)
    named = _named(queries)
    shared = _with_one_meaning({name: _shareable(name, query) for name, query in named.items()})
    _check_units(shared)
    heavy = _weights(weights, shared)
    asked = tuple(Request(name, query, heavy[name]) for name, query in shared.items())
    searches = searches_for(shared, epsilon=whole_epsilon, delta=whole_delta)
    wholes: dict[Law, float] = {"laplace": whole_epsilon * (1 - _HAIR)}
    if whole_delta:
        wholes["gaussian"] = gaussian.mu_for(whole_epsilon, whole_delta) * (1 - _HAIR)
    found = [
        strategy
        for law, whole in wholes.items()
        for strategy in strategies_for(asked, law=law, whole=left_for_numbers(searches, law=law, whole=whole))
    ]
    if not found:
        raise InvalidArgument("delta", delta, "above 0: some query has no Laplace noise")
    found.sort(key=lambda strategy: (strategy.error, strategy.name))
    # Equal shares never have less error than the best ones, where there are such.
    chosen = next((strategy for strategy in found if strategy.name != "equal"), None)
    if chosen is None:
        name = next(one.name for one in asked if not one.weight)
        raise InvalidArgument("weights", 0.0, f"above 0 for {name!r}: no other release answers it; or leave it out")
    parts = {name: _part(shared[name], chosen, share) for name, share in chosen.shares.items()}
    spent = whole_delta if chosen.law == "gaussian" else 0.0
    others = tuple(strategy for strategy in found if strategy is not chosen)
    priced = tuple(search.priced(chosen, parts, whole=wholes[chosen.law]) for search in searches)
    plan = PlanTogether(asked, parts, chosen, others, whole_epsilon, spent, priced)
    _check_price(plan)
    _check_cells(plan)
    return plan


def _named(queries: object) -> dict[str, object]:
    if isinstance(queries, Mapping):
        named = dict(queries)
    elif isinstance(queries, Sequence) and not isinstance(queries, str | bytes):
        named = {str(number): query for number, query in enumerate(queries, start=1)}
    else:
        raise InvalidArgument("queries", queries, "a list of queries, or a dictionary of them by name")
    if not named:
        raise InvalidArgument("queries", "none", "at least one query")
    for name in named:
        if not check_text("name", name, _NAME).strip() or len(name) > 200:
            raise InvalidArgument("name", name, _NAME)
    return named


def _shareable(name: str, query: object) -> Shareable:
    match query:
        case Query(discover=Discover()):
            allowed = "public keys: find them by a plan of its own, then plan this by(...=release.keys)"
            raise InvalidArgument(f"by of query {name!r}", "Discover()", allowed)
        case Query(finds=((bound, _), *_)) if query.table.measure.asked_quantiles:
            # Its table holds the reference there, which is no bound.
            allowed = "given for quantiles: find it with a count, then plan this with .bounded(release.found)"
            raise InvalidArgument(f"{bound} of query {name!r}", "Find()", allowed)
        case Query(records=Records() as records) if query.table.measure.asked_quantiles:
            return SharedQuantiles(query.table, records)
        case Query(records=Records() as records):
            return SharedSeries(query.table, records, query.finds)
        case Aggregate():
            return SharedSeries(query.table, query.origin)
        case AlertDesign():
            return SharedAlert(query)
        case AlertPlan():
            return SharedAlert(query.design)
        case SpectrumPlan():
            return SharedSpectrum(query)
        case Shareable():
            return query
    allowed = "a query such as meters.sum(...), an Aggregate, an alert's design, a spectrum's plan, or Shareable"
    raise InvalidArgument(f"query {name!r}", query, allowed)


def _with_one_meaning(queries: Mapping[str, Shareable]) -> dict[str, Shareable]:
    """Give alerts, which have no grid of their own, the meaning that the other queries' units have on theirs."""
    said = [query.unit for query in queries.values() if query.unit.said]
    return {
        name: SharedAlert(replace(query.design, unit=check_record_unit("unit", said[0])))
        if isinstance(query, SharedAlert) and said and query.unit == said[0].unsaid()
        else query
        for name, query in queries.items()
    }


def _check_units(queries: Mapping[str, Shareable]) -> None:
    (first, one), *rest = queries.items()
    for name, other in rest:
        if other.unit != one.unit:
            allowed = f"for {one.unit}, as query {first!r}: one price can protect one unit only"
            raise InvalidArgument(f"unit of query {name!r}", str(other.unit), allowed)


def _weights(weights: object, queries: Mapping[str, Shareable]) -> dict[str, float]:
    if weights is None:
        return {name: query.scale**-2 for name, query in queries.items()}
    allowed = f"one number from 0 on for each of {', '.join(queries)}, not all 0"
    if isinstance(weights, Mapping):
        if set(weights) != set(queries):
            raise InvalidArgument("weights", f"for {', '.join(map(str, weights))}", allowed)
        listed = [weights[name] for name in queries]
    elif isinstance(weights, Sequence) and not isinstance(weights, str | bytes) and len(weights) == len(queries):
        listed = list(weights)
    else:
        raise InvalidArgument("weights", weights, allowed)
    checked = [check_number("weights", weight, allowed) for weight in listed]
    if min(checked) < 0 or not any(checked):
        raise InvalidArgument("weights", weights, allowed)
    for weight in filter(None, checked):
        check_positive("weights", weight)  # a share that is lost beside others cannot pay for anything
    return dict(zip(queries, checked, strict=True))


def _part(query: Shareable, strategy: Strategy, share: float) -> Part:
    part = query.at(strategy.law, share)
    if part is None:
        raise InvalidArgument("epsilon", share, f"such that {strategy.law} noise can be drawn for {query}")
    return part


def _check_cells(plan: PlanTogether) -> None:
    """Refuse what no ledger could store: all of it is one release, and spectra are listed in its text."""
    if plan.cells > MOST_CELLS:
        allowed = f"few enough for at most {MOST_CELLS:,} together: fewer keys, longer periods, or several releases"
        raise InvalidArgument("queries", f"{plan.cells:,} cells", allowed)
    spectra = sum(one.query.numbers for one in plan.asked if isinstance(one.query, SharedSpectrum))
    if spectra > LONGEST:
        allowed = f"spectra of at most {LONGEST:,} periods together: release some of them by themselves"
        raise InvalidArgument("queries", f"spectra of {spectra:,} periods", allowed)


def _check_price(plan: PlanTogether) -> None:
    """Let the ledger's own rule confirm that the parts cost no more than was asked for."""
    rule = Filter("gaussian" if plan.delta else "pure", plan.epsilon, plan.delta, 0.0)
    if not rule.fits((0,) * len(rule.ceilings), plan.cost):
        raise AssertionError("shares never add up to more than the whole")
