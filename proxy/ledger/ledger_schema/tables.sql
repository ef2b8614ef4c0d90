-- The ledger: who may ask, what each may spend, what was charged. It stands on a server that no analyst can
-- reach, and holds several bodies of data ("sources") beside each other.
-- Numbers are exact: epsilon with 18 decimals, delta with 30, charges rounded up, limits rounded down
-- (proxy/accounting/amounts.py).
-- This file is run once, for a new ledger; a later change of a table is a step (ledger_schema.py).

-- What a charge costs under zCDP (prices.sql).
CREATE TYPE ledger.price AS (rho numeric, approx_delta numeric, gaussian_delta numeric);

-- One charge: cost of the analyst, drawn of the shared budget. of_groups, of_tables: what each pays of it, by name:
-- {name: {"epsilon", "delta"}}.
CREATE TYPE ledger.charge AS (
    who text, cost_epsilon numeric, cost_delta numeric, drawn_epsilon numeric, drawn_delta numeric,
    events jsonb, fingerprint text, policy_digest text, of_groups jsonb, of_tables jsonb, statement bytea
);

-- Which ledger this is: the high-water mark beside it names it.
CREATE TABLE ledger.identity (
    only_row boolean PRIMARY KEY DEFAULT true CHECK (only_row),
    id uuid NOT NULL DEFAULT gen_random_uuid()
);
INSERT INTO ledger.identity DEFAULT VALUES;

-- Data that budgets belong to, whatever database name clients use for it.
CREATE TABLE ledger.source (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL UNIQUE CHECK (name <> ''),
    is_bound boolean NOT NULL,  -- false: brought from a version that knew no identities; the name decides once
    policy_digest text,
    budgets text  -- the limits below, as one text to compare
);

-- What a source is known by. A copy, an upgrade or a restore has another system identifier: adopted by hand.
CREATE TABLE ledger.source_identity (
    system_identifier text NOT NULL,
    database text NOT NULL,
    source bigint NOT NULL REFERENCES ledger.source,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (system_identifier, database)
);

-- Which policies have been served, so that a receipt's digest leads to a time and a place.
CREATE TABLE ledger.policy_version (
    source bigint NOT NULL REFERENCES ledger.source,
    digest text NOT NULL,
    first_served_at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (source, digest)
);

-- Texts of policies that were served or reported, by their digests, without connection strings and comments
-- (shown_text.py): so that a report says what has changed since the one before.
CREATE TABLE ledger.policy_text (
    digest text PRIMARY KEY,
    text text NOT NULL
);

-- PEOPLE AND PROGRAMS

-- Only the SCRAM verifier of a password is kept (RFC 5803).
CREATE TABLE ledger.analyst (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (name <> ''),
    verifier text NOT NULL CHECK (verifier LIKE 'SCRAM-SHA-256$%'),
    added_at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    removed_at timestamptz
);
CREATE UNIQUE INDEX analyst_name ON ledger.analyst (name) WHERE removed_at IS NULL;

-- Groups are of the person with this number: who gets a name that was given back is in no group of the one before.
CREATE TABLE ledger.membership (
    analyst bigint REFERENCES ledger.analyst,
    grp text CHECK (grp <> ''),
    PRIMARY KEY (analyst, grp)
);

-- Data that not everybody may query. Without a row here, every analyst may.
CREATE TABLE ledger.restricted (
    source bigint PRIMARY KEY REFERENCES ledger.source,
    at timestamptz NOT NULL DEFAULT transaction_timestamp()
);

-- Who may, then: a person or a group.
CREATE TABLE ledger.access (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.restricted ON DELETE CASCADE,
    analyst bigint REFERENCES ledger.analyst,
    grp text CHECK (grp <> ''),
    CHECK (num_nonnulls(analyst, grp) = 1)
);
CREATE UNIQUE INDEX access_of_analyst ON ledger.access (source, analyst) WHERE grp IS NULL;
CREATE UNIQUE INDEX access_of_group ON ledger.access (source, grp) WHERE analyst IS NULL;

