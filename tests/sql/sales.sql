-- Sales to persons, one row each, with columns of every type: functions and operators over them, as people and
-- tools write them; what is in jsonb and arrays; times of day. An answer may be off by a ten thousandth, which is less
-- than one of the 6,000 rows. At epsilon 100 noise is Laplace's, of a scale s <= tolerance / 1.4 (seen: 1.6 of a mean
-- of intervals, else 2.3 and more), so by Chernoff's bound the mean of 100 is farther off with a probability
-- <= 2 exp(-100 (1.4 u + log(1 - u^2))) = 3e-18 at u = 0.51. What is wrong is so in it, too.
-- mechanism: best
-- => schema
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
 (ARRAY['{"plan": "pro", "n": 3, "addr": {"city": "Ulm"}, "list": ["one", "two"]}',
  '{"plan": "free", "nil": null}',
  NULL, '{"plan": "x", "n": "3", "": "empty", "$.a": "dollar", "it''s": "quoted", "*": "star"}',
  '[{"plan": "x"}]',
  '"pro"', '{"plan": "south", "city": "Ulm"}'])[1 + n % 7]::jsonb,
 (ARRAY['{a,b}', '{b}', NULL, '{}', '{a,NULL}', '{{a,c},{b,b}}'])[1 + n % 6]::text[],
 (ARRAY['{1,2}', '{3,3,NULL}', '{}', NULL])[1 + n % 4]::int[],
 (ARRAY['1 day', '24 hours', '1 month', '30 days', '-5 minutes 3 seconds', NULL, '1 year 2 days'])
  [1 + n % 7]::interval,
 CASE WHEN n % 26 < 24 THEN (n % 26 || ':' || n * 7 % 60 || ':30.25')::time
  WHEN n % 26 = 24 THEN '24:00' END,
 (ARRAY['00:00', '24:00', '12:00', NULL, '09:30:59.999'])[1 + n % 5]::time,
 CASE WHEN n % 9 > 0 THEN timestamptz '2023-01-10 00:00:00.25+00' + n * interval '37 minutes 11 seconds' END,
 CASE n % 50 WHEN 0 THEN 'infinity' WHEN 1 THEN '4713-01-01 11:00 BC' WHEN 2 THEN '294276-12-31 23:59:59.999999'
  ELSE timestamp '2023-01-10' + n % 96 * interval '15 minutes' END
FROM generate_series(0, 5999) n;
-- => policy
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
-- => as PostgreSQL: groups
-- every: 3
SELECT (FLOOR(age / 10) * 10 || ' - ' || (FLOOR(age / 10) + 1) * 10 - 1) AS r, FLOOR(age / 10) * 10 AS o,
    count(*) FROM w.sales GROUP BY 1, 2;
SELECT extract(year FROM day) || '-' || extract(month FROM day) AS m, count(*) FROM w.sales GROUP BY 1;
SELECT extract(year FROM at)::int::text || '-' || lpad(extract(month FROM at)::text, 2, '0') AS m, count(*)
    FROM w.sales WHERE at >= '2023-11-01' AND at < '2024-03-01' GROUP BY 1;
SELECT (CASE WHEN left(CAST(extract(year FROM day) AS varchar), 4000) IS NOT NULL THEN
    left(CAST(extract(year FROM day) AS varchar), 4000) ELSE '' END) || ('-' || (CASE WHEN
    CAST(extract(month FROM day) AS varchar) IS NOT NULL THEN CAST(extract(month
    FROM day) AS varchar) ELSE '' END)) AS m, count(*) FROM w.sales GROUP BY 1;
SELECT extract(month FROM day) AS m, CAST(CAST(((((extract(year
    FROM day) * 100) + 1) * 100) + 1) AS varchar) AS date) AS y, count(*) FROM w.sales GROUP BY 1, 2;
SELECT ((extract(month FROM day) - 1) % 3) + 1 AS q, count(*) FROM w.sales GROUP BY 1;
SELECT mod(extract(month FROM day), 4) AS q, extract(quarter FROM day)::text AS k, count(*) FROM w.sales
    GROUP BY 1, 2;
SELECT to_char(day, 'YYYY')::int AS y, count(*) FROM w.sales GROUP BY 1;
SELECT 'Q' || extract(quarter FROM day) || ' ' || extract(year FROM day) AS q, extract(year
    FROM day) AS y, count(*) FROM w.sales GROUP BY 1, 2;
SELECT day::text AS d, count(*) FROM w.sales WHERE day < '2023-03-01' GROUP BY 1;
SELECT m, count(*) FROM (SELECT to_char(at, 'YYYYMM')::int AS m FROM w.sales) q WHERE m > 202306 GROUP BY m;
WITH q AS (SELECT to_char(day, 'YYYY')::int AS y, age / 10 AS a
    FROM w.sales) SELECT y::text || '-' || a AS k, count(*) FROM q GROUP BY 1;
