"""A thousand questions over the sample databases, as people ask them: few things often, most things once.

By a fixed seed, and by nothing else. Kinds and their shares, keys, numbers of values and skews are those of the
simulation that the design was decided by: dashboards that are opened, drilling down, rankings, slices, ranges,
and conditions that no key expresses. What a tool asks of the shop it asks of one joined table.

Source  Zipf's law of what is asked for: the n-th most is asked for n^-1.1 times as often
"""

from __future__ import annotations

import random  # noqa: TID251 - what is asked, not noise
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

SEED = 20261121
ANALYSTS = ("who asks most", "who asks less", "who asks least")
_ZIPF = 1.1
_KEY_ZIPF = 0.8
_ANALYST_ZIPF = 1.0
# Whole months up to the day on which the shop's orders end; the first day of each, and the day after the last.
_MONTHS = tuple(f"{2024 + (10 + n) // 12}-{(10 + n) % 12 + 1:02}-01" for n in range(25))
_OTHERS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """database, text, analyst; measures: its aggregates"""

    database: str
    text: str
    measures: tuple[str, ...]
    analyst: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Key:
    """sql: as it is grouped by. count: of its values, which conditions name by number; texts: None: ranges of
    `column` between `ends`, the first of which is open below."""

    sql: str
    count: int
    texts: Sequence[str] | None = None
    column: str = ""
    ends: Sequence[str] = ()
    is_open: bool = False

    def condition(self, values: Sequence[int]) -> str:
        """values: in order; of ranges one after the other"""
        if self.texts is None:
            low, high = self.ends[values[0]], self.ends[values[-1] + 1]
            above, below = f"{self.column} >= {low}", f"{self.column} < {high}"
            if self.is_open and values[0] == 0:
                return below
            return above if self.is_last(values) else f"{above} AND {below}"
        if len(values) == 1:
            return f"{self.sql} = {self.texts[values[0]]}"
        return f"{self.sql} IN ({', '.join(self.texts[value] for value in values)})"

    def is_last(self, values: Sequence[int]) -> bool:
        """Whether people leave the end out, as of the last three months."""
        return not self.is_open and len(values) > 1 and values[-1] == self.count - 1


def _listed(sql: str, *texts: str) -> _Key:
    return _Key(sql=sql, count=len(texts), texts=[f"'{text}'" for text in texts])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Asked:
    """Of a subject; values: of each key in a condition, by number."""

    measures: Sequence[str]
    keys: Sequence[str] = ()
    values: Mapping[str, Sequence[int]] = field(default_factory=dict)
    other: str = ""
    end: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Subject:
    """others: conditions on what is no key; ranged: keys that are asked for by range"""

    database: str
    facts: str
    total: str
    keys: Mapping[str, _Key]
    others: Sequence[str]
    ranged: Sequence[str]
    dashboard: Sequence[_Asked]

    def text(self, asked: _Asked) -> str:
        columns = [self.keys[key].sql for key in sorted(asked.keys)]
        wanted = {"count": "count(*)", "sum": f"sum({self.total})"}
        columns += [wanted[one] for one in asked.measures]
        conditions = [self.keys[key].condition(some) for key, some in sorted(asked.values.items())]
        conditions += [asked.other] if asked.other else []
        text = f"SELECT {', '.join(columns)} FROM {self.facts}"
        if conditions:
            text += f" WHERE {' AND '.join(conditions)}"
        if asked.keys:
            text += f" GROUP BY {', '.join(str(n + 1) for n in range(len(asked.keys)))}"
        return text + asked.end


def _numbered(*patterns: tuple[str, Sequence[int]]) -> tuple[str, ...]:
    """In turn of each, as many as are asked for."""
    texts = [[pattern.format(n) for n in numbers] for pattern, numbers in patterns]
    longest = max(map(len, texts))
    return tuple(some[n] for n in range(longest) for some in texts if n < len(some))[:_OTHERS]


