-- Schema dp of a shadow: what every shadow has, whatever the policy. Run again at each build.
-- Analysts (group dp_analyst) may use the schema and what is granted at the end, nothing else.
-- Functions pin search_path and quote_all_identifiers: the CONTEXT of an error names the function as these settings
-- have it, and the proxy finds its own errors by that name (proxy/pgwire/wording.py).

CREATE SCHEMA IF NOT EXISTS dp;

-- A refusal, raised in the place of the statement that is refused.
CREATE OR REPLACE FUNCTION dp.refuse(sqlstate_code text, message_text text, hint_text text)
RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog SET quote_all_identifiers = off AS $$
BEGIN
    IF hint_text IS NULL OR hint_text = '' THEN
        RAISE EXCEPTION USING ERRCODE = sqlstate_code, MESSAGE = message_text;
    END IF;
    RAISE EXCEPTION USING ERRCODE = sqlstate_code, MESSAGE = message_text, HINT = hint_text;
END $$;

-- Whether what a statement would make can be made, before its query is charged: made of NULLs, and undone.
-- It raises PostgreSQL's own error; false: it exists and need not be made.
CREATE OR REPLACE FUNCTION dp.rehearse(
    head text, names text[], types oid[], modifiers integer[], tail text, if_not_exists boolean)
RETURNS boolean LANGUAGE plpgsql SET quote_all_identifiers = off AS $$
DECLARE
    items pg_catalog.text;  -- compiled on the analyst's search_path
BEGIN
    SELECT pg_catalog.string_agg(
        pg_catalog.format('NULL::%s AS %I', pg_catalog.format_type(c.type, c.modifier), c.name),
        ', ' ORDER BY c.number)
    INTO items
    FROM ROWS FROM (pg_catalog.unnest(names), pg_catalog.unnest(types), pg_catalog.unnest(modifiers))
         WITH ORDINALITY AS c(name, type, modifier, number);
    BEGIN
        EXECUTE pg_catalog.concat(head, 'SELECT ', items, tail);
        RAISE EXCEPTION USING ERRCODE = 'DP001';
    EXCEPTION
        WHEN SQLSTATE 'DP001' THEN
            RETURN true;
        WHEN duplicate_table THEN
            IF if_not_exists THEN
                RETURN false;
            END IF;
            RAISE;
    END;
END $$;

-- Whether a query with made-up answers may succeed: it is run and undone, before the charge. With one relation an
-- error gives false. With several, an error that comes with each of them is raised. Nothing is run that could have an
-- effect which is not undone: volatile functions, and what an analyst has defined, but for those of `undone`.
CREATE OR REPLACE FUNCTION dp.try_answer(
    pieces text[], numbers integer[], given text[], types oid[], words name[], relations text[], has_rows boolean)
RETURNS boolean LANGUAGE plpgsql SET quote_all_identifiers = off AS $$
DECLARE  -- compiled on the analyst's search_path
    undone pg_catalog.text[] := '{set_config,clock_timestamp,timeofday,gen_random_uuid}';
    enough pg_catalog.interval := '300 ms';
    begun pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    own pg_catalog.oid := pg_catalog.pg_my_temp_schema();
    encoding pg_catalog.text := pg_catalog.current_setting('client_encoding');
    relation pg_catalog.text;
    query pg_catalog.text;
    state pg_catalog.text;
    first_state pg_catalog.text;
    tried pg_catalog.int4 := 0;
    fetched pg_catalog.int4;
    item pg_catalog.record;
