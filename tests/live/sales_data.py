"""Sales to persons, one row each, with columns of every type: what functions over them are compared on."""

from __future__ import annotations

_ROWS = 6_000
SCRIPT = f"""\
CREATE SCHEMA w;
CREATE TYPE w.size AS ENUM ('small', 'large');
CREATE TABLE w.kinds (id int PRIMARY KEY, title text NOT NULL, price numeric(6,2) NOT NULL,
 pounds real, since date, code char(4) DEFAULT 'bc', opens time);
INSERT INTO w.kinds (id, title, price, pounds, since, opens) VALUES
(1, 'tea', 1.50, 0.1, '2020-02-29', '08:00'), (2, 'salt', 0.25, 'NaN', '2021-05-31', '12:30'),
(3, 'rye bread', 3.00, 2.7, NULL, '24:00');
UPDATE w.kinds SET pounds = NULL WHERE id = 2;
CREATE TABLE w.sales
(person int PRIMARY KEY, age int NOT NULL, spent numeric(8,2) NOT NULL, parts int NOT NULL,
weight float8 NOT NULL, state text NOT NULL, word varchar(12), note text,
is_new boolean NOT NULL, is_paid boolean, day date NOT NULL,
at timestamptz NOT NULL, size w.size NOT NULL, kind int NOT NULL REFERENCES w.kinds,
attrs jsonb, tags text[], scores int[], lasted interval, came time, went time(3),
seen timestamptz, noted timestamp);
INSERT INTO w.sales
SELECT n, 18 + n % 60, (n % 200) * 1.25, n % 7, 1 + (n % 90) / 8.0,
 (ARRAY['north-east','south','west'])[1 + n % 3],
 (ARRAY['Ab-cd', ' xy ', 'a', NULL, 'Äpfel'])[1 + n % 5], CASE WHEN n % 4 > 0 THEN 'note ' || n % 11 END,
 n % 2 = 0, CASE WHEN n % 3 > 0 THEN n % 5 = 0 END, date '2023-01-10' + n % 700,
 timestamptz '2023-01-10 12:00+00' + (n % 700) * interval '1 day',
 (ARRAY['small','large']::w.size[])[1 + n % 2],
 1 + (n / 7) % 3,
 (ARRAY['{{"plan": "pro", "n": 3, "addr": {{"city": "Ulm"}}, "list": ["one", "two"]}}',
  '{{"plan": "free", "nil": null}}',
  NULL, '{{"plan": "x", "n": "3", "": "empty", "$.a": "dollar", "it''s": "quoted", "*": "star"}}',
  '[{{"plan": "x"}}]',
  '"pro"', '{{"plan": "south", "city": "Ulm"}}'])[1 + n % 7]::jsonb,
 (ARRAY['{{a,b}}', '{{b}}', NULL, '{{}}', '{{a,NULL}}', '{{{{a,c}},{{b,b}}}}'])[1 + n % 6]::text[],
 (ARRAY['{{1,2}}', '{{3,3,NULL}}', '{{}}', NULL])[1 + n % 4]::int[],
 (ARRAY['1 day', '24 hours', '1 month', '30 days', '-5 minutes 3 seconds', NULL, '1 year 2 days'])
  [1 + n % 7]::interval,
 CASE WHEN n % 26 < 24 THEN (n % 26 || ':' || n * 7 % 60 || ':30.25')::time
  WHEN n % 26 = 24 THEN '24:00' END,
 (ARRAY['00:00', '24:00', '12:00', NULL, '09:30:59.999'])[1 + n % 5]::time,
 CASE WHEN n % 9 > 0 THEN timestamptz '2023-01-10 00:00:00.25+00' + n * interval '37 minutes 11 seconds' END,
 CASE n % 50 WHEN 0 THEN 'infinity' WHEN 1 THEN '4713-01-01 11:00 BC' WHEN 2 THEN '294276-12-31 23:59:59.999999'
  ELSE timestamp '2023-01-10' + n % 96 * interval '15 minutes' END
FROM generate_series(0, {_ROWS - 1}) n;
"""
TABLES = """\
tables:
  w.kinds: public
  w.sales:
    unit: {person: person}
    columns:
      age: {bounds: [18, 77]}
      spent: {bounds: [0, 248.75]}
      parts: {bounds: [0, 6]}
      weight: {bounds: [1, 12.125]}
      state: {values: [north-east, south, west]}
      word: {}
      note: {}
      is_new: {}
      is_paid: {}
      day: {bounds: [2023-01-10, 2024-12-09]}
      at: {bounds: ["2023-01-10 12:00:00+00", "2024-12-09 12:00:00+00"]}
      size: {values: [small, large]}
      kind: {references: w.kinds.id}
      attrs: {}
      tags: {}
      scores: {}
      lasted: {}
      came: {}
      went: {}
      seen: {}
      noted: {}
"""
