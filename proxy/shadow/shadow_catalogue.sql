-- The system catalogue of a shadow, as its analysts see it: protected tables look readable to tools, and
-- analysts do not see each other. Run at each build, after its own first run it changes nothing.
--
-- A function of PostgreSQL's cannot be redefined: its calls are bound to the C code by OID. So it is renamed to
-- dp_NAME and taken from PUBLIC, and another of its name is made; views are bound by OID, too, and are made
-- again from their own text.

SET LOCAL allow_system_table_mods = on;
SET LOCAL search_path = pg_catalog;

-- 1. has_table_privilege and its kin: SELECT means "can be asked", which REFERENCES stands for on a protected
-- table (Metabase and others hide tables that cannot be read).
DO $$
DECLARE
    f record;
    plain text;
BEGIN
    FOR f IN
        SELECT p.oid, p.proname, p.pronargs, pg_get_function_identity_arguments(p.oid) AS arguments
        FROM pg_proc p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < 16384
          AND p.proname IN ('has_table_privilege', 'has_any_column_privilege', 'has_column_privilege')
    LOOP
        EXECUTE format('ALTER FUNCTION pg_catalog.%I(%s) RENAME TO %I',
            f.proname, f.arguments, 'dp_' || f.proname);
        SELECT string_agg('$' || n, ', ') INTO plain FROM generate_series(1, f.pronargs - 1) AS n;
        EXECUTE format(
            'CREATE FUNCTION pg_catalog.%I(%s) RETURNS boolean LANGUAGE sql STABLE STRICT PARALLEL SAFE '
            'RETURN pg_catalog.%I(%s, pg_catalog.regexp_replace($%s, '
            '''\mselect\M(?!\s+with)'', ''SELECT,REFERENCES'', ''gi''))',
            f.proname, f.arguments, 'dp_' || f.proname, plain, f.pronargs);
    END LOOP;
END $$;

-- 2. Roles. An analyst sees PostgreSQL's own, the group of analysts, and itself.
DO $$
BEGIN
    IF to_regproc('pg_catalog.dp_is_shown') IS NULL THEN
        CREATE FUNCTION pg_catalog.dp_is_shown(role oid) RETURNS boolean
        LANGUAGE sql STABLE STRICT SECURITY DEFINER PARALLEL SAFE
        BEGIN ATOMIC
            SELECT role < 16384 OR EXISTS (
                SELECT FROM pg_catalog.pg_authid r
                WHERE (r.oid = role AND r.rolname IN (session_user, 'dp_analyst'))
                   OR (r.rolname = session_user AND r.rolsuper));
        END;
        CREATE FUNCTION pg_catalog.dp_is_own(role oid) RETURNS boolean
        LANGUAGE sql STABLE SECURITY DEFINER PARALLEL SAFE
        BEGIN ATOMIC
            SELECT EXISTS (
                SELECT FROM pg_catalog.pg_authid r
                WHERE r.rolname = session_user AND (r.rolsuper OR r.oid = role));
        END;
    END IF;
END $$;

-- 3. Functions that show other sessions or roles, each with its filter; views that call them are made again.
CREATE TEMP TABLE dp_replaced ON COMMIT DROP AS
SELECT p.oid, p.proname::text AS name, p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS call
FROM pg_proc p
WHERE p.pronamespace = 'pg_catalog'::regnamespace AND p.oid < 16384
  AND p.proname IN ('pg_stat_get_activity', 'pg_lock_status', 'pg_stat_get_progress_info', 'pg_get_userbyid',
                    'acldefault', 'pg_describe_object', 'pg_identify_object', 'pg_identify_object_as_address');

-- Views that call them, found in their trees: to write out the definitions of all views takes 0.3 s.
CREATE TEMP TABLE dp_remade ON COMMIT DROP AS
SELECT c.oid, format('%I.%I', n.nspname, c.relname) AS name, pg_get_viewdef(c.oid) AS definition
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'v' AND n.nspname IN ('pg_catalog', 'information_schema')
  AND EXISTS (SELECT FROM pg_rewrite w WHERE w.ev_class = c.oid
              AND w.ev_action::text ~ (SELECT format(':funcid (%s)\M', string_agg(r.oid::text, '|')) FROM dp_replaced r));

DO $$
DECLARE
    f record;
    shape text;
    body text;
BEGIN
    FOR f IN SELECT * FROM dp_replaced ORDER BY name <> 'pg_stat_get_activity' LOOP
        -- OUT columns where it returns rows: their names may repeat those of the arguments.
        SELECT string_agg(
            CASE WHEN coalesce(p.proargmodes[i], 'i') = 'i' THEN format_type(t, NULL)
                 ELSE format('OUT %I %s', p.proargnames[i], format_type(t, NULL)) END, ', ' ORDER BY i)
        INTO shape
        FROM pg_proc p,
             unnest(coalesce(p.proallargtypes, p.proargtypes::oid[])) WITH ORDINALITY AS a(t, i)
        WHERE p.oid = f.oid;
        EXECUTE format('ALTER FUNCTION %s RENAME TO %I', f.oid::regprocedure, 'dp_' || f.name);
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', f.oid::regprocedure);
        body := CASE f.name
            WHEN 'pg_stat_get_activity' THEN
                'SELECT a.* FROM pg_catalog.dp_pg_stat_get_activity($1) AS a '
                'WHERE a.usesysid IS NULL OR pg_catalog.dp_is_own(a.usesysid)'
            WHEN 'pg_lock_status' THEN
                'SELECT l.* FROM pg_catalog.dp_pg_lock_status() AS l WHERE l.pid IN '
                '(SELECT a.pid FROM pg_catalog.dp_pg_stat_get_activity(NULL) AS a WHERE pg_catalog.dp_is_own(a.usesysid))'
            WHEN 'pg_stat_get_progress_info' THEN
                'SELECT l.* FROM pg_catalog.dp_pg_stat_get_progress_info($1) AS l WHERE l.pid IN '
                '(SELECT a.pid FROM pg_catalog.dp_pg_stat_get_activity(NULL) AS a WHERE pg_catalog.dp_is_own(a.usesysid))'
            WHEN 'pg_get_userbyid' THEN
                'SELECT CASE WHEN pg_catalog.dp_is_shown($1) THEN pg_catalog.dp_pg_get_userbyid($1) '
                'ELSE pg_catalog.format(''unknown (OID=%s)'', $1)::pg_catalog.name END'
            WHEN 'acldefault' THEN
                'SELECT pg_catalog.dp_acldefault($1, CASE WHEN pg_catalog.dp_is_shown($2) THEN $2 ELSE 10::oid END)'
            ELSE format(
                'SELECT %s pg_catalog.%I($1, $2, $3)%s WHERE $1 NOT IN (1260::oid, 1261::oid) OR pg_catalog.dp_is_shown($2)',
                CASE WHEN f.name = 'pg_describe_object' THEN '' ELSE 'o.* FROM' END, 'dp_' || f.name,
                CASE WHEN f.name = 'pg_describe_object' THEN '' ELSE ' AS o' END)
        END;
        EXECUTE format(
            'CREATE FUNCTION pg_catalog.%I(%s) %s LANGUAGE sql STABLE SECURITY DEFINER BEGIN ATOMIC %s; END',
            f.name, coalesce(shape, ''),
            (SELECT CASE WHEN p.proretset THEN 'RETURNS SETOF record'
                         WHEN p.proallargtypes IS NULL THEN 'RETURNS ' || format_type(p.prorettype, NULL)
                         ELSE 'RETURNS record' END FROM pg_proc p WHERE p.oid = f.oid),
            body);
    END LOOP;
    FOR f IN SELECT * FROM dp_remade LOOP
        EXECUTE format('CREATE OR REPLACE VIEW %s AS %s', f.name, f.definition);
    END LOOP;
END $$;

-- 4. Views and tables of roles, their members and settings. A table becomes a view of its name.
DO $$
DECLARE
    v record;
    columns text;
BEGIN
    IF to_regclass('pg_catalog.dp_auth_members') IS NOT NULL THEN
        RETURN;
    END IF;
    FOR v IN SELECT * FROM (VALUES
        ('pg_roles', 'pg_catalog.dp_is_shown(every.oid)'),
        ('pg_user', 'pg_catalog.dp_is_shown(every.usesysid)'),
        ('pg_group', 'true')) AS v(name, shown)
    LOOP
        SELECT string_agg(
            CASE WHEN attname = 'grolist'
                 THEN 'ARRAY(SELECT m FROM unnest(every.grolist) AS m WHERE pg_catalog.dp_is_shown(m)) AS grolist'
                 ELSE format('every.%I', attname) END, ', ' ORDER BY attnum)
        INTO columns
        FROM pg_attribute
        WHERE attrelid = ('pg_catalog.' || v.name)::regclass AND attnum > 0;
        -- A barrier, so that no cheap function of the analyst's is tried on what is not shown.
        EXECUTE format('CREATE OR REPLACE VIEW pg_catalog.%I WITH (security_barrier) AS SELECT %s FROM (%s) AS every WHERE %s',
            v.name, columns, rtrim(pg_get_viewdef(('pg_catalog.' || v.name)::regclass), ';'), v.shown);
    END LOOP;
    FOR v IN SELECT * FROM (VALUES
        ('pg_auth_members', 'dp_auth_members', 'pg_catalog.dp_is_shown(every.member)'),
        ('pg_db_role_setting', 'dp_db_role_setting', 'pg_catalog.dp_is_shown(every.setrole)')) AS v(name, hidden, shown)
    LOOP
        SELECT string_agg(format('every.%I', attname), ', ' ORDER BY attnum) INTO columns
        FROM pg_attribute
        WHERE attrelid = ('pg_catalog.' || v.name)::regclass AND attnum > 0;
        EXECUTE format('ALTER TABLE pg_catalog.%I RENAME TO %I', v.name, v.hidden);
        EXECUTE format('REVOKE ALL ON pg_catalog.%I FROM PUBLIC', v.hidden);
        EXECUTE format('CREATE VIEW pg_catalog.%I WITH (security_barrier) AS SELECT %s FROM pg_catalog.%I AS every WHERE %s',
            v.name, columns, v.hidden, v.shown);
        EXECUTE format('GRANT SELECT ON pg_catalog.%I TO PUBLIC', v.name);
    END LOOP;
    -- A role by its OID is written as the OID.
    UPDATE pg_type SET typoutput = 'pg_catalog.oidout'::regproc WHERE oid = 'pg_catalog.regrole'::regtype;
END $$;

-- 5. Columns that PostgreSQL 17 has renamed, for a psql of 15 or 16 (\l, \dO) and tools of their time: d.daticulocale
-- means daticulocale(d) where d has no such column (PostgreSQL 17 documentation, section 8.16.5).
DO $$
DECLARE
    f record;
BEGIN
    FOR f IN SELECT * FROM (VALUES
        ('pg_database', 'daticulocale', 'datlocale', 'datlocprovider'),
        ('pg_collation', 'colliculocale', 'colllocale', 'collprovider')) AS f(relation, was, now, provider)
    LOOP
        IF to_regproc('pg_catalog.' || f.was) IS NULL AND EXISTS (
            SELECT FROM pg_attribute
            WHERE attrelid = ('pg_catalog.' || f.relation)::regclass AND attname = f.now)
        THEN
            EXECUTE format(
                'CREATE FUNCTION pg_catalog.%I(pg_catalog.%I) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE '
                'RETURN CASE WHEN ($1).%I OPERATOR(pg_catalog.=) ''i'' THEN ($1).%I END',
                f.was, f.relation, f.provider, f.now);
        END IF;
    END LOOP;
END $$;

-- 6. Prepared statements, as their client wrote them: what is held for a query on protected tables ends in its text
-- (proxy/pgwire/query_messages.py), and its last parameter is the noisy relation.
DO $$
DECLARE
    columns text;
    written CONSTANT text := 'substring(every.statement FROM ''\n/\*dp:([A-Za-z0-9+/=]*)\*/$'')';
BEGIN
    IF pg_get_viewdef('pg_catalog.pg_prepared_statements'::regclass) ~ 'dp:' THEN
        RETURN;
    END IF;
    SELECT string_agg(
        CASE attname
            WHEN 'statement' THEN format(
                'coalesce(convert_from(decode(%s, ''base64''), ''UTF8'') COLLATE "default", every.statement) AS statement', written)
            WHEN 'parameter_types' THEN format(
                'CASE WHEN %s IS NULL THEN every.parameter_types '
                'ELSE every.parameter_types[:cardinality(every.parameter_types) - 1] END AS parameter_types', written)
            ELSE format('every.%I', attname) END, ', ' ORDER BY attnum)
    INTO columns
    FROM pg_attribute
    WHERE attrelid = 'pg_catalog.pg_prepared_statements'::regclass AND attnum > 0;
    EXECUTE format(
        'CREATE OR REPLACE VIEW pg_catalog.pg_prepared_statements AS SELECT %s FROM (%s) AS every '
        'WHERE every.from_sql OR every.name <> ''_dpproxy''',
        columns, rtrim(pg_get_viewdef('pg_catalog.pg_prepared_statements'::regclass), ';'));
END $$;
