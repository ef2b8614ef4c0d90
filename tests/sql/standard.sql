-- Forms of standard SQL, and constants of every form. A row of each person; some times and numbers are infinite, some
-- numbers are none.
-- mechanism: auto
-- => schema
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
    (ARRAY['DE','FR','ITA'])[1 + n % 3], (ARRAY['Ulm','Bonn','a%b_c','x\y',NULL])[1 + n % 5], n % 100,
    (n % 1000) / 10.0, (n % 100) / 100.0, 150 + n % 50,
    CASE n % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE (n % 100)::numeric END,
    CASE n % 7 WHEN 0 THEN 'NaN' WHEN 1 THEN 'Infinity' WHEN 2 THEN '-Infinity' ELSE (n % 100)::float8 END,
    time '08:00' + n % 10 * interval '30 minutes', n % 180 * interval '1 minute',
    CASE n % 3 WHEN 0 THEN true WHEN 1 THEN false END, md5((n % 10)::text)::uuid
FROM generate_series(0, 2999) n,
    LATERAL (SELECT timestamptz '2023-01-01 00:00:00+00' + n * interval '170 minutes') g(t);
CREATE TABLE s.lands (code char(3) PRIMARY KEY, name text NOT NULL);
INSERT INTO s.lands VALUES ('DE', 'Germany'), ('FR', 'France'), ('ITA', 'Italy');
-- => policy
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
-- => session
CREATE TEMPORARY TABLE l (city text, grp text, num int);
INSERT INTO l VALUES ('Ulm', 'a', 1), ('Bonn', 'b', 7), ('Rome', 'b', 9);
CREATE TEMPORARY TABLE only_cities AS SELECT city FROM l;
-- => as PostgreSQL: infinite times
-- every: 8
-- groups: some empty
-- sessions:  | SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY' | SET IntervalStyle = 'iso_8601'
SELECT count(*) FROM s.visits WHERE day < 'infinity';
SELECT count(*) FROM s.visits WHERE day <= date 'infinity' AND day > '-infinity'::date;
SELECT count(*) FROM s.visits WHERE until = 'infinity';
SELECT count(*) FROM s.visits WHERE until <> 'infinity';
SELECT count(*) FROM s.visits WHERE until < 'infinity';
SELECT count(*) FROM s.visits WHERE until >= '-infinity' AND until < '2023-06-01';
SELECT count(*) FROM s.visits WHERE until IN ('infinity', '2023-04-05');
SELECT count(*) FROM s.visits WHERE until NOT IN ('infinity', '-infinity');
SELECT count(*) FROM s.visits WHERE until BETWEEN '-infinity' AND '2023-06-01';
SELECT count(*) FROM s.visits WHERE until BETWEEN '2023-06-01' AND 'infinity';
SELECT count(*) FROM s.visits WHERE NOT until = date 'infinity';
SELECT count(*) FROM s.visits WHERE at < timestamptz 'infinity' AND at >= '2023-06-01';
SELECT count(*) FROM s.visits WHERE shown > TIMESTAMP '-infinity';
SELECT count(*) FROM s.visits WHERE coalesce(until, 'infinity') = 'infinity';
SELECT count(*) FROM s.visits WHERE CASE WHEN until < 'infinity' THEN 1 ELSE 0 END = 1;
SELECT count(*) FROM s.visits WHERE CASE WHEN n < 50 THEN until ELSE 'infinity' END = 'infinity';
SELECT count(*) FROM s.visits WHERE until = ANY('{infinity,-infinity}');
SELECT count(*) FROM s.visits WHERE until = ANY(ARRAY['infinity', '2023-04-05']::date[]);
SELECT count(*) FROM s.visits WHERE until <> ALL('{infinity,-infinity}'::date[]);
SELECT count(*) FROM s.visits WHERE least(until, '2023-06-01') = '-infinity';
SELECT count(*) FROM s.visits WHERE until IS DISTINCT FROM 'infinity';
SELECT count(*) FROM s.visits WHERE until < now() + interval '100 years';
SELECT count(*) FROM s.visits WHERE day < '12023-01-01' AND day > '0044-03-15 BC';
SELECT count(*) FROM s.visits WHERE at < '294276-12-31 23:59:59'
    AND at > timestamptz '4713-01-01 00:00:00 BC';
