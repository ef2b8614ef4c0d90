-- Schema dp of a shadow: what every shadow has, whatever the policy. Run again at each build.
-- Analysts (group dp_analyst) may use the schema and what is granted at the end, nothing else.

CREATE SCHEMA IF NOT EXISTS dp;

-- The guard's function: the row-security policy of every protected table calls it for the sentinel
-- row. Lowest cost, so that it runs before any leakproof condition of the user (order_qual_clauses in
-- src/backend/optimizer/plan/createplan.c sorts by security level, then cost).
CREATE OR REPLACE FUNCTION dp.guard(protected_table text) RETURNS boolean
LANGUAGE plpgsql STABLE COST 0.0001 AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '42501',
        MESSAGE = format('table "%s" is protected: its rows cannot be read', protected_table),
        HINT = format('Ask for aggregates, for example SELECT count(*) FROM %s.', protected_table);
END $$;

-- A refusal, raised in the place of the statement that is refused.
CREATE OR REPLACE FUNCTION dp.refuse(sqlstate_code text, message_text text, hint_text text)
RETURNS void LANGUAGE plpgsql AS $$
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
RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    items text;
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

-- The interval functions exist so that statements which use them analyse; the proxy replaces them.
CREATE OR REPLACE FUNCTION dp.misplaced(name text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '0A000',
        MESSAGE = format('dp.%s() applies to an aggregate over a protected table', name),
        HINT = format('For example SELECT count(*), dp.%s(count(*)) FROM a protected table.', name);
END $$;

CREATE OR REPLACE FUNCTION dp.low(estimate anyelement) RETURNS anyelement
LANGUAGE plpgsql AS $$ BEGIN PERFORM dp.misplaced('low'); END $$;

CREATE OR REPLACE FUNCTION dp.high(estimate anyelement) RETURNS anyelement
LANGUAGE plpgsql AS $$ BEGIN PERFORM dp.misplaced('high'); END $$;

CREATE OR REPLACE FUNCTION dp.error(estimate anyelement) RETURNS double precision
LANGUAGE plpgsql AS $$ BEGIN PERFORM dp.misplaced('error'); END $$;

-- What the shadow was built from: one row.
CREATE TABLE IF NOT EXISTS dp.built_from (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    policy_digest text NOT NULL,
    catalog_digest text NOT NULL,
    program_digest text NOT NULL,
    at timestamptz NOT NULL
);

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
