-- Schema dp of a shadow: what every shadow has, whatever the policy. Run again at each build.
-- Analysts (group dp_analyst) may use the schema and what is granted at the end, nothing else.

CREATE SCHEMA IF NOT EXISTS dp;

-- A refusal, raised in the place of the statement that is refused.
CREATE OR REPLACE FUNCTION dp.refuse(sqlstate_code text, message_text text, hint_text text)
RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF hint_text IS NULL OR hint_text = '' THEN
        RAISE EXCEPTION USING ERRCODE = sqlstate_code, MESSAGE = message_text;
    END IF;
    RAISE EXCEPTION USING ERRCODE = sqlstate_code, MESSAGE = message_text, HINT = hint_text;
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
