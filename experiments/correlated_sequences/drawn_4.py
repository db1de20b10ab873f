"""Figure 4 drawn: the error of realised states against noise and age, and least leakage within an error."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from experiments.correlated_sequences.chains import COUPLED
from experiments.correlated_sequences.errors import ALIKE, APART, States, drift, error, error_jointly, noise, variance
from experiments.correlated_sequences.figure_3 import LEVELS, exactly
from experiments.correlated_sequences.figure_4 import level, spread_of_couplings
from experiments.correlated_sequences.leakages import linear
from experiments.correlated_sequences.percent import percent
from experiments.figures import Curve, Figure, Level, Panel, Stated

__all__ = ["figures"]

Error = Callable[[States, int, float, float], float]

_BOTH = (APART, ALIKE)
_TIMES = (1, 2, 5, 10)
_AGES = tuple(range(11))
_BOUNDS = tuple(0.6 + 0.02 * step for step in range(21))
_OLDEST = 20
_ERROR = "mean squared error"
_ALLOWED = "allowed error γ_l"


def figures() -> list[Figure]:
    """Return the three panels."""
    return [_against_noise(), _against_age(), _against_error()]


def _against_noise() -> Figure:
    lower = {age: 1 - error(APART, age, 10.0) / error(ALIKE, age, 10.0) for age in _TIMES}
    joint = 1 - error_jointly(APART, 10, 10.0) / error_jointly(ALIKE, 10, 10.0)
    return Figure(
        name="correlated-4a",
        source="correlated",
        title="Fig. 4(a): error of realised states against ε_C",
        panels=[
            Panel(
                gallery=gallery,
                title=title,
                x_title="noise level ε_C",
                y_title=_ERROR,
                log_y=True,
                curves=[
                    Curve(
                        name=f"states {states}, t = {age}, {name}",
                        x=LEVELS,
                        y=[of(states, age, epsilon, 0.75) for epsilon in LEVELS],
                        style="dashed" if age > (1 if states == APART else 5) else "line",
                    )
                    for states in _BOTH
                    for age in _TIMES
                ],
                stated=[Stated(claim="C50", x=10, y=0.6 * of(ALIKE, age, 10.0, 0.75)) for age in _TIMES],
            )
            for gallery, title, name, of in _LAWS
        ],
        paper_caption=f"At ε_C = 10 the states (1, 0) err {percent(lower[1], 1)} less than (1, 1) at t = 1 and "
        f"{percent(lower[10])} less at t = 10; open markers show 40 % below (1, 1) at each t, and only that of t = 1 "
        "is near its curve. From t = 2 on the curves of (1, 0), dashed, lie nearly on that of t = 1, and t = 10 of "
        "(1, 1) on t = 5.",
        found_caption="With the joint law of the two present states the order is the same: (1, 0) errs "
        f"{percent(joint)} less at t = 10. The dashed curves lie nearly on others here too.",
    )


def _against_age() -> Figure:
    higher = error(ALIKE, 10, 1.0) / error(APART, 10, 1.0) - 1
    apart = {age: spread_of_couplings(APART, age) for age in (1, 2)}
    stays, remain = (spread_of_couplings(states, 10, jointly=True) for states in (ALIKE, APART))
    return Figure(
        name="correlated-4b",
        source="correlated",
        title="Fig. 4(b): error of realised states against age, ε_C = 1",
        panels=[
            Panel(
                gallery=gallery,
                title=f"{title[: title.index(',')]}, ε_C = 1",
                x_title="age t",
                y_title=_ERROR,
                curves=[
                    Curve(
                        name=f"states {states}, λ = {c:g}, {name}",
                        x=_AGES,
                        y=[of(states, age, 1.0, c) for age in _AGES],
                        style="dashed" if gallery == "found" or c > COUPLED[0] else "line",
                    )
                    for states in _BOTH
                    for c in COUPLED
                ],
                stated=[Stated(claim="C52", x=10, y=1.4 * of(APART, 10, 1.0, 0.75))],
                levels=[Level(claim="C53", at=2, axis="x", label="couplings of (1, 0) meet")],
            )
            for gallery, title, name, of in _LAWS
        ],
        paper_caption=f"At t = 10 the states (1, 1) err {percent(higher, 3)} more than (1, 0), on the open marker of "
        f"40 %. The three couplings of (1, 0) are {percent(apart[1], 1)} apart at t = 1 and {percent(apart[2], 2)} at "
        "t = 2; those of (1, 1) are one curve at every t: λ = 0.75 and 1, dashed, lie under λ = 0.5.",
        found_caption="By the joint law of the two present states, dashed, couplings do not meet: they stay "
        f"{percent(stays, 1)} apart at t = 10 for (1, 1), and {percent(remain, 1)} for (1, 0).",
    )


def _against_error() -> Figure:
    apart, alike = level(APART, 0.6), level(ALIKE, 0.6)
    public = noise(0.6, drift(0.75, _OLDEST))
    ages = tuple(range(_OLDEST + 1))
    return Figure(
        name="correlated-4c",
        source="correlated",
        title="Fig. 4(c): least leakage and its ε_C within an allowed error, t = 20",
        panels=[
            Panel(
                gallery="paper",
                title="Least leakage by (15), t = 20",
                x_title=_ALLOWED,
                y_title="least leakage ε_S",
                log_y=True,
                curves=[
                    Curve(
                        name=f"states {states}, (15)",
                        x=_BOUNDS,
                        y=[linear(0.75, _OLDEST, level(states, bound)) for bound in _BOUNDS],
                    )
                    for states in _BOTH
                ],
                stated=[Stated(claim="C57", x=0.6, y=0.7 * linear(0.75, _OLDEST, alike))],
            ),
            Panel(
                gallery="paper",
                title="Its ε_C, set by the realised states",
                x_title=_ALLOWED,
                y_title="noise level ε_C",
                curves=[
                    Curve(name=f"states {states}", x=_BOUNDS, y=[level(states, bound) for bound in _BOUNDS])
                    for states in _BOTH
                ],
                stated=[
                    Stated(claim="C55", x=0.6, y=1.49),
                    Stated(claim="C55", x=1.0, y=0.89),
                    Stated(claim="C56", x=0.6, y=1.03),
                    Stated(claim="C56", x=1.0, y=0.76),
                ],
            ),
            Panel(
                gallery="found",
                title="Noise set from the law, and what it leaks exactly, t = 20",
                x_title=_ALLOWED,
                y_title="noise level ε_C",
                right_title="exact leakage ε_S",
                log_right=True,
                curves=[
                    Curve(
                        name="ε_C from the law", x=_BOUNDS, y=[noise(bound, drift(0.75, _OLDEST)) for bound in _BOUNDS]
                    ),
                    Curve(
                        name="its exact leakage (right axis)",
                        x=_BOUNDS,
                        y=[exactly(0.75, _OLDEST, noise(bound, drift(0.75, _OLDEST))) for bound in _BOUNDS],
                        style="dotted",
                        right=True,
                    ),
                ],
                levels=[Level(claim="C45", at=variance(0.75), axis="x", label="a constant errs by this")],
            ),
            Panel(
                gallery="found",
                title="Least leakage against age, allowed error 0.6",
                x_title="age t",
                y_title=_LEAST,
                log_y=True,
                curves=[
                    *(
                        Curve(
                            name=f"states {states}, (15)",
                            x=ages,
                            y=[linear(0.75, age, level(states, 0.6, age)) for age in ages],
                        )
                        for states in _BOTH
                    ),
                    Curve(
                        name="from the law, exact",
                        x=ages,
                        y=[exactly(0.75, age, noise(0.6, drift(0.75, age))) for age in ages],
                        style="dashed",
                    ),
                ],
                levels=[Level(claim="C58", at=_OLDEST, axis="x", label="best age")],
            ),
        ],
        paper_caption="The stated noise levels lie on the curves: 1.49 and 0.89 on that of the states (1, 1), 1.03 "
        f"and 0.76 on that of (1, 0). At γ_l = 0.6 the states (1, 0) leak {percent(1 - apart / alike, 1)} less by "
        "(15).",
        found_caption=f"Noise set from the law of the chain, as a mechanism must, has ε_C = {public:.4f} at γ_l = "
        f"0.6, between the two. A constant errs by {variance(0.75):.4f} and tells nothing. Leakage falls with every "
        "step of age, so that the best age is the largest offered.",
    )


_LEAST = "leakage ε_S at the least ε_C"
_LAWS: tuple[tuple[Literal["paper", "found"], str, str, Error], ...] = (
    ("paper", "Present states independent given the aged ones, λ = 0.75", "independent", error),
    ("found", "By the joint law, λ = 0.75", "joint law", error_jointly),
)
