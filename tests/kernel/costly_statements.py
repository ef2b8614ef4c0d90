"""Statements that make the rows of one person cost much: whole ones that did, and families of any size.

Person 7 is the only one with the diagnosis 'hiv', so that CASE computes for that person's rows alone. The
tables h.few and h.many are alike but for the rows of a person that count, 5 and 100.
"""

from __future__ import annotations

from collections.abc import Callable

SCRIPT = """
CREATE SCHEMA h;
CREATE TABLE h.many (id int PRIMARY KEY, pid int NOT NULL, x int, n numeric, body text, diagnosis text);
INSERT INTO h.many SELECT g, 100 + g / 3, g % 100, g, 'b' || g, 'flu' FROM generate_series(1, 300) g;
INSERT INTO h.many SELECT 10000 + g, 7, 1 + g % 50, 7 + random()::numeric, repeat('a', 1000), 'hiv'
    FROM generate_series(1, 100) g;
CREATE TABLE h.few (LIKE h.many INCLUDING ALL);
INSERT INTO h.few SELECT * FROM h.many;
CREATE TABLE h.stores (id int PRIMARY KEY, pid int NOT NULL, x int, n numeric, body text, diagnosis text);
INSERT INTO h.stores SELECT g, 100 + g / 3, g % 100, g, 'b' || g, 'flu' FROM generate_series(1, 300) g;
INSERT INTO h.stores SELECT 10000 + g, 7, 1 + g % 50, 7 + random()::numeric, repeat('a', 1000), 'hiv'
    FROM generate_series(1, 10000) g;
CREATE TABLE h.letters (id int PRIMARY KEY, pid int NOT NULL, x int, n numeric, body text, diagnosis text);
INSERT INTO h.letters SELECT g, 100 + g / 3, g % 100, g, 'b' || g, 'flu' FROM generate_series(1, 300) g;
INSERT INTO h.letters SELECT 10000 + g, 7, 1 + g % 50, 7, repeat('letter' || g, 60000), 'hiv'
    FROM generate_series(1, 40) g;
ANALYZE;
"""
_COLUMNS = "{id: {}, x: {bounds: [0, 100]}, n: {bounds: [0, 100]}, body: {}, diagnosis: {values: [flu, hiv]}}"
POLICY = "".join(
    f"  h.{name}: {{unit: {{person: pid}}, max_rows_per_unit: {rows}, columns: {_COLUMNS}}}\n"
    for name, rows in (("few", 5), ("many", 100), ("stores", 5), ("letters", 40))
)
GONE = "".join(
    f"DELETE FROM h.{name} WHERE pid = 7;\n" for name in ("few", "many", "stores", "letters")
)

# Digits that are not 0: PostgreSQL skips zeros.
_LONG = "1.0000" + str(7**700).replace("0", "")[:394]


def _levels(count: int, table: str) -> str:
    """Products of constants of 400 digits, so many times."""
    hers = "max(CASE WHEN pid = 7 AND diagnosis = 'hiv' THEN 1 ELSE 0 END) AS f"
    found = f"SELECT pid, id, max(x) AS y, {hers} FROM {table} GROUP BY pid, id"
    found = f"SELECT pid, id, f, y, {_LONG} AS c FROM ({found}) b"
    for level in range(count):
        y = "CASE WHEN f = 1 THEN least(greatest(y*c*c, 1), 50) ELSE 1 END AS y"
        found = f"SELECT pid, id, f, c, {y} FROM ({found}) q{level}"
    return found


def _hers(mentions: int, condition: str = "f = 1") -> str:
    return f"CASE WHEN {condition} THEN {' OR '.join(['p > 1e290'] * mentions)} ELSE false END"


def _digits(levels: int, mentions: int, value: str) -> str:
    grouped = (
        f"SELECT pid, id, f, max(y) AS y FROM ({_levels(levels, 'h.few')}) l GROUP BY pid, id, f"
    )
    below = f"SELECT pid, id, f, {value} AS p FROM ({grouped}) g"
    return f"SELECT count(*) FROM ({below}) s WHERE {_hers(mentions)}"


def _one_constant(constant: str) -> str:
    value = " + ".join(["power(y, 2.5)"] * 50)
    hers = "max(CASE WHEN pid = 7 AND diagnosis = 'hiv' THEN 1 ELSE 0 END) AS f"
    grouped = f"SELECT pid, id, max(x + {constant}) AS y, {hers} FROM h.few GROUP BY pid, id"
    return f"SELECT count(*) FROM (SELECT f, {value} AS p FROM ({grouped}) g) s WHERE {_hers(60)}"


def joined(value: str, mentions: int = 1, table: str = "h.many") -> str:
    """A value of each pair of the person's rows that count: 10,000 of h.many, 25 of h.few."""
    below = (
        f"SELECT a.pid, a.diagnosis, {value} AS p FROM {table} a JOIN {table} b ON a.pid = b.pid"
    )
    return f"SELECT count(*) FROM ({below}) s WHERE {_hers(mentions, _PERSON)}"


_PERSON = "pid = 7 AND diagnosis = 'hiv'"


def of_each_row(value: str) -> str:
    """A value of each row that the person stores."""
    below = f"SELECT pid, diagnosis, {value} AS p FROM h.stores"
    return f"SELECT count(*) FROM ({below}) s WHERE {_hers(1, _PERSON)}"


