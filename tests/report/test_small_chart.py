"""The small chart of a notebook: thinned, within its frame, and silent where nothing can be drawn."""

from __future__ import annotations

import re

import numpy as np

from chronodp.report import small_chart

HOSTILE = '<script>"\x1b[2J'


def points(picture: str, kind: str) -> list[tuple[float, float]]:
    found = re.search(rf'<{kind} points="([^"]*)"', picture)
    assert found
    return [(float(x), float(y)) for x, y in (pair.split(",") for pair in found[1].split())]


def test_a_line_is_thinned_and_stays_in_its_frame() -> None:
    for count in [2, 3, 240, 241, 10_000]:
        values = np.sin(np.arange(count) / 7.0)
        picture = small_chart(values, values - 1.0, values + 1.0, name="a wave")
        line, band = points(picture, "polyline"), points(picture, "polygon")
        assert len(line) == min(count, 240), count
        assert len(band) == 2 * len(line), count
        assert all(0 <= x <= 480 and 0 <= y <= 110 for x, y in line + band), count
        assert [x for x, _ in line] == sorted(x for x, _ in line), count


def test_a_stretch_has_its_widest_band_and_passes_over_what_is_missing() -> None:
    values, upper = np.zeros(2400), np.ones(2400)
    upper[1234] = 100.0
    assert "to 100 " in small_chart(values, values, upper, name="a spike")
    values = np.array([1.0, np.nan, 3.0, np.inf])
    wide = np.array([np.inf, 0.0, 4.0, 5.0])
    assert len(points(small_chart(values, -wide, wide, name="gaps"), "polyline")) == 2


def test_fewer_than_two_points_are_no_chart() -> None:
    for values in [[], [1.0], [np.nan, np.nan], [np.nan, 2.0, np.inf]]:
        numbers = np.array(values)
        assert small_chart(numbers, numbers, numbers, name="nothing") == "", values


def test_names_are_seen_and_not_obeyed() -> None:
    numbers = np.array([1.0, 2.0])
    picture = small_chart(numbers, numbers, numbers, name=HOSTILE)
    assert "<script>" not in picture
    assert "\x1b" not in picture
    assert "&lt;script&gt;&quot;" in picture
