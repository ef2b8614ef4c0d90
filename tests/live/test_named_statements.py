"""What names mean, as in PostgreSQL: generated statements beside its own answers."""

from __future__ import annotations

import random  # noqa: TID251  the same statements each time
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from statistics import mean, stdev
from typing import TypeVar

import psycopg
import pytest

from tests.live.compared_answers import asked_of, differences
from tests.live.conftest import RELATIONS
from tests.live_proxy import LiveProxy
from tests.sql.corpus import Asked, corpus

T = TypeVar("T")
# Kinds: of a unit, whole numbers, texts, truths, days, other numbers. The groups of a column with * are public.
_PROTECTED = {
    "r.rentals": "id:i customer:u product:i* day:d kind:t* paid:b* amount:n",
    "r.payments": "id:i customer:u rental:i cents:i",
    "r.returns": "id:i customer:u rental:i late:b*",
}
_PUBLIC = {"r.products": "id:i* category:t* price:n maker:i*", "r.makers": "id:i* country:t*"}
_KEYS = {"id", "product", "maker"}  # by which public tables are joined
# For anything: names of tables and columns, words that mean something elsewhere.
_WORDS = (
    *("customer", "id", "kind", "paid", "rental", "product", "day", "amount", "Kind", "KIND"),
    *("rentals", "payments", "returns", "products", "q", "p", "r", "n", "u", "count", "order"),
    *("date", "year", "key", "value", "text", "left", "sample", "asof", "final", "type", "first"),
)
_CONDITIONS = {
    "u": ("> 300", "< 200", "<> 7"),
    "i": ("> 2", "< 5", "> 400", "IS NULL", "<= 100"),
    "t": ("= 'a'", "<> 'b'", "IN ('c', 'Gizmo')", "IS NOT NULL"),
    **{"b": ("= true", "IS NOT TRUE"), "d": ("> '2024-09-01'",), "n": ("> 40", "<= 60")},
}
_OF_A_ROW = ("EXISTS (SELECT * {})", "NOT EXISTS (SELECT 1 {})", "(SELECT count(*) {}) > 1")


@dataclass(frozen=True)
class NamedStatement:
    sql: str
    measures: int  # so many columns at the end are noisy
    features: frozenset[str]


@dataclass(frozen=True)
class _Column:
    name: str
    kind: str
    key: bool
    before: tuple[str, ...] = ()  # what may stand before the name
    alone: bool = True  # it may stand without


@dataclass(frozen=True)
class _Side:
    text: str  # one table, subquery or join of FROM
    columns: tuple[_Column, ...]
    protected: bool
    names: frozenset[str] = frozenset()  # aliases
    single: bool = True

    def units(self) -> list[_Column]:
        return [column for column in self.columns if column.kind == "u"]

    def named(self, name: str) -> list[_Column]:
        return [column for column in self.columns if column.alone and column.name == name]


def named_statement(number: int) -> NamedStatement:
    return _Drawing(random.Random(number)).statement()


def _quoted(name: str) -> str:
    is_plain = re.fullmatch(r"[a-z]+", name) and name not in ("order", "left")
    return name if is_plain else f'"{name}"'


def _of_both(left: _Side, right: _Side, text: str) -> _Side:
    columns, names = (*left.columns, *right.columns), left.names | right.names
    return _Side(text, columns, left.protected or right.protected, names, single=False)