-- Bearer tokens of analysts. digest: SHA-256 of the token, whose 256 bits are random, so that no salt and no slow
-- hash is needed. source NULL: all data of the analyst's; epsilon NULL: the analyst's own budget alone, else the most
-- in each window of this period. spent: in all windows; spent_before: before the window of the last charge.
CREATE TABLE ledger.token (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    analyst bigint NOT NULL REFERENCES ledger.analyst,
    digest bytea NOT NULL UNIQUE CHECK (length(digest) = 32),
    note text NOT NULL DEFAULT '',
    source bigint REFERENCES ledger.source,
    epsilon numeric(56, 18) CHECK (epsilon >= 0),
    spent numeric(56, 18) NOT NULL DEFAULT 0 CHECK (spent >= 0),
    created_at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    expires_at timestamptz NOT NULL,
    revoked_at timestamptz,
    period text NOT NULL DEFAULT 'none' CHECK (period IN ('none', 'hour', 'day')),
    window_start timestamptz NOT NULL DEFAULT '-infinity',
    spent_before numeric(56, 18) NOT NULL DEFAULT 0,
    CONSTRAINT token_window CHECK (spent_before BETWEEN 0 AND spent)
);

-- What administrators did, by whatever way: who, when, what. Never a password, a token or a statement.
CREATE TABLE ledger.admin_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    who text NOT NULL CHECK (who <> ''),
    what text NOT NULL CHECK (what <> ''),
    detail jsonb NOT NULL DEFAULT '{}'
);

-- What operators did on the command line. Never a password, a statement or data.
CREATE TABLE ledger.operation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    what text NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}'
);

CREATE VIEW ledger.admin_log AS
    SELECT e.at, e.who, e.what, e.detail FROM ledger.admin_event e
    UNION ALL
    SELECT o.at, '(command line)', o.what, o.detail FROM ledger.operation o;

-- BUDGETS

-- Each budget is a line, with a kind and a name: `analyst` is the name of an analyst, a group or a table; '' of the
-- total and of the default of analysts. A charge is made to all of its lines or to none.
-- rho: what the rhos may add up to; NULL: basic composition alone.
CREATE TABLE ledger.allowance (
    source bigint NOT NULL REFERENCES ledger.source,
    kind text NOT NULL CHECK (kind IN ('total', 'default', 'analyst', 'group', 'table')),
    analyst text NOT NULL DEFAULT '' CHECK ((kind IN ('total', 'default')) = (analyst = '')),
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'none')),
    rho numeric(56, 30) CHECK (rho >= 0),
    PRIMARY KEY (source, kind, analyst)
);

-- What was charged to and taken from a line in its current window; the row is also the lock. period NULL: not opened.
CREATE TABLE ledger.balance (
    source bigint NOT NULL REFERENCES ledger.source,
    kind text NOT NULL CHECK (kind IN ('total', 'analyst', 'group', 'table')),
    analyst text NOT NULL CHECK ((kind = 'total') = (analyst = '')),
    period text,
    window_start timestamptz NOT NULL DEFAULT '-infinity',
    epsilon numeric(56, 18) NOT NULL DEFAULT 0,
    delta numeric(56, 30) NOT NULL DEFAULT 0,
    rho numeric(56, 30) NOT NULL DEFAULT 0,
    approx_delta numeric(56, 30) NOT NULL DEFAULT 0,
    gaussian_delta numeric(56, 30) NOT NULL DEFAULT 0,
    PRIMARY KEY (source, kind, analyst)
);

