from __future__ import annotations

import json
import math
import re
import subprocess
import sys
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st

from chronodp.errors import InvalidArgument
from chronodp.report import Line, house_style, series_figure, small_chart
from chronodp.report.thinning import MOST_DRAWN, drawn_points
from tests.contrast import contrast
from tests.report.examples import HOSTILE, hours


def figure_of(*lines: Line) -> Any:
    return series_figure(lines, title="Visits", value_name="people")


def test_each_line_lies_on_a_band_of_its_colour_and_group() -> None:
    north, south = hours("north"), hours("south", level=50)
    figure = figure_of(north, south)
    bands, lines = figure.data[:2], figure.data[2:]
    for line, band, curve in zip((north, south), bands, lines, strict=True):
        assert band.legendgroup == curve.legendgroup
        assert (band.name, curve.name) == (line.name, line.name)
        assert (band.showlegend, curve.showlegend) == (False, None)
        assert curve.line.color.removesuffix(", 1)") == band.fillcolor.removesuffix(", 0.22)")
        np.testing.assert_array_equal(curve.y, line.values)
        np.testing.assert_array_equal(band.y[: len(line.times)], line.upper)
        np.testing.assert_array_equal(band.y[len(line.times) : -1], line.lower[::-1])
        assert band.hoverinfo == "skip"
    assert lines[0].line.color != lines[1].line.color
    assert figure.layout.hovermode == "x unified"
    assert figure.layout.showlegend
    assert figure.layout.yaxis.title.text == "people"
    assert figure.layout.paper_bgcolor == figure.layout.plot_bgcolor == "rgba(0, 0, 0, 0)"


def test_lines_and_the_edges_of_bands_have_the_colours_of_pages() -> None:
    figure = figure_of(*(hours(f"line {number}", count=3) for number in range(6)))
    named = re.findall(r"--line-\d: light-dark\(#(..)(..)(..), #", house_style())
    pages = [f"rgba({', '.join(str(int(part, 16)) for part in parts)}, 1)" for parts in named]
    assert [band.line.color for band in figure.data[:6]] == [line.line.color for line in figure.data[6:]] == pages
    # Of a notebook nobody knows whether it is white or black.
    for colour in pages:
        opaque = colour.replace("rgba", "rgb").replace(", 1)", ")")
        assert min(contrast(opaque, ground) for ground in ("rgb(255, 255, 255)", "rgb(0, 0, 0)")) >= 3


def test_hover_tells_the_value_and_its_interval() -> None:
    figure = figure_of(Line("a", [1, 2, 3], [-1.5, 2.0, 3.0], [-3.0, math.nan, -math.inf], [0.0, math.nan, 1234.0]))
    assert list(figure.data[1].customdata) == ["−1.5 (−3.0 to 0.0)", "2.0", "3.0 (−∞ to 1,234.0)"]
    assert figure.data[1].hovertemplate == "%{customdata}"


def test_bounds_that_are_not_finite_leave_a_gap_and_nothing_else() -> None:
    bounds = [0.0, 0.0, math.nan, 0.0, -math.inf, 0.0, 0.0]
    figure = figure_of(Line("a", list(range(7)), [1.0, math.inf, 1, math.nan, 1, 1, 1], bounds, [2.0] * 6 + [math.inf]))
    band, curve = figure.data
    stretches = [[0, 1, 1, 0, None], [3, 3, None], [5, 5, None]]
    assert list(band.x) == [time for stretch in stretches for time in stretch]
    assert [bool(gap) for gap in np.isnan(curve.y)] == [False, True, False, True, False, False, False]
    assert "Infinity" not in figure.to_json()