@dataclass
class _Drawing:
    random: random.Random
    ctes: dict[str, tuple[_Side, str]] = field(default_factory=dict)  # and the text of each
    features: set[str] = field(default_factory=set)
    tables: int = 0

    def statement(self) -> NamedStatement:
        side, needed = self._source(self._of((0, 1, 1, 2)), True)
        keys = [column for column in side.columns if column.key]
        self.random.shuffle(keys)
        items, groups = list[str](), list[str]()
        for column in keys[: self._of((0, 1, 1, 2))]:
            written = self._written(column, side)
            alias = _quoted(self._of(_WORDS)) if self._rarely(2) else ""
            items.append(f"{written} AS {alias}" if alias else written)
            groups.append(self._of((written, str(len(items)), alias or written)))
        measures = [self._measure(side) for _ in range(self._of((1, 1, 2, 3)))]
        text = f"SELECT {', '.join([*items, *measures])} FROM {side.text}"
        text += self._where(side, needed)
        if groups:
            text += f" GROUP BY {', '.join(groups)}"
            if self._rarely(4):
                text += f" HAVING {self._of_groups(keys[: len(groups)], side)}"
            if self._rarely(4):
                text += f" ORDER BY {self._of([*groups, _quoted(self._of(_WORDS))])}"
        if self.ctes:
            text = f"WITH {', '.join(body for _, body in self.ctes.values())} {text}"
        if self._rarely(6):  # whose names mean nothing within
            self.features.add("beside another relation")
            text = f"SELECT z.* FROM {self._of(list(_PUBLIC))} {_quoted(self._of(_WORDS))}, LATERAL ({text}) z"
        return NamedStatement(text, len(measures), frozenset(self.features))

    def _of(self, among: Sequence[T]) -> T:
        return self.random.choice(among)

    def _rarely(self, number: int) -> bool:
        return self.random.randrange(number) == 0

    def _written(self, column: _Column, side: _Side) -> str:
        """As it may be written in a scope; now and then without what would make it the only one."""
        often = 2 if len(side.named(column.name)) == 1 else 30
        if not column.before or (column.alone and self._rarely(often)):
            return _quoted(column.name)
        return f"{self._of(column.before)}.{_quoted(column.name)}"

    def _measure(self, side: _Side) -> str:
        column = self._written(self._of(side.columns), side)
        condition = self._condition(side)
        counts = ("count(*)", f"count({column})", f"count(*) FILTER (WHERE {condition})")
        return self._of((*counts, f"sum(CASE WHEN {condition} THEN 1 ELSE 0 END)"))

    def _condition(self, side: _Side) -> str:
        column = self._of(side.columns)
        alike = [c for c in side.columns if c.kind == column.kind and c != column]
        if alike and self._rarely(6):
            ends = [self._written(one, side) for one in (column, self._of(alike))]
            return self._of((" = ", " <> ")).join(ends)
        return f"{self._written(column, side)} {self._of(_CONDITIONS[column.kind])}"

    def _where(self, side: _Side, needed: Sequence[str]) -> str:
        parts = [*needed, *(self._condition(side) for _ in range(self._of((0, 0, 1))))]
        if side.units() and self._rarely(8):
            parts.append(self._of_row(side))
        return f" WHERE {' AND '.join(parts)}" if parts else ""

    def _of_row(self, side: _Side) -> str:
        """A subquery of which the names hide those around it, unless these are written with an alias."""
        self.features.add("subquery of a row")
        inner, outside = self._table(True, frozenset()), self._of(side.units())
        around = ".".join([*outside.before[:1], _quoted(outside.name)])
        where = f"{self._written(inner.units()[0], inner)} = {around}"
        where += f" AND {self._condition(inner)}" if self._rarely(2) else ""
        return self._of(_OF_A_ROW).format(f"FROM {inner.text} WHERE {where}")

    def _of_groups(self, keys: Sequence[_Column], side: _Side) -> str:
        """A subquery that stays in the text, with a name of a key in it, which it may hide."""
        self.features.add("subquery of a group")
        inner, _ = self._source(self._of((0, 1)), False)
        key = self._of(keys)
        around, alike = self._written(key, side), [c for c in inner.columns if c.kind == key.kind]
        where = f"{around} IS NOT NULL"
        if alike:
            where = f"{self._written(self._of(alike), inner)} {self._of(('=', '<>'))} {around}"
        return self._of(_OF_A_ROW).format(f"FROM {inner.text} WHERE {where}")

    def _source(self, depth: int, protected: bool) -> tuple[_Side, list[str]]:
        """What stands after FROM, and what WHERE must say of it."""
        side = self._joined(depth, protected, frozenset(), self._of((1, 2, 2, 3, 4)))
        if not side.units() or self.tables > 3 or not self._rarely(7):
            return side, []
        self.features.add("comma")
        other = self._table(True, side.names)
        both = _of_both(side, other, f"{side.text}, {other.text}")
        ends = (self._of(side.units()), other.units()[0])
        return both, [" = ".join(self._written(end, both) for end in ends)]

    def _joined(self, depth: int, protected: bool, taken: frozenset[str], size: int) -> _Side:
        if size == 1 or self.tables > 3:
            of_query = depth > 0 and self._rarely(2)
            return (self._query if of_query else self._table)(protected, taken, depth)
        cut = self.random.randint(1, size - 1)
        sides = self._of(((True, True), (True, True), (True, False), (False, True)))
        left = self._joined(depth, protected and sides[0], taken, cut)
        right = self._joined(depth, protected and sides[1], taken | left.names, size - cut)
        return self._join(left, right)

    def _join(self, left: _Side, right: _Side) -> _Side:
        pairs = [(a, b) for a in left.columns for b in right.columns if a.kind == b.kind]
        units = left.protected and right.protected
        pairs = [
            (a, b) for a, b in pairs if (a.kind == "u" if units else {a.name, b.name} <= _KEYS)
        ]
        if not pairs:
            return left if left.protected else right
        a, b = self._of(pairs)
        word = self._of(("JOIN", "JOIN", "LEFT JOIN", "RIGHT OUTER JOIN"))
        texts = [side.text if side.single else f"({side.text})" for side in (left, right)]
        self.features |= set() if right.single else {"nested"}
        both = _of_both(left, right, f"{self._of((left.text, texts[0]))} {word} {texts[1]}")
        if left.named(a.name) == [a] and right.named(a.name) == [b] and self._rarely(2):
            self.features.add("using")
            one = replace(b if word.startswith("RIGHT") else a, before=())
            rest = [replace(c, alone=c.alone and c.name != a.name) for c in both.columns]
            columns = (one, *(c for c in rest if c.alone or c.before))
            return replace(both, text=f"{both.text} USING ({_quoted(a.name)})", columns=columns)
        ends = [self._written(one, both) for one in self._of(((a, b), (b, a)))]
        more = f" AND {self._condition(both)}" if self._rarely(6) else ""
        return replace(both, text=f"{both.text} ON {' = '.join(ends)}{more}")

    def _table(self, protected: bool, taken: frozenset[str], depth: int = 0) -> _Side:
        of = _PROTECTED if protected else _PUBLIC
        name = self._of(list(of))
        alias, text = name.partition(".")[2], name
        before: tuple[str, ...] = (alias, name)
        self.tables += 1
        if alias in taken or not self._rarely(4):
            alias = self._of([word for word in _WORDS if word not in taken])
            text, before = f"{name} {self._of(('', 'AS '))}{_quoted(alias)}", (_quoted(alias),)
        each = (one.partition(":") for one in of[name].split())
        columns = (_Column(column, kind[0], kind[1:] == "*", before) for column, _, kind in each)
        return _Side(text, tuple(columns), protected, frozenset({alias}))

    def _query(self, protected: bool, taken: frozenset[str], depth: int) -> _Side:
        """A subquery in brackets or a CTE, of which the alias may have a list of columns."""
        again = [side for side, _ in self.ctes.values() if side.protected is protected]
        if again and self.tables < 3 and self._rarely(2):
            self.tables += 2
            self.features.add("cte again")
            return self._under(self._of(again), taken, has_list=True)
        inner, needed = self._source(depth - 1, protected)
        if self._rarely(4):
            return self._star(inner, needed, taken)
        chosen = dict.fromkeys(self._of(inner.columns) for _ in range(self._of((1, 2, 3, 4))))
        if inner.units():
            chosen[self._of(inner.units())] = None
        items, columns = list[str](), list[_Column]()
        for column in chosen:
            name = self._of((column.name, self._of(_WORDS)))
            name = f"c{len(columns)}" if any(name == other.name for other in columns) else name
            items.append(f"{self._written(column, inner)} AS {_quoted(name)}")
            columns.append(_Column(name, column.kind, column.key))
        text = f"SELECT {', '.join(items)} FROM {inner.text}{self._where(inner, needed)}"
        side, name = _Side(f"({text})", tuple(columns), protected), self._of(_WORDS)
        if name in self.ctes or self._rarely(2):
            return self._under(side, taken)
        self.features.add("cte")
        named, listed = self._list(side)
        cte = replace(side, columns=named, text=_quoted(name))
        self.ctes[name] = cte, f"{cte.text}{listed} AS ({text})"
        return self._under(cte, taken)

    def _star(self, inner: _Side, needed: list[str], taken: frozenset[str]) -> _Side:
        """All columns: those whose name is there once can be named."""
        self.features.add("star")
        names = [column.name for column in inner.columns if column.alone]
        columns = tuple(
            column for column in inner.columns if column.alone and names.count(column.name) == 1
        )
        if not columns:
            return inner if inner.single else self._table(inner.protected, taken)
        text = f"(SELECT * FROM {inner.text}{self._where(inner, needed)})"
        return self._under(replace(inner, text=text, columns=columns), taken, has_list=True)

    def _under(self, side: _Side, taken: frozenset[str], has_list: bool = False) -> _Side:
        alias = self._of([word for word in _WORDS if word not in taken])
        columns, listed = (side.columns, "") if has_list else self._list(side)
        text = f"{side.text} {self._of(('', 'AS '))}{_quoted(alias)}{listed}"
        columns = tuple(replace(column, before=(_quoted(alias),)) for column in columns)
        return replace(side, text=text, columns=columns, names=frozenset({alias}), single=True)

    def _list(self, side: _Side) -> tuple[tuple[_Column, ...], str]:
        if not self._rarely(3):
            return side.columns, ""
        self.features.add("list of columns")
        number = self.random.randint(1, len(side.columns))
        kept = {column.name for column in side.columns[number:]}
        fresh = self.random.sample([word for word in _WORDS if word not in kept], number)
        renamed = [replace(c, name=new) for c, new in zip(side.columns, fresh, strict=False)]
        return (*renamed, *side.columns[number:]), f"({', '.join(map(_quoted, fresh))})"


