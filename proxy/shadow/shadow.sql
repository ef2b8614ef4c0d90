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

-- Whether calling a function twice could have an effect twice: it is volatile, or of this session, or reads a relation
-- whose name is computed. Functions of other sessions do not count.
CREATE OR REPLACE FUNCTION dp.has_effect(function oid)
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
BEGIN
    RETURN EXISTS (
        SELECT FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
        WHERE p.oid = function AND (
            p.pronamespace = pg_my_temp_schema()
            OR n.nspname !~ '^(pg_temp_|dp$)'
               AND (p.provolatile = 'v' OR p.proname ~ '^(table|schema|database)_to_xml')
               -- What these change is undone, or is only time or chance.
               AND p.proname <> ALL ('{set_config,clock_timestamp,timeofday,gen_random_uuid}'::name[])));
END $$;

-- Whether running a statement twice could have an effect twice: it calls a function that has; or it may use something
-- that the session has made: a view, a domain that computes anything by such a function, or a table to which it writes
-- and that does. called, words: as of proxy.pgwire.calls.Trial. What has a name of other characters counts as named.
CREATE OR REPLACE FUNCTION dp.may_have_effects(called name[], words name[])
RETURNS boolean LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp SET quote_all_identifiers = off AS $$
DECLARE
    own oid := pg_my_temp_schema();
    named oid[];
    written oid[];
BEGIN
    IF EXISTS (SELECT FROM pg_proc p WHERE p.proname = ANY (called) AND dp.has_effect(p.oid)) THEN
        RETURN true;
    ELSIF own = 0 THEN
        RETURN false;
    END IF;
    named := ARRAY(SELECT c.oid FROM pg_class c WHERE c.relnamespace = own
                   AND (c.relname = ANY (words) OR c.relname !~ '^[A-Za-z0-9_]+$'));
    IF EXISTS (SELECT FROM pg_class c WHERE c.oid = ANY (named) AND c.relkind NOT IN ('r', 'p', 'i', 'S')) THEN
        RETURN true;
    END IF;
    IF words && '{insert,update,delete,merge}'::name[] THEN
        written := ARRAY(SELECT c.oid FROM pg_class c WHERE c.oid = ANY (named) AND c.relkind IN ('r', 'p'));
    END IF;
    -- PostgreSQL's own triggers check foreign keys and deferrable keys. A key's action writes to another table.
    RETURN EXISTS (
        SELECT FROM pg_class c
        WHERE c.oid = ANY (written)
          AND (c.relkind = 'p' OR c.relhasrules OR c.relhassubclass OR c.relispartition)
    ) OR EXISTS (SELECT FROM pg_trigger g WHERE g.tgrelid = ANY (written) AND NOT g.tgisinternal) OR EXISTS (
        SELECT FROM pg_constraint k
        WHERE k.confrelid = ANY (written) AND NOT (k.confupdtype IN ('a', 'r') AND k.confdeltype IN ('a', 'r'))
    ) OR EXISTS (SELECT FROM pg_attribute a WHERE a.attrelid = ANY (written) AND a.attidentity <> '') OR EXISTS (
        SELECT FROM (
            SELECT d.adbin::text FROM pg_attrdef d WHERE d.adrelid = ANY (written)
            UNION ALL SELECT k.conbin::text FROM pg_constraint k WHERE k.conrelid = ANY (written)
            UNION ALL SELECT i.indexprs::text FROM pg_index i WHERE i.indrelid = ANY (written)
            UNION ALL SELECT i.indpred::text FROM pg_index i WHERE i.indrelid = ANY (written)
            UNION ALL SELECT k.conbin::text FROM pg_constraint k JOIN pg_type t ON t.oid = k.contypid
                      WHERE t.typnamespace = own
            UNION ALL SELECT t.typdefaultbin::text FROM pg_type t WHERE t.typnamespace = own
        ) AS e(expression)
        CROSS JOIN LATERAL regexp_matches(e.expression, 'funcid ([0-9]+)', 'g') AS m(found)
        WHERE dp.has_effect(m.found[1]::oid));
END $$;

-- Whether a query with made-up answers may succeed: it is run and undone, before the charge. With one relation an
-- error gives false. With several, an error that comes with each of them is raised. Nothing is run that could have an
-- effect which is not undone. An error for want of memory takes long, and no size of the answers causes it: two
-- attempts are enough.
-- result: what becomes of rows, as of proxy.pgwire.calls.TrialResult; encoding: in which they are printed, '': the
-- session's; ends_transaction: whether the statement is a transaction of its own, so deferred constraints are checked.
DROP FUNCTION IF EXISTS dp.try_answer(text[], integer[], text[], oid[], name[], name[], text[], boolean);
CREATE OR REPLACE FUNCTION dp.try_answer(
    pieces text[], numbers integer[], given text[], types oid[], called name[], words name[],
    relations text[], result text, encoding text, ends_transaction boolean, refused_hint text)
