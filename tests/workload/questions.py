"""A thousand questions over the demo's census and shop, as people ask them: few things often, most things once.

By a fixed seed, and by nothing else. Kinds: a dashboard that is opened, drilling down, rankings, slices, lists and
ranges, conditions that no key expresses.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

SEED = 11
_ZIPF = 1.1
_TRUNCATED = "date_trunc('month', o.created_at)"
# The last first, which is asked for most.
_MONTHS = tuple(f"{2026 - n // 12}-{12 - n % 12:02}-01" for n in range(1, 37))


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """database, measures: how many aggregates it has; text"""

    database: str
    text: str
    measures: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """values: as they are written in a condition, the usual ones first; joined: what it needs beside the facts."""

    sql: str
    values: Sequence[str]
    joined: str = ""

    def equals(self, value: str) -> str:
        if self.sql != _TRUNCATED:
            return f"{self.sql} = {value}"
        end = {**dict(zip(_MONTHS[1:], _MONTHS, strict=False)), _MONTHS[0]: "2026-12-01"}[value]
        return f"o.created_at >= '{value}' AND o.created_at < '{end}'"

    def among(self, values: Sequence[str]) -> str:
        if self.sql == _TRUNCATED:  # the last months
            return f"o.created_at >= '{_MONTHS[len(values)]}'"
        return f"{self.sql} IN ({', '.join(values)})"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """others: conditions on what is no key, with the numbers that people compare with."""

    database: str
    facts: str
    total: str
    keys: Mapping[str, _Key]
    others: Sequence[str]
    dashboard: Sequence[tuple[str, tuple[str, ...], tuple[str, ...]]] = field(default=())

    def question(
        self,
        measures: Sequence[str],
        keys: Sequence[str],
        conditions: Sequence[str] = (),
        used: Sequence[str] = (),
        end: str = "",
    ) -> Question:
        columns = [self.keys[key].sql for key in keys]
        wanted = {"count": "count(*)", "sum": f"sum({self.total})", "avg": f"avg({self.total})"}
        joins = dict.fromkeys(self.keys[key].joined for key in (*keys, *used))
        text = f"SELECT {', '.join([*columns, *(wanted[one] for one in measures)])} FROM {self.facts}"
        text += "".join(joins)
        if conditions:
            text += f" WHERE {' AND '.join(conditions)}"
        if keys:
            text += f" GROUP BY {', '.join(str(n + 1) for n in range(len(keys)))}"
        return Question(database=self.database, text=text + end, measures=len(measures))


def _texts(*values: str) -> tuple[str, ...]:
    return tuple(f"'{value}'" for value in values)


_CENSUS = _Subject(
    database="census",
    facts="census.adult a",
    total="a.income",
    keys={
        "region": _Key(sql="a.region", values=_texts("South", "North", "West", "East", "Centre")),
        "education": _Key(
            sql="a.education",
            values=_texts(
                *("Bachelors", "HS-grad", "Masters", "Some-college", "Doctorate", "Assoc", "11th", "Other")
            ),
        ),
        "occupation": _Key(
            sql="a.occupation",
            values=_texts(
                *("Tech", "Exec", "Sales", "Service", "Craft", "Clerical", "Farming", "Other")
            ),
        ),
        "sex": _Key(sql="a.sex", values=_texts("Female", "Male")),
        "married": _Key(sql="a.married", values=("true", "false")),
    },
    others=(
        *(f"a.income > {n}000" for n in (100, 50, 75, 150, 30, 60, 200, 40, 90, 120)),
        *(f"a.age >= {n}" for n in (65, 18, 30, 50, 40, 25, 60, 21, 35, 45)),
        *(f"a.zip = '{n}'" for n in (10001, 30000, 50012, 70003, 10007, 30020, 90001, 50000)),
        *(f"a.hours_per_week > {n}" for n in (40, 50, 35, 60)),
    ),
    dashboard=(
        ("", ("count",), ()),
        ("", ("count", "sum"), ("region",)),
        ("", ("count", "sum"), ("education",)),
        ("", ("count",), ("region", "married")),
        ("", ("count", "sum"), ("occupation", "sex")),
    ),
)
_SHOP = _Subject(
    database="shop",
    facts="shop.orders o",
    total="o.total",
    keys={
        "month": _Key(sql=_TRUNCATED, values=_MONTHS[:24]),
        "status": _Key(sql="o.status", values=_texts("paid", "returned", "shipped", "cancelled")),
        "state": _Key(
            sql="c.state",
            values=_texts("CA", "NY", "TX", "FL", "IL", "PA", "OH", "GA", "NC", "MI"),
            joined=" JOIN shop.customers c ON c.id = o.customer_id",
        ),
        "category": _Key(
            sql="p.category",
            values=_texts("Toys", "Home", "Books", "Kitchen", "Clothing", "Tools", "Outdoor"),
            joined=" JOIN shop.products p ON p.id = o.product_id",
        ),
    },
    others=(
        *(f"o.total > {n}" for n in (100, 50, 200, 20, 150, 75, 300, 10, 250, 30)),
        *(f"o.product_id = {n}" for n in (1, 7, 3, 42, 12, 5, 19, 100, 2, 33, 64, 8)),
        *(f"o.quantity >= {n}" for n in (2, 3, 5, 4)),
    ),
    dashboard=(
        ("", ("count",), ()),
        ("", ("count", "sum"), ()),
        ("", ("sum",), ("month",)),
        ("", ("count", "sum"), ("status",)),
        ("", ("count", "sum"), ("state",)),
        ("last", ("count",), ("status", "month")),
        ("last", ("sum",), ("category",)),
    ),
)


def questions(count: int, seed: int = SEED) -> list[Question]:
    """The first so many. Whoever asks for fewer gets the same ones."""
    asking = _Asking(seed)
    found: list[Question] = []
    while len(found) < count:
        found += asking.session()
    return found[:count]


class _Asking:
    def __init__(self, seed: int) -> None:
        self._random = random.Random(seed)

    def session(self) -> Iterator[Question]:
        """What somebody asks one after the other."""
        subject = self._random.choice((_CENSUS, _SHOP))
        kinds = (
            (self._dashboard, 12),
            (self._drilling, 30),
            (self._ranking, 20),
            (self._slice, 22),
            (self._list, 9),
            (self._other, 7),
        )
        ((kind, _),) = self._random.choices(kinds, [weight for _, weight in kinds])
        return kind(subject)

    def _often(self, things: Sequence[str], most: float = _ZIPF) -> str:
        """The first most."""
        weights = [(place + 1) ** -most for place in range(len(things))]
        return self._random.choices(things, weights)[0]

    def _measures(self) -> tuple[str, ...]:
        return self._random.choices([("count",), ("count", "sum"), ("sum",)], [5, 3, 2])[0]

    def _key(self, subject: _Subject, without: Sequence[str] = ()) -> str:
        return self._often([key for key in subject.keys if key not in without], 0.8)

    def _condition(self, subject: _Subject, key: str) -> str:
        return subject.keys[key].equals(self._often(subject.keys[key].values))

    def _dashboard(self, subject: _Subject) -> Iterator[Question]:
        for since, measures, keys in subject.dashboard:
            year = [f"o.created_at >= '{_MONTHS[11]}'"] if since else []
            yield subject.question(measures, keys, year)

    def _drilling(self, subject: _Subject) -> Iterator[Question]:
        """By A; by B where A is a; by C where B is b, too."""
        measures = self._measures()
        used: list[str] = []
        conditions: list[str] = []
        for _ in range(self._random.choice((2, 3))):
            key = self._key(subject, used)
            yield subject.question(measures, [key], conditions, used)
            conditions.append(self._condition(subject, key))
            used.append(key)

    def _ranking(self, subject: _Subject) -> Iterator[Question]:
        keys = [self._key(subject)]
        if self._random.random() < 0.4:
            keys.append(self._key(subject, keys))
        keys, measures = sorted(keys), self._measures()
        for most in self._random.sample((3, 5, 10), self._random.choice((1, 1, 2))):
            having = " HAVING count(*) > 100" if measures[0] == "count" and most == 10 else ""
            end = f"{having} ORDER BY {len(keys) + 1} DESC LIMIT {most}"
            yield subject.question(measures, keys, end=end)

    def _slice(self, subject: _Subject) -> Iterator[Question]:
        key = self._key(subject)
        used = [self._key(subject, [key])]
        if self._random.random() < 0.35:
            used.append(self._key(subject, [key, *used]))
        conditions = [self._condition(subject, one) for one in used]
        keys = [key] if self._random.random() < 0.7 else []
        yield subject.question(self._measures(), keys, conditions, used)

    def _list(self, subject: _Subject) -> Iterator[Question]:
        key = "month" if subject is _SHOP else self._random.choice(("education", "region"))
        values = subject.keys[key].values
        if key == "month":
            among = values[: self._random.choice((3, 3, 6, 12))]
        else:
            begin = self._random.randrange(len(values) - 2)
            among = values[begin : begin + self._random.choice((2, 3, 4))]
        keys = [self._key(subject, [key])] if self._random.random() < 0.6 else []
        yield subject.question(self._measures(), keys, [subject.keys[key].among(among)], [key])

    def _other(self, subject: _Subject) -> Iterator[Question]:
        keys = [self._key(subject)] if self._random.random() < 0.6 else []
        yield subject.question(self._measures(), keys, [self._often(subject.others)])
