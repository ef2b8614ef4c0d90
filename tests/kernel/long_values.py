"""Statements on rows of one person that hold the longest values, and the tables they are about.

In h.pairs person 7 has 100 rows of which each value is long and compressible, in h.single one row with a text
of 200 million characters. All others have short ones.
"""

from __future__ import annotations

_COLUMNS = (
    "id int PRIMARY KEY, pid int NOT NULL, x int, body text, vc varchar, j jsonb, ta text[], ia int[],"
    " n numeric, diagnosis text"
)
_OTHERS = (
    "SELECT g, 100 + g / 3, g % 100, 'b' || g, 'v', '{\"a\": 1}', ARRAY['a'], ARRAY[1], g, 'flu'"
    " FROM generate_series(1, 300) g"
)
_NUMBER = "(repeat('7', 131000) || '.' || repeat('7', 16000))::numeric"


def _hers(rows: int, characters: int) -> str:
    letters = f"repeat('letter', {characters} / 6), repeat('a', {characters})"
    member = "jsonb_build_object('a', (SELECT jsonb_agg(0) FROM generate_series(1, 30000)))"
    texts = "(SELECT array_agg('aaaaaaa'::text) FROM generate_series(1, 8000))"
    numbers = "(SELECT array_agg(7) FROM generate_series(1, 60000))"
    return (
        f"SELECT 10000 + g, 7, 1 + g % 50, {letters}, {member}, {texts}, {numbers}, {_NUMBER}, 'hiv'"
        f" FROM generate_series(1, {rows}) g"
    )


_SIZES = {"pairs": (100, 1_000_000), "single": (1, 200_000_000)}
SCRIPT = "CREATE SCHEMA h;\n" + "".join(
    f"CREATE TABLE h.{table} ({_COLUMNS});\nINSERT INTO h.{table} {_OTHERS};\n"
    f"INSERT INTO h.{table} {_hers(*size)};\n"
    for table, size in _SIZES.items()
)
_BOUNDS = "x: {bounds: [0, 100]}, n: {bounds: [0, 100]}"
_TEXTS = "body: {}, vc: {}, diagnosis: {values: [flu, hiv]}"
POLICY = "".join(
    f"  h.{table}: {{unit: {{person: pid}}, max_rows_per_unit: {rows},"
    f" columns: {{id: {{}}, j: {{}}, ta: {{}}, ia: {{}}, {_BOUNDS}, {_TEXTS}}}}}\n"
    for table, (rows, _) in _SIZES.items()
)
GONE = "".join(f"DELETE FROM h.{table} WHERE pid = 7;\n" for table in _SIZES)

_PAIRS = "FROM h.pairs a JOIN h.pairs b ON a.pid = b.pid"
# PostgreSQL computes what is about one row alone before it forms the pairs.
_OF_PAIR = "a.x > b.x + 200"


def _pairs(condition: str) -> str:
    return f"SELECT count(*) {_PAIRS} WHERE {_OF_PAIR} OR {condition}"


def _per_person(aggregate: str, keys: str = "a.pid") -> str:
    return f"SELECT count(*) FROM (SELECT {keys}, {aggregate} AS c {_PAIRS} GROUP BY {keys}) q WHERE c > 2"


def _numbered(window: str) -> str:
    rows = f"SELECT a.pid, a.body, a.n, b.x {_PAIRS}"
    numbered = f"SELECT pid, row_number() OVER ({window}) AS rn FROM ({rows}) w"
    return f"SELECT count(*) FROM ({numbered}) q WHERE rn = 1"


