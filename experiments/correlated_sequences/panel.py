"""A panel of vital signs, binned: what a model fitted to one half of the patients says of releases about the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated import CouplingMarkovChain, Leakage, LeakageModel, Mean, leakage, simulate
from chronodp.correlated.fit import fit
from experiments.correlated_sequences.figure_3 import Curve
from experiments.verdicts import Verdict

SIGNS = ("HR", "O2Sat", "SBP", "Resp")
EDGES = {"HR": (75.0, 95.0), "O2Sat": (95.0, 98.0), "SBP": (110.0, 135.0), "Resp": (16.0, 22.0)}
HOURS = 12
AGES = (0, 1, 2, 4, 8)


def check(data: Path | None) -> list[Verdict]:
    series = _made_up() if data is None else read(data)
    gauge = LeakageModel(fit(series[::2], states=3).model)
    found = [leakage(gauge, query=Mean(), ages=age, epsilon=1.0) for age in AGES]
    held_out = fit(series[1::2], states=3).model
    other = leakage(LeakageModel(held_out), query=Mean(), ages=4, epsilon=1.0)
    falls = ", ".join(f"{one.exact:.3f}" for one in found)
    name = "made-up vitals" if data is None else "vitals"
    return [
        Verdict(
            f"{name}, {len(series):,} patients, mean of {len(SIGNS)} signs in 3 bins, ε_C = 1, ages {AGES}: "
            "ageing protects the present",
            "leakage decays with age",
            f"{falls}; about the record 1 at every age",
            "holds" if _sinks(found) else "false",
        ),
        Verdict(
            f"{name}: a model of one half of the patients serves for the other",
            "(not in the paper)",
            f"at age 4: {found[3].exact:.3f} by the one, {other.exact:.3f} by the other",
            "holds" if abs((found[3].exact or 0.0) - (other.exact or 0.0)) < 0.1 else "false",
        ),
    ]


def curves(data: Path | None) -> dict[str, list[Curve]]:
    gauge = LeakageModel(fit((_made_up() if data is None else read(data))[::2], states=3).model)
    ages = [float(age) for age in range(9)]
    known = [leakage(gauge, query=Mean(), ages=int(age), epsilon=1.0) for age in ages]
    blind = [leakage(gauge, query=Mean(), ages=int(age), epsilon=1.0, adversary="knows_none") for age in ages]
    return {
        "Vitals: leakage against age, ε_C = 1": [
            ("all others known", ages, [one.certified for one in known]),
            ("nothing else known", ages, [one.certified for one in blind]),
            ("record", ages, [one.record for one in known]),
        ]
    }


def read(path: Path) -> NDArray[np.int64]:
    """Return the first hours of every patient who has them, gaps carried forward, as patients × hours × signs."""
    import pandas as pd

    table = pd.read_csv(path)
    person = next(name for name in table.columns if name.lower() in ("patient", "patient_id", "id", "pid"))
    table[list(SIGNS)] = table.groupby(person)[list(SIGNS)].ffill()
    known = table.dropna(subset=list(SIGNS))
    kept = known.groupby(person).head(HOURS)
    full = kept[kept.groupby(person)[person].transform("size") == HOURS]
    binned = np.stack([np.digitize(full[sign].to_numpy(), EDGES[sign]) for sign in SIGNS], axis=1)
    return binned.reshape(-1, HOURS, len(SIGNS)).astype(np.int64)


def _made_up(patients: int = 400) -> NDArray[np.int64]:
    sticky = np.array([[0.85, 0.1, 0.02], [0.13, 0.8, 0.13], [0.02, 0.1, 0.85]])
    coupling = 0.85 * np.eye(4) + 0.05 * (1 - np.eye(4))
    return simulate(CouplingMarkovChain(sticky, coupling), HOURS, seed=7, runs=patients)


def _sinks(found: list[Leakage]) -> bool:
    values = [one.certified for one in found]
    return values == sorted(values, reverse=True)
