"""A table with a column of every type that questions know, for comparing result types."""

from __future__ import annotations

SCRIPT = """\
CREATE SCHEMA kinds;
CREATE TYPE kinds.mood AS ENUM ('low', 'high');
CREATE DOMAIN kinds.share AS numeric(3,2) CHECK (VALUE <= 1);
CREATE DOMAIN kinds.letter AS text CHECK (length(VALUE) = 1);
CREATE TABLE kinds.things (
    id bigint PRIMARY KEY, owner integer NOT NULL,
    small smallint, int integer, big bigint, num numeric, num2 numeric(10,2),
    single real, double double precision,
    day date, at timestamp, att timestamptz, att3 timestamptz(3),
    txt text, vc varchar(20), ch char(3), flag boolean NOT NULL, mood kinds.mood, uid uuid,
    "Mixed Case" integer, share kinds.share DEFAULT 0.25, letter kinds.letter DEFAULT 'a',
    attrs jsonb DEFAULT '{"key": "a", "a": {"b": ["x"]}}', tags text[] DEFAULT '{a,b}',
    lasted interval DEFAULT '2 hours', opens time DEFAULT '09:30'
);
INSERT INTO kinds.things
SELECT g, g, g % 100, g % 1000, g * 1000, g / 10.0, g % 100, g % 50, g / 3.0, date '2020-01-01' + g % 300,
       timestamp '2020-01-01' + g * interval '1 hour', timestamptz '2020-01-01+00' + g * interval '1 hour',
       timestamptz '2020-01-01+00' + g * interval '1 hour',
       chr(97 + g % 3), chr(97 + g % 2), chr(97 + g % 4), g % 2 = 0,
       (ARRAY['low', 'high'])[1 + g % 2]::kinds.mood, gen_random_uuid(), g % 10
FROM generate_series(1, 8000) AS g;
CREATE TABLE kinds.codes (code kinds.letter PRIMARY KEY, label varchar(30), weight kinds.share);
INSERT INTO kinds.codes VALUES ('a', 'first', 0.75), ('b', 'second', 0.5), ('c', 'third', NULL);
CREATE SCHEMA north;
CREATE TABLE north.sales (id int PRIMARY KEY, item text NOT NULL, size int NOT NULL);
INSERT INTO north.sales SELECT n, 'n', 1 FROM generate_series(1, 1000) n;
CREATE SCHEMA south;
CREATE TABLE south.sales (id int PRIMARY KEY, item text NOT NULL, size int NOT NULL);
INSERT INTO south.sales SELECT n, 's', 2 FROM generate_series(1, 3000) n;
CREATE SCHEMA other;
CREATE TABLE other.sales (id int PRIMARY KEY, item int NOT NULL, size numeric(5,2) NOT NULL);
CREATE SCHEMA open;
CREATE TABLE open.sales (id int PRIMARY KEY, item text NOT NULL, size int NOT NULL);
"""

TABLES = """\
previews: empty
tables:
  kinds.things:
    unit: {owner: owner}
    max_rows_per_unit: 2
    columns:
      small:  {bounds: [0, 100]}
      int:    {bounds: [0, 1000]}
      big:    {bounds: [0, 10000000], grid: 1000}
      num:    {bounds: [0, 1000], grid: 0.1}
      num2:   {bounds: [0, 100]}
      single: {bounds: [0, 50], grid: 0.5}
      double: {bounds: [0, 3000], grid: 0.5}
      day:    {bounds: [2020-01-01, 2021-01-01]}
      at:     {bounds: [2020-01-01, 2021-01-01], grid: 3600}
      att:    {bounds: [2020-01-01, 2021-01-01], grid: 3600}
      att3:   {bounds: [2020-01-01, 2021-01-01], grid: 3600}
      txt:    {values: [a, b, c]}
      vc:     {values: [a, b]}
      ch:     {values: [a, b, c, d]}
      flag:   {values: [true, false]}
      mood:   {values: [low, high]}
      uid:    {}
      share:  {bounds: [0, 1]}
      letter: {values: [a, b]}
      attrs:  {}
      tags:   {}
      lasted: {}
      opens:  {}
      Mixed Case: {bounds: [0, 10], values: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]}
  kinds.codes: public
  north.sales: {unit: {sale: id}, max_rows_per_unit: 1, columns: {item: {values: [n]}, size: {bounds: [0, 10]}}}
  south.sales: {unit: {sale: id}, max_rows_per_unit: 1, columns: {item: {values: [s]}, size: {bounds: [0, 10]}}}
  other.sales: {unit: {sale: id}, max_rows_per_unit: 1, columns: {item: {values: [1]}, size: {bounds: [0, 10]}}}
  open.sales: public
"""