def test_buttons_and_slider_come_with_dates_that_span_enough() -> None:
    axis = figure_of(hours("north")).layout.xaxis
    assert axis.type == "date"
    assert [button.label for button in axis.rangeselector.buttons] == ["Day", "Week", "All"]
    assert axis.rangeslider.visible
    short = figure_of(hours("north", count=5)).layout.xaxis
    assert not short.rangeselector.visible
    assert not short.rangeslider.visible
    months = [datetime(2025 + n // 12, n % 12 + 1, 1) for n in range(18)]
    ones = [1.0] * len(months)
    monthly = figure_of(Line("a", months, ones, ones, ones)).layout.xaxis
    assert [button.label for button in monthly.rangeselector.buttons] == ["Year", "All"]
    steps = figure_of(Line("a", [0, 1], [1, 2], [0, 1], [2, 3])).layout.xaxis
    assert steps.type == "linear"
    assert steps.rangeselector.buttons == ()


def test_moments_of_every_kind_are_shown_as_their_clock() -> None:
    kinds: list[Any] = [
        [datetime(2026, 1, 1), datetime(2026, 1, 2)],
        [datetime(2026, 1, 1).date(), datetime(2026, 1, 2).date()],
        ["2026-01-01", "2026-01-02T00:00:00+01:00"],
        pd.date_range("2026-01-01", periods=2, tz="Europe/Oslo"),
        np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[ns]"),
    ]
    for times in kinds:
        figure = figure_of(Line("a", times, [1, 2], [0, 1], [2, 3]))
        assert figure.layout.xaxis.type == "date", times
        assert list(figure.data[1].x) == ["2026-01-01T00:00:00", "2026-01-02T00:00:00"], times


@pytest.mark.slow
def test_many_points_are_drawn_by_the_graphics_card_and_few_are_marked() -> None:
    start = datetime(2026, 1, 1)
    times = [start + timedelta(minutes=minute) for minute in range(4_001)]
    zeros = np.zeros(len(times))
    figure = figure_of(*(Line(name, times, zeros, zeros - 1, zeros + 1) for name in "abcde"))
    assert [trace.type for trace in figure.data] == ["scatter"] * 5 + ["scattergl"] * 5
    assert not figure.layout.xaxis.rangeslider.visible
    assert figure_of(hours("a")).data[1].mode == "lines"
    assert figure_of(hours("a", count=3)).data[1].mode == "lines+markers"


def test_a_long_line_is_thinned_to_points_that_were_released_and_says_so() -> None:
    count = 50_000
    values = np.sin(np.arange(count) / 900)
    values[31_337], values[7_777], values[20_000:20_400] = 9.0, -9.0, np.nan
    line = Line("a", list(range(count)), values, values - 1, values + 1)
    figure = series_figure([line], title="t", value_name="v", note="bands of 95 %")
    band, curve = figure.data
    assert len(curve.x) <= MOST_DRAWN + 2
    assert len(band.x) <= 2 * MOST_DRAWN + 10
    assert [curve.x[0], curve.x[-1]] == [0, count - 1]
    drawn = dict(zip(curve.x, curve.y, strict=True))
    assert drawn[31_337] == 9.0
    assert drawn[7_777] == -9.0
    assert all(value == values[place] or np.isnan(values[place]) for place, value in drawn.items())
    assert any(np.isnan(drawn[place]) for place in drawn if 20_000 <= place < 20_400)
    assert "bands of 95 %; of more than 5,000 points" in figure.layout.title.subtitle.text
    assert "5,000" not in figure_of(hours("a")).to_json()


def test_a_long_line_keeps_the_words_of_the_points_that_are_drawn() -> None:
    values = np.full(6_000, np.nan)
    told = [f"reason {place}" for place in range(6_000)]
    figure = figure_of(Line("a", list(range(6_000)), values, values, values, told))
    crosses = figure.data[-1]
    assert len(crosses.x) <= MOST_DRAWN
    assert all(words == f"reason {place}" for place, words in zip(crosses.x, crosses.customdata, strict=True))


@given(st.lists(st.floats(-1e9, 1e9) | st.just(math.nan), max_size=60), st.integers(3, 30))
def test_least_and_largest_are_always_drawn(values: list[float], most: int) -> None:
    numbers = np.array(values, dtype=np.float64)
    places = drawn_points(numbers, most)
    assert places.tolist() == sorted(set(places.tolist()))
    assert len(places) <= max(most + 2, 0)
    known = numbers[np.isfinite(numbers)]
    if len(known):
        assert {known.min(), known.max()} <= set(numbers[places].tolist())
    if len(known) < len(numbers):
        assert np.isnan(numbers[places]).any()


def test_a_crowd_of_lines_is_told_one_by_one() -> None:
    figure = figure_of(*(hours(f"place {index}", count=3) for index in range(9)))
    assert figure.layout.hovermode == "closest"
    assert "%{fullData.name}" in figure.data[9].hovertemplate
    looks = {(trace.line.color, trace.line.dash) for trace in figure.data[9:]}
    assert len(looks) == 9


def test_names_are_shown_as_they_are_and_never_read_as_tags() -> None:
    figure = series_figure([hours(HOSTILE)], title="<a href='x'>t</a>", value_name="<b>v</b>")
    text = figure.to_json()
    assert "<img" not in text
    assert "<a " not in text
    assert "<b>" not in text
    assert json.loads(text)["data"][1]["name"].startswith("&lt;/script&gt;")


def test_no_points_make_an_empty_figure_and_uneven_ones_none() -> None:
    assert figure_of().data == ()
    assert len(figure_of(Line("a", [], [], [], [])).data) == 2
    with pytest.raises(InvalidArgument, match="lower must be as many numbers as there are times, 2; got 1"):
        Line("a", [0, 1], [1.0, 2.0], [1.0], [1.0, 2.0])


@pytest.mark.slow
def test_the_room_is_cheap_to_enter() -> None:
    code = "import sys, chronodp.report; print(','.join(sorted({m.split('.')[0] for m in sys.modules})))"
    loaded = set(subprocess.check_output([sys.executable, "-c", code], text=True).strip().split(","))
    assert not loaded & {"plotly", "pandas", "rich", "scipy"}


def test_times_without_a_value_get_a_cross_with_words() -> None:
    nan = math.nan
    line = Line(
        "north", [0, 1, 2], [5.0, nan, nan], [4.0, nan, -math.inf], [6.0, nan, math.inf], ("", "left out", "<b>")
    )
    figure = series_figure([line], title="Ratio", value_name="ratio")
    band, curve, crosses = figure.data
    assert [list(trace.x) for trace in (curve, crosses)] == [[0, 1, 2], [1, 2]]
    assert list(crosses.customdata) == ["left out", "&lt;b&gt;"]
    assert crosses.yaxis == "y2"  # on the axis of values a cross would be a number
    assert list(curve.customdata)[1:] == ["left out", "&lt;b&gt;"]
    assert np.isfinite(np.asarray(band.y, dtype=float)[:-1]).all()
    with pytest.raises(InvalidArgument, match="told"):
        Line("north", [0, 1], [5.0, 1.0], [4.0, 1.0], [6.0, 1.0], ("one",))


def test_what_stands_alone_between_gaps_is_seen() -> None:
    values = [math.nan if place % 2 else float(place) for place in range(100)]
    line = Line("town", list(range(100)), values, [value - 1 for value in values], [value + 2 for value in values])
    curve = next(trace for trace in series_figure([line], title="t", value_name="v").data if trace.fill is None)
    assert curve.mode == "lines+markers"
    assert list(curve.error_y.array[:3]) == [2.0, 0.0, 2.0]
    assert list(curve.error_y.arrayminus[:3]) == [1.0, 0.0, 1.0]
    whole = Line("town", list(range(100)), list(range(100)), list(range(100)), list(range(100)))
    plain = next(trace for trace in series_figure([whole], title="t", value_name="v").data if trace.fill is None)
    assert plain.mode == "lines"
    assert plain.error_y.array is None


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
    picture = small_chart(numbers, numbers, numbers, name='<script>"\x1b[2J')
    assert "<script>" not in picture
    assert "\x1b" not in picture
    assert "&lt;script&gt;&quot;" in picture
