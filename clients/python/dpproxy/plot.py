"""Values with error bars, by matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import matplotlib.axes

    from dpproxy.answer import Answer


def error_bars(
    answer: Answer, x: str | None, y: str | None, ax: matplotlib.axes.Axes | None
) -> matplotlib.axes.Axes:
    """Draw a dot and a whisker for each row. An end that is not known has no whisker."""
    import matplotlib.pyplot

    labels = x or next((one.name for one in answer.columns if not one.is_noisy), None)
    values = y or next((one.name for one in answer.columns if one.is_noisy), None)
    if values is None:
        raise ValueError("the answer has no noisy column: name the values with y=")
    if ax is None:
        ax = matplotlib.pyplot.subplots()[1]
    shown = [
        (place, float(value), low, high)
        for place, (value, (low, high)) in enumerate(
            zip(answer.column(values), answer.interval(values), strict=True)
        )
        if value is not None
    ]
    below = [0.0 if low is None else value - low for _, value, low, _ in shown]
    above = [0.0 if high is None else high - value for _, value, _, high in shown]
    places = [place for place, *_ in shown]
    ax.errorbar(places, [value for _, value, *_ in shown], yerr=[below, above], fmt="o", capsize=4)
    texts = answer.column(labels) if labels else range(1, len(answer) + 1)
    ax.set_xticks(range(len(answer)), [str(text) for text in texts])
    ax.set_ylabel(values)
    if labels:
        ax.set_xlabel(labels)
    return ax