SELECT lpad(n::text, 4, '0') AS k, m::varchar AS p, count(*) FROM (SELECT parts * 2 AS n,
    date_part('quarter', day) AS m FROM w.sales) q GROUP BY 1, 2;
SELECT (k || '-01')::date AS d, count(*) FROM (SELECT to_char(at, 'YYYY-MM') AS k FROM w.sales) q
    GROUP BY 1;
SELECT d, count(*) FROM (SELECT (to_char(at, 'YYYY-MM') || '-01')::date AS d FROM w.sales) q GROUP BY d;
SELECT n, count(*) FROM (SELECT CASE WHEN age > 40 THEN '1' ELSE '-2' END::int AS n FROM w.sales) q
    GROUP BY n;
SELECT CASE WHEN to_char(at, 'DD')::int < 15 THEN 'a' ELSE 'b' END AS h, count(*) FROM w.sales GROUP BY 1;
SELECT date_part('epoch', date_trunc('month', at)) AS e, count(*) FROM w.sales GROUP BY 1;
SELECT extract(epoch FROM day) AS e, count(*) FROM w.sales WHERE to_char(day, 'YYYYMM')::int = 202305
    GROUP BY 1;
SELECT state || '/' || size AS k, count(*) FROM w.sales GROUP BY 1;
SELECT concat(state, ' ', kind, ' ', is_new) AS k, count(*) FROM w.sales GROUP BY 1;
SELECT concat_ws(', ', state, size::text) AS k, state, count(*) FROM w.sales GROUP BY 1, 2;
SELECT initcap(state) AS k, upper(state) || '!' AS u, count(*) FROM w.sales GROUP BY 1, 2;
SELECT split_part(state, '-', 1) AS k, count(*) FROM w.sales GROUP BY 1;
SELECT replace(state, '-', ' ') AS k, reverse(state) AS r, count(*) FROM w.sales GROUP BY 1, 2;
SELECT rpad(state, 7, '.') AS k, lpad(state, 2) AS p, count(*) FROM w.sales GROUP BY 1, 2;
SELECT trim(both 'n' from state) AS k, position('t' in state) AS p, count(*) FROM w.sales GROUP BY 1, 2;
SELECT is_new::text AS k, count(*) FROM w.sales GROUP BY 1;
SELECT k.title || ' ' || k.price AS t, count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind GROUP BY 1;
SELECT state::varchar(3) AS k, count(*) FROM w.sales GROUP BY 1;
SELECT round(age, -1) AS k, count(*) FROM w.sales GROUP BY 1;
SELECT (age / 10)::text AS k, count(*) FROM w.sales GROUP BY 1;
SELECT round(spent / 100, 1)::numeric(4, 1) AS k, count(*) FROM w.sales GROUP BY 1;
SELECT CASE WHEN age < 30 THEN 'young ' || size ELSE 'old' END AS k, count(*) FROM w.sales GROUP BY 1;
SELECT (is_new = true) AS k, count(*) FROM w.sales GROUP BY 1;
SELECT word || '.' AS k, count(*) FROM w.sales WHERE word IS NOT NULL GROUP BY 1;
SELECT note || ' ' || parts AS k, count(*) FROM w.sales WHERE note IS NOT NULL GROUP BY 1;
SELECT split_part(note, ' ', 2) AS k, count(*) FROM w.sales WHERE note IS NOT NULL GROUP BY 1;
-- => as PostgreSQL: answers
-- every: 3
-- near: 0.6 0.01 0.0001
-- draws: 100
SELECT count(*) FROM w.sales WHERE word || note = 'anote 2';
SELECT count(*) FROM w.sales WHERE concat(word, note) = 'note 8' OR concat_ws('-', word, note, parts) =
    'a-3';
SELECT count(*) FROM w.sales WHERE state || '/' || age = 'south/30';
SELECT count(*) FROM w.sales WHERE spent::text = '12.50' OR age::text LIKE '4%';
SELECT count(*) FROM w.sales WHERE lower(trim(word)) = 'xy' AND reverse(trim(word)) = 'yx';
SELECT count(*) FROM w.sales WHERE initcap(state) = 'North-East' OR replace(note, 'note ', '') = '7';
SELECT count(*) FROM w.sales WHERE lpad(age::text, 3, '0') > '050' AND rpad(word, 3, '*') = 'a**';
SELECT count(*) FROM w.sales WHERE split_part(state, '-', -1) = 'east' AND split_part(note, ' ', 3) = '';
SELECT count(*) FROM w.sales WHERE CASE WHEN strpos(substring(state, 1), 'th') > 0 THEN
    strpos(substring(state, 1), 'th') + 1 - 1 ELSE 0 END > 3;
SELECT count(*) FROM w.sales WHERE length(note) * 2 = 12 AND char_length(word) < 5;
SELECT count(*) FROM w.sales WHERE ((word IS NOT NULL) = true) AND ((age > 30) <> false);
SELECT count(*) FROM w.sales WHERE (age > 30) = is_new AND (is_paid OR is_new) IS DISTINCT FROM true;
SELECT count(*) FROM w.sales WHERE (age > 40 AND is_new) IS NOT TRUE
    AND (CASE WHEN age > 50 THEN is_new END) = false;
