-- Columns, in attnum order, of relations that hold rows; declared: also of what the role may not read. A relation of another session's temporary
-- schema (pg_temp_*) and the system's own are left out by the name rule. What a declaration says (NOT NULL,
-- type modifiers) is believed only of rows that this server stores in this very relation or its partitions
-- (is_enforced; PROOFS.md, "Assumptions"): not of foreign tables and of what has or shows rows of one (far),
-- not of tables with inheritance children, whose rows obey NOT NULL of their own, not of views. Nor NOT NULL
-- where it is NOT VALID (earlier rows may have NULL) or NO INHERIT (PostgreSQL 18; older ones have no rows of
-- contype 'n' for tables). In a nondeterministic collation equal texts are not the same bytes. A domain is
-- what is beneath it, of which its values are, in every expression and in what clients are told
-- (getBaseTypeAndTypmod, src/backend/utils/cache/lsyscache.c); not of a foreign table, where its CHECK is
-- about rows that come (make_tuple_from_result_row, contrib/postgres_fdw). Of whose values PostgreSQL would compute by
-- what an owner has put in place of its own (replaced_by): a cast to one of its types, of this type or of one of its
-- own; an operator in pg_catalog, or a function with the name of another one there. Extensions are as the server is.
WITH RECURSIVE shown_by AS (
    SELECT inhrelid AS shown, inhparent AS by FROM pg_catalog.pg_inherits
    UNION
    SELECT d.refobjid, w.ev_class
    FROM pg_catalog.pg_depend d
    JOIN pg_catalog.pg_rewrite w ON w.oid = d.objid
    JOIN pg_catalog.pg_class v ON v.oid = w.ev_class AND v.relkind = 'v'
    WHERE d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass
      AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
), far AS (
    SELECT oid FROM pg_catalog.pg_class WHERE relkind = 'f'
    UNION
    SELECT s.by FROM shown_by s JOIN far ON s.shown = far.oid
), enforced AS (
    SELECT e.oid FROM pg_catalog.pg_class e
    WHERE (e.relkind = 'p' OR e.relkind = 'r'
               AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = e.oid))
      AND e.oid NOT IN (SELECT far.oid FROM far)
), beneath (domain, type, modifier) AS (
    SELECT d.oid, d.typbasetype, d.typtypmod FROM pg_catalog.pg_type d WHERE d.typtype = 'd'
    UNION ALL
    SELECT b.domain, d.typbasetype, d.typtypmod
    FROM beneath b JOIN pg_catalog.pg_type d ON d.oid = b.type AND d.typtype = 'd'
), made (class, oid, of) AS (
    SELECT 'pg_catalog.pg_cast'::pg_catalog.regclass, k.oid, k.castsource
    FROM pg_catalog.pg_cast k WHERE k.castmethod <> 'i' AND k.casttarget < 16384
    UNION ALL
    SELECT 'pg_catalog.pg_operator'::pg_catalog.regclass, o.oid, 0
    FROM pg_catalog.pg_operator o WHERE o.oprnamespace = 'pg_catalog'::pg_catalog.regnamespace
    UNION ALL
    SELECT 'pg_catalog.pg_proc'::pg_catalog.regclass, f.oid, 0
    FROM pg_catalog.pg_proc f
    JOIN pg_catalog.pg_proc g ON g.proname = f.proname AND g.pronamespace = f.pronamespace AND g.oid < 16384
    WHERE f.pronamespace = 'pg_catalog'::pg_catalog.regnamespace
), replaced AS MATERIALIZED (
    SELECT made.of, pg_catalog.pg_describe_object(made.class, made.oid, 0) AS description FROM made
    WHERE made.oid >= 16384 AND NOT EXISTS (
        SELECT FROM pg_catalog.pg_depend d WHERE d.classid = made.class AND d.objid = made.oid AND d.deptype = 'e')
)
SELECT n.nspname AS schema, c.relname AS table, a.attname AS column, c.oid::bigint AS oid, a.attnum::integer AS number,
       t.oid::bigint AS type_oid, coalesce(b.modifier, a.atttypmod) AS modifier,
       pg_catalog.format_type(t.oid, coalesce(b.modifier, a.atttypmod)) AS type_name,
       c.oid IN (SELECT enforced.oid FROM enforced) AS is_enforced,
       NOT a.attnotnull OR c.oid NOT IN (SELECT enforced.oid FROM enforced) OR EXISTS (
           SELECT FROM pg_catalog.pg_constraint v
           WHERE v.conrelid = c.oid AND v.contype = 'n' AND (NOT v.convalidated OR v.connoinherit)
             AND a.attnum = ANY (v.conkey)
       ) AS nullable,
       t.typtype = 'e' AS is_enum, coalesce(NOT l.collisdeterministic, false) AS is_loose,
       nullif(l.oid, 'pg_catalog."default"'::pg_catalog.regcollation)::bigint AS collation,
       a.attgenerated = 'v' AS is_virtual, coalesce(l.collprovider = 'i', false) AS is_icu,
       (SELECT min(r.description) FROM replaced r WHERE r.of < 16384 OR r.of = t.oid) AS replaced_by,
       pg_catalog.col_description(c.oid, a.attnum) AS comment, a.attidentity::text AS identity,
       CASE WHEN a.attgenerated = '' THEN pg_catalog.pg_get_expr(f.adbin, f.adrelid) END AS "default",
       pg_catalog.obj_description(c.oid, 'pg_class') AS table_comment, c.relkind = 'v' AS is_view,
       -- Rows of several partitions or children may have the same ctid, those of views have none, and what it
       -- is to other access methods is theirs.
       h.amname IS NOT NULL AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits i WHERE i.inhparent = c.oid) AS has_ctid
