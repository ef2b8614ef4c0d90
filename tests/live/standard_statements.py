"""Statements of standard SQL with constants of every form, and the table that they ask of."""

from __future__ import annotations

from typing import Any

# A row of each person. Some times and numbers are infinite, some numbers are none.
SCRIPT = """\
CREATE SCHEMA s;
CREATE TYPE s.tier AS ENUM ('free', 'basic', 'pro');
CREATE TABLE s.visits
(person int PRIMARY KEY, at timestamptz NOT NULL, shown timestamp NOT NULL, day date NOT NULL, until date,
kind text NOT NULL, tier s.tier NOT NULL, land char(3) NOT NULL, city varchar(20), n int NOT NULL,
amount numeric NOT NULL, ratio double precision NOT NULL, height real NOT NULL, odd numeric, real_odd float8,
opens time NOT NULL, lasted interval NOT NULL, active boolean, uid uuid NOT NULL);
INSERT INTO s.visits
SELECT n, t, t AT TIME ZONE 'UTC', (t AT TIME ZONE 'UTC')::date,
    CASE n % 5 WHEN 0 THEN 'infinity' WHEN 1 THEN '-infinity' WHEN 2 THEN NULL
        ELSE date '2023-01-01' + n % 300 END,
    (ARRAY['a','b','c','d'])[1 + n % 4], (ARRAY['free','free','basic','pro'])[1 + n / 3 % 4]::s.tier,
    (ARRAY['DE','FR','ITA'])[1 + n % 3], (ARRAY['Ulm','Bonn','a%b_c','x\\y',NULL])[1 + n % 5], n % 100,
    (n % 1000) / 10.0, (n % 100) / 100.0, 150 + n % 50,
    CASE n % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE (n % 100)::numeric END,
    CASE n % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE (n % 100)::float8 END,
    time '08:00' + n % 10 * interval '30 minutes', n % 180 * interval '1 minute',
    CASE n % 3 WHEN 0 THEN true WHEN 1 THEN false END, md5((n % 10)::text)::uuid
FROM generate_series(0, 2999) n,
    LATERAL (SELECT timestamptz '2023-01-01 00:00:00+00' + n * interval '170 minutes') g(t);
CREATE TABLE s.lands (code char(3) PRIMARY KEY, name text NOT NULL);
INSERT INTO s.lands VALUES ('DE', 'Germany'), ('FR', 'France'), ('ITA', 'Italy');
"""
TABLES = """\
tables:
  s.visits:
    unit: {person: person}
    columns:
      at: {bounds: ["2023-01-01 00:00:00+00", "2023-12-31 23:59:59+00"]}
      shown: {bounds: ["2023-01-01 00:00:00", "2023-12-31 23:59:59"]}
      day: {bounds: [2023-01-01, 2023-12-31]}
      until: {bounds: [2023-01-01, 2023-12-31]}
      kind: {values: [a, b, c, d]}
      tier: {values: [free, basic, pro]}
      land: {values: [DE, FR, ITA]}
      city: {}
      n: {bounds: [0, 100]}
      amount: {bounds: [0, 100]}
      ratio: {bounds: [0, 1]}
      height: {bounds: [100, 250]}
      odd: {bounds: [0, 100]}
      real_odd: {bounds: [0, 100]}
      opens: {}
      lasted: {}
      active: {}
      uid: {}
  s.lands: public
"""
COUNT = "SELECT count(*) FROM s.visits"

