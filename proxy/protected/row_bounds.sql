-- Tables of which the server itself keeps to so many rows of one value of a column: slot is from 1 to a number in
-- each row, and (column, slot) is unique (PROOFS.md 35). Read with the catalogue, and again in the transaction that
-- reads the rows. The CHECK is read in one form alone, with the empty search_path of our sessions: an operator of
-- another schema would be printed with it. Not: what has rows elsewhere (children, foreign tables, views), shows
-- some rows only, is emptied by a crash, or is for the reading role to write.
SELECT n.nspname AS schema, c.relname AS table, a.attname AS column,
       min(pg_catalog.substring(pg_catalog.pg_get_expr(k.conbin, k.conrelid),
           '^\(\(slot >= 1\) AND \(slot <= ([0-9]{1,7})\)\)$')::integer) AS rows
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid AND c.relkind = 'r' AND c.relpersistence = 'p'
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute s ON s.attrelid = c.oid AND s.attname = 'slot' AND NOT s.attisdropped AND s.attnotnull
    AND s.atttypid IN ('smallint'::pg_catalog.regtype, 'integer'::pg_catalog.regtype, 'bigint'::pg_catalog.regtype)
JOIN pg_catalog.pg_index i ON i.indrelid = c.oid AND i.indisunique AND i.indisvalid AND i.indislive
    AND i.indimmediate AND NOT i.indisexclusion AND i.indpred IS NULL AND i.indexprs IS NULL AND i.indnkeyatts = 2
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnotnull AND a.attnum <> s.attnum
    AND a.attnum IN (i.indkey[0], i.indkey[1]) AND s.attnum IN (i.indkey[0], i.indkey[1])
LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
WHERE k.contype = 'c' AND k.convalidated AND NOT k.connoinherit
  AND coalesce((pg_catalog.to_jsonb(k) ->> 'conenforced')::boolean, true)
  AND coalesce(l.collisdeterministic, true) AND NOT c.relrowsecurity
  AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE c.oid IN (h.inhparent, h.inhrelid))
  AND NOT EXISTS (
      SELECT FROM pg_catalog.pg_constraint v
      WHERE v.conrelid = c.oid AND v.contype = 'n' AND (NOT v.convalidated OR v.connoinherit)
        AND (a.attnum = ANY (v.conkey) OR s.attnum = ANY (v.conkey)))
  AND NOT EXISTS (
      SELECT FROM pg_catalog.unnest(i.indclass::oid[]) o JOIN pg_catalog.pg_opclass p ON p.oid = o
      WHERE NOT p.opcdefault)
  AND NOT pg_catalog.pg_has_role(c.relowner, 'USAGE')
  AND NOT pg_catalog.has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
  AND NOT pg_catalog.has_any_column_privilege(c.oid, 'INSERT, UPDATE')
  AND pg_catalog.pg_get_expr(k.conbin, k.conrelid) ~ '^\(\(slot >= 1\) AND \(slot <= [0-9]{1,7}\)\)$'
GROUP BY n.nspname, c.relname, a.attname