FROM pg_catalog.pg_class c
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
LEFT JOIN (beneath b JOIN pg_catalog.pg_type y ON y.oid = b.type AND y.typtype <> 'd')
    ON b.domain = a.atttypid AND c.oid NOT IN (SELECT far.oid FROM far)
JOIN pg_catalog.pg_type t ON t.oid = coalesce(b.type, a.atttypid)
LEFT JOIN pg_catalog.pg_attrdef f ON f.adrelid = c.oid AND f.adnum = a.attnum
LEFT JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
LEFT JOIN pg_catalog.pg_am h ON h.oid = c.relam AND h.amname = 'heap' AND c.relkind IN ('r', 'm')
WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f')
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (%(declared)s OR pg_catalog.has_schema_privilege(n.oid, 'USAGE'))
  AND (%(declared)s OR pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))
ORDER BY n.nspname, c.relname, a.attnum;
-- next --
-- Keys. Not: partial or expression indexes, invalid ones, exclusion (WITHOUT OVERLAPS), deferrable ones (a trigger
-- checks them, which a load by pg_restore --disable-triggers or by logical replication leaves out), columns that
-- may be NULL, operators or a collation that are not those of GROUP BY and =, by which more can be equal (a citext by
-- text_ops, a text of a nondeterministic collation by "C"), and any key of a table with inheritance children, whose
-- rows it does not cover, or of what is no table (a foreign one, and a partitioned one with foreign partitions, can have
-- none).
SELECT n.nspname AS schema, c.relname AS table, i.indisprimary AS is_primary, k.columns
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(a.attname::text ORDER BY x.position) AS columns,
           pg_catalog.bool_and(a.attnotnull AND NOT EXISTS (
               SELECT FROM pg_catalog.pg_constraint v
               WHERE v.conrelid = c.oid AND v.contype = 'n' AND (NOT v.convalidated OR v.connoinherit)
                 AND a.attnum = ANY (v.conkey)
           )) AS never_null,
           pg_catalog.bool_and((%(declared)s OR pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))) AS visible
    FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS x(attnum, position)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.attnum
    WHERE x.position <= i.indnkeyatts
) k
WHERE i.indisunique AND i.indisvalid AND i.indislive AND i.indimmediate AND NOT i.indisexclusion
  AND i.indpred IS NULL AND i.indexprs IS NULL AND k.never_null AND k.visible
  AND NOT EXISTS (SELECT FROM pg_catalog.unnest(i.indclass::oid[]) o
                  JOIN pg_catalog.pg_opclass p ON p.oid = o WHERE NOT p.opcdefault)
  AND NOT EXISTS (SELECT FROM ROWS FROM (pg_catalog.unnest(i.indkey::int2[]), pg_catalog.unnest(i.indcollation::oid[]))
                      AS x(attnum, compared_by)
                  JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = x.attnum
                  JOIN pg_catalog.pg_collation l ON l.oid = a.attcollation
                  WHERE NOT l.collisdeterministic AND x.compared_by <> a.attcollation)
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
  AND (c.relkind = 'p' OR c.relkind = 'r'
           AND NOT EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))
ORDER BY n.nspname, c.relname, i.indisprimary DESC, k.columns;
-- next --
-- Foreign keys that hold for every row. conparentid: the copies a partitioned target brings are left
-- out; conperiod (PostgreSQL 18) is read through jsonb, because older catalogues have no such column.
SELECT n.nspname AS schema, c.relname AS table, s.columns,
       tn.nspname AS target_schema, t.relname AS target_table, d.columns AS target_columns