SELECT count(*) FROM w.sales WHERE day::text LIKE '2023-0%' AND is_paid::text = 'true';
SELECT count(*) FROM w.sales WHERE spent / nullif(parts, 0) > 30 AND age % nullif(parts, 0) = 1;
SELECT count(*) FROM w.sales WHERE sqrt(age) > 6 AND ln(weight) < 2 AND power(parts, 2) > 8
    AND log(weight) > 0.5;
SELECT count(*) FILTER (WHERE ('x' || size) = 'xlarge') FROM w.sales;
SELECT count(*) FROM w.sales WHERE to_char(at, 'MM')::int BETWEEN 3
    AND 5 OR to_char(day, 'FMDD')::smallint = 7;
SELECT count(*) FROM w.sales WHERE to_char(day, 'YYYY-MM-DD')::date < '2023-03-01'
    AND age::text::bigint > 40;
SELECT count(*) FROM w.sales WHERE note::varchar(4) = 'note' AND mod(spent, 2.5) = 0;
SELECT count(DISTINCT state || size) FROM w.sales;
SELECT sum(spent / weight) FROM w.sales;
SELECT sum(age / nullif(parts, 0)), sum(spent / nullif(parts, 0)), sum(age % nullif(parts, 0)) FROM w.sales;
SELECT sum(ln(age)), sum(log(spent + 1)), sum(log(2.0, spent + 1)), sum(log10(weight)) FROM w.sales;
SELECT sum(sqrt(spent)), sum(|/ weight), sum(exp(-parts)), sum(exp(spent / 100)) FROM w.sales;
SELECT sum(power(age, 2)), sum(age ^ 0.5), sum(power(weight, -1)), sum(2 ^ parts), sum(parts ^ 3)
    FROM w.sales;
SELECT sum(round(spent, -1)), sum(trunc(spent, -2)), sum(spent::numeric(5, 1)), sum((weight * 3.01)::int)
    FROM w.sales;
SELECT sum((age > 40)::int), avg(is_new::int), avg((is_paid)::int), avg((parts = 3)::int) FROM w.sales;
SELECT sum(length(word)), avg(length(state)), max(length(left(note, 6))) FROM w.sales;
SELECT sum(strpos(word, '-')), sum(to_char(day, 'MMDD')::int), avg(to_char(day, 'IDQ')::int) FROM w.sales;
SELECT sum(mod(spent, 3)), sum((age + parts) % 4), sum(div) FROM (SELECT spent, age, parts, age / 7 AS div
    FROM w.sales) q;
SELECT sum(greatest(weight, 2) / least(age, 20)) FROM w.sales;
SELECT sum(spent * k) FROM (SELECT spent, char_length(state) AS k FROM w.sales) q;
-- => as PostgreSQL: groups by what is in a column
SELECT attrs->>'plan' AS p, count(*) FROM w.sales GROUP BY 1;
SELECT attrs->>'plan' AS p, state, count(*) FROM w.sales WHERE attrs->>'plan' IN ('pro', 'free')
    GROUP BY 1, 2;
