"""Figure 5 drawn: least leakage within an allowed error, by method."""

from __future__ import annotations

from typing import Literal

from experiments.correlated_sequences.chains import chain
from experiments.correlated_sequences.errors import noise
from experiments.correlated_sequences.figure_3 import exactly
from experiments.correlated_sequences.figure_5 import age_dependent, dropped, level_at, linearised
from experiments.correlated_sequences.leakages import dependent, linear
from experiments.correlated_sequences.percent import percent
from experiments.figures import Curve, Figure, Panel, Stated

__all__ = ["figures"]

Gallery = Literal["paper", "found"]

_BOUNDS = tuple(0.6 + 0.02 * step for step in range(21))
_ALLOWED = "allowed error l"
_LEAKAGE = "leakage ε_S"


def figures() -> list[Figure]:
    """Return both of its panels, in both galleries."""
    truth, plain = exactly(0.5, 10, level_at(0.8)), noise(0.8, 0.0)
    return [
        Figure(
            name="correlated-5",
            source="correlated",
            title="Fig. 5: least leakage within an allowed error, λ = 0.5",
            panels=[_unaged("paper"), _aged("paper"), _unaged("found"), _aged("found")],
            paper_caption=f"At l = 0.8 the linearised age-dependent curve is at {linearised(0.8):.2e} and (15) "
            f"without its d(2) at {dropped(0.8):.2e}, on the open markers; (15) itself, dashed, lies on the "
            f"age-dependent curve. Without age plain and dependent privacy are at {plain:.3f} and "
            f"{dependent(chain(0.5), plain):.3f}, ten times their markers.",
            found_caption=f"Exact leakage at l = 0.8 is {truth:.2e}, above the marker of C61 and "
            f"{percent(1 - truth / linearised(0.8))} below the linearised curve; Proposition 1 gives "
            f"{age_dependent(0.8):.2e}. Without age exact leakage, dashed, lies on plain Laplace noise.",
        )
    ]


def _unaged(gallery: Gallery) -> Panel:
    curves = [
        Curve(name="DP: plain Laplace", x=_BOUNDS, y=[noise(bound, 0.0) for bound in _BOUNDS]),
        Curve(name="DDP: dependent", x=_BOUNDS, y=[dependent(chain(0.5), noise(bound, 0.0)) for bound in _BOUNDS]),
    ]
    if gallery == "found":
        exact = [exactly(0.5, 0, noise(bound, 0.0)) for bound in _BOUNDS]
        curves.append(Curve(name="exact leakage", x=_BOUNDS, y=exact, style="dashed"))
    return Panel(
        gallery=gallery,
        title="t = 0",
        x_title=_ALLOWED,
        y_title=_LEAKAGE,
        log_y=True,
        curves=curves,
        stated=[Stated(claim="C62", x=0.8, y=8.0e-2), Stated(claim="C63", x=0.8, y=8.1e-2)],
    )


def _aged(gallery: Gallery) -> Panel:
    by_theorem = [linear(0.5, 10, level_at(bound)) for bound in _BOUNDS]
    curves = [
        Curve(name="ADP, linearised", x=_BOUNDS, y=[linearised(bound) for bound in _BOUNDS]),
        Curve(name="CSDP, (15)", x=_BOUNDS, y=by_theorem, style="dashed"),
    ]
    if gallery == "paper":
        curves.append(Curve(name="CSDP, (15) with d(2) dropped", x=_BOUNDS, y=[dropped(bound) for bound in _BOUNDS]))
    else:
        curves += [
            Curve(name="ADP, Proposition 1", x=_BOUNDS, y=[age_dependent(bound) for bound in _BOUNDS]),
            Curve(name="CSDP, exact leakage", x=_BOUNDS, y=[exactly(0.5, 10, level_at(bound)) for bound in _BOUNDS]),
        ]
    return Panel(
        gallery=gallery,
        title="t = 10",
        x_title=_ALLOWED,
        y_title=_LEAKAGE,
        log_y=True,
        curves=curves,
        stated=[Stated(claim="C60", x=0.8, y=9.0e-5), Stated(claim="C61", x=0.8, y=4.5e-5)],
    )