FROM pg_catalog.pg_constraint f
JOIN pg_catalog.pg_class c ON c.oid = f.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class t ON t.oid = f.confrelid
JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(a.attname::text ORDER BY x.position) AS columns,
           pg_catalog.bool_and((%(declared)s OR pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))) AS visible
    FROM pg_catalog.unnest(f.conkey) WITH ORDINALITY AS x(attnum, position)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = f.conrelid AND a.attnum = x.attnum
) s
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(a.attname::text ORDER BY x.position) AS columns,
           pg_catalog.bool_and((%(declared)s OR pg_catalog.has_column_privilege(t.oid, a.attnum, 'SELECT'))) AS visible
    FROM pg_catalog.unnest(f.confkey) WITH ORDINALITY AS x(attnum, position)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = f.confrelid AND a.attnum = x.attnum
) d
WHERE f.contype = 'f' AND f.convalidated AND s.visible AND d.visible
  AND NOT coalesce((pg_catalog.to_jsonb(f) ->> 'conperiod')::boolean, false)
  AND (f.conparentid = 0 OR c.relispartition)
  AND NOT (c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits h WHERE h.inhparent = c.oid))
ORDER BY n.nspname, c.relname, s.columns, tn.nspname, t.relname
-- next --
-- Indexes of columns as they are, in the order of btree: not keys, partial ones, of expressions, or of
-- operators of their own.
SELECT DISTINCT n.nspname AS schema, c.relname AS table, k.columns
FROM pg_catalog.pg_index i
JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_class x ON x.oid = i.indexrelid
JOIN pg_catalog.pg_am m ON m.oid = x.relam AND m.amname = 'btree'
CROSS JOIN LATERAL (
    SELECT pg_catalog.array_agg(a.attname::text ORDER BY y.position) AS columns,
           pg_catalog.bool_and((%(declared)s OR pg_catalog.has_column_privilege(c.oid, a.attnum, 'SELECT'))) AS visible
    FROM pg_catalog.unnest(i.indkey::int2[]) WITH ORDINALITY AS y(attnum, position)
    JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum = y.attnum
    WHERE y.position <= i.indnkeyatts
) k
WHERE NOT i.indisunique AND i.indisvalid AND i.indislive AND i.indpred IS NULL AND i.indexprs IS NULL
  AND k.visible AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p', 'm')
ORDER BY n.nspname, c.relname, k.columns
-- next --
-- Labels of enumerations, in their order.
SELECT pg_catalog.format_type(t.oid, NULL) AS type_name, n.nspname AS schema, t.typname AS name,
       pg_catalog.array_agg(e.enumlabel::text ORDER BY e.enumsortorder) AS labels
FROM pg_catalog.pg_type t
JOIN pg_catalog.pg_namespace n ON n.oid = t.typnamespace
JOIN pg_catalog.pg_enum e ON e.enumtypid = t.oid
WHERE t.typtype = 'e'
GROUP BY t.oid, n.nspname, t.typname
-- next --
-- CHECK constraints that every row obeys, as text. conenforced: since PostgreSQL 18.
SELECT n.nspname AS schema, c.relname AS table, k.conname AS name,
       pg_catalog.pg_get_expr(k.conbin, k.conrelid) AS expression
FROM pg_catalog.pg_constraint k
JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
WHERE k.contype = 'c' AND k.convalidated AND coalesce((pg_catalog.to_jsonb(k) ->> 'conenforced')::boolean, true)
  AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema' AND c.relkind IN ('r', 'p')