_COMPARED = corpus(RELATIONS).expecting("as PostgreSQL")[0].settings
_REFUSED = ("0A000", "42501")  # by a rule of ours, which costs nothing
_FEATURES = (
    *("using", "nested", "comma", "cte", "cte again", "list of columns", "subquery of a row"),
    *("subquery of a group", "beside another relation", "star"),
)


@pytest.fixture(scope="module")
def direct(live: LiveProxy) -> Iterator[psycopg.Connection]:
    """PostgreSQL itself."""
    dsn = live.servers.protected.dsn(RELATIONS)
    with psycopg.connect(dsn, autocommit=True, options="-c statement_timeout=60s") as connection:
        yield connection


def _difference(
    sql: str, measures: int, asking: psycopg.Connection, direct: psycopg.Connection
) -> list[str]:
    exact, answered = asked_of(direct, Asked(sql)), asked_of(asking, Asked(sql))
    assert not isinstance(exact, str) and not isinstance(answered, str), (sql, exact, answered)
    return differences(answered, exact, _COMPARED, measures)


def _is_noise(
    sql: str, measures: int, asking: psycopg.Connection, direct: psycopg.Connection
) -> bool:
    """Of several tables that are joined the noise may be more than the tolerance: not so its mean."""
    exact = {row[:-measures]: row[-measures:] for row in direct.execute(sql.encode())}
    cells = defaultdict[tuple[tuple[object, ...], int], list[float]](list)
    for _ in range(20):
        for row in asking.execute(sql.encode()):
            for place, number in enumerate(row[-measures:]):
                cells[row[:-measures], place].append(float(number or 0))
    for (label, place), values in cells.items():
        wanted = float(exact.get(label, (0,) * measures)[place] or 0)
        if abs(mean(values) - wanted) > max(1, 1.5 * stdev(values)):  # of 20: six deviations
            return False
    return {label for label, _ in cells} >= exact.keys()