SELECT count(*) FROM s.visits WHERE until = CAST('Infinity' AS date);
SELECT count(*) FROM s.visits WHERE until = $1;
-- $1: ["infinity"]
SELECT count(*) FROM s.visits WHERE until < $1 AND until > $2;
-- $1: ["infinity", "-infinity"]
SELECT count(*) FROM s.visits WHERE at < $1;
-- $1: ["infinity"]
SELECT count(*) FROM s.visits WHERE shown BETWEEN $1 AND $2;
-- $1: ["-infinity", "infinity"]
SELECT count(*) FROM s.visits WHERE until = ANY($1);
-- $1: ["{infinity,2023-04-05}"]
SELECT count(*) FROM s.visits WHERE until <> ALL($1::date[]);
-- $1: ["{infinity,-infinity}"]
SELECT count(*) FROM s.visits WHERE until IN ($1, $2);
-- $1: ["infinity", "2023-04-05"]
-- => as PostgreSQL: infinite numbers
-- every: 8
-- groups: some empty
-- sessions:  | SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY' | SET IntervalStyle = 'iso_8601'
SELECT count(*) FROM s.visits WHERE amount < 'NaN';
SELECT count(*) FROM s.visits WHERE amount < 'Infinity';
SELECT count(*) FROM s.visits WHERE n < 'Infinity'::numeric;
SELECT count(*) FROM s.visits WHERE odd = 'NaN';
SELECT count(*) FROM s.visits WHERE odd <> 'NaN'::numeric;
SELECT count(*) FROM s.visits WHERE odd < 'Infinity';
SELECT count(*) FROM s.visits WHERE odd <= 'Infinity'::numeric;
SELECT count(*) FROM s.visits WHERE odd > '-Infinity' AND odd < 'inf';
SELECT count(*) FROM s.visits WHERE odd IN ('NaN', '5');
SELECT count(*) FROM s.visits WHERE odd IN ('NaN'::numeric, 5);
SELECT count(*) FROM s.visits WHERE odd NOT IN ('Infinity', 'NaN');
SELECT count(*) FROM s.visits WHERE odd BETWEEN 5 AND 'Infinity';
SELECT count(*) FROM s.visits WHERE odd = ANY('{NaN,Infinity,7}');
SELECT count(*) FROM s.visits WHERE real_odd = 'NaN';
SELECT count(*) FROM s.visits WHERE real_odd = 'Infinity'::float8;
SELECT count(*) FROM s.visits WHERE real_odd < 'inf'::double precision AND real_odd >= '-Infinity';
SELECT count(*) FROM s.visits WHERE real_odd IN ('NaN', '-infinity', '10');
SELECT count(*) FROM s.visits WHERE real_odd <> ALL(ARRAY['NaN', 'Infinity']::float8[]);
SELECT count(*) FROM s.visits WHERE real_odd = CAST('NaN' AS real);
SELECT count(*) FROM s.visits WHERE ratio < 'NaN';
SELECT count(*) FROM s.visits WHERE height < '+Infinity'::real;
SELECT count(*) FROM s.visits WHERE odd IS NOT DISTINCT FROM 'NaN';
SELECT count(*) FROM s.visits WHERE odd = $1;
-- $1: ["NaN"]
SELECT count(*) FROM s.visits WHERE real_odd <= $1;
-- $1: ["Infinity"]
SELECT count(*) FROM s.visits WHERE real_odd = ANY($1);
-- $1: ["{NaN,5}"]
SELECT count(*) FROM s.visits WHERE n < $1::float8;
-- $1: ["Infinity"]
-- => as PostgreSQL: spellings
-- every: 8
-- groups: some empty
-- sessions:  | SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY' | SET IntervalStyle = 'iso_8601'
SELECT count(*) FROM s.visits WHERE day >= '2023-06-01 00:00:00'::date;
SELECT count(*) FROM s.visits WHERE day >= DATE '2023-06-01 23:59:59.5';
SELECT count(*) FROM s.visits WHERE day >= '2023-06-01 12:30';
SELECT count(*) FROM s.visits WHERE day >= '20230601';
SELECT count(*) FROM s.visits WHERE day >= 'June 1, 2023';
SELECT count(*) FROM s.visits WHERE day >= 'Jun 1 2023'::date;
SELECT count(*) FROM s.visits WHERE day >= '1 June 2023';
SELECT count(*) FROM s.visits WHERE day >= '6/1/2023';
SELECT count(*) FROM s.visits WHERE day >= '2023.152';
SELECT count(*) FROM s.visits WHERE day >= 'J2460097';
SELECT count(*) FROM s.visits WHERE day >= '2023-6-1';
SELECT count(*) FROM s.visits WHERE day >= '2023-06-01T00:00:00.000Z';
SELECT count(*) FROM s.visits WHERE day IN ('June 1, 2023', '20230602');
SELECT count(*) FROM s.visits WHERE day BETWEEN '20230601' AND 'June 30, 2023';
SELECT count(*) FROM s.visits WHERE day < 'today';
SELECT count(*) FROM s.visits WHERE day < 'now' AND day > 'epoch';
SELECT count(*) FROM s.visits WHERE at >= '2023-06-01 00:00:00.000 +00:00';
SELECT count(*) FROM s.visits WHERE at >= '2023-06-01 00:00:00.000000000';
SELECT count(*) FROM s.visits WHERE at >= '2023-06-01 02:00:00 +0200';
SELECT count(*) FROM s.visits WHERE at >= '2023-06-01 00:00:00 UTC';
SELECT count(*) FROM s.visits WHERE at >= '2023-06-01 02:00 Europe/Berlin';
SELECT count(*) FROM s.visits WHERE at >= '2023-06-01 12:00 AM';
SELECT count(*) FROM s.visits WHERE at >= 'Thu Jun 01 00:00:00 2023 UTC';
SELECT count(*) FROM s.visits WHERE at >= '20230601T000000Z';
SELECT count(*) FROM s.visits WHERE at >= '2023-05-31 24:00';
SELECT count(*) FROM s.visits WHERE at >= timestamp with time zone '2023-06-01 00:00:00 America/New_York';
SELECT count(*) FROM s.visits WHERE shown >= timestamp '2023-06-01 00:00:00+05';
SELECT count(*) FROM s.visits WHERE shown >= '20230601 123000';
SELECT count(*) FROM s.visits WHERE shown >= '2023-06-01 12:30:00 PM'::timestamp without time zone;
SELECT count(*) FROM s.visits WHERE shown < 'tomorrow'::timestamp;
SELECT count(*) FROM s.visits WHERE at::date = 'June 1, 2023';
SELECT count(*) FROM s.visits WHERE date_trunc('month', at) = 'June 1, 2023';
SELECT count(*) FROM s.visits WHERE date_trunc('month', day) = '20230601'::date;
SELECT count(*) FROM s.visits WHERE CASE day WHEN 'June 1, 2023' THEN true ELSE false END;
SELECT count(*) FROM s.visits WHERE CASE WHEN day >= 'June 1, 2023' THEN 'late' ELSE 'early' END = 'late';
SELECT count(*) FROM s.visits WHERE coalesce(until, 'June 1, 2023') = '20230601';
SELECT count(*) FROM s.visits WHERE day = ANY('{"June 1, 2023",20230602}');
SELECT count(*) FROM s.visits WHERE day = ANY(ARRAY['June 1, 2023', '20230602']::date[]);
SELECT count(*) FROM s.visits WHERE active = 'yes';
SELECT count(*) FROM s.visits WHERE active = 'on'::boolean;
SELECT count(*) FROM s.visits WHERE active IN ('tr', 'off');
SELECT count(*) FROM s.visits WHERE active = '1';
SELECT count(*) FROM s.visits WHERE uid = 'CFCD2084-95D5-65EF-66E7-DFF9F98764DA';
SELECT count(*) FROM s.visits WHERE uid = '{cfcd208495d565ef66e7dff9f98764da}'::uuid;
SELECT count(*) FROM s.visits WHERE n = ' 7 ';
SELECT count(*) FROM s.visits WHERE n = '+7'::int;
SELECT count(*) FROM s.visits WHERE amount = '1e1'::numeric;
SELECT count(*) FROM s.visits WHERE day >= $1;
-- $1: ["June 1, 2023"]
SELECT count(*) FROM s.visits WHERE day >= $1::text::date;
-- $1: ["June 1, 2023"]
SELECT count(*) FROM s.visits WHERE at >= $1;
-- $1: ["2023-06-01 00:00:00.000 +00:00"]
SELECT count(*) FROM s.visits WHERE day IN ($1, $2);
-- $1: ["20230601", "June 2, 2023"]
SELECT count(*) FROM s.visits WHERE active = $1;
-- $1: ["yes"]
-- => as PostgreSQL: times and intervals
-- every: 8
-- groups: some empty
-- sessions:  | SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY' | SET IntervalStyle = 'iso_8601'
SELECT count(*) FROM s.visits WHERE lasted < time '01:00';
SELECT count(*) FROM s.visits WHERE lasted BETWEEN '0:30'::time AND interval '1 hour';
SELECT count(*) FROM s.visits WHERE at - timestamptz '2023-01-01' < time '10:00';
SELECT count(*) FROM s.visits WHERE lasted > $1::time;
-- $1: ["01:30"]
SELECT count(*) FROM s.visits WHERE at >= (VALUES (date '2023-06-01'));
SELECT count(*) FROM s.visits WHERE n BETWEEN (VALUES ($1::int)) AND (VALUES (40));
-- $1: ["20"]
SELECT count(*) FROM s.visits WHERE n < ascii('A') - 60 OR n = power(3, 2) OR n > sqrt(8100);
SELECT count(*) FROM s.visits WHERE opens < '9:30 AM';
SELECT count(*) FROM s.visits WHERE opens >= '090000';
SELECT count(*) FROM s.visits WHERE opens = TIME '09:00:00.000';
SELECT count(*) FROM s.visits WHERE opens < '09:30'::time AND opens > time '8:15 am';
SELECT count(*) FROM s.visits WHERE opens IN ('9 am', '10:30 AM');
SELECT count(*) FROM s.visits WHERE opens BETWEEN '9 am' AND '10:30 AM';
SELECT count(*) FROM s.visits WHERE lasted > '01:00:00';
SELECT count(*) FROM s.visits WHERE lasted > '01:00:00'::interval;
SELECT count(*) FROM s.visits WHERE lasted > interval '1:30';
SELECT count(*) FROM s.visits WHERE lasted <= '1 hour 30 minutes';
SELECT count(*) FROM s.visits WHERE lasted > 'PT1H30M';
SELECT count(*) FROM s.visits WHERE lasted BETWEEN '00:30' AND '01:30';
SELECT count(*) FROM s.visits WHERE lasted IN ('00:30', '1 hour');
SELECT count(*) FROM s.visits WHERE lasted = '90';
SELECT count(*) FROM s.visits WHERE lasted > '01:00'::time::interval;
SELECT count(*) FROM s.visits WHERE lasted > CAST('0 1:30:00' AS interval);
SELECT count(*) FROM s.visits WHERE at + '1 day 02:00' < '2023-06-01';
SELECT count(*) FROM s.visits WHERE at - '01:30'::interval < '2023-06-01';
SELECT count(*) FROM s.visits WHERE lasted > $1;
-- $1: ["01:00:00"]
SELECT count(*) FROM s.visits WHERE opens < $1;
-- $1: ["9:30 AM"]
SELECT count(*) FROM s.visits WHERE lasted = ANY($1);
-- $1: ["{00:30,01:30}"]
-- => as PostgreSQL: casts of constants
-- every: 8
-- groups: some empty
-- sessions:  | SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY' | SET IntervalStyle = 'iso_8601'
SELECT count(*) FROM s.visits WHERE day = '2023-06-01 23:30'::timestamp::date;
SELECT count(*) FROM s.visits WHERE day = CAST(CAST('2023-06-01 23:30+00' AS timestamptz) AS date);
SELECT count(*) FROM s.visits WHERE shown >= '2023-06-01 12:00+05'::timestamptz::timestamp;
SELECT count(*) FROM s.visits WHERE at >= '2023-06-01'::date::timestamptz;
SELECT count(*) FROM s.visits WHERE at >= CAST('2023-06-01' AS timestamp)::timestamptz;
SELECT count(*) FROM s.visits WHERE n = 5.5::int;
SELECT count(*) FROM s.visits WHERE n = CAST(6.4 AS bigint);
SELECT count(*) FROM s.visits WHERE n = '7'::text::int;
SELECT count(*) FROM s.visits WHERE n = '7'::numeric::int;
SELECT count(*) FROM s.visits WHERE n = 7::text::int;
SELECT count(*) FROM s.visits WHERE n::text = 7::text;
SELECT count(*) FROM s.visits WHERE kind = 'abc'::char(1);
SELECT count(*) FROM s.visits WHERE kind = 'abc'::varchar(1);
SELECT count(*) FROM s.visits WHERE kind = 'a'::name::text;
SELECT count(*) FROM s.visits WHERE amount = 12.34::numeric(10, 1);
SELECT count(*) FROM s.visits WHERE active = 1::boolean;
SELECT count(*) FROM s.visits WHERE active = 'true'::text::boolean;
SELECT count(*) FROM s.visits WHERE ratio = 0.5::real::double precision;
SELECT count(*) FROM s.visits WHERE day >= '2023-06-01'::text::date;
SELECT count(*) FROM s.visits WHERE lasted > '3600 seconds'::text::interval;
SELECT count(*) FROM s.visits WHERE opens = '2023-06-01 09:00'::timestamp::time;
SELECT count(*) FROM s.visits WHERE day = $1::timestamp::date;
-- $1: ["2023-06-01 23:30"]
SELECT count(*) FROM s.visits WHERE n = $1::text::int;
-- $1: ["7"]
SELECT count(*) FROM s.visits WHERE n = $1::numeric::int;
-- $1: ["6.6"]
-- => as PostgreSQL: standard spellings
-- every: 8
-- groups: some empty
-- sessions:  | SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY' | SET IntervalStyle = 'iso_8601'
SELECT count(*) FROM s.visits WHERE city LIKE 'a!%b!_c' ESCAPE '!';
SELECT count(*) FROM s.visits WHERE city LIKE 'a!%%' ESCAPE '!' OR city LIKE 'U_m';
SELECT count(*) FROM s.visits WHERE city NOT LIKE 'a#%b%' ESCAPE '#' AND city IS NOT NULL;
SELECT count(*) FROM s.visits WHERE city ILIKE 'A!%B!_%' ESCAPE '!';
SELECT count(*) FROM s.visits WHERE city LIKE 'x\y' ESCAPE '';
SELECT count(*) FROM s.visits WHERE city LIKE 'x\\y' ESCAPE '\';
SELECT count(*) FROM s.visits WHERE city LIKE E'x\\y' ESCAPE E'';
SELECT count(*) FROM s.visits WHERE city LIKE 'a!%b!_c' ESCAPE NULL;
SELECT count(*) FROM s.visits WHERE (city LIKE 'a!%' || 'b!_c' ESCAPE '!') IS TRUE;
SELECT count(*) FROM s.visits WHERE city LIKE lower('A!%B%') ESCAPE '!' AND n < 50;
SELECT count(*) FROM s.visits WHERE CASE WHEN city LIKE '%!%%' ESCAPE '!' THEN 1 ELSE 0 END = 1;
SELECT count(*) FROM s.visits WHERE n BETWEEN SYMMETRIC 30 AND 10;
SELECT count(*) FROM s.visits WHERE n NOT BETWEEN SYMMETRIC 30 AND 10;
SELECT count(*) FROM s.visits WHERE n BETWEEN ASYMMETRIC 10 AND 30;
SELECT count(*) FROM s.visits WHERE day BETWEEN SYMMETRIC '2023-06-30' AND 'June 1, 2023';
SELECT count(*) FROM s.visits WHERE n BETWEEN SYMMETRIC 60 AND 90 - 50;
SELECT count(*) FROM s.visits WHERE opens BETWEEN SYMMETRIC '10:00' AND '9:00';
SELECT count(*) FROM s.visits WHERE tier BETWEEN SYMMETRIC 'pro' AND 'basic';
SELECT count(*) FROM s.visits WHERE n OPERATOR(pg_catalog.=) 7;
SELECT count(*) FROM s.visits WHERE n OPERATOR(pg_catalog.<>) 7 AND n operator ( pg_catalog . < ) 9;
SELECT count(*) FROM s.visits WHERE n + 1 OPERATOR(pg_catalog.>=) 2 * 30;
SELECT count(*) FROM s.visits WHERE kind OPERATOR(pg_catalog.=) ANY ('{a,b}');
SELECT count(*) FROM s.visits WHERE kind OPERATOR(pg_catalog.<>) ALL (ARRAY['a', 'b']);
SELECT count(*) FROM s.visits WHERE city OPERATOR(pg_catalog.~~) 'U%' OR city OPERATOR(pg_catalog.!~~*)
    'B%';
