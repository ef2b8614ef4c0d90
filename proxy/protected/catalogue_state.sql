-- Versions of the catalogue's rows: xmin is another after each change (PostgreSQL 17 documentation, section 5.6).
-- 16384 is FirstNormalObjectId: what is below is PostgreSQL's own.
WITH relation AS (
    SELECT oid, xmin FROM pg_class
    WHERE oid >= 16384 AND relpersistence <> 't' AND relkind IN ('r', 'p', 'v', 'm', 'f')
), version (row) AS (
    SELECT 'relation ' || oid || ' ' || xmin FROM relation
    UNION ALL
    SELECT 'column ' || a.attrelid || ' ' || a.attnum || ' ' || a.xmin
    FROM pg_attribute a JOIN relation r ON r.oid = a.attrelid WHERE a.attnum > 0
    UNION ALL
    SELECT 'rule ' || w.oid || ' ' || w.xmin FROM pg_rewrite w JOIN relation r ON r.oid = w.ev_class
    UNION ALL
    SELECT 'constraint ' || c.oid || ' ' || c.xmin FROM pg_constraint c JOIN relation r ON r.oid = c.conrelid
    UNION ALL
    SELECT 'heir ' || i.inhrelid || ' ' || i.inhparent || ' ' || i.xmin
    FROM pg_inherits i JOIN relation r ON r.oid = i.inhparent
    UNION ALL
    SELECT 'row security ' || p.oid || ' ' || p.xmin FROM pg_policy p
    UNION ALL
    SELECT 'function ' || oid || ' ' || xmin FROM pg_proc
    WHERE oid >= 16384 AND pronamespace <> pg_my_temp_schema()
    UNION ALL
    SELECT 'cast ' || oid || ' ' || xmin FROM pg_cast WHERE oid >= 16384
    UNION ALL
    SELECT 'operator ' || oid || ' ' || xmin FROM pg_operator WHERE oid >= 16384
    UNION ALL
    SELECT 'schema ' || oid || ' ' || xmin FROM pg_namespace WHERE oid >= 16384 AND nspname !~ '^pg_(toast_)?temp_'
)
SELECT encode(sha256(convert_to(coalesce(string_agg(row, ',' ORDER BY row COLLATE "C"), ''), 'UTF8')), 'hex')
FROM version
