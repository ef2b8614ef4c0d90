-- case: nothing protected
SELECT * FROM regions
-- => relayed
-- as it is

-- case: limit 0
SELECT * FROM people LIMIT 0
-- => plan

-- => backend

-- => loss
-- epsilon 0 delta 0
-- => residual
SELECT * FROM "pg_dp_empty"."w.people" AS "people" LIMIT 0

-- case: where false
SELECT i4, s FROM people WHERE false
-- => plan

-- => backend

-- => loss
-- epsilon 0 delta 0
-- => residual
SELECT i4, s FROM "pg_dp_empty"."w.people" AS "people" WHERE false

-- case: where 1 = 0
SELECT * FROM people WHERE 1 = 0
-- => plan

-- => backend

-- => loss
-- epsilon 0 delta 0
-- => residual
SELECT * FROM "pg_dp_empty"."w.people" AS "people" WHERE 1 = 0

-- case: cte probe
WITH q AS (SELECT * FROM people) SELECT * FROM q LIMIT 0
-- => plan

-- => backend

-- => loss
-- epsilon 0 delta 0
-- => residual
WITH q AS (SELECT * FROM "pg_dp_empty"."w.people" AS "people") SELECT * FROM q LIMIT 0

-- case: cte of that name
WITH people AS (SELECT 1 AS i4) SELECT sum(i4) FROM people
-- => relayed
-- as it is

-- case: write
DELETE FROM people
-- => relayed
-- as it is

-- case: copy into
COPY people FROM STDIN
-- => relayed
-- as it is

-- case: name in a string
SELECT 'people'
-- => relayed
-- as it is

-- case: unicode escapes
SELECT count(*) FROM U&"p\0065ople"
-- => relayed
-- as it is

-- case: cte that hides only what follows
WITH a AS (SELECT * FROM people), people AS (SELECT 1) SELECT * FROM people
-- => relayed
-- as it is