SELECT count(*) FROM s.visits WHERE NOT n OPERATOR(pg_catalog.=) 7 AND kind = 'a';
SELECT count(*) FROM s.visits WHERE at OPERATOR(pg_catalog.>=) timestamptz '2023-06-01 00:00 UTC' - interval
    '3 days';
SELECT count(*) FROM s.visits WHERE n OPERATOR(pg_catalog.+) 1 = 8;
SELECT count(*) FROM s.visits WHERE n OPERATOR(=) 7;
SELECT count(*) FROM s.visits WHERE (kind OPERATOR(pg_catalog.||) 'x') = 'ax';
SELECT count(*) FROM s.visits WHERE kind = U&'\0061';
SELECT count(*) FROM s.visits WHERE kind IN (U&'!0061' UESCAPE '!', U&'b');
SELECT count(*) FROM s.visits WHERE city LIKE U&'\+000055%';
SELECT count(*) FROM s.visits WHERE kind = E'\x61' OR kind = N'b';
SELECT count(*) FROM s.visits WHERE kind = 'a' COLLATE "C";
SELECT count(*) FROM s.visits WHERE kind COLLATE "C" = 'a';
SELECT count(*) FROM s.visits WHERE kind COLLATE pg_catalog."default" IN ('a', 'b');
SELECT count(*) FROM s.visits WHERE (city COLLATE "POSIX") LIKE 'U%';
SELECT count(*) FROM s.visits WHERE city COLLATE "C" <> 'Ulm';
SELECT count(*) FROM s.visits WHERE kind COLLATE "C" < 'b';
SELECT count(*) FROM s.visits WHERE (kind, n) = ('a', 4);
SELECT count(*) FROM s.visits WHERE (kind, n) <> ('a', 4);
SELECT count(*) FROM s.visits WHERE ROW(kind, n) = ROW('a', 4);
SELECT count(*) FROM s.visits WHERE (n, amount) < (50, 20);
SELECT count(*) FROM s.visits WHERE (n, amount) <= (50, 50.0);
SELECT count(*) FROM s.visits WHERE (day, n) > ('2023-06-01', 50);
SELECT count(*) FROM s.visits WHERE (day, kind, n) >= ('June 1, 2023', 'b', 50);
SELECT count(*) FROM s.visits WHERE ('a', 4) = (kind, n);
SELECT count(*) FROM s.visits WHERE (kind, n) IN (('a', 4), ('b', 5));
SELECT count(*) FROM s.visits WHERE ROW(kind, n) IN (ROW('a', 4), ROW('b', 5));
SELECT count(*) FROM s.visits WHERE (kind, n) NOT IN (('a', 4), ('b', 5));
SELECT count(*) FROM s.visits WHERE (day, kind) IN (('20230601', 'a'), ('June 2, 2023', 'b'));
SELECT count(*) FROM s.visits WHERE (city, n) = ('Ulm', 5);
SELECT count(*) FROM s.visits WHERE NOT (city, n) = ('Ulm', 5);
SELECT count(*) FROM s.visits WHERE (city, n) IS DISTINCT FROM ('Ulm', 5);
SELECT count(*) FROM s.visits WHERE (city, n) IS NOT DISTINCT FROM (NULL, 4);
SELECT count(*) FROM s.visits WHERE (city, n) > ('Ulm', 5);
SELECT count(*) FROM s.visits WHERE (n, n) = (n % 10, n);
SELECT count(*) FROM s.visits WHERE n = 0x1F;
SELECT count(*) FROM s.visits WHERE n IN (0o17, 0b11, 0X1f);
SELECT count(*) FROM s.visits WHERE amount < 1_0.5 OR n = 1_0;
SELECT count(*) FROM s.visits WHERE amount > 0.0_5e1_0 OR n * 1_000 > 0xFFF;
SELECT count(*) FROM s.visits WHERE n < -0x1 + 0b1_0;
SELECT count(*) FROM s.visits WHERE NOT city ISNULL;
SELECT count(*) FROM s.visits WHERE city NOTNULL AND active ISNULL;
SELECT count(*) FROM s.visits WHERE NOT (city IS NULL) = true;
SELECT count(*) FROM s.visits WHERE active IS NOT UNKNOWN;
SELECT count(*) FROM s.visits WHERE active IS NOT TRUE AND NOT active IS NOT FALSE;
SELECT count(*) FROM s.visits WHERE city IS NOT DISTINCT FROM 'Ulm';
SELECT count(*) FROM s.visits WHERE city IS NOT DISTINCT FROM NULL;
SELECT count(*) FROM s.visits WHERE city SIMILAR TO '(Ulm|Bonn)';
SELECT count(*) FROM s.visits WHERE n != 7 AND n ^ 2 > 100;
SELECT count(*) FROM s.visits WHERE city LIKE '%' || $1 || '%' ESCAPE '/';
-- $1: ["l"]
SELECT count(*) FROM s.visits WHERE city LIKE $1 ESCAPE '!';
-- $1: ["a!%%"]
SELECT count(*) FROM s.visits WHERE city LIKE $1 ESCAPE $2;
-- $1: ["a#%b%", "#"]
SELECT count(*) FROM s.visits WHERE n BETWEEN SYMMETRIC $1 AND $2;
-- $1: ["30", "10"]
SELECT count(*) FROM s.visits WHERE n OPERATOR(pg_catalog.=) $1;
-- $1: ["7"]
SELECT count(*) FROM s.visits WHERE kind OPERATOR(pg_catalog.=) ANY ($1);
-- $1: ["{a,b}"]
SELECT count(*) FROM s.visits WHERE (kind, n) = ($1, $2);
-- $1: ["a", "4"]
SELECT count(*) FROM s.visits WHERE (day, n) > ($1, $2);
-- $1: ["2023-06-01", "50"]
SELECT count(*) FROM s.visits WHERE (kind, n) IN (($1, $2), ('b', 5));
-- $1: ["a", "4"]
-- => as PostgreSQL: lists of types
-- every: 8
-- groups: some empty
-- sessions:  | SET TimeZone = 'America/New_York'; SET DateStyle = 'SQL, DMY' | SET IntervalStyle = 'iso_8601'
SELECT count(*) FROM s.visits WHERE tier = ANY('{pro,free}'::s.tier[]);
SELECT count(*) FROM s.visits WHERE tier = SOME('{pro}'::s.tier[]);
SELECT count(*) FROM s.visits WHERE tier <> ALL('{pro,free}'::s.tier[]);
SELECT count(*) FROM s.visits WHERE NOT tier = ANY('{"pro",basic}'::s.tier[]);
SELECT count(*) FROM s.visits WHERE tier = ANY(ARRAY['pro', 'basic']::s.tier[]);
SELECT count(*) FROM s.visits WHERE tier = ANY(ARRAY['pro'::s.tier, 'basic'::s.tier]);
SELECT count(*) FROM s.visits WHERE tier = ANY(ARRAY['pro'::s.tier, 'basic']);
SELECT count(*) FROM s.visits WHERE tier = ANY(CAST('{pro}' AS s.tier[]));
SELECT count(*) FROM s.visits WHERE tier = ANY((ARRAY['pro', 'free'])::"s"."tier"[]);
SELECT count(*) FROM s.visits WHERE tier = ANY('{}'::s.tier[]);
SELECT count(*) FROM s.visits WHERE tier <> ALL('{}'::s.tier[]);
SELECT count(*) FROM s.visits WHERE (tier = ANY(NULL::s.tier[])) IS NULL;
SELECT count(*) FROM s.visits WHERE tier = ANY('{pro,NULL}'::s.tier[]);
SELECT count(*) FROM s.visits WHERE tier = ANY('{pro,basic}');
SELECT count(*) FROM s.visits WHERE tier::text = ANY(ARRAY['pro']);
SELECT count(*) FROM s.visits WHERE tier = 'pro'::s.tier OR tier = ANY('{free}'::s.tier[]) AND n < 50;
SELECT count(*) FROM s.visits WHERE CASE WHEN tier = ANY('{pro}'::s.tier[]) THEN 1 ELSE 0 END = 1;
SELECT count(*) FROM s.visits WHERE land = ANY('{DE,FR}'::char(3)[]);
SELECT count(*) FROM s.visits WHERE land = ANY('{DE,FR}'::bpchar[]);
SELECT count(*) FROM s.visits WHERE land = ANY('{DE,FR}'::character(3)[]);
SELECT count(*) FROM s.visits WHERE land = ANY(ARRAY['DE', 'ITA']::char(3)[]);
SELECT count(*) FROM s.visits WHERE land <> ALL(ARRAY['DE', 'ITA']::bpchar[]);
SELECT count(*) FROM s.visits WHERE land = ANY(ARRAY['DE'::char(3), 'ITA']);
SELECT count(*) FROM s.visits WHERE land = ANY(ARRAY['DE', 'ITA']);
SELECT count(*) FROM s.visits WHERE land = ANY('{DE,"FR "}'::text[]);
SELECT count(*) FROM s.visits WHERE land = ANY('{DE,FR}'::varchar(2)[]);
SELECT count(*) FROM s.visits WHERE kind = ANY('{a,b}'::char(3)[]);
SELECT count(*) FROM s.visits WHERE city = ANY('{Ulm,Bonn}'::char(10)[]);
SELECT count(*) FROM s.visits WHERE active = ANY('{yes}'::boolean[]);
SELECT count(*) FROM s.visits WHERE uid = ANY(ARRAY['cfcd2084-95d5-65ef-66e7-dff9f98764da']::uuid[]);
SELECT count(*) FROM s.visits WHERE tier = ANY($1::s.tier[]);
-- $1: ["{pro,free}"]
SELECT count(*) FROM s.visits WHERE tier = ANY($1);
-- $1: ["{pro,free}"]
SELECT count(*) FROM s.visits WHERE tier <> ALL($1::s.tier[]);
-- $1: ["{pro,free}"]
SELECT count(*) FROM s.visits WHERE tier = ANY(ARRAY[$1, $2]::s.tier[]);
-- $1: ["pro", "free"]
SELECT count(*) FROM s.visits WHERE tier = ANY(ARRAY[$1::s.tier, 'basic']);
-- $1: ["pro"]
SELECT count(*) FROM s.visits WHERE tier = ANY($1::text[]::s.tier[]);
-- $1: ["{pro,free}"]
SELECT count(*) FROM s.visits WHERE tier = ANY(string_to_array($1, ',')::s.tier[]);
-- $1: ["pro,free"]
SELECT count(*) FROM s.visits WHERE land = ANY($1::char(3)[]);
-- $1: ["{DE,FR}"]
SELECT count(*) FROM s.visits WHERE land = ANY($1);
-- $1: ["{DE,FR}"]
SELECT count(*) FROM s.visits WHERE land <> ALL($1::bpchar[]);
-- $1: ["{DE}"]
SELECT count(*) FROM s.visits WHERE kind = ANY($1::char(1)[]);
-- $1: ["{a,b}"]
-- => as PostgreSQL: constants beside keys
-- every: 2
-- groups: some empty
SELECT date_trunc('MONTHS', at) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT date_trunc('qtr', day) AS k, extract(y FROM at) AS y, count(*) FROM s.visits GROUP BY 1, 2;
SELECT date_part($1, at) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["mons"]
SELECT date_trunc('month', at) AS k, count(*) FROM s.visits WHERE at >= 'June 1, 2023 UTC' GROUP BY 1;
SELECT date_trunc('month', at) AS k, count(*) FROM s.visits WHERE at < 'infinity' AND day >= '20230601'
    GROUP BY 1;
