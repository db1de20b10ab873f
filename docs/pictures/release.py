"""Draw the picture in the README: two weeks of a seeded release, beside what was added up before noise.

``python -m docs.pictures.release`` makes up a town, releases its load and writes ``docs/pictures/release.svg``. The
noise is seeded, so that the picture is always the same one; the town is made up, so that its truth may be shown.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Sequence
from datetime import datetime
from pathlib import Path

import chronodp as cdp
from chronodp.cli.town import END, START, write_town
from chronodp.randomness import seeded

__all__ = ["PICTURE", "draw"]

PICTURE = Path(__file__).with_suffix(".svg")
_HOUSEHOLDS, _EPSILON, _DELTA, _LARGEST = 6_000, 2.0, 1e-6, 3.0
_FIRST, _HOURS = 24 * 11, 24 * 14
_WIDTH, _HEIGHT = 880, 340
_LEFT, _RIGHT, _TOP, _BOTTOM = 64, 20, 88, 36
# The colours of the page of a release: light, and dark where the reader prefers it. The sheet is part of the picture.
_STYLE = """
.sheet { fill: #ffffff } .ink { fill: #1d2329 } .soft { fill: #56616c } .rule { stroke: #dfe3e7 }
.band { fill: #0072b2; fill-opacity: 0.22 } .line { stroke: #0072b2 } .truth { stroke: #d55e00 }
@media (prefers-color-scheme: dark) {
.sheet { fill: #1a2027 } .ink { fill: #e6eaee } .soft { fill: #a3aeb9 } .rule { stroke: #313a44 }
.band { fill: #56b4e9 } .line { stroke: #56b4e9 } }
text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif }
.title { font-size: 19px; font-weight: 620 }
path { fill: none; stroke-linejoin: round; stroke-width: 1.8 } .truth { stroke-width: 1 }
"""


def draw() -> str:
    """Return the picture as SVG."""
    times, values, lower, upper, truth = _released()
    top = 1_000 * (int(max(upper)) // 1_000 + 1)

    def across(index: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * index / (_HOURS - 1)

    def along(series: Iterable[tuple[int, float]]) -> str:
        return " ".join(f"{across(index):.1f},{_up(value, top):.1f}" for index, value in series)

    band = along([*enumerate(upper), *reversed(list(enumerate(lower)))])
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="t d">',
        f'<title id="t">Electricity of {_HOUSEHOLDS:,} made-up households, by the hour</title>',
        '<desc id="d">A released line in its 95 % band, over the sums before noise, which it follows.</desc>',
        f"<style>{_STYLE}</style>",
        f'<rect class="sheet" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
        _text(20, 34, "ink title", f"Electricity of {_HOUSEHOLDS:,} made-up households, kWh by the hour"),
        _text(
            20, 58, "soft", f"(ε, δ) = ({_EPSILON:g}, {_DELTA:g}) for everything of one household over all of January"
        ),
        _key(540, "line", "released, in its 95 % band"),
        _key(756, "truth", "before noise"),
    ]
    for level in range(0, top + 1, 2_000):
        height = _up(level, top)
        parts.append(f'<path class="rule" d="M{_LEFT} {height:.1f}H{_WIDTH - _RIGHT}"/>')
        parts.append(_text(_LEFT - 8, height + 4.5, "soft", f"{level:,}", anchor="end"))
    for index, moment in enumerate(times):
        if moment.hour == 0 and moment.day % 2 == 0:
            parts.append(_text(across(index), _HEIGHT - 14, "soft", f"{moment:%a} {moment.day}", anchor="middle"))
    parts.append(f'<polygon class="band" points="{band}"/>')
    parts.append(f'<path class="line" d="M{along(enumerate(values))}"/>')
    parts.append(f'<path class="truth" d="M{along(enumerate(truth))}"/>')
    return "\n".join([*parts, "</svg>", ""])


def _released() -> tuple[list[datetime], Sequence[float], Sequence[float], Sequence[float], Sequence[float]]:
    """Release the town's load; return two weeks of times, values, bounds, and sums before noise."""
    import pandas as pd

    with tempfile.TemporaryDirectory() as folder:
        town = Path(folder) / "town.parquet"
        write_town(town, households=_HOUSEHOLDS, progress=lambda _: None)
        meters = cdp.TimeSeries(
            town, time="read_at", user="meter_id", every="1h", start=START, end=END, unit=cdp.User(), max_periods=744
        )
        plan = meters.sum("kwh", clip=(0.0, _LARGEST)).plan(epsilon=_EPSILON, delta=_DELTA)
        with cdp.Ledger(Path(folder) / "budget.db") as ledger:
            ledger.open("town", unit=cdp.User(), epsilon=_EPSILON, delta=_DELTA)
            release = plan.release(
                ledger, dataset="town", request="picture", entropy=seeded(1), progress=lambda _: None
            )
        rows = pd.read_parquet(town, columns=["read_at", "kwh"])
    part = release.to_pandas().iloc[_FIRST : _FIRST + _HOURS]
    truth = rows["kwh"].clip(0.0, _LARGEST).groupby(rows["read_at"]).sum().iloc[_FIRST : _FIRST + _HOURS]
    bounds = (part[name].tolist() for name in ("value", "lower", "upper"))
    return part["time"].dt.to_pydatetime().tolist(), *bounds, truth.tolist()


def _up(value: float, top: float) -> float:
    return _HEIGHT - _BOTTOM - (_HEIGHT - _TOP - _BOTTOM) * value / top


def _text(x: float, y: float, classes: str, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}" text-anchor="{anchor}">{text}</text>'


def _key(x: float, kind: str, text: str) -> str:
    return f'<path class="{kind}" d="M{x} 54h18"/>{_text(x + 24, 58, "soft", text)}'


if __name__ == "__main__":
    PICTURE.write_text(draw(), encoding="utf-8")