-- Events that this version can price.
CREATE FUNCTION ledger.are_known(events jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN jsonb_array_length(events) = jsonb_array_length(jsonb_path_query_array(events, 'strict $[*] ? (
        ((@.v == 1 || @.v == 2) && (@.kind == "dlaplace" || @.kind == "gaussian" || @.kind == "pure" || @.kind == "approx"))
        || (@.v == 2 && @.kind == "adjust"))'));
END $$;

-- One check, as the server reads each of them anew with each statement.
CREATE FUNCTION ledger.is_sound(
    analyst text, epsilon numeric, delta numeric, drawn_epsilon numeric, drawn_delta numeric,
    rho numeric, approx_delta numeric, gaussian_delta numeric, events jsonb, shares jsonb)
RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN analyst <> '' AND epsilon >= 0 AND delta >= 0
        AND drawn_epsilon BETWEEN 0 AND epsilon AND drawn_delta BETWEEN 0 AND delta
        AND rho >= 0 AND approx_delta BETWEEN 0 AND delta AND gaussian_delta BETWEEN 0 AND delta
        AND jsonb_typeof(shares) = 'array' AND jsonb_typeof(events) = 'array';
END $$;

-- events: the composed loss, as versioned mechanisms: [{"v": 1, "kind": "dlaplace", ...}, ...] (accounting/events.py).
-- drawn: what of it the shared budget paid, less than the analyst where another had paid for the draw; NULL: all.
-- approx_delta: of mechanisms that may fail; gaussian_delta: of Gaussian noise, which rho covers, too; NULL: charged
-- before this was known. shares: what groups and tables paid: [{"kind", "name", "epsilon", "delta"}, ...], whether
-- they have a budget or not. statement: its text, encrypted (text_cipher.py). place, digest: in the chain (chain.sql).
-- A receipt is of a source that is there: its chain has a row that refers to it. A reference of each receipt would
-- lock the source's row, and write to it, with each charge.
CREATE TABLE ledger.receipt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL,
    at timestamptz NOT NULL,
    analyst text NOT NULL,
    epsilon numeric(56, 18) NOT NULL,
    delta numeric(56, 30) NOT NULL,
    events jsonb NOT NULL CONSTRAINT events_are_known CHECK (ledger.are_known(events)),
    fingerprint text NOT NULL,
    policy_digest text NOT NULL,
    drawn_epsilon numeric(56, 18),
    drawn_delta numeric(56, 30),
    rho numeric(56, 30),
    approx_delta numeric(56, 30),
    gaussian_delta numeric(56, 30),
    shares jsonb,
    statement bytea,
    place bigint NOT NULL,
    digest bytea NOT NULL,
    CONSTRAINT receipt_is_sound CHECK (ledger.is_sound(
        analyst, epsilon, delta, drawn_epsilon, drawn_delta, rho, approx_delta, gaussian_delta, events, shares))
);
CREATE INDEX receipt_of_analyst ON ledger.receipt (source, analyst, at);
CREATE INDEX receipt_of_source ON ledger.receipt (source, at);

CREATE TABLE ledger.settlement (
    receipt bigint PRIMARY KEY REFERENCES ledger.receipt,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    outcome text NOT NULL CHECK (outcome IN ('answered', 'failed'))
);

-- What was charged through a token: token.spent is the sum, and this is what it is checked against. at: by the clock,
-- but never before the window of an earlier charge.
CREATE TABLE ledger.token_charge (
    receipt bigint PRIMARY KEY REFERENCES ledger.receipt,
    token bigint NOT NULL REFERENCES ledger.token,
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    at timestamptz NOT NULL DEFAULT '-infinity'
);

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

-- What an operator adds to a line, or takes from it: that by way of a request, which another one has confirmed.
CREATE TABLE ledger.adjustment (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    at timestamptz NOT NULL,
    kind text NOT NULL CHECK (kind IN ('total', 'analyst', 'group', 'table')),
    name text NOT NULL CHECK ((kind = 'total') = (name = '')),
    epsilon numeric(56, 18) NOT NULL,
    delta numeric(56, 30) NOT NULL,
    rho numeric(56, 30) NOT NULL,
    approx_delta numeric(56, 30) NOT NULL CHECK (approx_delta >= 0),
    reason text NOT NULL CHECK (reason <> ''),
    made_by text NOT NULL CHECK (made_by <> ''),
    place bigint NOT NULL,
    digest bytea NOT NULL,
    request bigint UNIQUE REFERENCES ledger.adjustment_request,
    confirmed_by text,
    CHECK ((request IS NULL) = (confirmed_by IS NULL))
);
CREATE INDEX adjustment_of_line ON ledger.adjustment (source, kind, name, at);

-- Of each source the last receipt or adjustment (chain.sql).
CREATE TABLE ledger.chain (
    source bigint PRIMARY KEY REFERENCES ledger.source,
    place bigint NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32)
);

