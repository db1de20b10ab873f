"""Fig. 5: total cost against the unit costs and against the window."""

from __future__ import annotations

from experiments.claims import Claim, Pair, Tolerance, equal, every, number, order, rising
from experiments.temporal_perturbation.costs import PAPERS, expected_part, measured_cost, total_cost
from experiments.temporal_perturbation.rows import row

__all__ = ["RELATIVE", "WINDOWS", "relative_costs", "rows"]

RELATIVE = tuple(tenth / 5 for tenth in range(1, 11))
WINDOWS = (10, 20, 40, 80, 160)
_PANELS = (
    ("L31a", "Fig. 5(a), V-B 1)", "missing", "Backward and Forward cost the same"),
    ("L31b", "Fig. 5(b), V-B 1)", "repeated", "Backward grows dearer, Forward stays"),
    ("L31c", "Fig. 5(c), V-B 1)", "empty", "Forward grows dearer, Backward stays"),
)


def rows() -> list[Claim]:
    """Return the rows of Fig. 5."""
    return [*(_relative(*panel) for panel in _PANELS), _windows()]


def relative_costs(name: str, relative: float) -> tuple[float, float, float]:
    """Return the unit costs of missing, repeated and empty values in windows, one of them varied."""
    costs = {"missing": 1.0, "repeated": 1.0, "empty": 1.0} | {name: relative}
    return costs["missing"], costs["repeated"], costs["empty"]


def _relative(claim: str, place: str, name: str, rivals: str) -> Claim:
    def cost(kind: str, relative: float) -> float:
        return total_cost(kind, 20, 5.0, *relative_costs(name, relative))

    def values() -> tuple[list[Pair], list[Pair], list[Pair]]:
        measured = [
            Pair(measured_cost(kind, 20, 5.0, *relative_costs(name, part)), cost(kind, part), f"{kind} at {part:g}")
            for kind in PAPERS
            for part in RELATIVE
        ]
        least = [
            Pair(cost("Threshold", part), min(cost("Backward", part), cost("Forward", part)), f"at {part:g}")
            for part in RELATIVE
        ]
        stays = {"missing": (), "repeated": ("Forward",), "empty": ("Backward",)}[name]
        flat = [
            Pair(cost(kind, part), cost(kind, RELATIVE[0]), f"{kind} at {part:g}")
            for kind in ("Threshold", *stays)
            for part in RELATIVE[1:]
        ]
        same = [Pair(cost("Backward", part), cost("Forward", part), f"at {part:g}") for part in RELATIVE]
        return measured, least, flat + same * (name == "missing")

    return row(
        id=claim,
        place=place,
        says=f"k = 20, ε = 5: whatever {name} values cost, Threshold stays as cheap and the cheapest; {rivals}; "
        "what is measured is what is expected",
        rule=every(equal, order, equal),
        stated=("measured as foretold", "Threshold below both", "what stays, and what is the same"),
        tolerance=Tolerance(relative=0.01),
        readings={"ten relative costs, runs of a million values": values},
        tokens=("0.2 to 2.0",),
    )


def _windows() -> Claim:
    def values(windows: tuple[int, ...]) -> tuple[list[float], list[Pair], list[float]]:
        rises = [total_cost("Threshold", window, 5.0) for window in windows]
        least = [
            Pair(total_cost("Threshold", window, 5.0), total_cost("Backward", window, 5.0), f"k = {window}")
            for window in windows
        ]
        other = [
            expected_part("Threshold", window, 5.0, "missing") + expected_part("Threshold", window, 5.0, "empty")
            for window in windows
        ]
        return rises, least, other

    return row(
        id="L32",
        place="Fig. 5(d), V-B 2)",
        says="ε = 5: all costs grow with the window, Threshold has the least and none but its delay",
        rule=every(rising, order, number),
        stated=("grows", "Threshold below the baselines", 0.0),
        tolerance=Tolerance(absolute=1e-9),
        readings={
            "k = 10 to 160": lambda: values(WINDOWS),
            "windows whose budget the plain mechanism reaches (k up to 33)": lambda: values((10, 20, 33)),
        },
        tokens=("10 to 160",),
        note="from k = 34 on only the extended mechanism reaches ε = 5, and that drops values",
    )