Given = tuple[Any, ...]
CONDITIONS: dict[str, tuple[str | tuple[str, Given], ...]] = {
    "infinite times": (
        "day < 'infinity'",
        "day <= date 'infinity' AND day > '-infinity'::date",
        "until = 'infinity'",
        "until <> 'infinity'",
        "until < 'infinity'",
        "until >= '-infinity' AND until < '2023-06-01'",
        "until IN ('infinity', '2023-04-05')",
        "until NOT IN ('infinity', '-infinity')",
        "until BETWEEN '-infinity' AND '2023-06-01'",
        "until BETWEEN '2023-06-01' AND 'infinity'",
        "NOT until = date 'infinity'",
        "at < timestamptz 'infinity' AND at >= '2023-06-01'",
        "shown > TIMESTAMP '-infinity'",
        "coalesce(until, 'infinity') = 'infinity'",
        "CASE WHEN until < 'infinity' THEN 1 ELSE 0 END = 1",
        "CASE WHEN n < 50 THEN until ELSE 'infinity' END = 'infinity'",
        "until = ANY('{infinity,-infinity}')",
        "until = ANY(ARRAY['infinity', '2023-04-05']::date[])",
        "until <> ALL('{infinity,-infinity}'::date[])",
        "least(until, '2023-06-01') = '-infinity'",
        "until IS DISTINCT FROM 'infinity'",
        "until < now() + interval '100 years'",
        "day < '12023-01-01' AND day > '0044-03-15 BC'",
        "at < '294276-12-31 23:59:59' AND at > timestamptz '4713-01-01 00:00:00 BC'",
        "until = CAST('Infinity' AS date)",
        ("until = $1", ("infinity",)),
        ("until < $1 AND until > $2", ("infinity", "-infinity")),
        ("at < $1", ("infinity",)),
        ("shown BETWEEN $1 AND $2", ("-infinity", "infinity")),
        ("until = ANY($1)", ("{infinity,2023-04-05}",)),
        ("until <> ALL($1::date[])", ("{infinity,-infinity}",)),
        ("until IN ($1, $2)", ("infinity", "2023-04-05")),
    ),
    "infinite numbers": (
        "amount < 'NaN'",
        "amount < 'Infinity'",
        "n < 'Infinity'::numeric",
        "odd = 'NaN'",
        "odd <> 'NaN'::numeric",
        "odd < 'Infinity'",
        "odd <= 'Infinity'::numeric",
        "odd > '-Infinity' AND odd < 'inf'",
        "odd IN ('NaN', '5')",
        "odd IN ('NaN'::numeric, 5)",
        "odd NOT IN ('Infinity', 'NaN')",
        "odd BETWEEN 5 AND 'Infinity'",
        "odd = ANY('{NaN,Infinity,7}')",
        "real_odd = 'NaN'",
        "real_odd = 'Infinity'::float8",
        "real_odd < 'inf'::double precision AND real_odd >= '-Infinity'",
        "real_odd IN ('NaN', '-infinity', '10')",
        "real_odd <> ALL(ARRAY['NaN', 'Infinity']::float8[])",
        "real_odd = CAST('NaN' AS real)",
        "ratio < 'NaN'",
        "height < '+Infinity'::real",
        "odd IS NOT DISTINCT FROM 'NaN'",
        ("odd = $1", ("NaN",)),
        ("real_odd <= $1", ("Infinity",)),
        ("real_odd = ANY($1)", ("{NaN,5}",)),
        ("n < $1::float8", ("Infinity",)),
    ),
    "spellings": (
        "day >= '2023-06-01 00:00:00'::date",
        "day >= DATE '2023-06-01 23:59:59.5'",
        "day >= '2023-06-01 12:30'",
        "day >= '20230601'",
        "day >= 'June 1, 2023'",
        "day >= 'Jun 1 2023'::date",
        "day >= '1 June 2023'",
        "day >= '6/1/2023'",
        "day >= '2023.152'",
        "day >= 'J2460097'",
        "day >= '2023-6-1'",
        "day >= '2023-06-01T00:00:00.000Z'",
        "day IN ('June 1, 2023', '20230602')",
        "day BETWEEN '20230601' AND 'June 30, 2023'",
        "day < 'today'",
        "day < 'now' AND day > 'epoch'",
        "at >= '2023-06-01 00:00:00.000 +00:00'",
        "at >= '2023-06-01 00:00:00.000000000'",
        "at >= '2023-06-01 02:00:00 +0200'",
        "at >= '2023-06-01 00:00:00 UTC'",
        "at >= '2023-06-01 02:00 Europe/Berlin'",
        "at >= '2023-06-01 12:00 AM'",
        "at >= 'Thu Jun 01 00:00:00 2023 UTC'",
        "at >= '20230601T000000Z'",
        "at >= '2023-05-31 24:00'",
        "at >= timestamp with time zone '2023-06-01 00:00:00 America/New_York'",
        "shown >= timestamp '2023-06-01 00:00:00+05'",
        "shown >= '20230601 123000'",
        "shown >= '2023-06-01 12:30:00 PM'::timestamp without time zone",
        "shown < 'tomorrow'::timestamp",
        "at::date = 'June 1, 2023'",
        "date_trunc('month', at) = 'June 1, 2023'",
        "date_trunc('month', day) = '20230601'::date",
        "CASE day WHEN 'June 1, 2023' THEN true ELSE false END",
        "CASE WHEN day >= 'June 1, 2023' THEN 'late' ELSE 'early' END = 'late'",
        "coalesce(until, 'June 1, 2023') = '20230601'",
        "day = ANY('{\"June 1, 2023\",20230602}')",
        "day = ANY(ARRAY['June 1, 2023', '20230602']::date[])",
        "active = 'yes'",
        "active = 'on'::boolean",
        "active IN ('tr', 'off')",
        "active = '1'",
        "uid = 'CFCD2084-95D5-65EF-66E7-DFF9F98764DA'",
        "uid = '{cfcd208495d565ef66e7dff9f98764da}'::uuid",
        "n = ' 7 '",
        "n = '+7'::int",
        "amount = '1e1'::numeric",
        ("day >= $1", ("June 1, 2023",)),
        ("day >= $1::text::date", ("June 1, 2023",)),
        ("at >= $1", ("2023-06-01 00:00:00.000 +00:00",)),
        ("day IN ($1, $2)", ("20230601", "June 2, 2023")),
        ("active = $1", ("yes",)),
    ),
    "times and intervals": (
        "opens < '9:30 AM'",
        "opens >= '090000'",
        "opens = TIME '09:00:00.000'",
        "opens < '09:30'::time AND opens > time '8:15 am'",
        "opens IN ('9 am', '10:30 AM')",
        "opens BETWEEN '9 am' AND '10:30 AM'",
        "lasted > '01:00:00'",
        "lasted > '01:00:00'::interval",
        "lasted > interval '1:30'",
        "lasted <= '1 hour 30 minutes'",
        "lasted > 'PT1H30M'",
        "lasted BETWEEN '00:30' AND '01:30'",
        "lasted IN ('00:30', '1 hour')",
        "lasted = '90'",
        "lasted > '01:00'::time::interval",
        "lasted > CAST('0 1:30:00' AS interval)",
        "at + '1 day 02:00' < '2023-06-01'",
        "at - '01:30'::interval < '2023-06-01'",
        ("lasted > $1", ("01:00:00",)),
        ("opens < $1", ("9:30 AM",)),
        ("lasted = ANY($1)", ("{00:30,01:30}",)),
    ),
    "casts of constants": (
        "day = '2023-06-01 23:30'::timestamp::date",
        "day = CAST(CAST('2023-06-01 23:30+00' AS timestamptz) AS date)",
        "shown >= '2023-06-01 12:00+05'::timestamptz::timestamp",
        "at >= '2023-06-01'::date::timestamptz",
        "at >= CAST('2023-06-01' AS timestamp)::timestamptz",
        "n = 5.5::int",
        "n = CAST(6.4 AS bigint)",
        "n = '7'::text::int",
        "n = '7'::numeric::int",
        "n = 7::text::int",
        "n::text = 7::text",
        "kind = 'abc'::char(1)",
        "kind = 'abc'::varchar(1)",
        "kind = 'a'::name::text",
        "amount = 12.34::numeric(10, 1)",
        "active = 1::boolean",
        "active = 'true'::text::boolean",
        "ratio = 0.5::real::double precision",
        "day >= '2023-06-01'::text::date",
        "lasted > '3600 seconds'::text::interval",
        "opens = '2023-06-01 09:00'::timestamp::time",
        ("day = $1::timestamp::date", ("2023-06-01 23:30",)),
        ("n = $1::text::int", ("7",)),
        ("n = $1::numeric::int", ("6.6",)),
    ),
}

