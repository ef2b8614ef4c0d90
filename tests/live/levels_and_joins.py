"""Tables for grouping sets and joins, of which a proxy at a large epsilon is compared with PostgreSQL."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import psycopg

NOISY = ("count", "sum", "n", "max", "avg")  # columns with noise in them, which stand last
_FIRST_OWN = 16_384  # OIDs of types that are not PostgreSQL's
_TOLERANCE = 12  # of a count at an epsilon of 100, shared by 8 levels: missed once in 10^17 times

# Of 600 customers each has 0 to 3 rentals, a third of which are paid once, a third twice. Some things have no
# product, some products no thing.
SCRIPT = """\
CREATE SCHEMA r;
CREATE TYPE r.size AS ENUM ('s', 'm', 'l');
CREATE TABLE r.products (id int PRIMARY KEY, category text NOT NULL, price numeric(6,2), maker int);
INSERT INTO r.products
SELECT n, (ARRAY['Gizmo', 'Widget', 'Gadget'])[1 + n % 3], n * 1.25, n % 4 FROM generate_series(1, 8) n;
CREATE TABLE r.makers (id int PRIMARY KEY, country varchar(20));
INSERT INTO r.makers VALUES (0, 'no'), (1, 'se'), (2, NULL), (9, 'dk');
CREATE TABLE r.rentals (id int PRIMARY KEY, customer int NOT NULL, product int, day date NOT NULL,
    kind text NOT NULL, size r.size, paid boolean NOT NULL, amount numeric(8,2) NOT NULL);
INSERT INTO r.rentals
SELECT n, n % 601, nullif(n % 11, 0), date '2024-01-01' + n % 700, (ARRAY['a', 'b', 'c'])[1 + n % 3],
       (ARRAY['s', 'm', NULL])[1 + n % 3]::r.size, n % 2 = 0, (n % 100) + 0.25
FROM generate_series(1, 1100) n;
CREATE TABLE r.payments (id int PRIMARY KEY, customer int NOT NULL, rental int REFERENCES r.rentals,
    cents int NOT NULL);
CREATE TABLE r.returns (id int PRIMARY KEY, customer int NOT NULL, rental int NOT NULL REFERENCES r.rentals,
    late boolean NOT NULL);
INSERT INTO r.payments
SELECT n, g.customer, CASE WHEN n % 9 = 0 THEN NULL ELSE g.id END, n % 200
FROM generate_series(1, 900) n JOIN r.rentals g ON g.id = 1 + n % 700;
INSERT INTO r.returns SELECT g.id, g.customer, g.id, g.id % 7 = 0 FROM r.rentals g WHERE g.id % 2 = 0;
"""
TABLES = """\
tables:
  r.rentals:
    unit: {customer: customer}
    max_rows_per_unit: 3
    columns:
      id: {}
      product: {bounds: [0, 20], values: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, null]}
      day: {bounds: [2024-01-01, 2025-12-31]}
      kind: {values: [a, b, c]}
      size: {values: [s, m, l, null]}
      paid: {values: [true, false]}
      amount: {bounds: [0, 100]}
  r.payments:
    unit: {customer: customer}
    max_rows_per_unit: 3
    columns:
      id: {}
      rental: {}
      cents: {bounds: [0, 200]}
  r.returns:
    unit: {customer: customer}
    max_rows_per_unit: 3
    columns:
      id: {}
      rental: {}
      late: {}
  r.products: public
  r.makers: public
"""


def described(answer: psycopg.Cursor[Any]) -> list[tuple[str, int]]:
    """Names and types; an enumeration of one's own is a text."""
    return [
        (column.name, column.type_code if column.type_code < _FIRST_OWN else 25)
        for column in answer.description or ()
    ]


def differences(
    answered: Sequence[tuple[Any, ...]], exact: Sequence[tuple[Any, ...]], noisy: int
) -> list[str]:
    """Groups that are missing, or that PostgreSQL does not know and are not empty; numbers that are far off.

    Given    noisy: so many columns at the end
    """

    def by_labels(rows: Sequence[tuple[Any, ...]]) -> dict[str, tuple[Any, ...]]:
        seen = Counter[str]()
        found = {}
        for row in sorted(rows, key=repr):
            labels = repr(row[: len(row) - noisy])
            seen[labels] += 1
            found[f"{labels} {seen[labels]}"] = row[len(row) - noisy :]
        return found

    theirs, ours = by_labels(exact), by_labels(answered)
    wrong = [f"missing: {labels}" for labels in theirs if labels not in ours]
    for labels, numbers in ours.items():
        wanted = theirs.get(labels, (0,) * noisy)
        pairs = zip(numbers, wanted, strict=True)
        if any(abs(float(a or 0) - float(b or 0)) > _TOLERANCE for a, b in pairs) or (
            labels not in theirs and not noisy
        ):
            wrong.append(f"{labels}: {numbers} for {wanted}")
    return wrong
