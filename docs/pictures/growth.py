"""How the cost of a release grows with its table, as a picture and a table for the page about scale.

Both show ``benchmarks/growth.csv``, which ``python -m benchmarks.growth`` fills; each build of the documentation draws
them anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

from benchmarks.growth import Growth, known

__all__ = ["draw", "table"]

_WIDTH, _HEIGHT, _PANEL, _GAP = 880, 360, 360, 80
_LEFT, _TOP, _BOTTOM = 60, 92, 40
_NAMES = {"chronodp": "line", "plain DuckDB": "other"}
_STYLE = """
.sheet { fill: #ffffff } .ink { fill: #1d2329 } .soft { fill: #56616c } .rule { stroke: #dfe3e7 }
.line { stroke: #0072b2 } .other { stroke: #d55e00 } .dot-line { fill: #0072b2 } .dot-other { fill: #d55e00 }
@media (prefers-color-scheme: dark) {
.sheet { fill: #1a2027 } .ink { fill: #e6eaee } .soft { fill: #a3aeb9 } .rule { stroke: #313a44 }
.line { stroke: #56b4e9 } .dot-line { fill: #56b4e9 } }
text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif }
.title { font-size: 19px; font-weight: 620 }
path { fill: none; stroke-width: 1.8 } .rule { stroke-width: 1 }
"""


def draw() -> str:
    """Return the picture as SVG."""
    lines = known()
    most = max(line.rows for line in lines)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-labelledby="t d">',
        '<title id="t">What a release costs as its table grows, beside plain DuckDB</title>',
        f'<desc id="d">Processor seconds and memory from a million to {most:,} rows, on scales of tens: both grow with '
        "the rows, and chronodp's memory grows least.</desc>",
        f"<style>{_STYLE}</style>",
        f'<rect class="sheet" width="{_WIDTH}" height="{_HEIGHT}" rx="8"/>',
        _text(20, 34, "ink title", "What a release costs as its table grows, by rows"),
    ]
    for place, name in enumerate(_NAMES):
        x = 20 + 130 * place
        parts.append(f'<path class="{_NAMES[name]}" d="M{x} 54h18"/>{_text(x + 24, 58, "soft", name)}')
    parts += _panel(_LEFT, "processor seconds", lines, lambda line: line.cpu)
    parts += _panel(_LEFT + _PANEL + _GAP, "GiB of memory, at most", lines, lambda line: line.peak)
    return "\n".join([*parts, "</svg>", ""])


def _panel(left: float, title: str, lines: Sequence[Growth], number: Callable[[Growth], float]) -> list[str]:
    """Return one pair of axes, both in tens; a run that did not finish has no point."""
    lines = [line for line in lines if line.finished]
    low, high = _tens(map(number, lines))
    first, last = _tens(line.rows for line in lines)
    height = _HEIGHT - _TOP - _BOTTOM

    def across(rows: float) -> float:
        return left + _PANEL * (math.log10(rows) - first) / (last - first)

    def up(value: float) -> float:
        return _HEIGHT - _BOTTOM - height * (math.log10(value) - low) / (high - low)

    parts = [_text(left, _TOP - 12, "soft", title)]
    for ten in range(low, high + 1):
        parts.append(f'<path class="rule" d="M{left} {up(10.0**ten):.1f}h{_PANEL}"/>')
        parts.append(_text(left - 8, up(10.0**ten) + 4.5, "soft", f"{10.0**ten:g}", anchor="end"))
    parts += [
        _text(across(10.0**ten), _HEIGHT - 14, "soft", f"1e{ten}", anchor="middle") for ten in range(first, last + 1)
    ]
    for name, kind in _NAMES.items():
        points = [(across(line.rows), up(number(line))) for line in lines if line.by == name]
        parts.append(f'<path class="{kind}" d="M{" ".join(f"{x:.1f},{y:.1f}" for x, y in points)}"/>')
        parts += [f'<circle class="dot-{kind}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>' for x, y in points]
    return parts


def table() -> str:
    """Return the figures as a table of Markdown."""
    head = ["rows", "table, GiB", "by", "processor s", "wall s", "memory, GiB", "of at most", "temporary files, GiB"]
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    for line in known():
        size = f"| {line.rows:,} | {line.table:.3g} | {line.by} |"
        numbers = [line.cpu, line.seconds, line.peak, line.allowed, line.disk]
        told = [f"{value:,.0f}" if value >= 1000 else f"{value:.3g}" for value in numbers]
        if not line.finished:
            told[0] = f"gave up after {told[0]}"
        lines.append(f"{size} {' | '.join(told)} |")
    return "\n".join(lines)


def _tens(numbers: Iterable[float]) -> tuple[int, int]:
    """Return the powers of ten around numbers."""
    logs = [math.log10(number) for number in numbers]
    return math.floor(min(logs)), math.ceil(max(logs))


def _text(x: float, y: float, classes: str, text: str, *, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{classes}" text-anchor="{anchor}">{text}</text>'