SELECT coalesce(attrs->'addr'->>'city', 'none') AS c, count(*) FROM w.sales GROUP BY 1;
SELECT upper(attrs #>> '{addr,city}') AS c, count(*) FROM w.sales GROUP BY 1;
SELECT CASE WHEN attrs->>'plan' = 'pro' THEN 'pro' ELSE 'other' END AS p, count(*) FROM w.sales GROUP BY 1;
SELECT jsonb_typeof(attrs) AS p, jsonb_typeof(attrs->'n') AS k, count(*) FROM w.sales GROUP BY 1, 2;
SELECT attrs ? 'addr' AS has, count(*) FROM w.sales WHERE attrs IS NOT NULL GROUP BY 1;
SELECT tags @> '{b}' AS b, count(*) FROM w.sales WHERE tags @> '{a}' GROUP BY 1;
SELECT cardinality(tags) AS n, count(*) FROM w.sales GROUP BY 1;
SELECT tags[1] AS t, scores[2] AS s, count(*) FROM w.sales GROUP BY 1, 2;
SELECT q.p, count(*) FROM (SELECT attrs->>'plan' AS p FROM w.sales WHERE tags && '{a,b}') q GROUP BY q.p;
-- => as PostgreSQL: answers about what is in a column
-- every: 3
-- near: 0.6 0.01 0.0001
-- draws: 100
SELECT count(*) FROM w.sales WHERE attrs->>'plan' = 'pro';
SELECT count(*) FROM w.sales WHERE attrs->>'plan' <> 'pro';
SELECT count(*) FROM w.sales WHERE attrs->>'plan' IS NULL;
SELECT count(*) FROM w.sales WHERE attrs->>'plan' NOT IN ('pro', 'free');
SELECT count(*) FROM w.sales WHERE attrs->>'plan' LIKE 'p%';
SELECT count(*) FROM w.sales WHERE attrs->>'n' = '3';
SELECT count(*) FROM w.sales WHERE attrs->>'addr' = '{"city": "Ulm"}';
SELECT count(*) FROM w.sales WHERE attrs->'addr'->>'city' = 'Ulm';
SELECT count(*) FROM w.sales WHERE attrs->0->>'plan' = 'x';
SELECT count(*) FROM w.sales WHERE (attrs->'list')->>1 = 'two';
SELECT count(*) FROM w.sales WHERE attrs->'list'->>-1 = 'two';
SELECT count(*) FROM w.sales WHERE attrs->'list'->'1' IS NULL;
SELECT count(*) FROM w.sales WHERE attrs->>'' = 'empty';
SELECT count(*) FROM w.sales WHERE attrs->>'$.a' = 'dollar';
SELECT count(*) FROM w.sales WHERE attrs->>'it''s' = 'quoted';
SELECT count(*) FROM w.sales WHERE attrs->>'*' = 'star';
SELECT count(*) FROM w.sales WHERE attrs @> '{"plan": "pro"}';
SELECT count(*) FROM w.sales WHERE NOT attrs @> '{"n": 3.0}';
SELECT count(*) FROM w.sales WHERE attrs->'list' @> '["two"]'::jsonb;
SELECT count(*) FROM w.sales WHERE '{"addr": {"city": "Ulm"}}' <@ attrs;
SELECT count(*) FROM w.sales WHERE attrs @> '{"plan": "x", "plan": "pro"}';
SELECT count(*) FROM w.sales WHERE attrs ? 'plan';
SELECT count(*) FROM w.sales WHERE NOT (attrs ? 'plan');
SELECT count(*) FROM w.sales WHERE attrs ?| ARRAY['none', 'addr'];
SELECT count(*) FROM w.sales WHERE attrs ?& '{plan,addr}';
SELECT count(*) FROM w.sales WHERE attrs IS NULL;
SELECT count(*) FROM w.sales WHERE attrs->'n' IS NOT NULL;
SELECT count(*) FROM w.sales WHERE attrs->>'nil' IS NULL AND attrs->'nil' IS NOT NULL;
SELECT count(*) FROM w.sales WHERE jsonb_extract_path_text(attrs, 'addr', 'city') = 'Ulm';
SELECT count(*) FROM w.sales WHERE attrs #> '{addr}' IS NOT NULL;
SELECT count(*) FROM w.sales WHERE jsonb_typeof(attrs->'n') = 'number';
SELECT count(*) FROM w.sales WHERE attrs->>'plan' = state;
SELECT count(*) FROM w.sales WHERE attrs->>'plan' || state = 'prosouth';
SELECT count(*) FROM w.sales WHERE attrs->>'city' IS DISTINCT FROM attrs->'addr'->>'city';
SELECT count(*) FROM w.sales WHERE attrs->>'plan' = ANY('{pro,x}');
SELECT count(*) FROM w.sales WHERE 'a' = ANY(tags);
SELECT count(*) FROM w.sales WHERE NOT ('a' = ANY(tags));
SELECT count(*) FROM w.sales WHERE 'a' <> ALL(tags);
SELECT count(*) FROM w.sales WHERE ('a' = ANY(tags)) IS NULL;
SELECT count(*) FROM w.sales WHERE tags @> ARRAY['a', 'b'];
SELECT count(*) FROM w.sales WHERE NOT tags @> '{a}';
SELECT count(*) FROM w.sales WHERE tags && ARRAY['c', 'b'];
SELECT count(*) FROM w.sales WHERE NOT (tags && '{a}');
SELECT count(*) FROM w.sales WHERE ARRAY['b']::text[] <@ tags;
SELECT count(*) FROM w.sales WHERE tags @> '{}';
SELECT count(*) FROM w.sales WHERE tags && '{}';
SELECT count(*) FROM w.sales WHERE tags @> ARRAY[NULL]::text[];
SELECT count(*) FROM w.sales WHERE cardinality(tags) > 1;
SELECT count(*) FROM w.sales WHERE array_length(tags, 1) IS NULL;
SELECT count(*) FROM w.sales WHERE cardinality(tags) * 2 BETWEEN 2 AND 4;
SELECT count(*) FROM w.sales WHERE tags[1] = 'b';
SELECT count(*) FROM w.sales WHERE tags[7] IS NULL;
SELECT count(*) FROM w.sales WHERE tags IS NULL;
SELECT count(*) FROM w.sales WHERE 'a' = SOME(tags) AND tags[2] IS NOT NULL;
SELECT count(*) FROM w.sales WHERE 3 = ANY(scores);
SELECT count(*) FROM w.sales WHERE scores @> ARRAY[3];
SELECT count(*) FROM w.sales WHERE scores && '{1,2}';
SELECT count(*) FROM w.sales WHERE lasted > interval '23 hours';
SELECT count(*) FROM w.sales WHERE lasted = '1 day';
SELECT count(*) FROM w.sales WHERE lasted IN ('24 hours', '1 month');
SELECT count(*) FROM w.sales WHERE lasted <= '30 days'::interval;
SELECT count(*) FROM w.sales WHERE lasted IS NULL;
SELECT count(*) FROM w.sales WHERE lasted BETWEEN '1 minute' AND interval '360 days';
SELECT count(*) FROM w.sales WHERE NOT lasted < make_interval(mins => -4);
SELECT count(*) FROM w.sales WHERE extract(epoch FROM lasted) / 60 > 10;
SELECT count(*) FROM w.sales WHERE extract(epoch FROM lasted) = 86400;
SELECT count(*) FROM w.sales WHERE lasted > '-1 hour';
SELECT count(*) FROM w.sales WHERE 3000000000 = ANY(scores);
SELECT count(*) FROM w.sales WHERE '3' = ANY(scores);
SELECT count(*) FROM w.sales WHERE scores[1] IN (1, 3);
SELECT sum(least(cardinality(tags), 10)), avg(least(array_length(tags, 1), 10)) FROM w.sales
    WHERE tags IS NOT NULL AND tags @> '{a}';
SELECT sum(greatest(least(extract(epoch FROM lasted), 100000), 0)), count(lasted) FROM w.sales
    WHERE lasted IS NOT NULL;
SELECT avg(greatest(least(extract(epoch FROM lasted), 100000), -300)) FROM w.sales WHERE lasted < '1 week';
SELECT count(attrs), count(attrs->'n'), count(attrs->>'plan'), count(DISTINCT attrs->>'plan') FROM w.sales;
SELECT sum(age) FILTER (WHERE 'a' = ANY(tags)), count(*) FILTER (WHERE attrs @> '{"n": 3}') FROM w.sales;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind AND s.attrs->>'plan' = 'pro';
-- => as PostgreSQL: groups by times of day
-- every: 3
SELECT extract(hour FROM came) AS h, count(*) FROM w.sales WHERE came IS NOT NULL GROUP BY 1;
SELECT extract(hour FROM came)::int AS h, count(*) FROM w.sales WHERE came IS NOT NULL GROUP BY 1;
SELECT extract(hour FROM came) AS h, count(*) FROM w.sales WHERE extract(hour FROM came) BETWEEN 9 AND 17
    GROUP BY 1;
SELECT lpad(extract(hour FROM came)::text, 2, '0') || ':00' AS h, count(*) FROM w.sales
    WHERE came IS NOT NULL GROUP BY 1;
SELECT floor(extract(epoch FROM came) / 21600) * 6 AS h, count(*) FROM w.sales WHERE came IS NOT NULL
    GROUP BY 1;
SELECT extract(second FROM went)::int AS s, count(*) FROM w.sales WHERE went IS NOT NULL AND extract(second
    FROM went)::int IN (0, 60) GROUP BY 1;
SELECT extract(epoch FROM went)::int AS s, count(*) FROM w.sales WHERE went IS NOT NULL GROUP BY 1;
SELECT CASE WHEN came < '12:00' THEN 'am' WHEN came IS NOT NULL THEN 'pm' ELSE 'none' END AS k, count(*)
    FROM w.sales GROUP BY 1;
SELECT came > went AS k, count(*) FROM w.sales WHERE came > went IS NOT NULL GROUP BY 1;
SELECT extract(hour FROM q.t) AS h, state, count(*) FROM (SELECT came AS t, state FROM w.sales) q
    WHERE t >= '22:00' AND extract(hour FROM t) >= 22 GROUP BY 1, 2;
SELECT extract(hour FROM seen::time) AS h, count(*) FROM w.sales WHERE seen IS NOT NULL GROUP BY 1;
SELECT CASE WHEN seen::time < '12:00' THEN 'am' WHEN seen IS NOT NULL THEN 'pm' END AS k, count(*)
    FROM w.sales GROUP BY 1;
-- => as PostgreSQL: answers about times of day
-- every: 3
-- near: 0.6 0.01 0.0001
-- draws: 100
SELECT count(*) FROM w.sales WHERE came < '12:00';
SELECT count(*) FROM w.sales WHERE came >= time '09:30';
SELECT count(*) FROM w.sales WHERE came = '24:00:00';
SELECT count(*) FROM w.sales WHERE '9:07:30.250' = went;
SELECT count(*) FROM w.sales WHERE came <= '12:00:00.000001'::time;
SELECT count(*) FROM w.sales WHERE came > localtime - localtime + time '11:00';
SELECT count(*) FROM w.sales WHERE came BETWEEN '23:30' AND '24:00';
SELECT count(*) FROM w.sales WHERE came NOT BETWEEN '0:00' AND '06:00';
SELECT count(*) FROM w.sales WHERE went IN ('00:00', '12:00');
SELECT count(*) FROM w.sales WHERE went NOT IN ('00:00', '24:00');
SELECT count(*) FROM w.sales WHERE went IN ('0:00', NULL);
SELECT count(*) FROM w.sales WHERE went = ANY('{00:00,24:00}');
SELECT count(*) FROM w.sales WHERE went = ANY(ARRAY['12:00', '24:00']::time[]);
SELECT count(*) FROM w.sales WHERE (went, kind) IN (('12:00', 1), ('24:00', 2));
SELECT count(*) FROM w.sales WHERE went <> ALL(ARRAY[time '12:00', NULL]);
SELECT count(*) FROM w.sales WHERE came IS NULL;
SELECT count(*) FROM w.sales WHERE came < went;
SELECT count(*) FROM w.sales WHERE came IS DISTINCT FROM went;
SELECT count(*) FROM w.sales WHERE came IS NOT DISTINCT FROM NULL;
SELECT count(*) FROM w.sales WHERE went = (SELECT opens FROM w.kinds WHERE id = 3);
SELECT count(*) FROM w.sales WHERE went = make_time(9, 30, 59.999);
SELECT count(*) FROM w.sales WHERE went - came > interval '2 hours';
SELECT count(*) FROM w.sales WHERE extract(epoch FROM went - time '12:00') < 0;
SELECT count(*) FROM w.sales WHERE extract(minute FROM came) = 30;
SELECT count(*) FROM w.sales WHERE extract(second FROM went) > 59.5;
SELECT count(*) FROM w.sales WHERE came = NULL;
SELECT count(*) FROM w.sales WHERE went < '12:00'::time(0);
SELECT count(*) FROM w.sales WHERE CASE went WHEN '12:00' THEN kind = 1 ELSE came > '12:00' END;
SELECT count(*) FROM w.sales WHERE extract(epoch FROM came) / 3600 < 12.5;
SELECT count(*) FROM w.sales WHERE seen::time < '12:00';
SELECT count(*) FROM w.sales WHERE CAST(seen AS time) BETWEEN '09:00' AND '17:30';
SELECT count(*) FROM w.sales WHERE seen::time > went;
SELECT count(*) FROM w.sales WHERE noted::time = '11:00';
SELECT count(*) FROM w.sales WHERE noted::time >= time '23:45';
SELECT count(*) FROM w.sales WHERE noted::time <> '00:00';
SELECT count(*) FROM w.sales WHERE seen::time IN ('00:37:11.25', '01:14:22.25');
SELECT count(*) FROM w.sales WHERE seen::time NOT IN ('00:37:11.25', NULL);
SELECT count(*) FROM w.sales WHERE noted::time = ANY('{10:15,24:00,10:30}');
SELECT count(*) FROM w.sales WHERE noted::time <> ALL(ARRAY[time '10:15']);
SELECT count(*) FROM w.sales WHERE noted::time IS NULL;
SELECT count(*) FROM w.sales WHERE seen::time IS DISTINCT FROM came;
SELECT count(*) FROM w.sales WHERE seen::timestamp::time < noted::time;
SELECT count(*) FROM w.sales WHERE (seen AT TIME ZONE 'Asia/Kolkata')::time >= '20:00';
SELECT count(*) FROM w.sales WHERE seen::time::time <= '06:00';
SELECT count(*) FROM w.sales WHERE (seen + interval '90 minutes')::time < '01:00';
SELECT count(*) FROM w.sales WHERE date_trunc('hour', noted)::time = '10:00';
SELECT count(*) FROM w.sales WHERE noted::time - came > interval '2 hours';
SELECT count(*) FROM w.sales WHERE extract(epoch FROM noted::time) / 3600 < 12.5;
SELECT count(*) FROM w.sales WHERE seen::time = (SELECT opens FROM w.kinds WHERE id = 3);
SELECT count(*) FROM w.sales WHERE noted::time >= make_time(9, 30, 0);
SELECT count(*) FROM w.sales WHERE CASE noted::time WHEN '10:15' THEN kind = 1 ELSE noted::time > '12:00'
    END;
SELECT count(*) FROM w.sales WHERE extract(minute FROM seen::time) = 30;
SELECT count(*) FROM w.sales WHERE extract(second FROM seen::time) > 59.5;
SELECT sum(extract(hour FROM came)), sum(extract(minute FROM came)), sum(extract(second
    FROM came)), sum(extract(epoch FROM came)) FROM w.sales;
SELECT avg(extract(epoch FROM came)) FROM w.sales WHERE came IS NOT NULL AND went IS NOT NULL;
SELECT avg(extract(epoch FROM went - came)) FROM w.sales WHERE came IS NOT NULL AND went IS NOT NULL;
SELECT sum(extract(minute FROM seen::time)), avg(extract(hour FROM noted::time)) FROM w.sales;
SELECT avg(extract(epoch FROM seen::time)) FROM w.sales;
SELECT count(seen::time), count(DISTINCT noted::time) FROM w.sales;
SELECT sum(extract(second FROM t)), count(*) FILTER (WHERE extract(minute FROM t) > 30 AND t < '12:00')
    FROM (SELECT seen::time AS t FROM w.sales) q;
SELECT count(*) FROM (SELECT seen::time AS t FROM w.sales UNION ALL SELECT noted::time FROM w.sales) q
    WHERE t > '12:00';
SELECT count(*) FROM (SELECT person, max(extract(epoch FROM seen::time)) AS t FROM w.sales
    GROUP BY person) q WHERE t > 40000;
SELECT count(*) FROM (SELECT went - came AS d FROM w.sales) q WHERE d > interval '1 hour';
SELECT count(DISTINCT d) FROM (SELECT went - came AS d FROM w.sales) q WHERE d IS NOT NULL;
SELECT count(*) FILTER (WHERE extract(hour FROM d) > 3) FROM (SELECT went - came AS d FROM w.sales) q;
SELECT count(came), count(went), count(DISTINCT went), count(DISTINCT extract(hour FROM came)) FROM w.sales;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE s.came >= k.opens;
SELECT count(*) FROM w.sales WHERE came > '12:00+02';
SELECT count(*) FROM w.sales WHERE came > '12:00 PM';
SELECT count(*) FROM w.sales WHERE came > '04:05 PM';
SELECT count(*) FROM w.sales WHERE came > 'allballs';
SELECT count(*) FROM w.sales WHERE came > '120000';
-- => as PostgreSQL: sums over public columns
-- near: 0.6 0.01 0.0001
-- draws: 100
SELECT sum(k.price), avg(k.price), min(price), max(price), sum(price * 2 + 1) FROM w.sales s JOIN w.kinds k
    ON k.id = s.kind;
SELECT sum(s.parts * k.price), avg(s.spent / k.price), sum(k.price) FILTER (WHERE s.is_new) FROM w.sales s
    JOIN w.kinds k ON k.id = s.kind;
SELECT sum(pounds), avg(pounds * parts), count(pounds), max(pounds), stddev(price) FROM w.sales s
    JOIN w.kinds k ON k.id = s.kind;
SELECT corr(price, parts), covar_pop(k.price, s.age), variance(k.id * price) FROM w.sales s JOIN w.kinds k
    ON k.id = s.kind;
SELECT sum(price), sum(parts * price) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.price * 2 > 1
    AND k.title <> 'tea';
SELECT sum(k.price) FROM w.kinds k LEFT JOIN w.sales s ON k.id = s.kind AND s.age > 0
    WHERE s.person IS NOT NULL;
SELECT sum(v) FROM (SELECT s.person, sum(k.price * s.parts) AS v FROM w.sales s JOIN w.kinds k
    ON k.id = s.kind GROUP BY s.person) q;
SELECT sum(v), avg(w) FROM (SELECT k.price + 1 AS v, s.spent * k.price AS w FROM w.sales s JOIN w.kinds k
    ON k.id = s.kind) q;
SELECT sum(q.p * s.parts) FROM w.sales s JOIN (SELECT id, price * 3 AS p FROM w.kinds WHERE id < 3) q
    ON q.id = s.kind;
SELECT sum(extract(year FROM k.since)), count(k.since) FROM w.sales s JOIN w.kinds k ON k.id = s.kind;
SELECT sum(CASE WHEN k.title = 'tea' THEN k.price ELSE s.spent END), sum(greatest(price, parts))
    FROM w.sales s JOIN w.kinds k ON k.id = s.kind;
-- => as PostgreSQL: constants beside columns
-- near: 0.6 0.01 0.0001
-- draws: 100
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds = 0.1;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds = 0.1::real;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds = '0.1';
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds = 0.1::float8;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds = 0.1::real::numeric;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds IN (0.1, 2);
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds IN (0.1, 2::float8);
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.pounds = ANY(ARRAY[0.1]::real[]);
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind
    WHERE k.pounds = ANY('{0.1,2.7}') OR k.pounds < 0.1;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind
    WHERE k.pounds::float8 = 0.1::real OR coalesce(k.pounds, 0) IN (2.7::real);
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind
    WHERE k.price = 1.5::real OR s.weight = 1.1::real OR s.spent / 10 = 0.1::real;
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.code = ANY(ARRAY['bc', 'a']::text[]);
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind WHERE k.code = ANY(ARRAY['bc  ']::text[]);
SELECT count(*) FROM w.sales s JOIN w.kinds k ON k.id = s.kind
    WHERE k.code <> ALL(ARRAY['bc  ', 'a']::text[]) AND k.code = ANY(ARRAY['bc  ']::varchar[]);
SELECT count(*) FROM w.sales WHERE kind IN (SELECT id FROM w.kinds WHERE since < now() - interval '1 day'
    AND title = lower('TEA'));
SELECT count(*) FROM w.sales WHERE kind IN (SELECT id FROM w.kinds WHERE title = ANY(ARRAY['tea', 'x']));
-- => as PostgreSQL: arrays of percentiles
-- near: 2.6 2.6 0
-- noisy: percentile_cont p percentile_disc m avg unnest
SELECT percentile_cont(ARRAY[0.25,0.5,0.75]) WITHIN GROUP (ORDER BY age) FROM w.sales;
SELECT percentile_disc(ARRAY[0.25, 0.9]::float8[]) WITHIN GROUP (ORDER BY age DESC) FILTER (WHERE is_new) AS
    p FROM w.sales;
SELECT state, percentile_disc('{0.1,0.5}'::double precision[]) WITHIN GROUP (ORDER BY spent) FROM w.sales
    GROUP BY state ORDER BY state;
SELECT state, (percentile_cont(ARRAY[0.25,0.5]) WITHIN GROUP (ORDER BY weight))[2] AS m, avg(age)
    FROM w.sales GROUP BY 1 HAVING (percentile_cont(ARRAY[0.25,0.5]) WITHIN GROUP (ORDER BY weight))[1] > 2
    ORDER BY 1;
SELECT unnest(percentile_disc(ARRAY[0.25,0.5]) WITHIN GROUP (ORDER BY parts)) FROM w.sales;
-- => refused: what could fail, or is never looked at
-- sqlstate: 0A000 42501 22023
SELECT count(*) FROM w.sales WHERE lasted + lasted > '1 day';
SELECT count(*) FROM w.sales WHERE at + lasted > at;
SELECT count(*) FROM w.sales WHERE extract(day FROM lasted) = 1;
SELECT count(*) FROM w.sales WHERE attrs = '{}';
SELECT count(*) FROM w.sales WHERE tags = '{a}';
SELECT count(*) FROM w.sales WHERE tags <> ARRAY['a'];
SELECT count(*) FROM w.sales WHERE attrs->'n' = '3';
SELECT count(*) FROM w.sales WHERE attrs < '{}';
SELECT count(*) FROM w.sales WHERE state = ANY(tags);
SELECT count(*) FROM w.sales WHERE (attrs->>'n')::int > 2;
SELECT count(*) FROM w.sales WHERE attrs->>state = 'x';
SELECT count(*) FROM w.sales WHERE tags[kind] = 'a';
SELECT count(*) FROM w.sales WHERE jsonb_array_length(attrs->'list') > 1;
SELECT count(*) FROM w.sales WHERE attrs @@ '$.n > 1';
SELECT count(*) FROM w.sales WHERE attrs @? '$.n';
SELECT count(*) FROM w.sales WHERE 'a' = ALL(tags);
SELECT count(*) FROM w.sales WHERE attrs - 'n' = '{}';
SELECT count(*) FROM w.sales WHERE attrs #>> '{list,0}' = 'one';
SELECT count(*) FROM w.sales WHERE tags || ARRAY['x'] @> '{a}';
SELECT count(*) FROM w.sales WHERE attrs @> attrs;
SELECT count(*) FROM w.sales WHERE came > '12:00'::timetz;
SELECT count(*) FROM w.sales WHERE came > interval '1 hour';
SELECT count(*) FROM w.sales WHERE came + interval '1 hour' > '12:00';
SELECT count(*) FROM w.sales WHERE day + came > at;
SELECT count(*) FROM w.sales WHERE came::text = '12:00:00';
SELECT count(*) FROM w.sales WHERE to_char(came, 'HH24') = '12';
SELECT count(*) FROM w.sales WHERE date_trunc('hour', came) = '12:00';
SELECT count(*) FROM w.sales WHERE coalesce(came, went) < '12:00';
SELECT count(*) FROM w.sales WHERE greatest(came, went) < '12:00';
SELECT count(*) FROM w.sales WHERE seen::time(0) < '12:00';
SELECT count(*) FROM w.sales WHERE coalesce(seen::time, came) < '12:00';
SELECT count(*) FROM w.sales WHERE seen::time::text = '12:00';
SELECT count(*) FROM w.sales WHERE seen::time + interval '1 hour' > '12:00';
SELECT count(*) FROM w.sales WHERE seen::time IN (SELECT opens FROM w.kinds);
SELECT count(*) FROM w.sales WHERE to_char(seen::time, 'HH24') = '12';
SELECT count(*) FROM w.sales WHERE date_trunc('hour', seen::time) = '12:00';
SELECT count(*) FROM w.sales WHERE nullif(seen::time, '12:00') IS NULL;
SELECT count(*) FROM w.sales WHERE (CASE WHEN is_new THEN seen::time END) < '12:00';
SELECT count(*) FROM w.sales WHERE came::interval > '1 hour';
SELECT count(*) FROM w.sales WHERE came IN (SELECT opens FROM w.kinds);
SELECT count(*) FROM w.sales WHERE extract(hour FROM note::time) = 1;
SELECT count(*) FROM w.sales WHERE came < current_time;
SELECT count(*) FROM w.sales WHERE extract(millisecond FROM came) = 0;