BEGIN
    IF EXISTS (
        SELECT FROM pg_catalog.pg_proc p
        WHERE p.proname OPERATOR(pg_catalog.=) ANY (words) AND p.provolatile OPERATOR(pg_catalog.=) 'v'
          AND p.proname::pg_catalog.text OPERATOR(pg_catalog.<>) ALL (undone)
          AND p.pronamespace OPERATOR(pg_catalog.<>) 'dp'::pg_catalog.regnamespace
    ) OR own OPERATOR(pg_catalog.<>) 0 AND (
        EXISTS (SELECT FROM pg_catalog.pg_proc p WHERE p.pronamespace OPERATOR(pg_catalog.=) own)
        OR EXISTS (SELECT FROM pg_catalog.pg_type t
                   WHERE t.typnamespace OPERATOR(pg_catalog.=) own AND t.typtype OPERATOR(pg_catalog.=) 'd')
        OR EXISTS (SELECT FROM pg_catalog.pg_class c
                   WHERE c.relnamespace OPERATOR(pg_catalog.=) own AND c.relkind OPERATOR(pg_catalog.=) 'v')
        OR words OPERATOR(pg_catalog.&&) '{insert,update,delete,merge}'::pg_catalog.name[] AND EXISTS (
            SELECT FROM pg_catalog.pg_attribute a
            JOIN pg_catalog.pg_class c ON c.oid OPERATOR(pg_catalog.=) a.attrelid
            WHERE c.relnamespace OPERATOR(pg_catalog.=) own
              AND (a.atthasdef OR a.attidentity OPERATOR(pg_catalog.<>) ''))
    ) THEN
        RETURN true;
    END IF;
    FOREACH relation IN ARRAY relations LOOP
        SELECT pg_catalog.concat(pieces[1], pg_catalog.string_agg(
            pg_catalog.concat(
                CASE WHEN u.number OPERATOR(pg_catalog.<=) pg_catalog.cardinality(given)
                     THEN pg_catalog.format('(%L::%s)', given[u.number], pg_catalog.format_type(types[u.number], -1))
                     ELSE pg_catalog.format('(%L)', relation) END,
                pieces[u.place OPERATOR(pg_catalog.+) 1]), '' ORDER BY u.place))
        INTO query
        FROM pg_catalog.unnest(numbers) WITH ORDINALITY AS u(number, place);
        BEGIN
            IF has_rows THEN
                fetched := 0;
                FOR item IN EXECUTE query LOOP
                    IF encoding OPERATOR(pg_catalog.<>) ALL ('{UTF8,SQL_ASCII}'::pg_catalog.text[]) THEN
                        PERFORM pg_catalog.convert_to(item::pg_catalog.text, encoding);
                    END IF;
                    fetched := fetched OPERATOR(pg_catalog.+) 1;
                    EXIT WHEN fetched OPERATOR(pg_catalog.>=) 10000;
                END LOOP;
            ELSE
                EXECUTE query;
            END IF;
            RAISE EXCEPTION USING ERRCODE = 'DP001';
        EXCEPTION
            WHEN SQLSTATE 'DP001' THEN
                RETURN true;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS state = RETURNED_SQLSTATE;
                tried := tried OPERATOR(pg_catalog.+) 1;
                first_state := coalesce(first_state, state);
                IF state OPERATOR(pg_catalog.<>) first_state
                    OR pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) begun OPERATOR(pg_catalog.>) enough THEN
                    RETURN true;
                ELSIF pg_catalog.cardinality(relations) OPERATOR(pg_catalog.=) 1 THEN
                    RETURN false;
                ELSIF tried OPERATOR(pg_catalog.=) pg_catalog.cardinality(relations) THEN
                    RAISE;
                END IF;
        END;
    END LOOP;
    RETURN true;
END $$;

-- The interval functions exist so that statements which use them analyse; the proxy replaces them.
CREATE OR REPLACE FUNCTION dp.misplaced(name text) RETURNS void LANGUAGE plpgsql SET search_path = pg_catalog SET quote_all_identifiers = off AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '0A000',
        MESSAGE = format('dp.%s() applies to an aggregate over a protected table', name),
        HINT = format('For example SELECT count(*), dp.%s(count(*)) FROM a protected table.', name);
END $$;

CREATE OR REPLACE FUNCTION dp.low(estimate anyelement) RETURNS anyelement
LANGUAGE plpgsql SET search_path = pg_catalog SET quote_all_identifiers = off AS $$ BEGIN PERFORM dp.misplaced('low'); END $$;

CREATE OR REPLACE FUNCTION dp.high(estimate anyelement) RETURNS anyelement
LANGUAGE plpgsql SET search_path = pg_catalog SET quote_all_identifiers = off AS $$ BEGIN PERFORM dp.misplaced('high'); END $$;

CREATE OR REPLACE FUNCTION dp.error(estimate anyelement) RETURNS double precision
LANGUAGE plpgsql SET search_path = pg_catalog SET quote_all_identifiers = off AS $$ BEGIN PERFORM dp.misplaced('error'); END $$;