SELECT extract(month FROM day) AS k, count(*) FROM s.visits WHERE day < '20230301' GROUP BY 1;
SELECT kind, count(*) FILTER (WHERE until = 'infinity') FROM s.visits GROUP BY 1;
SELECT CASE WHEN day >= '20230601' THEN 'late' ELSE 'early' END AS k, count(*) FROM s.visits GROUP BY 1;
SELECT CASE WHEN odd = 'NaN' THEN 'none' WHEN odd < 'Infinity' THEN 'some' END AS k, count(*) FROM s.visits
    WHERE odd IS NOT NULL AND odd <> 'Infinity' GROUP BY 1;
SELECT land, count(*) FROM s.visits WHERE day BETWEEN 'June 1, 2023' AND 'infinity' GROUP BY land;
SELECT count(*) FROM (SELECT person, kind FROM s.visits WHERE until = 'infinity') AS v WHERE kind = 'a';
SELECT count(*) FROM s.visits AS v JOIN s.lands AS l ON l.code = v.land WHERE v.day >= 'Jun 1 2023';
SELECT kind, count(*) FROM s.visits GROUP BY 1 HAVING count(*) > '1e1'::numeric;
SELECT count(*) FROM s.visits WHERE '20230601' <= day AND 'June 9, 2023'::date > day;
SELECT kind, count(*) FROM s.visits WHERE until = $1 GROUP BY kind;
-- $1: ["infinity"]
-- => as PostgreSQL: spellings beside keys
-- every: 2
-- groups: some empty
SELECT kind, count(*) FROM s.visits WHERE n = 0x1F OR city LIKE '!%' ESCAPE '!' GROUP BY 1;
SELECT n / 1_0 AS k, count(*) FROM s.visits WHERE n BETWEEN SYMMETRIC 0x50 AND 20 GROUP BY n / 1_0;
SELECT (kind, n) = ('a', 4) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT city LIKE 'a!%%' ESCAPE '!' AS k, count(*) FROM s.visits WHERE city IS NOT NULL GROUP BY 1;
SELECT kind, count(*) FILTER (WHERE n OPERATOR(pg_catalog.<) 0b1010) FROM s.visits GROUP BY kind;
SELECT kind, count(*) FROM s.visits GROUP BY kind HAVING count(*) > 0x1F ORDER BY kind COLLATE "C";
SELECT count(*) + 0x10 FROM s.visits;
SELECT count(*) FROM s.visits LIMIT 0x1;
-- => as PostgreSQL: lists beside keys
-- every: 2
-- groups: some empty
SELECT tier, count(*) FROM s.visits WHERE tier = ANY('{pro,free}'::s.tier[]) GROUP BY tier;
SELECT land, count(*) FROM s.visits WHERE land = ANY('{DE}'::char(3)[]) GROUP BY land;
SELECT tier = ANY(ARRAY['pro']::s.tier[]) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT tier, count(*) FILTER (WHERE tier = ANY($1::s.tier[])) FROM s.visits GROUP BY 1;
-- $1: ["{pro,basic}"]
SELECT land, count(*) FROM s.visits WHERE land <> ALL($1::bpchar[]) GROUP BY 1;
-- $1: ["{DE,FR}"]
SELECT l.name, count(*) FROM s.visits AS v JOIN s.lands AS l ON l.code = v.land
    WHERE l.code = ANY($1::char(3)[]) GROUP BY l.name;