_YEAR = tuple(range(12, 24))
_CENSUS = _Subject(
    database="census",
    facts="census.adult a",
    total="a.income",
    keys={
        "sex": _listed("a.sex", "Female", "Male"),
        "education": _listed(
            "a.education",
            *(
                "HS-grad",
                "Some-college",
                "Bachelors",
                "Masters",
                "Assoc",
                "Doctorate",
                "11th",
                "Other",
            ),
        ),
        "occupation": _listed(
            "a.occupation",
            *("Sales", "Craft", "Exec", "Clerical", "Service", "Tech", "Farming", "Other"),
        ),
        "region": _listed("a.region", "North", "South", "East", "West", "Centre"),
        "married": _Key(sql="a.married", count=2, texts=("true", "false")),
        "age": _Key(
            sql="a.age / 10",
            count=12,
            column="a.age",
            ends=[str(10 * n) for n in range(13)],
            is_open=True,
        ),
    },
    others=_numbered(
        ("a.income > {}000", [100, 50, 75, 150, 30, 60, 200, 40, 90, 120, 25, 80, 35, 70, 45]),
        ("a.hours_per_week > {}", [40, 50, 35, 60, 20, 45, 30, 38, 25, 55, 48, 10, 15, 32, 42]),
        ("a.zip = '{}'", [10001, 30000, 50012, 70003, 10007, 30020, 90001, 50000, 70010, 10050]),
        ("a.age >= {}", [65, 18, 25, 21, 67, 45, 35, 55, 16, 62]),
        ("a.age < {}", [18, 25, 65, 35, 21, 45, 16, 55, 67, 75]),
    ),
    ranged=("age", "education"),
    dashboard=(
        _Asked(measures=["count"]),
        _Asked(measures=["count", "sum"], keys=["region"]),
        _Asked(measures=["count", "sum"], keys=["education"]),
        _Asked(measures=["count"], keys=["sex", "age"]),
        _Asked(measures=["count", "sum"], keys=["occupation", "sex"]),
        _Asked(measures=["count"], keys=["region", "married"]),
    ),
)
_SHOP = _Subject(
    database="shop",
    facts="shop.orders o JOIN shop.customers c ON c.id = o.customer_id",
    total="o.total",
    keys={
        "status": _listed("o.status", "paid", "shipped", "returned", "cancelled"),
        "state": _listed("c.state", "CA", "TX", "NY", "FL", "IL", "PA", "OH", "GA", "NC", "MI"),
        "month": _Key(
            sql="date_trunc('month', o.created_at)",
            count=24,
            column="o.created_at",
            ends=[f"'{month}'" for month in _MONTHS],
        ),
    },
    others=_numbered(
        ("o.total > {}", [100, 50, 200, 20, 150, 75, 300, 10, 250, 30, 500, 25, 80, 40, 60]),
        ("o.product_id = {}", [1, 7, 3, 42, 12, 5, 19, 100, 2, 33, 64, 8, 150, 11, 90, 27, 6, 4]),
        ("o.quantity >= {}", [2, 3, 5, 4]),
        ("o.product_id < {}", [10, 50, 100, 20, 5, 150, 25, 75, 15, 30, 60, 40]),
        ("o.total < {}", [20, 50, 10, 100, 5, 30, 75, 200, 15, 25, 40]),
    ),
    ranged=("month",),
    dashboard=(
        _Asked(measures=["count"]),
        _Asked(measures=["sum"], keys=["month"]),
        _Asked(measures=["count", "sum"], keys=["status"]),
        _Asked(measures=["count", "sum"], keys=["state"]),
        _Asked(measures=["count"], keys=["status", "month"], values={"month": _YEAR}),
        _Asked(measures=["sum"], keys=["state"], values={"month": [23]}),
        _Asked(measures=["count"], keys=["status"], values={"month": [23]}),
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
        # Which values are asked for most; of months the last.
        self._order = {
            (subject.database, name): self._random.sample(range(key.count), key.count)
            if name != "month"
            else list(reversed(range(key.count)))
            for subject in (_CENSUS, _SHOP)
            for name, key in subject.keys.items()
        }

    def session(self) -> Iterator[Question]:
        """What one analyst asks one after the other."""
        subject = self._random.choice((_CENSUS, _SHOP))
        kinds = (
            (self._dashboard, 12),
            (self._drilling, 30),
            (self._ranking, 20),
            (self._slice, 22),
            (self._range, 9),
            (self._other, 7),
        )
        ((kind, _),) = self._random.choices(kinds, [weight for _, weight in kinds])
        analyst = ANALYSTS[self._place(len(ANALYSTS), _ANALYST_ZIPF)]
        for asked in kind(subject):
            yield Question(
                database=subject.database,
                text=subject.text(asked),
                measures=tuple(asked.measures),
                analyst=analyst,
            )

    def _place(self, count: int, skew: float = _ZIPF) -> int:
        weights = [(place + 1) ** -skew for place in range(count)]
        return self._random.choices(range(count), weights)[0]

    def _measures(self) -> tuple[str, ...]:
        return self._random.choices([("count",), ("count", "sum"), ("sum",)], [5, 3, 2])[0]

    def _key(self, subject: _Subject, without: Sequence[str] = ()) -> str:
        names = [name for name in subject.keys if name not in without]
        return names[self._place(len(names), _KEY_ZIPF)]

    def _value(self, subject: _Subject, key: str) -> list[int]:
        order = self._order[subject.database, key]
        return [order[self._place(len(order))]]

    def _dashboard(self, subject: _Subject) -> Iterator[_Asked]:
        yield from subject.dashboard

    def _drilling(self, subject: _Subject) -> Iterator[_Asked]:
        """By A; by B where A is a; by C where B is b, too."""
        measures = self._measures()
        used: list[str] = []
        values: dict[str, Sequence[int]] = {}
        for _ in range(self._random.choice((2, 3))):
            key = self._key(subject, used)
            yield _Asked(measures=measures, keys=[key], values=dict(values))
            values[key] = self._value(subject, key)
            used.append(key)

    def _ranking(self, subject: _Subject) -> Iterator[_Asked]:
        keys = [self._key(subject)]
        if self._random.random() < 0.4:
            keys.append(self._key(subject, keys))
        measures = self._measures()
        for most in self._random.sample((3, 5, 10), self._random.choice((1, 1, 2))):
            having = " HAVING count(*) > 100" if measures[0] == "count" and most == 10 else ""
            end = f"{having} ORDER BY {len(keys) + 1} DESC LIMIT {most}"
            yield _Asked(measures=measures, keys=keys, end=end)

    def _slice(self, subject: _Subject) -> Iterator[_Asked]:
        key = self._key(subject)
        used = [self._key(subject, [key])]
        if self._random.random() < 0.35 and len(subject.keys) > 3:
            used.append(self._key(subject, [key, *used]))
        values = {one: self._value(subject, one) for one in used}
        keys = [key] if self._random.random() < 0.7 else []
        yield _Asked(measures=self._measures(), keys=keys, values=values)

    def _range(self, subject: _Subject) -> Iterator[_Asked]:
        key = self._random.choice(subject.ranged)
        count = subject.keys[key].count
        if key == "month":
            values = range(count - self._random.choice((3, 3, 6, 12)), count)
        else:
            first = self._random.randrange(count - 2)
            values = range(first, min(count, first + self._random.choice((2, 3, 4))))
        keys = [self._key(subject, [key])] if self._random.random() < 0.6 else []
        yield _Asked(measures=self._measures(), keys=keys, values={key: values})

    def _other(self, subject: _Subject) -> Iterator[_Asked]:
        keys = [self._key(subject)] if self._random.random() < 0.6 else []
        other = subject.others[self._place(len(subject.others))]
        yield _Asked(measures=self._measures(), keys=keys, other=other)