RETURNS boolean LANGUAGE plpgsql SET quote_all_identifiers = off AS $$
DECLARE  -- compiled on the analyst's search_path
    enough pg_catalog.interval := '1 s';
    begun pg_catalog.timestamptz := pg_catalog.clock_timestamp();
    printed_in pg_catalog.text := pg_catalog.pg_encoding_to_char(pg_catalog.pg_char_to_encoding(
        coalesce(nullif(encoding, ''), pg_catalog.current_setting('client_encoding'))));
    relation pg_catalog.text;
    query pg_catalog.text;
    state pg_catalog.text;
    first_state pg_catalog.text;
    first_message pg_catalog.text;
    is_varied pg_catalog.bool := false;
    tried pg_catalog.int4 := 0;
    most pg_catalog.int4 := pg_catalog.cardinality(relations);
    fetched pg_catalog.int4;
    item pg_catalog.record;
    e_message pg_catalog.text;
    e_detail pg_catalog.text;
    e_hint pg_catalog.text;
    e_schema pg_catalog.text;
    e_table pg_catalog.text;
    e_column pg_catalog.text;
    e_constraint pg_catalog.text;
    e_type pg_catalog.text;
BEGIN
    IF dp.may_have_effects(called, words) THEN
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
            IF result OPERATOR(pg_catalog.=) 'none' THEN
                EXECUTE query;
                IF ends_transaction THEN
                    SET CONSTRAINTS ALL IMMEDIATE;
                END IF;
            ELSE
                fetched := 0;
                FOR item IN EXECUTE query LOOP
                    IF result OPERATOR(pg_catalog.=) 'binary' THEN
                        PERFORM pg_catalog.record_send(item);
                    ELSIF result OPERATOR(pg_catalog.=) 'text'
                        AND printed_in OPERATOR(pg_catalog.<>) ALL ('{UTF8,SQL_ASCII}'::pg_catalog.text[]) THEN
                        PERFORM pg_catalog.convert_to(item::pg_catalog.text, printed_in);
                    END IF;
                    fetched := fetched OPERATOR(pg_catalog.+) 1;
                    EXIT WHEN fetched OPERATOR(pg_catalog.>=) 10000;
                END LOOP;
            END IF;
            RAISE EXCEPTION USING ERRCODE = 'DP001';
        EXCEPTION
            WHEN SQLSTATE 'DP001' THEN
                RETURN true;
            WHEN OTHERS THEN
                GET STACKED DIAGNOSTICS
                    state = RETURNED_SQLSTATE, e_message = MESSAGE_TEXT, e_detail = PG_EXCEPTION_DETAIL,
                    e_hint = PG_EXCEPTION_HINT, e_schema = SCHEMA_NAME, e_table = TABLE_NAME,
                    e_column = COLUMN_NAME, e_constraint = CONSTRAINT_NAME, e_type = PG_DATATYPE_NAME;
                tried := tried OPERATOR(pg_catalog.+) 1;
                first_state := coalesce(first_state, state);
                first_message := coalesce(first_message, e_message);
                is_varied := is_varied OR e_message OPERATOR(pg_catalog.<>) first_message;
                IF pg_catalog.left(state, 2) OPERATOR(pg_catalog.=) '53' THEN
                    most := least(most, 2);
                    enough := '5 s';
                END IF;
        END;
        IF state OPERATOR(pg_catalog.<>) first_state THEN
            RETURN true;
        ELSIF pg_catalog.cardinality(relations) OPERATOR(pg_catalog.=) 1 THEN
            RETURN false;
        END IF;
        EXIT WHEN tried OPERATOR(pg_catalog.>=) most;
        IF pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) begun OPERATOR(pg_catalog.>) enough THEN
            RETURN true;
        END IF;
    END LOOP;
    -- What differs from answer to answer is made up, e.g. the number in: invalid input syntax for integer: "1000x".
    RAISE EXCEPTION USING
        ERRCODE = first_state,
        MESSAGE = pg_catalog.concat(first_message, CASE WHEN is_varied THEN ' (a made-up answer)' END),
        DETAIL = pg_catalog.concat_ws(' ', nullif(e_detail, ''), pg_catalog.concat(
            'dpproxy tried the statement with ', tried, ' made-up answers, and each of them failed. Values of answers'
            ' in this error are made up. Nothing was charged.')),
        HINT = pg_catalog.concat_ws(' ', nullif(e_hint, ''), refused_hint),
        SCHEMA = e_schema, TABLE = e_table, COLUMN = e_column, CONSTRAINT = e_constraint, DATATYPE = e_type;
END $$;

-- The timeouts of a session are off until its transaction ends, or until they are restored (proxy/pgwire/held_timeouts.py).
-- Whether the transaction is older than `oldest` seconds; then what each was that is off now. A statement_timeout of
-- `longest` seconds and more is the server's own limit, and stays. It pins no setting: with SET, what it turns off
-- would be on again when it returns.
CREATE OR REPLACE FUNCTION dp.hold_timeouts(
    oldest double precision, longest double precision, within_request boolean,
    OUT is_old boolean, OUT statement_was text, OUT transaction_was text)