-- $1: ["{DE,FR}"]
-- => as PostgreSQL: parameters for literals
-- every: 2
-- groups: some empty
SELECT date_part($1, at) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["month"]
SELECT date_part($1, day) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["DOW"]
SELECT date_part(lower('MONTH'), at) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT count(*) FROM s.visits WHERE date_part($1, at) = $2;
-- $1: ["hour", "5"]
SELECT avg(date_part($1, at)) > 0, count(*) FROM s.visits;
-- $1: ["month"]
SELECT date_trunc($1, at) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["month"]
SELECT date_trunc($1, at, $2) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["month", "Europe/Berlin"]
SELECT date_trunc('month', at, $1) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["Asia/Tokyo"]
SELECT date_trunc('mon' || 'th', at) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT date_trunc('month', at AT TIME ZONE $1) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["Europe/Berlin"]
SELECT date_trunc($2, at AT TIME ZONE $1) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["Asia/Tokyo", "week"]
SELECT date_trunc('month', timezone($1, at)) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["UTC"]
SELECT count(*) FROM s.visits WHERE shown AT TIME ZONE $1 >= '2023-06-01 00:00 UTC';
-- $1: ["Asia/Tokyo"]
SELECT count(*) FROM s.visits WHERE (at AT TIME ZONE $1)::date = 'June 1, 2023';
-- $1: ["Asia/Tokyo"]
SELECT count(*) FROM s.visits WHERE day AT TIME ZONE $1 >= '2023-06-01';
-- $1: ["Asia/Tokyo"]
SELECT to_char(at AT TIME ZONE $1, $2) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["Asia/Tokyo", "YYYY-MM"]
SELECT at AT TIME ZONE 'Europe/' || 'Berlin' > '2023-06-01' AS k, count(*) FROM s.visits GROUP BY 1;
SELECT round(amount, $1) AS k, count(*) FROM s.visits WHERE amount < 3 GROUP BY 1;
-- $1: ["0"]
SELECT round(n / 10.0, 2 - 1) AS k, count(*) FROM s.visits WHERE n < 10 GROUP BY 1;
SELECT trunc(amount, $1) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["-1"]
SELECT width_bucket(n, $1, $2, $3) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["0", "100", "5"]
SELECT width_bucket(amount, 0, 50 * 2, 2 + 3) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT width_bucket(n, $1::int, 100, 4) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["0"]
SELECT date_bin($1, at, timestamptz '2001-01-01 00:00+00') AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["7 days"]
SELECT date_bin('7 days', shown, $1) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["2001-01-01"]
SELECT date_bin(interval '1 day' * 7, shown, '2001-01-01') AS k, count(*) FROM s.visits GROUP BY 1;
SELECT date_bin('1 week 0 days', shown, '20010101 00:00') AS k, count(*) FROM s.visits GROUP BY 1;
SELECT n % $1 AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["5"]
SELECT n / $1 AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["20"]
SELECT n / (2 * 10) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT floor(n / $1) * $1 AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["20"]
SELECT count(*) FROM s.visits WHERE power(n, $1) > 100;
-- $1: ["2"]
SELECT count(*) FROM s.visits WHERE n ^ (1 + 1) > 100;
SELECT count(*) FROM s.visits WHERE log($1, n + 1) > 2;
-- $1: ["2"]
SELECT left(kind || 'x', $1) AS k, count(*) FROM s.visits GROUP BY 1;
-- $1: ["1"]
SELECT count(*) FROM s.visits WHERE city LIKE 'U' || $1;
-- $1: ["%"]
SELECT count(*) FROM s.visits WHERE city LIKE $1 || '%' AND n < 50;
-- $1: ["U"]
SELECT count(*) FROM s.visits WHERE split_part(city, 'l', 2 - 1) = 'U';
SELECT count(*) FROM s.visits WHERE at >= timestamptz '2023-06-01 00:00Z' - interval '1 day' * 3;
SELECT count(*) FROM s.visits WHERE at + interval '1 day' * $1 >= '2023-06-01 00:00 UTC';
-- $1: ["3"]
SELECT count(*) FROM s.visits WHERE at - $1 * interval '1 hour' >= '2023-06-01 00:00 UTC';
-- $1: ["36"]
SELECT count(*) FROM s.visits WHERE at + $1 >= '2023-06-01 00:00 UTC';
-- $1: ["3 days"]
SELECT count(*) FROM s.visits WHERE at + $1::interval >= '2023-06-01 00:00 UTC';
-- $1: ["3 days 2 hours"]
SELECT count(*) FROM s.visits WHERE day + $1 >= '2023-06-01';
-- $1: ["3"]
SELECT kind, count(*) FROM s.visits GROUP BY 1 ORDER BY 1 LIMIT $1 OFFSET $2;
-- $1: ["2", "1"]
SELECT kind, count(*) FROM s.visits GROUP BY 1 ORDER BY 1 LIMIT 1 + 1;
SELECT kind, count(*) FROM s.visits GROUP BY 1 ORDER BY 1 FETCH FIRST $1 ROWS ONLY;
-- $1: ["2"]
SELECT g::date AS k, (SELECT count(*) FROM s.visits WHERE kind = 'a')
    FROM generate_series($1::date, $2::date, '1 day') AS g;