def sorted_keys(levels: int, keys: int) -> str:
    """Numbers of many digits as keys of a sort, of each pair of the person's rows."""
    listed = ", ".join(
        f"CASE WHEN a.pid = 7 THEN a.y + b.x + {n} ELSE 1 END AS y{n}" for n in range(keys)
    )
    names = ", ".join(f"y{n}" for n in range(keys))
    grouped = f"SELECT pid, id, max(y) AS y FROM ({_levels(levels, 'h.many')}) l GROUP BY pid, id"
    pairs = f"SELECT a.pid, b.id, {listed} FROM ({grouped}) a JOIN h.many b ON a.pid = b.pid"
    counted = f"SELECT pid, id, {names}, count(*) AS n FROM ({pairs}) j GROUP BY pid, id, {names}"
    return f"SELECT count(*) FROM ({counted}) g WHERE n > 0"


def sorted_windows(levels: int, columns: int) -> str:
    """The same by a window function."""
    listed = ", ".join(
        f"CASE WHEN a.pid = 7 THEN a.y + b.x + {n} ELSE 1 END AS y{n}" for n in range(columns)
    )
    names = ", ".join(f"y{n}" for n in range(columns))
    grouped = f"SELECT pid, id, max(y) AS y FROM ({_levels(levels, 'h.many')}) l GROUP BY pid, id"
    pairs = f"SELECT a.pid, b.id, {listed} FROM ({grouped}) a JOIN h.many b ON a.pid = b.pid"
    numbered = "row_number() OVER (PARTITION BY pid ORDER BY y0) AS rn"
    above = " AND ".join(f"y{n} > 0" for n in range(columns))
    return (
        f"SELECT count(*) FROM (SELECT pid, id, {names}, {numbered} FROM ({pairs}) j) w"
        f" WHERE rn > 1 AND {above}"
    )


def _sum(value: str, count: int) -> str:
    return " + ".join([value] * count)


# A text of 400 kB of each of 1,600 pairs.
LONG_TEXTS = (
    "SELECT count(*) FROM h.letters a JOIN h.letters b ON a.pid = b.pid"
    " WHERE CASE WHEN a.x < b.x + 100 THEN a.body END LIKE '%zz%yy%'"
)
# What took 0.3 to 72 seconds of one person's rows, or filled a disk with them.
ATTACKS = {
    "products of 12,800 digits": _digits(16, 40, "*".join(["y"] * 60)),
    "more of them": _digits(16, 120, "*".join(["y"] * 60)),
    "powers of 800 digits": _digits(1, 60, _sum("power(y, 2.5)", 50)),
    "powers of one constant of 400 digits": _one_constant(_LONG),
    "powers of one constant of 40 digits": _one_constant(_LONG[:42]),
    "powers of one constant of 1 digit": _one_constant("0.5"),
    "50 powers of a pair": joined(_sum("power(a.x + b.x + 0.5, 2.5)", 50)),
    "400 powers of a pair": joined(_sum("power(a.x + b.x + 0.5, 2.5)", 50), 8),
    "2880 sums of a pair": joined(_sum("a.x + b.x", 48), 60),
    "2880 products of a pair": joined(_sum("a.x * b.x", 48), 60),
    "480 logarithms of a pair": joined(_sum("ln(a.x + b.x + 1)", 48), 10),
    "3 keys of 3,200 digits": sorted_keys(4, 3),
    "13 keys of 12,800 digits": sorted_keys(16, 13),
    "14 keys of 16,000 digits": sorted_keys(20, 14),
    "30 columns of a window": sorted_windows(18, 30),
}

_FRACTION = "1.0000" + "739156284" * 40
Family = Callable[[int], str]
# Each a statement of so many costly parts.
FAMILIES: dict[str, Family] = {
    "product of a pair": lambda n: joined(_sum("a.x * b.x", n)),
    "sum of a pair": lambda n: joined(_sum("a.x + b.x", n)),
    "power of a pair": lambda n: joined(_sum("power(a.x + b.x + 0.5, 2.5)", n)),
    "large power of a pair": lambda n: joined(
        _sum("power(a.x + b.x + 800.5, 80.5)", n), table="h.few"
    ),
    "logarithm of a pair": lambda n: joined(_sum("ln(a.x + b.x + 1)", n)),
    "root of a pair": lambda n: joined(_sum("sqrt(a.x + b.x)", n)),
    "long constant times a pair": lambda n: joined(_sum(f"a.x * {_FRACTION} * b.x", n)),
    "CASE of a pair": lambda n: joined(
        _sum("CASE WHEN a.x < b.x THEN a.x WHEN b.x > 7 THEN 3 ELSE b.x END", n)
    ),
    "greatest of a pair": lambda n: joined(_sum("greatest(a.x, b.x, 17)", n)),
    "LIKE of a pair": lambda n: joined(
        _sum("CASE WHEN lower(a.body) LIKE '%zz%yy%' THEN 1 ELSE b.x END", n), table="h.few"
    ),
    "products of each row": lambda n: of_each_row(_sum("x * x", n)),
    "powers of each row": lambda n: of_each_row(_sum("power(x + 0.5, 2.5)", n)),
    "a pattern of each row": lambda n: of_each_row(
        _sum("CASE WHEN body ~ '(a|b|c).*(a|b).*c' THEN 1 ELSE x END", n)
    ),
}