FROM = "FROM s.visits"
STATEMENTS: dict[str, tuple[str | tuple[str, Given], ...]] = {
    "constants beside keys": (
        f"SELECT date_trunc('month', at) AS k, count(*) {FROM} WHERE at >= 'June 1, 2023 UTC' GROUP BY 1",
        f"SELECT date_trunc('month', at) AS k, count(*) {FROM} WHERE at < 'infinity' AND day >= '20230601'"
        " GROUP BY 1",
        f"SELECT extract(month FROM day) AS k, count(*) {FROM} WHERE day < '20230301' GROUP BY 1",
        f"SELECT kind, count(*) FILTER (WHERE until = 'infinity') {FROM} GROUP BY 1",
        f"SELECT CASE WHEN day >= '20230601' THEN 'late' ELSE 'early' END AS k, count(*) {FROM} GROUP BY 1",
        f"SELECT CASE WHEN odd = 'NaN' THEN 'none' WHEN odd < 'Infinity' THEN 'some' END AS k, count(*) {FROM}"
        " WHERE odd IS NOT NULL AND odd <> 'Infinity' GROUP BY 1",
        f"SELECT land, count(*) {FROM} WHERE day BETWEEN 'June 1, 2023' AND 'infinity' GROUP BY land",
        f"SELECT count(*) FROM (SELECT person, kind {FROM} WHERE until = 'infinity') AS v WHERE kind = 'a'",
        f"SELECT count(*) {FROM} AS v JOIN s.lands AS l ON l.code = v.land WHERE v.day >= 'Jun 1 2023'",
        f"SELECT kind, count(*) {FROM} GROUP BY 1 HAVING count(*) > '1e1'::numeric",
        f"SELECT count(*) {FROM} WHERE '20230601' <= day AND 'June 9, 2023'::date > day",
        (f"SELECT kind, count(*) {FROM} WHERE until = $1 GROUP BY kind", ("infinity",)),
    ),
}
