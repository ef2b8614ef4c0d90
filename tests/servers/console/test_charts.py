"""Charts and coloured statements: well formed, without script or style, whatever is in a name."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from proxy.servers.console.charts import Plot, Point, axis_cell, interval_cell, meter
from proxy.servers.console.templates import highlighted

_HOSTILE = "<script>alert(1)</script>\"'&"


def _parsed(text: str) -> ElementTree.Element:
    assert "style=" not in text and "<script" not in text and " on" not in text
    return ElementTree.fromstring(text)


def test_a_whisker_ends_where_the_interval_does() -> None:
    drawn = interval_cell(40, 30, 50, 0, 100, width=112)  # one pixel is one
    _parsed(drawn)
    whisker = re.search(r'class="whisker" d="M([\d.]+) 11H([\d.]+)', drawn)
    dot = re.search(r'cx="([\d.]+)"', drawn)
    assert whisker is not None and dot is not None
    assert [float(one) - 6 for one in (*whisker.groups(), dot[1])] == [30, 50, 40]
    assert "faint" not in drawn and "faint" in interval_cell(5, -5, 15, 0, 100)


def test_an_interval_that_is_known_to_one_side_has_one_cap() -> None:
    both, one = interval_cell(40, 30, 50, 0, 100), interval_cell(40, 30, 40, 0, 100)
    assert both.count("v8") == 2 and one.count("v8") == 1
    assert "faint" in interval_cell(5, -5, 5, 0, 100)
    plot = Plot(300, 200, (0, 1), (0, 100)).intervals([Point(0.5, 40, 30, 40)]).svg("one")
    assert plot.count("h7") == 1


@pytest.mark.parametrize("ends", [(0.0, 0.0), (-5.0, 5.0), (0.0, 1e12), (-1e-9, 1e-9), (0.0, 0.3)])
def test_axes_of_any_range_are_drawn(ends: tuple[float, float]) -> None:
    _parsed(axis_cell(*ends))
    _parsed(interval_cell(ends[1], ends[1] - 1, ends[1] + 1, *ends))
    plot = Plot(300, 200, (0, 1), ends).y_axis().x_axis([(0, _HOSTILE), (1, "b")])
    _parsed(
        plot.line([(0, 0), (1, 1)])
        .intervals([Point(0.5, 0, -1, 1)])
        .steps([(0, 1), (1, 0)])
        .svg(_HOSTILE)
    )


def test_a_meter_is_within_itself() -> None:
    for share in (-1.0, 0.0, 0.1, 0.5, 1.0, 7.0):
        (_, left) = _parsed(meter(share))
        assert 0 <= float(left.attrib["width"]) <= 120


@pytest.mark.parametrize(
    "sql", [_HOSTILE, f"SELECT '{_HOSTILE}' -- {_HOSTILE}", f'SELECT "{_HOSTILE}"', ""]
)
@pytest.mark.parametrize("position", [None, 1, 8, 10_000])
def test_a_statement_is_text(sql: str, position: int | None) -> None:
    shown = highlighted(sql, position)
    root = ElementTree.fromstring(f"<pre>{shown}</pre>".replace("&#34;", "&quot;"))
    assert "".join(root.itertext()) == sql
    assert {one.tag for one in root.iter()} <= {"pre", "span"}
