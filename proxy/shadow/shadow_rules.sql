-- What is not as the guard of a shadow must be: a row each, (what, the statement that repairs it or NULL).
-- Run by published_tables.py as a superuser, search_path = pg_catalog. Nothing but what is listed is right.
WITH analysts AS (
    SELECT oid FROM pg_authid WHERE rolname = %(analysts)s
), members AS (
    SELECT m.member AS oid, a.rolname FROM pg_auth_members m JOIN pg_authid a ON a.oid = m.member
    WHERE m.roleid = (SELECT oid FROM analysts)
), schemas AS (
    SELECT oid, nspname, nspowner, nspacl FROM pg_namespace
    WHERE nspname NOT IN ('pg_catalog', 'information_schema', 'pg_toast') AND nspname !~ '^pg_(toast_)?temp_'
), relations AS (
    SELECT c.oid, format('%%I.%%I', s.nspname, c.relname) AS name, c.relowner, c.relkind, s.nspname, c.relname, c.relacl
    FROM pg_class c JOIN schemas s ON s.oid = c.relnamespace WHERE c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
), wanted AS (
    SELECT format('%%I.%%I', w.schema, w.name) AS written, r.oid, w.privilege
    FROM jsonb_to_recordset(%(relations)s::jsonb) AS w(schema text, name text, privilege text)
    LEFT JOIN relations r ON r.nspname = w.schema AND r.relname = w.name
    UNION ALL
    SELECT name, oid, 'SELECT' FROM relations
    WHERE nspname = 'dp' AND relkind = 'v' AND relname = ANY (%(readable)s::text[])
), granted AS (
    SELECT r.oid, r.name, a.grantee, a.privilege_type, a.is_grantable
    FROM relations r,
         aclexplode(coalesce(r.relacl, acldefault(CASE r.relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", r.relowner))) a
    WHERE a.grantee <> r.relowner
    UNION ALL
    SELECT r.oid, r.name, a.grantee, 'of a column', a.is_grantable
    FROM relations r JOIN pg_attribute t ON t.attrelid = r.oid, aclexplode(t.attacl) a
    WHERE a.grantee <> r.relowner
), routines AS (
    SELECT p.oid, p.oid::regprocedure::text AS name, p.proowner, p.proacl,
           p.pronamespace = 'dp'::regnamespace AND p.proname = ANY (%(called)s::text[]) AS is_called
    FROM pg_proc p
    WHERE p.pronamespace = 'dp'::regnamespace
       OR (p.pronamespace = 'pg_catalog'::regnamespace AND (
            -- Nothing that fills the disk outside temporary tables: large objects, the log of changes, and a
            -- file for each exported snapshot.
            p.proname ~ '^lo_' OR p.proname IN ('loread', 'lowrite', 'pg_logical_emit_message', 'pg_export_snapshot')
            -- Nothing that fills the one table of locks. Unlocking is harmless, and drivers do it.
            OR (p.proname ~ '^pg_(try_)?advisory_' AND p.proname !~ 'unlock')
            -- Nothing about other sessions and roles; what takes their place is in shadow_catalogue.sql.
            OR p.proname ~ '^pg_stat_get_backend_' OR p.proname = 'makeaclitem'
            -- Nothing that works on PostgreSQL's own structures, which trust their caller: all that takes or gives
            -- `internal`, and what writes statistics for the planner. Aggregates, casts and types need no such right.
            OR p.prorettype = 'internal'::regtype OR 'internal'::regtype = ANY (p.proargtypes)
            OR p.proname ~ '^pg_(restore|clear)_.*_stats$'
            OR (p.proname ~ '^dp_' AND p.proname !~ '^dp_(is_|has_)')))
), executed AS (
    SELECT r.oid, r.name, r.is_called, a.grantee, a.is_grantable
    FROM routines r, aclexplode(coalesce(r.proacl, acldefault('f', r.proowner))) a WHERE a.grantee <> r.proowner
), names AS (
    SELECT 0::oid AS oid, 'PUBLIC' AS name UNION ALL SELECT oid, quote_ident(rolname) FROM pg_authid
)
-- Relations: analysts have the one right that is listed, nobody has another.
SELECT DISTINCT 'rights on ' || g.name, format('REVOKE ALL ON TABLE %%s FROM %%s CASCADE', g.name, n.name)
FROM granted g JOIN names n ON n.oid = g.grantee
WHERE g.is_grantable OR NOT EXISTS (
    SELECT FROM wanted w, analysts a
    WHERE w.oid = g.oid AND a.oid = g.grantee AND w.privilege = g.privilege_type)
UNION ALL
SELECT 'rights on ' || w.written,
       CASE WHEN w.oid IS NOT NULL THEN format('GRANT %%s ON TABLE %%s TO %%I', w.privilege, w.written, %(analysts)s::text) END
FROM wanted w
WHERE NOT EXISTS (
    SELECT FROM granted g, analysts a WHERE g.oid = w.oid AND g.grantee = a.oid AND g.privilege_type = w.privilege)
UNION ALL
SELECT 'owner of ' || r.name, format('ALTER TABLE %%s OWNER TO %%I', r.name, current_user)
FROM relations r WHERE r.relowner <> (SELECT oid FROM pg_authid WHERE rolname = current_user)
-- Schemas: analysts may use those of the policy, create in none.
UNION ALL
SELECT DISTINCT 'rights on schema ' || s.nspname, format('REVOKE ALL ON SCHEMA %%I FROM %%s CASCADE', s.nspname, n.name)
FROM schemas s, aclexplode(s.nspacl) a JOIN names n ON n.oid = a.grantee
WHERE a.grantee <> s.nspowner AND NOT (
    a.privilege_type = 'USAGE' AND NOT a.is_grantable AND a.grantee = (SELECT oid FROM analysts)
    AND s.nspname = ANY (%(schemas)s::text[]))
UNION ALL
SELECT 'rights on schema ' || w, format('GRANT USAGE ON SCHEMA %%I TO %%I', w, %(analysts)s::text)
FROM unnest(%(schemas)s::text[]) AS w
WHERE NOT EXISTS (
    SELECT FROM schemas s, aclexplode(s.nspacl) a
    WHERE s.nspname = w AND a.grantee = (SELECT oid FROM analysts) AND a.privilege_type = 'USAGE')
UNION ALL
SELECT DISTINCT 'rights on schema ' || s.nspname, format('REVOKE CREATE ON SCHEMA %%I FROM %%s', s.nspname, n.name)
FROM pg_namespace s, aclexplode(s.nspacl) a JOIN names n ON n.oid = a.grantee
WHERE s.nspname IN ('pg_catalog', 'information_schema') AND a.grantee <> s.nspowner AND a.privilege_type = 'CREATE'
-- Databases: analysts get into this one, nobody into those that are nobody's.
UNION ALL
SELECT DISTINCT 'rights on database ' || d.datname, format('REVOKE ALL ON DATABASE %%I FROM %%s CASCADE', d.datname, n.name)
FROM pg_database d, aclexplode(coalesce(d.datacl, acldefault('d', d.datdba))) a JOIN names n ON n.oid = a.grantee
WHERE d.datname IN (current_database(), 'postgres', 'template1') AND a.grantee <> d.datdba AND NOT (
    d.datname = current_database() AND a.grantee = (SELECT oid FROM analysts) AND NOT a.is_grantable
    AND a.privilege_type IN ('CONNECT', 'TEMPORARY'))
UNION ALL
SELECT 'rights on database ' || current_database(),
       format('GRANT %%s ON DATABASE %%I TO %%I', w, current_database(), %(analysts)s::text)
FROM unnest(ARRAY['CONNECT', 'TEMPORARY']) AS w
WHERE NOT EXISTS (
    SELECT FROM pg_database d, aclexplode(d.datacl) a
    WHERE d.datname = current_database() AND a.grantee = (SELECT oid FROM analysts) AND a.privilege_type = w)
-- Functions: of ours those that are listed, of PostgreSQL's none of those that reach others.
UNION ALL
SELECT DISTINCT 'rights on function ' || e.name, format('REVOKE ALL ON ROUTINE %%s FROM %%s CASCADE', e.name, n.name)
FROM executed e JOIN names n ON n.oid = e.grantee
WHERE NOT (e.is_called AND NOT e.is_grantable AND e.grantee = (SELECT oid FROM analysts))
UNION ALL
SELECT 'rights on function ' || r.name, format('GRANT EXECUTE ON ROUTINE %%s TO %%I', r.name, %(analysts)s::text)
FROM routines r
WHERE r.is_called AND NOT EXISTS (
    SELECT FROM executed e WHERE e.oid = r.oid AND e.grantee = (SELECT oid FROM analysts))
-- Statistics say nothing about protected data here (there is none), but no tool needs them either.
UNION ALL
SELECT DISTINCT 'rights on ' || c.relname, format('REVOKE ALL ON TABLE pg_catalog.%%I FROM %%s CASCADE', c.relname, n.name)
FROM pg_class c, aclexplode(c.relacl) a JOIN names n ON n.oid = a.grantee
WHERE c.relnamespace = 'pg_catalog'::regnamespace AND a.grantee <> c.relowner
  AND (c.relname IN ('pg_stats', 'pg_stats_ext', 'pg_stats_ext_exprs') OR c.relname ~ '^dp_')
-- Roles: nobody but the first superuser is more than a member of the analysts.
UNION ALL
SELECT 'role ' || r.rolname,
       format('ALTER ROLE %%I NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS%%s', r.rolname,
              CASE WHEN r.rolname = %(analysts)s THEN ' NOLOGIN' END)
FROM pg_authid r
WHERE r.oid <> 10 AND r.rolname !~ '^pg_' AND (
    r.rolsuper OR r.rolcreatedb OR r.rolcreaterole OR r.rolreplication OR r.rolbypassrls
    OR (r.rolcanlogin AND r.rolname = %(analysts)s))
UNION ALL
SELECT 'memberships of ' || r.rolname, format('REVOKE %%I FROM %%I CASCADE', g.rolname, r.rolname)
FROM pg_auth_members m JOIN pg_authid r ON r.oid = m.member JOIN pg_authid g ON g.oid = m.roleid
WHERE r.rolname !~ '^pg_' AND r.oid <> 10 AND g.oid <> (SELECT oid FROM analysts)
UNION ALL
SELECT 'memberships of ' || r.rolname, format('REVOKE ADMIN OPTION FOR %%I FROM %%I CASCADE', %(analysts)s::text, r.rolname)
FROM pg_auth_members m JOIN pg_authid r ON r.oid = m.member
WHERE m.roleid = (SELECT oid FROM analysts) AND m.admin_option
-- Settings: those of the database are ours; what an analyst left for later sessions goes.
UNION ALL
SELECT 'setting ' || w.name, format('ALTER DATABASE %%I SET %%I = %%L', current_database(), w.name, w.value)
FROM jsonb_to_recordset(%(settings)s::jsonb) AS w(name text, value text)
WHERE NOT EXISTS (
    SELECT FROM pg_db_role_setting s JOIN pg_database d ON d.oid = s.setdatabase
    WHERE d.datname = current_database() AND s.setrole = 0 AND w.name || '=' || w.value = ANY (s.setconfig))
UNION ALL
SELECT 'settings of ' || r.rolname,
       format('ALTER ROLE %%I%%s RESET ALL', r.rolname, ' IN DATABASE ' || quote_ident(d.datname))
FROM pg_db_role_setting s JOIN pg_authid r ON r.oid = s.setrole LEFT JOIN pg_database d ON d.oid = s.setdatabase
WHERE r.oid IN (SELECT oid FROM members UNION ALL SELECT oid FROM analysts)
-- The catalogue as analysts see it.
UNION ALL
SELECT 'the catalogue as analysts see it', NULL
WHERE (SELECT digest FROM dp.catalogue) IS DISTINCT FROM dp.digest_of_catalogue()
-- What analysts may define.
UNION ALL
SELECT 'event trigger dp_allow_definition',
       CASE WHEN EXISTS (SELECT FROM pg_event_trigger WHERE evtname = 'dp_allow_definition')
            THEN 'ALTER EVENT TRIGGER dp_allow_definition ENABLE ALWAYS' END
WHERE NOT EXISTS (
    SELECT FROM pg_event_trigger t
    WHERE t.evtname = 'dp_allow_definition' AND t.evtevent = 'ddl_command_start' AND t.evtenabled = 'A'
      AND t.evttags IS NULL AND t.evtowner = 10 AND t.evtfoid = 'dp.allow_definition()'::regprocedure)