-- $1: ["2023-01-01", "2023-01-03"]
SELECT g.k, coalesce(q.n, 0) FROM generate_series($1::timestamptz, $2, '1 month') AS g(k) LEFT
    JOIN (SELECT date_trunc('month', at) AS k, count(*) AS n FROM s.visits GROUP BY 1) AS q ON q.k = g.k;
-- $1: ["2023-01-01 00:00Z", "2023-04-01 00:00Z"]
-- => as PostgreSQL: percentiles
-- every: 2
-- groups: some empty
SELECT round((percentile_cont(1/5.0) WITHIN GROUP (ORDER BY n))::numeric, -1), count(*) FROM s.visits;
SELECT round((percentile_cont(1/3.0) WITHIN GROUP (ORDER BY n * 0.3))::numeric, -1), count(*) FROM s.visits;
SELECT round((percentile_disc($1) WITHIN GROUP (ORDER BY n))::numeric, -1), count(*) FROM s.visits;
-- $1: ["0.27"]
SELECT round((percentile_cont($1) WITHIN GROUP (ORDER BY n DESC))::numeric, -1), count(*) FROM s.visits;
-- $1: ["0.37"]
SELECT round((percentile_cont(1 - 0.33) WITHIN GROUP (ORDER BY amount))::numeric, -1), count(*)
    FROM s.visits;
