"""Pictures of the documentation, drawn by the console's charts. `make docs` writes them.

Errors come from the mechanisms' own formulas, the answers of ANSWER from `dpproxy demo`. The colours can be
seen on a light and on a dark page.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from pathlib import Path
from statistics import NormalDist
from typing import NamedTuple

from docs.site.growth import AXES, read_figures
from proxy.mechanisms import discrete_laplace
from proxy.servers.console.charts import Plot, Point, short

FOLDER = Path(__file__).parents[1] / "pictures"
_STYLE = (
    "text{font:12px system-ui,sans-serif;fill:#767b83}.title{font-weight:600}"
    ".grid,.tick,.base{stroke:#8a8f98;fill:none}.grid{stroke-opacity:.25}.base,.tick{stroke-opacity:.6}"
    ".line{stroke:#3b82d6;stroke-width:2;fill:none}.other{stroke:#d9822b}.third{stroke:#3f9c63}"
    ".whisker{stroke:#3b82d6;stroke-width:2;fill:none}.dot{fill:#3b82d6}.rule{stroke-dasharray:4 4}"
    ".area{fill:#3b82d6;fill-opacity:.12}.faint{opacity:.5}"
    ".blue{fill:#3b82d6}.orange{fill:#d9822b}.green{fill:#3f9c63}.bar{fill:#3b82d6;fill-opacity:.75}"
)

_GROWTH_STYLES = (("line other", "orange"), ("line", "blue"), ("line third", "green"))


class Group(NamedTuple):
    name: str
    mean: float
    low: float
    high: float


# One answer of `dpproxy demo`, epsilon 0.5:
#   SELECT p.category, round(avg(o.total), 2) AS mean, dp.low(avg(o.total)), dp.high(avg(o.total))
#   FROM shop.orders o JOIN shop.products p ON p.id = o.product_id GROUP BY p.category ORDER BY 1
ANSWER = (
    Group("Books", 49.00, 41.10, 56.90),
    Group("Clothing", 51.80, 42.00, 61.60),
    Group("Home", 54.20, 47.62, 60.78),
    Group("Kitchen", 64.30, 58.22, 70.38),
    Group("Outdoor", 64.40, 54.35, 74.45),
    Group("Tools", 53.20, 49.59, 56.81),
    Group("Toys", 65.40, 56.78, 74.02),
)


class Picture(Plot):
    """A plot with words in it, as a document of its own."""

    def note(self, x: float, y: float, text: str, name: str = "", anchor: str = "start") -> Picture:
        self._parts.append(
            f'<text class="{name}" x="{self._px(x)}" y="{self._py(y)}" text-anchor="{anchor}">{text}</text>'
        )
        return self

    def bar(self, x: float, width: float, top: float) -> Picture:
        left, high = float(self._px(x - width / 2)), float(self._py(top))
        size = float(self._px(x + width / 2)) - left
        base = float(self._py(self._y[0]))
        self._parts.append(
            f'<rect class="bar" x="{left:.1f}" y="{high:.1f}" width="{size:.1f}" height="{base - high:.1f}"/>'
        )
        return self

    def document(self, title: str) -> str:
        first, _, rest = str(self.svg(title)).partition(">")
        size = f'xmlns="http://www.w3.org/2000/svg" width="{self._width}" height="{self._height}"'
        return f"{first} {size}><style>{_STYLE}</style>{rest}\n"


def _log_picture(
    x: tuple[float, float],
    y: tuple[float, float],
    at: Sequence[tuple[float, str]],
    label: Callable[[float], str],
) -> Picture:
    """Axes by powers of ten; `at`: marks of the x axis."""
    ends = ((math.log10(x[0]), math.log10(x[1])), (math.log10(y[0]), math.log10(y[1])))
    plot = Picture(680, 320, *ends, left=66)
    plot.y_axis(lambda power: label(10**power) if power == int(power) else "")
    plot.x_axis([(math.log10(value), text) for value, text in at])
    return plot


def _log_line(plot: Picture, points: Sequence[tuple[float, float]], name: str) -> None:
    plot.line([(math.log10(x), math.log10(y)) for x, y in points], name)


def answer() -> str:
    plot = Picture(680, 280, (0.5, len(ANSWER) + 0.5), (0, 80))
    plot.y_axis()
    plot.x_axis([(n, group.name) for n, group in enumerate(ANSWER, 1)])
    plot.intervals([Point(n, one.mean, one.low, one.high) for n, one in enumerate(ANSWER, 1)])
    return plot.document(
        "Mean order value by category, each with its 95 % interval, for epsilon 0.5"
    )


def neighbours() -> str:
    """The laws of two answers: a COUNT at epsilon 1 of data with and without a person who has 3 rows."""
    rows, epsilon = 3, 1.0
    scale = rows / epsilon

    def law(at: int, middle: int) -> float:
        return math.exp(-abs(at - middle) / scale) * math.tanh(1 / (2 * scale))

    plot = Picture(680, 260, (80, 124), (0, 0.19), left=24)
    plot.x_axis([(float(at), str(at)) for at in (80, 90, 100, 110, 120)])
    for middle, name in ((100, "line other"), (100 + rows, "line")):
        plot.line([(float(at), law(at, middle)) for at in range(80, 125)], name)
    plot.note(99, 0.168, "without Ann", "orange", "end").note(
        104, 0.168, "with Ann's 3 orders", "blue"
    )
    plot.note(108, 0.08, "nowhere is one more than").note(
        108, 0.064, f"{math.e:.2f} times the other"
    )
    return plot.document("How likely each answer is, with and without one customer, at epsilon 1")


def odds() -> str:
    """By how much an answer can change the odds of a guess about one person."""
    epsilons = (0.1, 0.5, 1.0, 2.0, 4.0, 10.0, 20.0)
    plot = Picture(680, 280, (0.3, len(epsilons) + 0.7), (0, 9.2), left=60)
    plot.y_axis(lambda power: short(10**power))
    plot.x_axis([(n, f"{epsilon:g}") for n, epsilon in enumerate(epsilons, 1)])
    for n, epsilon in enumerate(epsilons, 1):
        power = epsilon / math.log(10)
        plot.bar(n, 0.6, power)
        factor = math.exp(epsilon)
        told = f"{factor:.3g}" if factor < 1000 else short(factor)
        plot.note(n, power + 0.2, told, "", "middle")
    return plot.document(
        "Epsilon, and the factor by which it can change the odds of a guess about one person"
    )


def noise() -> str:
    """The law of a COUNT of 1,000 people, at three epsilons."""
    plot = Picture(680, 280, (960, 1040), (0, 0.26), left=24)
    plot.x_axis([(float(at), f"{at:,}") for at in (960, 980, 1000, 1020, 1040)])
    styles = {0.1: ("line", "blue"), 0.25: ("line other", "orange"), 0.5: ("line third", "green")}
    for n, (epsilon, (line, word)) in enumerate(styles.items()):
        law = [
            (float(at), math.exp(-abs(at - 1000) * epsilon) * math.tanh(epsilon / 2))
            for at in range(960, 1041)
        ]
        plot.line(law, line)
        plot.note(
            1012, 0.24 - 0.03 * n, f"epsilon {epsilon:g}: ±{half_width(epsilon)} in 95 of 100", word
        )
    return plot.document("How likely each answer is for a COUNT of 1,000 people, at three epsilons")


def half_width(epsilon: float, step: int = 1) -> int:
    """Of the 95 % interval of a sum that one person moves by at most so many steps."""
    return discrete_laplace.half_width(step / Fraction(epsilon))


def people() -> str:
    marks = [(10.0**n, f"{10**n:,}") for n in range(1, 7)]
    plot = _log_picture((10, 1e6), (1e-6, 1), marks, lambda share: f"{100 * share:g} %")
    for epsilon, name, word in ((0.1, "line other", "orange"), (1.0, "line", "blue")):
        width = half_width(epsilon)
        _log_line(plot, [(n, width / n) for n in (max(10.0, width), 1e6)], name)
        plot.note(4.6, math.log10(width / 10**4.6) + 0.25, f"epsilon {epsilon:g}", word)
    plot.line([(1, -2), (6, -2)], "line rule third")
    plot.note(1.05, -1.85, "1 %", "green")
    return plot.document("Relative error of a COUNT against the number of people, one row each")


def burn_down() -> str:
    """A dashboard of five charts at epsilon 0.1 each, opened four times a day; a budget of 10 a month."""
    plot = Picture(680, 260, (0, 30), (0, 10.4), left=40)
    plot.y_axis()
    plot.x_axis([(float(day), f"day {day}") for day in (0, 10, 20, 30)])
    views = [(day / 4, max(10 - 0.5 * day, 0)) for day in range(21)]
    plot.line(_as_steps(views), "line other")
    plot.line(_as_steps([(float(day), 10 - 0.5 * min(day, 20)) for day in range(31)]), "line")
    plot.line([(0, 10), (30, 10)], "line third")
    plot.note(5.4, 0.4, "each view is paid: gone on day 5", "orange")
    plot.note(15.5, 3.6, "reuse: 24h: paid once a day, gone on day 20", "blue")
    plot.note(15, 9.3, "published: analysts pay nothing, the total pays", "green")
    return plot.document(
        "What is left of an analyst's budget, in three ways to serve one dashboard"
    )


def _as_steps(points: Sequence[tuple[float, float]]) -> list[tuple[float, float]]:
    made = [points[0]]
    for (_, before), (x, y) in pairwise(points):
        made += [(x, before), (x, y)]
    return made


def bounds() -> str:
    """Error of a SUM by its bound: totals of 10,000 people, log-normal with median 50; epsilon 0.5."""
    law = NormalDist(math.log(50), 1.2)
    totals = [math.exp(law.inv_cdf((n + 0.5) / 10_000)) for n in range(10_000)]
    true, epsilon = sum(totals), 0.5
    at = [10 * 10 ** (n / 20) for n in range(61)]
    cut = [(bound, sum(max(total - bound, 0) for total in totals) / true) for bound in at]
    of_noise = [(bound, half_width(epsilon, round(bound)) / true) for bound in at]
    marks = [(10.0**n, f"{10**n:,}") for n in range(1, 5)]
    plot = _log_picture((10, 10_000), (1e-4, 1), marks, lambda share: f"{100 * share:g} %")
    _log_line(plot, [(x, y) for x, y in cut if y > 1e-4], "line other")
    _log_line(plot, [(x, y) for x, y in of_noise if y > 1e-4], "line")
    plot.note(1.3, -0.5, "what the bound cuts", "orange").note(3.3, -1.35, "noise", "blue")
    best = min(range(len(at)), key=lambda n: cut[n][1] + of_noise[n][1])
    plot.note(
        math.log10(at[best]),
        -3.6,
        f"least together at about {short(round(at[best], -2))}",
        "",
        "middle",
    )
    return plot.document("Error of a SUM against its bound, as a part of the sum")


def _growth(axis: str) -> str:
    """Seconds on both axes by powers of ten, and behind each last point a line as steep as linear growth."""
    lines = read_figures()[axis]
    places = [x for line in lines.values() for x, _ in line]
    times = [y for line in lines.values() for _, y in line]
    bottom, top = (
        10 ** way(math.log10(end))
        for way, end in ((math.floor, min(times)), (math.ceil, max(times)))
    )
    powers = range(round(math.log10(min(places))), math.ceil(math.log10(max(places))) + 1)
    marks = [(10.0**n, f"{10**n:,}") for n in powers]
    plot = _log_picture((marks[0][0], marks[-1][0]), (bottom, top), marks, lambda s: f"{s:g} s")
    for n, (name, line) in enumerate(lines.items()):
        style, word = _GROWTH_STYLES[n]
        _log_line(plot, line, style)
        at, height = line[0]
        plot.note(math.log10(at) + 0.02, math.log10(height) + 0.1, name, word)
    return plot.document(AXES[axis].title)


def growth_rows() -> str:
    return _growth("rows")


def growth_aggregates() -> str:
    return _growth("aggregates")


def growth_groups() -> str:
    return _growth("groups")


def growth_rows_a_unit() -> str:
    return _growth("rows_a_unit")


def growth_tables() -> str:
    return _growth("tables")


PICTURES: tuple[Callable[[], str], ...] = (
    *(answer, neighbours, odds, noise, people, burn_down, bounds),
    *(growth_rows, growth_aggregates, growth_groups, growth_rows_a_unit, growth_tables),
)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for picture in PICTURES:
        (FOLDER / f"{picture.__name__}.svg").write_text(picture(), encoding="utf-8")


if __name__ == "__main__":
    main()
