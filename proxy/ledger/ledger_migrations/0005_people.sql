-- People and programs: who may query which data, tokens, and what administrators did. Groups are of 0004; they are of
-- the person with this number: who gets a name that was given back is in no group of the one before.

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

-- The decision, at each charge and at each connection. A charge to an account that is no analyst's, which only
-- commands of the operator make, is nobody's query.
CREATE FUNCTION ledger.may_query(of_source bigint, who text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM ledger.restricted r WHERE r.source = of_source)
        OR (who LIKE '(%)' AND NOT EXISTS (SELECT FROM ledger.analyst a WHERE a.name = who))
        OR EXISTS (
            SELECT FROM ledger.analyst a JOIN ledger.access c ON c.source = of_source
            WHERE a.name = who AND a.removed_at IS NULL
              AND (c.analyst = a.id OR EXISTS (SELECT FROM ledger.membership m
                                               WHERE m.analyst = a.id AND m.grp = c.grp)))
$$;

-- Whoever was removed charges nothing, nor who may not query this data. Names that were never an analyst's may.
CREATE FUNCTION ledger.may_charge(of_source bigint, who text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (NOT EXISTS (SELECT FROM ledger.analyst a WHERE a.name = who)
            OR EXISTS (SELECT FROM ledger.analyst a WHERE a.name = who AND a.removed_at IS NULL))
       AND ledger.may_query(of_source, who)
$$;

-- Bearer tokens of analysts. digest: SHA-256 of the token, whose 256 bits are random, so that no salt and no slow
-- hash is needed. source NULL: all data of the analyst's; epsilon NULL: the analyst's own budget alone.
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
    revoked_at timestamptz
);

-- What was charged through a token: token.spent is the sum, and this is what it is checked against.
CREATE TABLE ledger.token_charge (
    receipt bigint PRIMARY KEY REFERENCES ledger.receipt,
    token bigint NOT NULL REFERENCES ledger.token,
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0)
);

-- In the statement of the charge, after it: what raises here undoes the charge with it. Gives what is left of the
-- token; NULL where it has no limit of its own, or nothing was charged. The token's row is locked after the balances.
CREATE FUNCTION ledger.spend_token(of_token bigint, of_source bigint, who text, of_receipt bigint, cost numeric)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    one ledger.token;
BEGIN
    IF of_token IS NULL OR of_receipt IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT * INTO one FROM ledger.token t WHERE t.id = of_token FOR UPDATE;
    IF one.id IS NULL OR one.revoked_at IS NOT NULL OR one.expires_at <= clock_timestamp()
       OR one.source <> of_source
       OR NOT EXISTS (SELECT FROM ledger.analyst a
                      WHERE a.id = one.analyst AND a.name = who AND a.removed_at IS NULL) THEN
        RAISE EXCEPTION USING ERRCODE = 'DPT01', MESSAGE = 'the token is not valid any more';
    END IF;
    IF cost IS NULL OR cost < 0 THEN
        RAISE EXCEPTION 'a charge is not negative';
    END IF;
    IF one.spent + cost > one.epsilon THEN
        RAISE EXCEPTION USING
            ERRCODE = 'DPT02', MESSAGE = 'the token''s epsilon is spent',
            DETAIL = trim_scale(one.epsilon - one.spent)::text;
    END IF;
    UPDATE ledger.token t SET spent = t.spent + cost WHERE t.id = of_token;
    INSERT INTO ledger.token_charge (receipt, token, epsilon) VALUES (of_receipt, of_token, cost);
    RETURN one.epsilon - one.spent - cost;
END $$;

-- What administrators did, by whatever way: who, when, what. Never a password, a token or a statement.
CREATE TABLE ledger.admin_event (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    who text NOT NULL CHECK (who <> ''),
    what text NOT NULL CHECK (what <> ''),
    detail jsonb NOT NULL DEFAULT '{}'
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.admin_event
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.token_charge
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();

-- Both logs as one: what stood in ledger.operation before there was this one, and what is still written there.
CREATE VIEW ledger.admin_log AS
    SELECT e.at, e.who, e.what, e.detail FROM ledger.admin_event e
    UNION ALL
    SELECT o.at, '(command line)', o.what, o.detail FROM ledger.operation o;
