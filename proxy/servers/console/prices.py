"""What a statement would cost and how exact it would be, and what is left of a budget, as texts. No I/O."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from decimal import Decimal
from fractions import Fraction
from typing import Any

from markupsafe import Markup

from proxy.base.shown_numbers import shown_number
from proxy.engine.query_pipeline import NO_KNOWN_ROW
from proxy.mechanisms.loss import Loss
from proxy.policy.odds_words import odds_text
from proxy.servers.console.answer_pages import moment
from proxy.servers.console.charts import Plot, number_text

Document = Mapping[str, Any]
_WIDE, _NARROW = 1184, 358
_DAY = 86_400.0
_LITERAL = r"'(?:[^']|'')*'"
_LITERALS = rf"{_LITERAL}(?:(?:, | or ){_LITERAL})*"
_MISSPELLED = re.compile(
    rf"; ({_LITERALS}) (?:is not one of|are not among) them: did you mean ({_LITERALS})\?$"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class PriceColumn:
    """Of one epsilon. errors: by aggregate; left: afterwards; refused: why it cannot be run so, else ""."""

    epsilon: str
    errors: Mapping[str, str]
    left: str
    refused: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownPrice:
    """columns: of several epsilons; names: of the aggregates; warnings: to be read first; notes: to be read
    beside; is_free: nothing protected is asked."""

    columns: Sequence[PriceColumn] = ()
    names: Sequence[str] = ()
    warnings: Sequence[str] = ()
    notes: Sequence[str] = ()
    groups: int | None = None
    is_free: bool = False


def price_column(epsilon: str, plan: Document) -> PriceColumn:
    """One column, of the body of /v1/explain."""
    left, charge = plan["remaining"], Decimal(str(plan["charge"]["epsilon"]))
    after = None if left is None else Decimal(str(left["epsilon"])) - charge
    told = "no limit" if after is None else number_text(after) if after >= 0 else ""
    return PriceColumn(
        epsilon=epsilon,
        errors={one["name"]: _plain(one["expected"]["usual"]) for one in plan["aggregates"]},
        left=told if charge else f"{told} (free)",
    )


def price_of(columns: Sequence[PriceColumn], plan: Document, epsilon: str) -> ShownPrice:
    """The table, and what is said of all columns, by the plan of one epsilon."""
    told: dict[str, None] = {}
    for one in plan["aggregates"]:
        text = one["expected"]["text"]
        if text != one["expected"]["usual"]:
            told[_sentence(f"{one['name']}: {text}")] = None
    for member in ("assumptions", "condition"):
        for one in plan["aggregates"]:
            found = one["expected"][member] if member == "assumptions" else [one[member]]
            told.update((_sentence(text), None) for text in found if text)
    told.update((_sentence(text), None) for text in plan.get("limits", ()))
    groups = [one["groups"] for one in plan["blocks"] if one["keys"]]
    return ShownPrice(
        columns=columns,
        names=list(dict.fromkeys(one["name"] for one in plan["aggregates"])),
        warnings=[*map(_sentence, plan.get("unlisted", ())), *_free(plan, epsilon)],
        notes=[*told, f"At ε {epsilon}, {plan['odds']['judged']}"],
        groups=groups[0] if len(groups) == 1 else None,
    )


def _free(plan: Document, epsilon: str) -> Iterator[str]:
    """Why running it costs nothing, or less."""
    sources = [one["free"] for one in plan["blocks"] if one.get("free")]
    what = "It is free to run" if len(sources) == len(plan["blocks"]) else "A part of it is free"
    for source in dict.fromkeys(sources):
        yield _sentence(f"{what} at ε {epsilon}: {source}")


def unmet_reasons(plan: Document) -> Sequence[str]:
    """Why no value in the policy meets a statement that is charged; empty where one does."""
    found = plan.get("unlisted", ())
    return [*map(_sentence, found)] if NO_KNOWN_ROW in found else ()


def respelled(sql: str, reasons: Sequence[str]) -> str:
    """The statement with the values that were meant, "" if that is not known.

    >>> reason = "s has the values 'a', 'paid' in the policy; 'payed' is not one of them: did you mean 'paid'?"
    >>> respelled("SELECT count(*) FROM o WHERE s = 'payed'", [reason]), respelled("SELECT 1", [reason])
    ("SELECT count(*) FROM o WHERE s = 'paid'", '')
    """
    meant: dict[str, str] = {}
    for found in filter(None, map(_MISSPELLED.search, reasons)):
        wrong, right = (re.findall(_LITERAL, one) for one in found.groups())
        if len(wrong) == len(right):  # else one of them is like no value
            meant.update(zip(wrong, right, strict=True))
    changed = re.sub(_LITERAL, lambda found: meant.get(found[0], found[0]), sql)
    return "" if changed == sql else changed


def _sentence(text: str) -> str:
    """
    >>> _sentence("count: if a customer has 50 at most; +-2")
    'count: if a customer has 50 at most; ± 2.'
    """
    return f"{_plain(text)}{'' if text.endswith(('.', '?')) else '.'}"


def _plain(text: str) -> str:
    return text.replace("+-", "± ")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownBudget:
    """is_own: it is the analyst's; share: of what is left, None where there is no limit; odds: what the whole
    limit means, "" without one; statements: how many more at the usual epsilon, "" without a limit."""

    name: str
    is_own: bool
    left: str
    limit: str
    spent: str
    renews: str
    share: float | None
    odds: str
    statements: str

    @property
    def told(self) -> str:
        """In a line: of what is left."""
        return f"{self.left} left{f', {self.statements}' if self.statements else ''}"


def budget_lines(document: Sequence[Document], analyst: str, usual: Fraction) -> list[ShownBudget]:
    """The lines of /v1/budget, the analyst's own first. What all spend together is told in steps already.

    Args:
        usual: Epsilon of a statement that says nothing.
    """
    found = []
    for one in document:
        limit, left = one["epsilon_limit"], one["epsilon_remaining"]
        found.append(
            ShownBudget(
                is_own=one["analyst"] == analyst,
                name="Yours"
                if one["analyst"] == analyst
                else f"{one['analyst'].strip('()')}{_STEPS}",
                left="no limit" if left is None else number_text(left),
                limit="" if limit is None else number_text(limit),
                spent=number_text(one["epsilon_spent"]),
                renews="never" if one["renews_at"] is None else moment(one["renews_at"]),
                share=None if not limit or left is None else float(left) / float(limit),
                odds=_odds_of_limit(limit, one["delta_limit"]),
                statements="" if left is None or not usual else _statements(left, usual),
            )
        )
    return found


_STEPS = ", in steps: spent is rounded up, left is rounded down"


def _statements(left: object, usual: Fraction) -> str:
    """
    >>> _statements("8.25", Fraction(1, 2)), _statements("0.5", Fraction(1, 2))
    ('16 statements', '1 statement')
    """
    count = max(0, math.floor(Fraction(str(left)) / usual))
    return f"{count:,} statement{'s'[: count != 1]}"


def _odds_of_limit(epsilon: object, delta: object) -> str:
    """
    >>> _odds_of_limit("2", "0").partition(" in the data ")[2]
    'can at most come to 1 in 14; if that is too much, ask the data owner for a smaller limit.'
    """
    if epsilon is None or delta is None or not Fraction(str(epsilon)):
        return ""
    found = odds_text(Loss(Fraction(str(epsilon)), Fraction(str(delta))))
    return f"once all of it is spent, {found}; if that is too much, ask the data owner for a smaller limit."


@dataclass(frozen=True, slots=True, kw_only=True)
class HistoryLine:
    """asked: Epsilon to ask the same with again, "" where it was free."""

    receipt: str
    at: str
    text: str
    fingerprint: str
    outcome: str
    epsilon: str
    asked: str
    delta: str


def history_lines(document: Sequence[Document]) -> list[HistoryLine]:
    return [
        HistoryLine(
            receipt=str(one["receipt"]),
            at=moment(one["at"]),
            text=one["text"] or "",
            fingerprint=one["statement"][:12],
            outcome=one["outcome"],
            epsilon=number_text(one["epsilon"]),
            asked=f"{one['epsilon']:f}" if one["epsilon"] else "",
            delta="0" if not one["delta"] else f"{Decimal(one['delta']):.2g}",
        )
        for one in document
    ]


def burn_down(
    budget: Sequence[Document], history: Sequence[Document], analyst: str, now: datetime
) -> Markup:
    """What was left of the analyst's own budget since it began, for wide and for narrow pages; nothing where it
    has no limit or nothing was spent."""
    own = [one for one in budget if one["analyst"] == analyst and one["epsilon_limit"] is not None]
    if not own or not history:
        return Markup("")
    limit, renews = float(own[0]["epsilon_limit"]), own[0]["renews_at"]
    spent = sorted((_seconds(one["at"]), float(one["epsilon"])) for one in history)
    began = spent[0][0]
    end = now.timestamp()
    if renews is not None:
        end = _seconds(renews)
        spent = _of_window(spent, float(own[0]["epsilon_spent"]))
        began = min(
            spent[0][0], now.replace(day=1, hour=0, minute=0, second=0, microsecond=0).timestamp()
        )
    left, points = limit, [(began, limit)]
    for at, epsilon in spent:
        left = max(0.0, left - epsilon)
        points.append((at, left))
    points.append((max(now.timestamp(), points[-1][0]), left))
    title = f"Epsilon that is left: {shown_number(limit)} at first, {shown_number(left)} now"
    plots = (
        _burn(points, limit, max(end, points[-1][0]), title, _WIDE, "plot at-wide"),
        _burn(points, limit, max(end, points[-1][0]), title, _NARROW, "plot at-narrow"),
    )
    return Markup("").join(plots)


def _of_window(spent: list[tuple[float, float]], total: float) -> list[tuple[float, float]]:
    """The latest charges, which add up to what was spent in the window: those before are of earlier ones.

    >>> _of_window([(1.0, 0.5), (2.0, 0.5), (3.0, 0.25)], 0.75)
    [(2.0, 0.5), (3.0, 0.25)]
    """
    first, found = len(spent), 0.0
    while first and (found < total * (1 - 1e-9) or first == len(spent)):
        first -= 1
        found += spent[first][1]
    return spent[first:]


def _burn(
    points: Sequence[tuple[float, float]],
    limit: float,
    end: float,
    title: str,
    width: int,
    name: str,
) -> Markup:
    began = points[0][0]
    plot = Plot(
        width, 210 if width < _WIDE else 250, (began, max(end, began + _DAY)), (0, limit), left=40
    )
    days = max(1.0, (end - began) / _DAY)
    count = 3 if width < _WIDE else 6
    labels = []
    for number in range(count):
        at = began + number * days * _DAY / count
        when = datetime.fromtimestamp(at, timezone.utc)
        labels.append((at, f"{when.day} {when:%b}"))
    plot.y_axis(shown_number).x_axis(labels)
    return plot.line([(began, limit), (end, 0)], "line even").steps(points).svg(title, name)


def _seconds(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()