def _outcome(
    statement: NamedStatement, live: LiveProxy, analyst: str, direct: psycopg.Connection
) -> str:
    """ "answered", as PostgreSQL answers; "refused" for nothing; or "no query": PostgreSQL refuses it, too."""
    sql = statement.sql
    try:
        direct.execute(sql.encode())
        by_itself = ""
    except psycopg.errors.QueryCanceled:
        return "slow"
    except psycopg.Error as error:
        by_itself = str(error)
    spent = live.spent(analyst)[:2]
    with live.connect(RELATIONS, analyst=analyst) as asking:
        asking.execute("SET dp.epsilon = 100")
        try:
            asking.execute(sql.encode())
        except psycopg.Error as error:
            assert by_itself or error.sqlstate in _REFUSED, f"{error}: {sql}"
            assert error.sqlstate != "58000" and live.spent(analyst)[:2] == spent, sql
            return "no query" if by_itself else "refused"
        assert not by_itself, f"{by_itself}: {sql}"
        if _difference(sql, statement.measures, asking, direct):
            assert _is_noise(sql, statement.measures, asking, direct), sql
    return "answered"


def _run(numbers: range, live: LiveProxy, direct: psycopg.Connection) -> Counter[str]:
    """How often each outcome came, and each feature of what was answered."""
    seen = Counter[str]()
    for number in numbers:
        if number % 200 == numbers.start % 200:
            analyst = live.servers.new_analyst()
        statement = named_statement(number)
        outcome = _outcome(statement, live, analyst, direct)
        seen[outcome] += 1
        if outcome == "answered":
            seen.update(statement.features)
    return seen


def test_some_generated_statements(live: LiveProxy, direct: psycopg.Connection) -> None:
    seen = _run(range(12), live, direct)
    assert seen["answered"] >= 3, seen


@pytest.mark.long
def test_generated_statements(live: LiveProxy, direct: psycopg.Connection) -> None:
    seen = _run(range(1000, 1900), live, direct)
    assert seen["answered"] >= 350, seen
    assert [name for name in _FEATURES if seen[name] < 4] == [], seen