SELECT round((percentile_cont($1 / 100.0) WITHIN GROUP (ORDER BY amount))::numeric, -1), count(*)
    FROM s.visits;
-- $1: ["73"]
SELECT round(((percentile_cont(ARRAY[1/4.0, $1]) WITHIN GROUP (ORDER BY n))[2])::numeric, -1), count(*)
    FROM s.visits;
-- $1: ["0.73"]
-- => as PostgreSQL: lists of constants
-- every: 2
-- groups: some empty
SELECT count(*) FROM s.visits WHERE kind IN (VALUES ('a'), ('b'));
SELECT count(*) FROM s.visits WHERE kind NOT IN (VALUES ('a'), ('b'));
SELECT count(*) FROM s.visits WHERE n IN (VALUES (1), (2 + 5), (abs(-9)));
SELECT count(*) FROM s.visits WHERE day IN (VALUES (date '2023-06-01'), ('June 2, 2023'));
SELECT count(*) FROM s.visits WHERE kind = ANY (VALUES ('a'), ('b'));
SELECT count(*) FROM s.visits WHERE kind <> ALL (VALUES ('a'), ('b'));
SELECT count(*) FROM s.visits WHERE kind IN (SELECT unnest(ARRAY['a', 'b']));
SELECT count(*) FROM s.visits WHERE n IN (SELECT unnest('{1,2,7}'::int[]));
SELECT count(*) FROM s.visits WHERE n = ANY (SELECT unnest(ARRAY[1, 2]));
SELECT count(*) FROM s.visits WHERE kind = ANY (ARRAY(SELECT unnest(ARRAY['a', 'b'])));
SELECT count(*) FROM s.visits WHERE n = ANY (ARRAY(SELECT generate_series(1, 3)));
SELECT count(*) FROM s.visits WHERE n IN (SELECT generate_series(10, 20, 5));
SELECT count(*) FROM s.visits WHERE n IN (SELECT g FROM generate_series(10, 20, 5) AS g);
SELECT count(*) FROM s.visits WHERE n IN (SELECT v.x FROM (VALUES (1), (2)) AS v(x) WHERE v.x > 1);
SELECT count(*) FROM s.visits WHERE n IN (SELECT x + 1 FROM (VALUES (1), (2)) AS v(x));
SELECT count(*) FROM s.visits WHERE kind IN (SELECT 'a' UNION SELECT 'c');
SELECT count(*) FROM s.visits WHERE tier IN (SELECT unnest('{pro,free}'::s.tier[]));
SELECT count(*) FROM s.visits WHERE land IN (SELECT unnest(ARRAY['DE', 'ITA']::char(3)[]));
SELECT count(*) FROM s.visits WHERE n IN (VALUES (NULL::int), (7));
SELECT count(*) FROM s.visits WHERE (n NOT IN (VALUES (NULL::int), (7))) IS NULL;
SELECT count(*) FROM s.visits WHERE n IN (SELECT 1 WHERE false);
SELECT count(*) FROM s.visits WHERE lasted IN (VALUES (interval '30 minutes'), ('1:00'));
SELECT count(*) FROM s.visits WHERE day IN (SELECT d::date FROM generate_series(date '2023-06-01',
    '2023-06-05', '1 day') AS d);
SELECT count(*) FROM s.visits WHERE CASE WHEN kind IN (VALUES ('a')) THEN 1 ELSE 0 END = 1;
SELECT count(*) FROM s.visits WHERE lower(kind) IN (VALUES ('a'), ('c'));
SELECT count(*) FROM s.visits WHERE (kind) NOT IN (VALUES ('a'));
SELECT count(*) FROM s.visits WHERE n BETWEEN 1 AND (SELECT max(x) FROM (VALUES (5), (7)) AS v(x));
-- => as PostgreSQL: parameters and names in lists
-- every: 2
-- groups: some empty
SELECT count(*) FROM s.visits WHERE kind IN (VALUES ($1), ($2));
-- $1: ["a", "b"]
SELECT count(*) FROM s.visits WHERE kind IN (SELECT unnest($1::text[]));
-- $1: ["{a,b}"]
SELECT count(*) FROM s.visits WHERE tier IN (SELECT unnest($1::s.tier[]));
-- $1: ["{pro}"]
SELECT count(*) FROM s.visits WHERE kind = ANY (SELECT unnest(string_to_array($1, ',')));
-- $1: ["a,b"]
SELECT kind, count(*) FROM s.visits WHERE kind IN (VALUES ('a'), ($1)) GROUP BY kind;
-- $1: ["b"]
SELECT kind, count(*) FILTER (WHERE n IN (VALUES (1), (2))) FROM s.visits GROUP BY kind;
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE kind IN (SELECT x FROM q);
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE kind NOT IN (SELECT x FROM q WHERE x > 'a');
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE kind = ANY (SELECT q.x FROM q);
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE kind = ANY (ARRAY(SELECT x FROM q));
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE kind = ANY (ARRAY(TABLE q));
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE kind = (SELECT s FROM p);
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE n > (SELECT n FROM p) AND kind <> (SELECT p.s FROM p);
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT count(*) FROM s.visits
    WHERE n > (SELECT n + 1 FROM p) * 2;
WITH p AS (SELECT 'a' AS s, 5 AS n), q(x) AS (VALUES ('a'), ('b')) SELECT kind, count(*) FROM s.visits
    WHERE kind IN (TABLE q) GROUP BY 1;