-- Which keys texts were encrypted with, the newest last; the keys are not here.
CREATE TABLE ledger.text_key (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text NOT NULL UNIQUE CHECK (key <> ''),
    at timestamptz NOT NULL DEFAULT transaction_timestamp()
);

-- ANSWERS THAT ARE KEPT
-- Nothing of a statement stands here readable. A question is known by its digest under a key that is beside the ledger
-- (text_keys.py), and so is what rows an answer is of. What has to be read again, a drawn relation with the values of
-- its keys, what others are made of an answer, a published table and what it was drawn of, is encrypted under that key.

-- What one question drew in one slot of public time (cached_answers.sql). digest finds a question; about: of what rows
-- it is; made: of what others are made of it (NULL: none are). relation: NULL until it is drawn.
-- started: of the server's process. A relation is stored without waiting for the disk; where the server went
-- down since, it may have been shown and lost, and then the question is drawn anew and paid anew.
CREATE TABLE ledger.cached (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    slot timestamptz NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    about bytea CHECK (length(about) = 32),
    made text,
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    receipt bigint NOT NULL REFERENCES ledger.receipt,
    started timestamptz NOT NULL,
    holder uuid NOT NULL,
    lease_until timestamptz NOT NULL,
    draws integer NOT NULL DEFAULT 1,  -- that were begun
    relation text,
    UNIQUE (source, slot, digest),
    CHECK ((about IS NULL) = (made IS NULL))
);
CREATE INDEX ON ledger.cached (source, slot, about);

-- Who has been shown it, or paid to be. viewer: an analyst's number, which a name that is given again has not.
CREATE TABLE ledger.seen (
    cached bigint NOT NULL REFERENCES ledger.cached ON DELETE CASCADE,
    viewer text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (cached, viewer)
);

-- Releases of tables that the policy publishes (published.sql). version: of the statement and what it may spend. due:
-- the time of the schedule that it is for, or when it was asked for by hand. constants: of the statement, as evaluated
-- for the draw. shown: the table (shadow/published_tables.py), of the latest release only; failure: why what was drawn
-- is no table, e.g. a division by a noisy 0 in the statement itself. series: the digest of the plan, of statements that are
-- released step by step; '' where a backup was restored, so that it is none. paid_by: the receipt for all steps.
CREATE TABLE ledger.published (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    name text NOT NULL CHECK (name <> ''),
    version text NOT NULL,
    due timestamptz NOT NULL,
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    receipt bigint NOT NULL UNIQUE REFERENCES ledger.receipt,
    policy_digest text NOT NULL,
    holder uuid NOT NULL,
    lease_until timestamptz NOT NULL,
    draws integer NOT NULL DEFAULT 1,  -- that were begun
    released_at timestamptz,
    constants text,
    shown text,
    failure text,
    series text,
    paid_by bigint REFERENCES ledger.receipt,
    CHECK (released_at IS NOT NULL OR shown IS NULL AND failure IS NULL),
    UNIQUE (source, name, version, due)
);

-- What was drawn, by block of the statement: so that queries that ask the same are answered from it.
CREATE TABLE ledger.published_block (
    published bigint NOT NULL REFERENCES ledger.published ON DELETE CASCADE,
    number integer NOT NULL,
    sealed text NOT NULL,
    PRIMARY KEY (published, number)
);

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

-- Schedules that stopped, and why.
CREATE TABLE ledger.stale (
    source bigint NOT NULL REFERENCES ledger.source,
    name text NOT NULL,
    version text NOT NULL,
    since timestamptz NOT NULL,
    reason text NOT NULL,
    PRIMARY KEY (source, name, version)
);

-- WHICH COLUMNS THE POLICY MEANT
-- relation, number: oid and attnum in the source's catalogue. A column that is dropped and added again under its name
-- has another number in the same relation. NULL: the owner says that it is the same, or the data has moved since.

-- Columns of public tables that a policy in force has shown. A column of such a table that is not here came later:
-- nobody has said that it is public.
CREATE TABLE ledger.public_column (
    source bigint NOT NULL REFERENCES ledger.source,
    schema_name text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    relation bigint,
    number integer,
    PRIMARY KEY (source, schema_name, table_name, column_name)
);

-- Columns by which a policy in force has told units apart.
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
