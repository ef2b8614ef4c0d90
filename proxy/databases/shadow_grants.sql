-- Who may do what in a shadow. Run last at each build.

REVOKE ALL ON ALL TABLES IN SCHEMA dp FROM PUBLIC, dp_analyst;
REVOKE ALL ON ALL ROUTINES IN SCHEMA dp FROM PUBLIC, dp_analyst;
REVOKE ALL ON SCHEMA dp FROM PUBLIC, dp_analyst;
GRANT USAGE ON SCHEMA dp TO dp_analyst;
GRANT SELECT ON dp.columns, dp.budget, dp.history TO dp_analyst;
GRANT EXECUTE ON FUNCTION
    dp.guard(text), dp.refuse(text, text, text),
    dp.rehearse(text, text[], oid[], integer[], text, boolean), dp.misplaced(text),
    dp.low(anyelement), dp.high(anyelement), dp.error(anyelement), dp.my_standing()
TO dp_analyst;

-- Nothing that fills the disk outside temporary tables: large objects, messages in the log of changes.
DO $$
DECLARE
    routine regprocedure;
BEGIN
    FOR routine IN
        SELECT oid::regprocedure FROM pg_catalog.pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace
          AND (proname LIKE 'lo\_%' OR proname IN ('lowrite', 'pg_logical_emit_message'))
    LOOP
        EXECUTE format('REVOKE ALL ON FUNCTION %s FROM PUBLIC', routine);
    END LOOP;
END $$;

-- Statistics say nothing about protected data here (the shadow has none), but no tool needs them either.
REVOKE SELECT ON pg_catalog.pg_stats, pg_catalog.pg_stats_ext, pg_catalog.pg_stats_ext_exprs FROM PUBLIC;
