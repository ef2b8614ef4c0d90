-- What changes tables from one version to the next: a part for each, below a line with its number.

-- step 12
-- Nothing of a statement stands readable in the ledger from now on (tables.sql).

-- What was cached before is known by digests without the key. It is drawn again, and paid again, within its slot. TRUNCATE
-- and a change of a column's type make new files, so that the old texts are gone from them.
TRUNCATE ledger.cached, ledger.seen;
ALTER TABLE ledger.cached DROP COLUMN question, DROP COLUMN terms, ALTER COLUMN made TYPE text USING NULL;
DROP FUNCTION ledger.paid_about(bigint, text, integer, integer, bytea[]);

-- Published tables that are there stay shown; as they are public, so do their texts, until the next release. Queries are
-- answered from them again after it.
TRUNCATE ledger.published_block;
ALTER TABLE ledger.published_block DROP COLUMN question, DROP COLUMN terms, DROP COLUMN relation,
    ADD COLUMN sealed text NOT NULL;
ALTER TABLE ledger.published ALTER COLUMN constants DROP DEFAULT, ALTER COLUMN constants DROP NOT NULL;
ALTER TABLE ledger.published ALTER COLUMN constants TYPE text USING NULL,
    ALTER COLUMN failure TYPE text USING CASE WHEN failure IS NOT NULL THEN 'an earlier version knew why' END;

-- step 13
-- Columns of public tables that a policy in force has shown, by source. A column of such a table that is not here came
-- later: nobody has said that it is public.
CREATE TABLE ledger.public_column (
    source bigint NOT NULL REFERENCES ledger.source,
    schema_name text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (source, schema_name, table_name, column_name)
);

-- step 14
-- Which column it was: oid and attnum in the source's catalogue. A column that is dropped and added again under its name
-- has another number in the same relation. NULL: noted by an earlier version, or the data has moved since.
ALTER TABLE ledger.public_column ADD relation bigint, ADD number integer;

-- step 15
-- Columns of the source by which a policy in force has told units apart, and which they were: oid and attnum in the
-- source's catalogue. NULL: the owner says that the columns are the same, or the data has moved since.
CREATE TABLE ledger.unit_column (
    source bigint NOT NULL REFERENCES ledger.source,
    schema_name text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    relation bigint,
    number integer,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (source, schema_name, table_name, column_name)
);

-- step 16
-- What nothing calls any more.
DROP FUNCTION IF EXISTS ledger.standing(bigint, text, timestamptz, numeric, numeric, jsonb);
DROP FUNCTION IF EXISTS ledger.lines_of(text, text[], text[]);

-- step 17
-- Series: statements that are released step by step, under one charge.
ALTER TABLE ledger.published ADD series text, ADD paid_by bigint REFERENCES ledger.receipt;
DROP FUNCTION IF EXISTS ledger.publish_at(bigint, text, text, numeric, numeric, jsonb, uuid, integer, integer, integer,
                                          boolean, text, timestamptz, jsonb);
-- Steps of series that are published, by the receipt that paid for all of them. noise: what was drawn for the step, before
-- it was read, sealed; NULL after the last step. drawn: what is shown of it, sealed; NULL until it was read. In no backup:
-- whoever has the noise and the key has the exact numbers, and where a backup is restored, a series begins anew.
CREATE TABLE ledger.series_step (
    receipt bigint NOT NULL REFERENCES ledger.receipt,
    number integer NOT NULL CHECK (number >= 0),
    noise text,
    drawn text,
    PRIMARY KEY (receipt, number),
    CHECK (noise IS NOT NULL OR drawn IS NOT NULL)
);

-- step 18
-- What a token may spend in each hour or day. Tokens of before have one window without end, which all they have
-- spent is in.
ALTER TABLE ledger.token
    ADD COLUMN period text NOT NULL DEFAULT 'none' CHECK (period IN ('none', 'hour', 'day')),
    ADD COLUMN window_start timestamptz NOT NULL DEFAULT '-infinity',
    ADD COLUMN spent_before numeric(56, 18) NOT NULL DEFAULT 0,
    ADD CONSTRAINT token_window CHECK (spent_before BETWEEN 0 AND spent);
ALTER TABLE ledger.token_charge ADD COLUMN at timestamptz NOT NULL DEFAULT '-infinity';

-- step 19
-- Texts of policies that were served or reported, by their digests, without connection strings and comments
-- (shown_text.py): so that a report says what has changed since the one before.
CREATE TABLE ledger.policy_text (
    digest text PRIMARY KEY,
    text text NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.policy_text
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();

-- step 20
-- What an operator asks to take from a line: nothing is taken until another one confirms it. rho NULL: none is taken.
CREATE TABLE ledger.adjustment_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    kind text NOT NULL CHECK (kind IN ('total', 'analyst', 'group', 'table')),
    name text NOT NULL CHECK ((kind = 'total') = (name = '')),
    epsilon numeric(56, 18) NOT NULL,
    delta numeric(56, 30) NOT NULL,
    rho numeric(56, 30),
    reason text NOT NULL CHECK (reason <> ''),
    made_by text NOT NULL CHECK (made_by <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.adjustment_request
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
-- Adjustments of before have neither. What they took stays taken.
ALTER TABLE ledger.adjustment
    ADD COLUMN request bigint UNIQUE REFERENCES ledger.adjustment_request,
    ADD COLUMN confirmed_by text,
    ADD CHECK ((request IS NULL) = (confirmed_by IS NULL));
DROP FUNCTION IF EXISTS ledger.adjust_at(bigint, text, text, numeric, numeric, text, text, timestamptz, numeric);

-- step 21
-- Budgets of blocks of time: functions alone (lines.sql, charges.sql).

-- step 22
-- A charge to blocks of time is not finished for the total: functions alone (published.sql).