WITH p AS (SELECT date '2023-06-01' AS s), r AS (SELECT s + 7 AS e FROM p) SELECT count(*) FROM s.visits
    WHERE day >= (SELECT s FROM p) AND day < (SELECT e FROM r);
WITH c AS (SELECT * FROM s.visits WHERE kind IN (VALUES ('a'))) SELECT count(*) FROM c
    WHERE n IN (VALUES (4), (8));
WITH p AS (SELECT $1::date AS s) SELECT count(*) FROM s.visits WHERE day >= (SELECT s FROM p);
-- $1: ["2023-06-01"]
-- => as PostgreSQL: tables of one's own
-- every: 2
-- groups: some empty
SELECT count(*) FROM s.visits WHERE city IN (SELECT city FROM l);
SELECT count(*) FROM s.visits WHERE city NOT IN (SELECT city FROM l WHERE grp = 'a');
SELECT count(*) FROM s.visits WHERE city = ANY (SELECT l.city FROM l);
SELECT count(*) FROM s.visits WHERE city = ANY (ARRAY(SELECT city FROM pg_temp.l));
SELECT count(*) FROM s.visits WHERE city IN (TABLE only_cities);
SELECT kind, count(*) FROM s.visits WHERE n IN (SELECT x.num FROM l AS x WHERE x.num > 1) GROUP BY kind;
WITH c AS (SELECT city FROM l) SELECT count(*) FROM s.visits WHERE city IN (SELECT city FROM c);
SELECT count(*) FROM s.visits WHERE city IN (SELECT city FROM l WHERE false);
SELECT count(*) FILTER (WHERE city IN (SELECT city FROM l)) FROM s.visits;
SELECT count(*) FROM s.visits WHERE city IN (SELECT DISTINCT city FROM l ORDER BY city LIMIT 1);
-- => as PostgreSQL: rows of constants
-- every: 2
-- groups: some empty
WITH p AS (SELECT date '2023-06-01' AS s) SELECT date_trunc('month', at) AS k, count(*) FROM s.visits, p
    WHERE day >= p.s GROUP BY 1;
WITH p AS (SELECT date '2023-06-01' AS s, 'a' AS x) SELECT count(*) FROM s.visits CROSS JOIN p
    WHERE day >= s AND kind = p.x;
WITH p(s, e) AS (VALUES (timestamptz '2023-06-01 00:00Z', timestamptz '2023-07-01 00:00Z')) SELECT count(*)
    FROM s.visits v, p WHERE v.at BETWEEN p.s AND p.e;
WITH p AS (SELECT date '2023-06-01' AS s), q AS (SELECT 50 AS n) SELECT count(*) FROM s.visits v, p, q AS r
    WHERE v.day >= p.s AND v.n < r.n;
SELECT count(*) FROM s.visits v JOIN (SELECT 5 AS least) p ON true WHERE v.n >= p.least;
SELECT count(*) FROM s.visits v, (SELECT 5 + 5 AS least) p WHERE v.n >= p.least;
SELECT count(*) FROM s.visits v CROSS JOIN (VALUES (10, 'a')) AS p(n, k) WHERE v.n >= p.n AND kind = p.k;
SELECT count(*) FROM (VALUES (10)) AS p CROSS JOIN s.visits v WHERE v.n >= p.column1;
WITH p AS (SELECT 30 AS n) SELECT kind, count(*) FILTER (WHERE v.n < p.n) FROM s.visits v, p GROUP BY kind;
WITH p AS (SELECT 30 AS n) SELECT kind, sum(CASE WHEN v.n < p.n THEN 1 ELSE 0 END) FROM s.visits v, p
    GROUP BY 1;
WITH p AS (SELECT 'June 1, 2023'::date AS s), c AS (SELECT v.kind FROM s.visits v, p
    WHERE v.day >= p.s) SELECT kind, count(*) FROM c GROUP BY 1;
SELECT v.tier, count(*) FROM s.visits v JOIN s.lands l ON l.code = v.land, (SELECT 'Italy' AS name) p
    WHERE l.name = p.name GROUP BY 1;
WITH p AS (SELECT $1::date AS s, $2::date AS e) SELECT kind, count(*) FROM s.visits, p WHERE day >= p.s
    AND day < p.e GROUP BY kind;
-- $1: ["2023-06-01", "2023-07-01"]
SELECT count(*) FROM s.visits v, (VALUES ($1::int)) AS p(n) WHERE v.n > p.n;
-- $1: ["50"]
WITH p AS (SELECT now() - interval '100 years' AS s) SELECT count(*) FROM s.visits, p WHERE at > p.s;
SELECT w.x, count(*) FROM s.visits v JOIN (VALUES ('a', 1), ('b', 2)) AS w(k, x) ON w.k = v.kind
    GROUP BY w.x;
-- => refused: the rest
-- unhinted: some
SELECT count(*) FROM s.visits v, (SELECT unnest(ARRAY[1, 2]) AS x) p;
SELECT count(*) FROM s.visits v, (SELECT generate_series(1, 3) AS x) p WHERE n > x;
SELECT count(*) FROM s.visits v, (SELECT random() AS x) p WHERE n > p.x;
SELECT count(*) FROM s.visits WHERE lower(kind COLLATE "C") = 'b';
SELECT count(*) FROM s.visits WHERE kind || 'x' OPERATOR(pg_catalog.=) 'ax';
SELECT count(*) FROM s.visits WHERE sum(n + 'NaN'::numeric) > 1;
SELECT sum(least(odd, 'Infinity')) FROM s.visits;
SELECT date_part($1, at) AS k, count(*) FROM s.visits GROUP BY 1;
SELECT count(*) FROM s.visits WHERE city LIKE 'a!' ESCAPE '!';
SELECT count(*) FROM s.visits WHERE lasted < 'infinity';
SELECT count(*) FROM s.visits WHERE (city, n) IN (SELECT city, num FROM l);
SELECT count(*) FROM s.visits WHERE (kind, n) IN (VALUES ('a', 4), ('b', 5));
SELECT count(*) FROM s.visits v JOIN l ON l.city = v.city;
SELECT count(*) FROM s.visits v WHERE EXISTS (SELECT 1 FROM l WHERE l.city = v.city);
SELECT count(*) FROM s.visits v WHERE city IN (SELECT city FROM l WHERE l.num = v.n);
SELECT count(*) FROM s.visits WHERE kind IN (VALUES (city));
SELECT count(*) FROM s.visits WHERE kind IN (SELECT unnest(ARRAY[kind]));
SELECT count(*) FROM s.visits WHERE n IN (SELECT n FROM s.visits);
SELECT count(*) FROM s.visits WHERE n IN (WITH d AS (DELETE FROM l RETURNING num) SELECT num FROM d);
SELECT count(*) FROM s.visits WHERE kind = ANY (ARRAY(SELECT kind FROM s.visits));
