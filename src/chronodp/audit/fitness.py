"""Whether a mechanism can be judged at all: what it returns depends on its input and on fresh randomness alone."""

from __future__ import annotations

from typing import Any

import numpy as np

from chronodp.audit.bounds import Counts, PointRule, refutes
from chronodp.audit.case import AuditCase, Unfit
from chronodp.audit.frozen import freeze
from chronodp.audit.outputs import Outputs, collect
from chronodp.audit.scores import learn
from chronodp.errors import InvalidArgument
from chronodp.randomness import Entropy, seeded

__all__ = ["check_output_varies", "check_replay", "check_stateless"]

_SEEDS = range(8)
_MOST = 20_000  # of a sample: a tenth more or fewer of one output is then seen but for one time in ten thousand
_ERROR = 1e-9  # the probability of blaming a mechanism that has no state


def check_replay(case: AuditCase) -> None:
    """Raise `Unfit` unless equal input and equal entropy give equal output, whatever was run before."""
    if not case.draws:
        return
    one, other = case.neighbours[0]
    try:
        for seed in _SEEDS:
            before = freeze(case.run(one, seeded(seed)))
            case.run(other, seeded(seed + len(_SEEDS)))
            if freeze(case.run(one, seeded(seed))) != before:
                raise Unfit(
                    "its output does not follow from data and entropy: it keeps state, or finds randomness elsewhere"
                )
    except InvalidArgument as error:
        raise Unfit("its outputs cannot be compared: they are no numbers, texts, tuples or arrays") from error


def check_output_varies(samples: tuple[Outputs, Outputs]) -> bool:
    """Return whether some input gives more than one output."""
    return any(len(set(part.labels())) > 1 for part in samples)


def check_stateless(case: AuditCase, pair: tuple[Any, Any], samples: tuple[Outputs, Outputs], entropy: Entropy) -> None:
    """Raise `Unfit` if outputs on an input drift, or change with what was run before.

    Only for mechanisms that find their randomness elsewhere; for all others `check_replay` is sharper.
    """
    if case.draws or case.many is not None:
        return
    size = min(len(samples[0]), _MOST)
    alternating = [case.run(pair[place % 2], entropy) for place in range(2 * size)]
    after_other = collect(alternating[::2])
    whole = samples[0]
    parts = (size // 2, size // 5)  # what changes early would hardly be seen among half of the outputs
    ends = [(whole.part(0, part), whole.part(len(whole) - part, None)) for part in parts]
    pairs = [(whole, after_other), *ends]
    for one, two in pairs:
        if _differ(one, two, _ERROR / len(pairs)):
            raise Unfit("it keeps state: its outputs on one input change with what was run before")


def _differ(one: Outputs, two: Outputs, error: float) -> bool:
    """Whether two samples surely have different laws: events are chosen on one half and tested on the other."""
    half = min(len(one), len(two)) // 2
    # Every other output, so that what drifts is in both halves.
    train, test = [(one.part(first, 2 * half, 2), two.part(first, 2 * half, 2)) for first in (0, 1)]
    scores = list(learn(*train))
    for _, score in scores:
        first, second = score(train[0]), score(train[1])
        cuts = np.unique(np.quantile(np.concatenate([first, second]), np.linspace(0, 1, 50), method="higher"))
        gaps = [float(np.mean(first >= cut) - np.mean(second >= cut)) for cut in cuts]
        cut = cuts[int(np.argmax(np.abs(gaps)))]
        hits = (int(np.count_nonzero(score(test[0]) >= cut)), int(np.count_nonzero(score(test[1]) >= cut)))
        each = error / len(scores) / 2
        if any(refutes(PointRule(0.0), 0.0, Counts(*pair, half), 1.0, each) for pair in (hits, hits[::-1])):
            return True
    return False