LANGUAGE plpgsql AS $$
DECLARE  -- compiled on the analyst's search_path
    idle pg_catalog.text;
BEGIN
    is_old := pg_catalog.clock_timestamp() OPERATOR(pg_catalog.-) pg_catalog.transaction_timestamp()
              OPERATOR(pg_catalog.>) pg_catalog.make_interval(secs => oldest);
    statement_was := pg_catalog.current_setting('statement_timeout');
    IF statement_was OPERATOR(pg_catalog.<>) '0'
        AND statement_was::pg_catalog.interval OPERATOR(pg_catalog.<) pg_catalog.make_interval(secs => longest) THEN
        PERFORM pg_catalog.set_config('statement_timeout', '0', true);
    ELSE
        statement_was := NULL;
    END IF;
    transaction_was := pg_catalog.current_setting('transaction_timeout', true);  -- NULL before PostgreSQL 17
    IF transaction_was OPERATOR(pg_catalog.<>) '0' THEN
        PERFORM pg_catalog.set_config('transaction_timeout', '0', true);
    ELSE
        transaction_was := NULL;
    END IF;
    IF within_request THEN
        idle := pg_catalog.current_setting('idle_in_transaction_session_timeout');
        IF idle OPERATOR(pg_catalog.<>) '0' THEN
            PERFORM pg_catalog.set_config('idle_in_transaction_session_timeout', '0', true);
        END IF;
    END IF;
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

CREATE OR REPLACE VIEW dp.status AS
SELECT s.* FROM (SELECT dp.answered_apart('dp.status') AS apart OFFSET 0) a,
    LATERAL (SELECT NULL::text, NULL::text, NULL::text, NULL::boolean, NULL::integer, NULL::integer,
                    NULL::integer WHERE a.apart)
        AS s (database, version, policy, is_draining, own_sessions, own_session_limit, statements_waiting);

-- What `\d+` and tools show of these relations. It is all that an analyst, or a model, has before the first question.
COMMENT ON VIEW dp.columns IS
    'Columns of protected and public tables that can be used, which values count, and for what. Reading it is free.';
COMMENT ON COLUMN dp.columns.table_name IS 'Table, with its schema.';
COMMENT ON COLUMN dp.columns.low IS 'Least value that counts; smaller ones count as this one. NULL: no bound.';
COMMENT ON COLUMN dp.columns.high IS 'Largest value that counts; larger ones count as this one. NULL: no bound.';
COMMENT ON COLUMN dp.columns."values" IS
    'Groups of GROUP BY, which are all answered; rows with other values are in no group. NULL: not listed.';
COMMENT ON COLUMN dp.columns.usable_for IS 'Clauses and aggregates that the column is allowed in.';
COMMENT ON VIEW dp.budget IS
    'What is spent and left of your privacy budget, and of budgets that you share. A statement costs at most dp.epsilon; EXPLAIN says what. Reading it is free.';
COMMENT ON COLUMN dp.budget.analyst IS 'You, a group of yours, a table, or everybody together. Your own line is exact. Of the others spent is rounded up, and remaining down, to steps.';
COMMENT ON COLUMN dp.budget.epsilon_remaining IS 'What statements can still cost. NULL: no limit.';
COMMENT ON COLUMN dp.budget.period IS 'How often the budget renews.';
COMMENT ON COLUMN dp.budget.renews_at IS 'When it renews next. NULL: never.';
COMMENT ON VIEW dp.history IS 'Your receipts: what each statement has cost. Reading it is free.';
COMMENT ON COLUMN dp.history.receipt IS 'Number of the charge.';
COMMENT ON COLUMN dp.history.outcome IS 'reserved (it runs), answered or failed. What failed stays charged.';
COMMENT ON COLUMN dp.history.statement IS 'Keyed fingerprint: the same for the same text.';
COMMENT ON COLUMN dp.history.policy IS 'SHA-256 of the policy in force then.';
COMMENT ON COLUMN dp.history.text IS 'What you ran, where the policy keeps it.';
COMMENT ON VIEW dp.policy IS 'Which policy is in force, and since when a later one could not be taken up.';
COMMENT ON VIEW dp.status IS 'The dpproxy that serves you: version, sessions and their limit. Reading it is free.';
COMMENT ON FUNCTION dp.error(anyelement) IS
    'Half width of the 95 % interval of an answer: dp.error(count(*)) beside count(*), in the same statement.';
COMMENT ON FUNCTION dp.low(anyelement) IS 'Lower end of the 95 % interval of an answer, in the same statement.';
COMMENT ON FUNCTION dp.high(anyelement) IS 'Upper end of the 95 % interval of an answer, in the same statement.';
COMMENT ON FUNCTION dp.clipped(anyelement) IS
    'About which share of people have more rows than the bound that was chosen for an answer in the same statement.';

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