CREATE OR REPLACE FUNCTION dp.clipped(estimate anyelement) RETURNS double precision
LANGUAGE plpgsql SET search_path = pg_catalog SET quote_all_identifiers = off AS $$ BEGIN PERFORM dp.misplaced('clipped'); END $$;

CREATE TABLE IF NOT EXISTS dp.exposed_column (
    position integer PRIMARY KEY,
    table_name text NOT NULL,
    column_name text NOT NULL,
    data_type text NOT NULL,
    low text,
    high text,
    "values" text[],
    usable_for text NOT NULL
);

DROP VIEW IF EXISTS dp.columns;
CREATE VIEW dp.columns AS
SELECT table_name, column_name, data_type, low, high, "values", usable_for
FROM dp.exposed_column
ORDER BY position;

-- Which policy is in force here; not_taken_since: since when a change of the policy, or of the database, is there
-- that could not be taken up. Why is in the log.
CREATE TABLE IF NOT EXISTS dp.policy_in_force (
    digest text NOT NULL,
    since timestamptz NOT NULL,
    not_taken_since timestamptz
);
CREATE OR REPLACE VIEW dp.policy AS SELECT digest, since, not_taken_since FROM dp.policy_in_force;

-- What an analyst has spent stands in the ledger, on another server. The proxy puts these relations into
-- the statement that names them; here they have columns, for PostgreSQL to analyse it, and no rows to read.
CREATE OR REPLACE FUNCTION dp.answered_apart(relation text) RETURNS boolean
LANGUAGE plpgsql STABLE SET search_path = pg_catalog SET quote_all_identifiers = off AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '0A000',
        MESSAGE = format('%s is answered by the proxy, which did not see it named', relation),
        HINT = format('Name it in the statement itself: SELECT * FROM %s.', relation);
END $$;

CREATE OR REPLACE VIEW dp.budget AS
SELECT b.* FROM (SELECT dp.answered_apart('dp.budget') AS apart OFFSET 0) a,
    LATERAL (SELECT NULL::text, NULL::numeric, NULL::numeric, NULL::numeric, NULL::numeric, NULL::numeric,
                    NULL::numeric, NULL::text, NULL::timestamptz, NULL::numeric, NULL::numeric WHERE a.apart)
        AS b (analyst, epsilon_limit, epsilon_spent, epsilon_remaining, delta_limit, delta_spent,
              delta_remaining, period, renews_at, rho_limit, rho_spent);

CREATE OR REPLACE VIEW dp.history AS
SELECT h.* FROM (SELECT dp.answered_apart('dp.history') AS apart OFFSET 0) a,
    LATERAL (SELECT NULL::bigint, NULL::timestamptz, NULL::numeric, NULL::numeric, NULL::text, NULL::text,
                    NULL::text, NULL::text WHERE a.apart)
        AS h (receipt, at, epsilon, delta, outcome, statement, policy, text);

-- What analysts may make, change and drop: temporary things, as they may create nothing else. All other
-- statements that define something are refused before they lock anything: PostgreSQL asks for rights later.
-- It runs as the analyst, who may not call it by name, and reads nothing.
CREATE OR REPLACE FUNCTION dp.allow_definition() RETURNS event_trigger
LANGUAGE plpgsql SET search_path = pg_catalog SET quote_all_identifiers = off AS $$
BEGIN
    IF current_setting('is_superuser') = 'on' OR tg_tag ~
        '^(CREATE|ALTER|DROP) (TABLE|VIEW|SEQUENCE|INDEX|FUNCTION|PROCEDURE|ROUTINE|AGGREGATE|TYPE|DOMAIN)$'
        OR tg_tag IN ('CREATE TABLE AS', 'SELECT INTO', 'COMMENT', 'REINDEX',
                      'CREATE SCHEMA') THEN  -- which PostgreSQL refuses before it locks, in words that tools know
        RETURN;
    END IF;
    RAISE EXCEPTION USING
        ERRCODE = '42501',
        MESSAGE = format('permission denied for %s', tg_tag),
        HINT = 'Temporary tables, views, sequences, indexes, functions and types can be made here.';
END $$;

DROP EVENT TRIGGER IF EXISTS dp_allow_definition;
CREATE EVENT TRIGGER dp_allow_definition ON ddl_command_start EXECUTE FUNCTION dp.allow_definition();
ALTER EVENT TRIGGER dp_allow_definition ENABLE ALWAYS;
