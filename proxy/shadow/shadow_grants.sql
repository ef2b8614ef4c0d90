-- The catalogue of a shadow has been changed for analysts (shadow_catalogue.sql): what it is now is noted, for
-- the rules that compare it each minute (shadow_rules.sql). Run last at each build.

CREATE OR REPLACE FUNCTION dp.digest_of_catalogue() RETURNS text
LANGUAGE sql STABLE SET search_path = pg_catalog AS $$
    SELECT md5(string_agg(what, ';' ORDER BY what)) FROM (
        SELECT format('%s %s %s', p.oid::regprocedure, p.prosecdef, pg_get_functiondef(p.oid)) AS what
        FROM pg_proc p
        WHERE p.pronamespace = 'pg_catalog'::regnamespace AND (p.oid >= 16384 OR p.proname ~ '^dp_')
        UNION ALL
        SELECT format('%s %s', c.oid::regclass, pg_get_viewdef(c.oid))
        FROM pg_class c
        WHERE c.relkind = 'v' AND c.relnamespace IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace)
        UNION ALL
        SELECT 'regrole ' || typoutput FROM pg_type WHERE oid = 'regrole'::regtype
    ) AS every
$$;

CREATE TABLE IF NOT EXISTS dp.catalogue (digest text NOT NULL);
DELETE FROM dp.catalogue;
INSERT INTO dp.catalogue VALUES (dp.digest_of_catalogue());
