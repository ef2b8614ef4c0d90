"""Sensitivity against distance as SVG, written by hand: no plotting library is needed for some lines."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from proxy.audit.neighbour_audit import AuditFinding

_WIDTH, _LEFT, _TOP, _PLOT_WIDTH, _PLOT_HEIGHT, _LINE = 1000, 60, 50, 420, 360, 16
_COLOURS = ("#1f77b4", "#d62728", "#2ca02c", "#9467bd", "#ff7f0e", "#17becf", "#8c564b", "#e377c2")


def sensitivity_plot(findings: Sequence[AuditFinding], title: str) -> str:
    """
    Gives    an SVG document: per finding the largest change at each distance, in units of what is planned for
             one unit; the dashed line is what is planned
    """
    plotted = [f for f in findings if f.observed and f.planned]
    most = max((k for f in plotted for k in f.observed), default=1)
    height = max(_TOP + _PLOT_HEIGHT + 60, _TOP + _LINE * (len(plotted) + 2))
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{height}" '
        'font-family="sans-serif" font-size="11">',
        f'<rect width="{_WIDTH}" height="{height}" fill="white"/>',
        f'<text x="{_LEFT}" y="24" font-size="15">{escape(title)}</text>',
        *_axes(most),
        _line([(0.0, 0.0), (float(most), float(most))], most, "#888", dashed=True),
    ]
    legend = _LEFT + _PLOT_WIDTH + 30
    parts.append(
        _text(legend, _TOP, "dashed: planned; lines: largest change observed (a lower bound)")
    )
    for number, finding in enumerate(plotted):
        colour = _COLOURS[number % len(_COLOURS)]
        points = [
            (0.0, 0.0),
            *((float(k), share_of_plan(finding, k)) for k in sorted(finding.observed)),
        ]
        parts.append(_line(points, most, colour, dashed=False))
        name = f"{finding.sql}: {finding.release}, {finding.measure.value}"
        y = _TOP + _LINE * (number + 1)
        parts.append(f'<rect x="{legend}" y="{y - 8}" width="9" height="9" fill="{colour}"/>')
        parts.append(_text(legend + 14, y, name if len(name) < 85 else name[:84] + "…"))
    return "\n".join([*parts, "</svg>"]) + "\n"


def share_of_plan(finding: AuditFinding, distance: int) -> float:
    """Squared distances grow with the square: their root is shown."""
    share = float(finding.observed[distance] / finding.planned)
    one = finding.allowed(distance) == finding.planned * distance
    return share if one else share**0.5


def _axes(most: int) -> list[str]:
    bottom, right = _TOP + _PLOT_HEIGHT, _LEFT + _PLOT_WIDTH
    parts = [
        f'<path d="M{_LEFT} {_TOP}V{bottom}H{right}" fill="none" stroke="black"/>',
        _text(_LEFT + _PLOT_WIDTH // 2 - 60, bottom + 36, "distance (units removed or added)"),
        _text(8, _TOP - 10, "change / planned for one unit"),
    ]
    step = max(1, most // 10)
    for tick in range(0, most + 1, step):
        x, y = _place(tick, tick, most)
        parts.append(_text(round(x) - 3, bottom + 16, str(tick)))
        parts.append(_text(_LEFT - 20, round(y) + 4, str(tick)))
    return parts


def _place(x: float, y: float, most: int) -> tuple[float, float]:
    """A violation may be above the frame: it is drawn at its upper edge."""
    top = min(y / most, 1.08)
    return _LEFT + _PLOT_WIDTH * x / most, _TOP + _PLOT_HEIGHT * (1 - top)


def _line(points: Sequence[tuple[float, float]], most: int, colour: str, *, dashed: bool) -> str:
    placed = " ".join("{:.1f},{:.1f}".format(*_place(x, y, most)) for x, y in points)
    dash = ' stroke-dasharray="5 4"' if dashed else ""
    return f'<polyline points="{placed}" fill="none" stroke="{colour}" stroke-width="1.5"{dash}/>'


def _text(x: int, y: int, text: str) -> str:
    return f'<text x="{x}" y="{y}">{escape(text)}</text>'
