"""A panel of vital signs, binned: what a model fitted to one half of the patients says of releases about the other."""

from __future__ import annotations

from functools import cache, partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from chronodp.correlated import CouplingMarkovChain, LeakageModel, Mean, leakage, simulate
from chronodp.correlated.exact import Adversary
from chronodp.correlated.fit import fit
from experiments.claims import Claim, Given, Pair, Tolerance, computation, equal, falling
from experiments.claims.computations import inverted
from experiments.correlated_sequences.row import added, row
from experiments.figures import Curve, Figure, Panel

__all__ = ["claims", "figures", "read"]

SIGNS = ("HR", "O2Sat", "SBP", "Resp")
EDGES = {"HR": (75.0, 95.0), "O2Sat": (95.0, 98.0), "SBP": (110.0, 135.0), "Resp": (16.0, 22.0)}
HOURS = 12
AGES = (0, 1, 2, 4, 8)

_MADE_UP = "400 patients of a chain of ours"


@computation(
    **{
        "inverse": inverted,
        "by the half": lambda f: lambda path, half, *rest: (1 + half) * f(path, half, *rest),
    }
)
def told(path: Path | None, half: int, age: int, adversary: Adversary = "knows_others") -> float:
    """Return what the mean sign of a patient, so many hours old, tells of the present, by a model of one half."""
    return _told(path, half, age, adversary)


def claims(given: Given) -> list[Claim]:
    """Return the rows on vital signs."""
    path = given.path("vitals")
    data = given.mark("vitals", _MADE_UP)
    return [
        row(
            id="N11",
            place="IV-C 1), on data of patients",
            says="ageing lowers what a release tells of the present",
            rule=falling,
            stated="falls with age",
            readings={"mean of four signs in three bins, ages 0 to 8": lambda: [told(path, 0, age) for age in AGES]},
            parameters="ours: the bins, ε_C = 1, hours 1 to 12 of each patient",
            data=data,
            files=("vitals",),
            note="about the record that was read it stays 1 at every age",
        ),
        added(
            id="N39",
            place="VII",
            says="a model fitted to one half of the patients serves for the other",
            rule=equal,
            stated="both halves give the same leakage",
            tolerance=Tolerance(absolute=0.1),
            readings={"age 4": lambda: [Pair(told(path, 0, 4), told(path, 1, 4))]},
            parameters="ours: the bins, ε_C = 1, hours 1 to 12 of each patient",
            data=data,
            files=("vitals",),
        ),
    ]


def figures(given: Given) -> list[Figure]:
    """Return leakage against age on vital signs."""
    tells = partial(told, given.path("vitals"), 0)
    ages = list(range(9))
    known, blind = [tells(age) for age in ages], [tells(age, "knows_none") for age in ages]
    return [
        Figure(
            name="correlated-vitals",
            source="correlated",
            title="Leakage about a patient's present against age, mean of four binned signs",
            panels=[
                Panel(
                    gallery="found",
                    title="A chain fitted to every second patient, ε_C = 1",
                    x_title="age (hours)",
                    y_title="leakage ε_S",
                    curves=[
                        Curve(name="all other signs known", x=ages, y=known),
                        Curve(name="nothing else known", x=ages, y=blind),
                        Curve(name="about the record that was read", x=ages, y=[1.0] * len(ages), style="dashed"),
                    ],
                )
            ],
            paper_caption="The paper has no data of patients.",
            found_caption=f"What is told of the present falls from {known[0]:.3f} to {known[-1]:.3f} in eight hours "
            f"if all other signs are known, and from {blind[0]:.3f} to {blind[-1]:.3f} if nothing is; the record that "
            "was read is told by 1 at every age.",
            data=given.mark("vitals", _MADE_UP),
            files=("vitals",),
        )
    ]


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


@cache
def _told(path: Path | None, half: int, age: int, adversary: Adversary) -> float:
    return leakage(_gauge(path, half), query=Mean(), ages=age, epsilon=1.0, adversary=adversary).certified


@cache
def _gauge(path: Path | None, half: int) -> LeakageModel:
    series = _made_up() if path is None else read(path)
    return LeakageModel(fit(series[half::2], states=3).model)


def _made_up(patients: int = 400) -> NDArray[np.int64]:
    sticky = np.array([[0.85, 0.1, 0.02], [0.13, 0.8, 0.13], [0.02, 0.1, 0.85]])
    coupling = 0.85 * np.eye(4) + 0.05 * (1 - np.eye(4))
    return simulate(CouplingMarkovChain(sticky, coupling), HOURS, seed=7, runs=patients)