ORDER BY n.nspname, c.relname, k.conname;
-- next --
-- What views, and tables with row security, show: the text of views, conditions and functions beneath them, and of which
-- roles the reading role is a member, as a policy TO a role and pg_has_role ask. Where row security is beneath, the same
-- of owners, and whether row security holds for each. A function that another one calls is not found.
WITH RECURSIVE beneath (relation, class, object) AS (
    SELECT c.oid, 'pg_catalog.pg_class'::pg_catalog.regclass::oid, c.oid
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE (c.relkind = 'v' OR c.relrowsecurity) AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND (%(declared)s OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
    UNION
    SELECT b.relation, x.class, x.object
    FROM beneath b
    CROSS JOIN LATERAL (
        SELECT d.refclassid, d.refobjid
        FROM pg_catalog.pg_rewrite w
        JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
        WHERE b.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND w.ev_class = b.object
        UNION ALL
        SELECT 'pg_catalog.pg_policy'::pg_catalog.regclass, p.oid
        FROM pg_catalog.pg_policy p
        JOIN pg_catalog.pg_class r ON r.oid = p.polrelid AND r.relrowsecurity
        WHERE b.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND p.polrelid = b.object
        UNION ALL
        SELECT d.refclassid, d.refobjid
        FROM pg_catalog.pg_depend d
        WHERE b.class = 'pg_catalog.pg_policy'::pg_catalog.regclass AND d.classid = b.class AND d.objid = b.object
    ) x (class, object)
    WHERE x.class IN ('pg_catalog.pg_class'::pg_catalog.regclass, 'pg_catalog.pg_proc'::pg_catalog.regclass,
                      'pg_catalog.pg_policy'::pg_catalog.regclass)
), decides (relation, role) AS (
    SELECT b.relation, r.oid
    FROM beneath b JOIN pg_catalog.pg_roles r ON r.rolname = current_user
    UNION
    SELECT b.relation, o.relowner
    FROM beneath b
    JOIN pg_catalog.pg_class o ON b.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND o.oid = b.object
    WHERE b.relation IN (SELECT s.relation FROM beneath s
                         JOIN pg_catalog.pg_class t ON t.oid = s.object AND t.relrowsecurity
                         WHERE s.class = 'pg_catalog.pg_class'::pg_catalog.regclass)
    UNION
    SELECT d.relation, m.roleid
    FROM decides d JOIN pg_catalog.pg_auth_members m ON m.member = d.role
)
SELECT n.nspname AS schema, c.relname AS table, pg_catalog.hashtextextended(pg_catalog.string_agg(
           coalesce(pg_catalog.pg_get_viewdef(v.oid) || pg_catalog.concat_ws(' ', t.relowner, t.reloptions),
                    CASE WHEN p.oid IS NOT NULL THEN
                        pg_catalog.concat_ws(' ', p.prosrc, pg_catalog.to_jsonb(p) ->> 'prosqlbody', p.prolang,
                                             p.prosecdef, p.proowner, p.proconfig) END,
                    CASE WHEN s.oid IS NOT NULL THEN
                        pg_catalog.concat_ws(' ', s.polcmd, s.polpermissive, s.polroles,
                                             pg_catalog.pg_get_expr(s.polqual, s.polrelid)) END,
                    CASE WHEN t.relrowsecurity THEN
                        pg_catalog.concat_ws(' ', 'row security', t.relforcerowsecurity, t.relowner) END),
           ' ' ORDER BY b.class, b.object) || (
               SELECT pg_catalog.string_agg(pg_catalog.concat_ws(' ', r.oid, r.rolname, r.rolsuper, r.rolinherit,
                          r.rolbypassrls, m.roleid, pg_catalog.to_jsonb(m) ->> 'inherit_option',
                          m.admin_option, pg_catalog.to_jsonb(m) ->> 'set_option'),
                      ',' ORDER BY r.oid, m.roleid, m.grantor)
               FROM decides d
               JOIN pg_catalog.pg_roles r ON r.oid = d.role
               LEFT JOIN pg_catalog.pg_auth_members m ON m.member = r.oid
               WHERE d.relation = c.oid), 0)::text AS digest
FROM beneath b
JOIN pg_catalog.pg_class c ON c.oid = b.relation
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
LEFT JOIN pg_catalog.pg_class t ON b.class = 'pg_catalog.pg_class'::pg_catalog.regclass AND t.oid = b.object
LEFT JOIN pg_catalog.pg_class v ON v.oid = t.oid AND v.relkind IN ('v', 'm')
LEFT JOIN pg_catalog.pg_proc p ON b.class = 'pg_catalog.pg_proc'::pg_catalog.regclass AND p.oid = b.object
LEFT JOIN pg_catalog.pg_policy s ON b.class = 'pg_catalog.pg_policy'::pg_catalog.regclass AND s.oid = b.object
GROUP BY c.oid, n.nspname, c.relname;
-- next --
-- Columns of tables beneath views, which are dropped with such a column and created again.
WITH RECURSIVE beneath (view, object) AS (
    SELECT c.oid, c.oid
    FROM pg_catalog.pg_class c
    JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind IN ('v', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      AND (%(declared)s OR pg_catalog.has_any_column_privilege(c.oid, 'SELECT'))
    UNION
    SELECT b.view, d.refobjid
    FROM beneath b
    JOIN pg_catalog.pg_rewrite w ON w.ev_class = b.object
    JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
    WHERE d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
)
SELECT DISTINCT n.nspname AS schema, c.relname AS view, tn.nspname AS table_schema, t.relname AS table,
       a.attname AS column, t.oid::bigint AS oid, a.attnum::integer AS number
FROM beneath b
JOIN pg_catalog.pg_class c ON c.oid = b.view
JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
JOIN pg_catalog.pg_rewrite w ON w.ev_class = b.object
JOIN pg_catalog.pg_depend d ON d.classid = 'pg_catalog.pg_rewrite'::pg_catalog.regclass AND d.objid = w.oid
    AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
JOIN pg_catalog.pg_class t ON t.oid = d.refobjid AND t.relkind IN ('r', 'p', 'f')
JOIN pg_catalog.pg_namespace tn ON tn.oid = t.relnamespace
JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.refobjsubid AND a.attnum > 0
ORDER BY schema, view, table_schema, "table", number;