_LISTED = ", ".join(f"'{letter}'" for letter in "abcdefghij")
LISTED_OF_FEW = (
    "SELECT count(*) FROM (SELECT pid, x, body FROM h.pairs WHERE x > 47) a JOIN h.pairs b ON a.pid = b.pid"
    f" WHERE {_OF_PAIR} OR a.body IN ({_LISTED})"
)
# Accepted with beginnings, or refused; whole values would take more than the limit.
OF_PAIRS = {
    "equal": _pairs("a.body = b.body"),
    "different": _pairs("a.body <> b.body"),
    "ordered": _pairs("a.body < b.body"),
    "listed": _pairs(f"a.body IN ({_LISTED})"),
    "CASE": _pairs("CASE a.body WHEN b.body THEN true ELSE false END"),
    "coalesce": _pairs("coalesce(a.body, b.body) = b.body"),
    "nullif": _pairs("nullif(a.body, b.body) IS NULL"),
    "greatest": _pairs("greatest(a.body, b.body) = 'x'"),
    "||": _pairs("a.body || b.vc = 'x'"),
    "LIKE": _pairs("a.body LIKE '%zz%'"),
    "ILIKE": _pairs("a.body ILIKE '%zz%'"),
    "SIMILAR TO": _pairs("a.body SIMILAR TO '%(ab|cd)%'"),
    "length": _pairs("length(a.body) < b.x"),
    "right": _pairs("right(a.body, 5) = 'x'"),
    "left of all but the end": _pairs("left(a.body, -5) = 'x'"),
    "joined by a text": f"SELECT count(*) {_PAIRS} AND a.body = b.body",
    "distinct texts": f"SELECT count(DISTINCT a.body) {_PAIRS}",
    "grouped by a text": f"SELECT a.diagnosis, count(*) {_PAIRS} GROUP BY a.diagnosis",
    "texts of a person": _per_person("count(*)", "a.pid, a.body"),
    "distinct texts of a person": _per_person("count(DISTINCT a.body)"),
    "window of a text": _numbered("PARTITION BY pid, body ORDER BY x"),
    "window in order of a text": _numbered("PARTITION BY pid ORDER BY body"),
    "numbers ordered": _pairs("a.n > b.n"),
    "numbers equal": _pairs("a.n = b.n"),
    "sum of numbers": _pairs("a.n + b.n > 3"),
    "product of numbers": _pairs("a.n * b.n > 7"),
    "rounded numbers": _pairs("round(a.n) + round(b.n) > 7"),
    "distinct numbers": f"SELECT count(DISTINCT a.n) {_PAIRS}",
    "joined by a number": f"SELECT count(*) {_PAIRS} AND a.n = b.n",
    "numbers of a person": _per_person("count(*)", "a.pid, a.n"),
    "distinct numbers of a person": _per_person("count(DISTINCT a.n)"),
    "window in order of a number": _numbered("PARTITION BY pid ORDER BY n"),
    "member of a jsonb": _pairs("a.j -> 'a' ->> 0 = '1'"),
    "text in a jsonb": _pairs("left(a.j ->> 'b', 100000) LIKE '%aab%'"),
    "key of a jsonb": _pairs("a.j ? 'c'"),
    "contained in a jsonb": _pairs("a.j @> '{\"a\": [1]}'"),
    "element of an array": _pairs("8 = ANY(a.ia)"),
    "text of an array": _pairs("'x' = ANY(a.ta)"),
    "size of an array": _pairs("cardinality(a.ta) < b.x"),
}


def _single(condition: str) -> str:
    return f"SELECT count(*) FROM h.single WHERE {condition}"


OF_SINGLE = {
    "LIKE": _single("body LIKE '%zz%'"),
    "LIKE of 256": _single(f"body LIKE '%{'a' * 253}b%'"),
    "six LIKE": _single(" OR ".join(f"body LIKE '%z{n}'" for n in range(6))),
    "sixty lower": _single(" OR ".join(f"lower(body) = 'z{n}'" for n in range(60))),
    "length": _single("length(body) > 3"),
    "right": _single("right(body, 3) = 'x'"),
    "reverse": _single("reverse(body) = 'x'"),
    "strpos": _single("strpos(body, 'zz') > 0"),
    "||": _single("body || vc = 'x'"),
    "greatest": _single("greatest(body, vc) = 'x'"),
    "ordered": _single("body < vc"),
    "listed": _single(f"body IN ({_LISTED})"),
    "a pattern": _single("body ~ '(a|b|c).*(a|b).*c'"),
    "distinct": "SELECT count(DISTINCT body) FROM h.single",
    "keys of a person": (
        "SELECT count(*) FROM (SELECT pid, body, count(*) AS c FROM h.single GROUP BY pid, body) q"
    ),
    "distinct of a person": (
        "SELECT count(*) FROM (SELECT pid, count(DISTINCT body) AS c FROM h.single GROUP BY pid) q WHERE c > 1"
    ),
}
# That are answered, of the pairs too.
ANSWERED = (
    "equal",
    "listed",
    "CASE",
    "joined by a text",
    "distinct texts",
    "grouped by a text",
    "LIKE",
)
