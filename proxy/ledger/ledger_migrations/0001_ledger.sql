-- The ledger: who may ask, what each may spend, what was charged. It stands on a server that no analyst can
-- reach, and holds several bodies of data ("sources") beside each other. Forward migrations only; each file
-- runs once, in one transaction (ledger_migrations.py).
-- Numbers are exact: epsilon with 18 decimals, delta with 30, charges rounded up, limits rounded down
-- (proxy/accounting/amounts.py). The decision rule is tests/ledger_model/balance.py too; the tests hold the two together.

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

-- Only the SCRAM verifier of a password is kept (RFC 5803).
CREATE TABLE ledger.analyst (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name text NOT NULL CHECK (name <> ''),
    verifier text NOT NULL CHECK (verifier LIKE 'SCRAM-SHA-256$%'),
    added_at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    removed_at timestamptz
);
CREATE UNIQUE INDEX analyst_name ON ledger.analyst (name) WHERE removed_at IS NULL;

CREATE TABLE ledger.allowance (
    source bigint NOT NULL REFERENCES ledger.source,
    kind text NOT NULL CHECK (kind IN ('total', 'default', 'analyst')),
    analyst text NOT NULL DEFAULT '' CHECK ((kind = 'analyst') = (analyst <> '')),
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'none')),
    PRIMARY KEY (source, kind, analyst)
);

-- Which policies have been served, so that a receipt's digest leads to a time and a place.
CREATE TABLE ledger.policy_version (
    source bigint NOT NULL REFERENCES ledger.source,
    digest text NOT NULL,
    first_served_at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (source, digest)
);

-- events: the composed loss, as versioned mechanisms: [{"v": 1, "kind": "dlaplace", ...}, ...] (accounting/events.py).
CREATE TABLE ledger.receipt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    at timestamptz NOT NULL,
    analyst text NOT NULL CHECK (analyst <> ''),
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    events jsonb NOT NULL CHECK (jsonb_typeof(events) = 'array'),
    fingerprint text NOT NULL,
    policy_digest text NOT NULL
);
CREATE INDEX receipt_of_analyst ON ledger.receipt (source, analyst, at);
CREATE INDEX receipt_of_source ON ledger.receipt (source, at);

CREATE TABLE ledger.settlement (
    receipt bigint PRIMARY KEY REFERENCES ledger.receipt,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    outcome text NOT NULL CHECK (outcome IN ('answered', 'failed'))
);

-- What the receipts of the current window add up to; the row is also the lock. period NULL: not opened.
CREATE TABLE ledger.balance (
    source bigint NOT NULL REFERENCES ledger.source,
    kind text NOT NULL CHECK (kind IN ('total', 'analyst')),
    analyst text NOT NULL CHECK ((kind = 'analyst') = (analyst <> '')),
    period text,
    window_start timestamptz NOT NULL DEFAULT '-infinity',
    epsilon numeric(56, 18) NOT NULL DEFAULT 0,
    delta numeric(56, 30) NOT NULL DEFAULT 0,
    PRIMARY KEY (source, kind, analyst)
);

-- What operators did: who, when, what. Never a password, a statement or data.
CREATE TABLE ledger.operation (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    what text NOT NULL,
    detail jsonb NOT NULL DEFAULT '{}'
);

CREATE FUNCTION ledger.append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '42501',
        MESSAGE = format('the ledger is append-only: %s of ledger.%s', lower(TG_OP), TG_TABLE_NAME);
END $$;
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.receipt
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.settlement
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.operation
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();

-- Days begin at 00:00 UTC, weeks on Monday. 'none' is one window without beginning or end.
CREATE FUNCTION ledger.window_start(period text, at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period = 'none' THEN '-infinity'::timestamptz ELSE date_trunc(period, at, 'UTC') END
$$;

CREATE FUNCTION ledger.window_end(period text, start timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period <> 'none'
           THEN (start AT TIME ZONE 'UTC' + ('1 ' || period)::interval) AT TIME ZONE 'UTC' END
$$;

CREATE FUNCTION ledger.allowance_of(of_source bigint, of_kind text, of_analyst text)
RETURNS ledger.allowance LANGUAGE plpgsql STABLE AS $$
DECLARE
    one ledger.allowance;
BEGIN
    SELECT * INTO one FROM ledger.allowance a
    WHERE a.source = of_source
      AND CASE of_kind WHEN 'total' THEN a.kind = 'total'
          ELSE a.kind = 'default' OR (a.kind = 'analyst' AND a.analyst = of_analyst) END
    ORDER BY a.kind LIMIT 1;  -- 'analyst' before 'default'
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the ledger has no limit for this %', of_kind;
    END IF;
    RETURN one;
END $$;

-- The balance as it is at a time, in its window. A window never begins earlier than the last one did,
-- so a clock that goes back does not open one twice. A new window, or a policy that changed the
-- period, adds the receipts up anew. VOLATILE: the sum is of a snapshot taken now, after the caller's lock
-- was waited for; a STABLE function would read the snapshot from before.
CREATE FUNCTION ledger.in_window(known ledger.balance, new_period text, at timestamptz)
RETURNS ledger.balance LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    start timestamptz := ledger.window_start(new_period, in_window.at);
    result ledger.balance := known;
BEGIN
    IF known.period = new_period AND start <= known.window_start THEN
        RETURN known;
    END IF;
    result.period := new_period;
    result.window_start := start;
    SELECT coalesce(sum(r.epsilon), 0), coalesce(sum(r.delta), 0)
    INTO result.epsilon, result.delta
    FROM ledger.receipt r
    WHERE r.source = known.source AND r.at >= start
      AND (known.kind = 'total' OR r.analyst = known.analyst);
    RETURN result;
END $$;

CREATE FUNCTION ledger.lock_balance(of_source bigint, of_kind text, of_analyst text)
RETURNS ledger.balance LANGUAGE plpgsql AS $$
DECLARE
    one ledger.balance;
BEGIN
    LOOP
        SELECT * INTO one FROM ledger.balance b
        WHERE b.source = of_source AND b.kind = of_kind AND b.analyst = of_analyst FOR UPDATE;
        IF FOUND THEN
            RETURN one;
        END IF;
        INSERT INTO ledger.balance (source, kind, analyst)
        VALUES (of_source, of_kind, of_analyst) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

-- One charge: both balances locked (the analyst's, then everybody's: always in this order), all limits
-- read after that, checked, the receipt appended. receipt is NULL when refused; what is left is then before
-- the charge. Each step is a statement of its own, so that each sees what was committed before its lock.
CREATE FUNCTION ledger.reserve_at(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, events jsonb,
    fingerprint text, policy_digest text, at timestamptz,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    own_limit ledger.allowance;
    total_limit ledger.allowance;
    own ledger.balance;
    total ledger.balance;
BEGIN
    IF cost_epsilon < 0 OR cost_delta < 0 OR cost_epsilon IS NULL OR cost_delta IS NULL THEN
        RAISE EXCEPTION 'a charge is not negative';
    END IF;
    own := ledger.lock_balance(reserve_at.source, 'analyst', who);
    total := ledger.lock_balance(reserve_at.source, 'total', '');
    own_limit := ledger.allowance_of(reserve_at.source, 'analyst', who);
    total_limit := ledger.allowance_of(reserve_at.source, 'total', '');
    own := ledger.in_window(own, own_limit.period, reserve_at.at);
    total := ledger.in_window(total, total_limit.period, reserve_at.at);
    IF own.epsilon + cost_epsilon <= own_limit.epsilon AND own.delta + cost_delta <= own_limit.delta
       AND total.epsilon + cost_epsilon <= total_limit.epsilon
       AND total.delta + cost_delta <= total_limit.delta THEN
        own.epsilon := own.epsilon + cost_epsilon;
        own.delta := own.delta + cost_delta;
        total.epsilon := total.epsilon + cost_epsilon;
        total.delta := total.delta + cost_delta;
        INSERT INTO ledger.receipt AS r
            (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest)
        VALUES (reserve_at.source, reserve_at.at, who, cost_epsilon, cost_delta, reserve_at.events,
                reserve_at.fingerprint, reserve_at.policy_digest)
        RETURNING r.id INTO reserve_at.receipt;
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta)
             = (own.period, own.window_start, own.epsilon, own.delta)
        WHERE b.source = reserve_at.source AND b.kind = 'analyst' AND b.analyst = who;
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta)
             = (total.period, total.window_start, total.epsilon, total.delta)
        WHERE b.source = reserve_at.source AND b.kind = 'total';
    END IF;
    own_epsilon := own_limit.epsilon - own.epsilon;
    own_delta := own_limit.delta - own.delta;
    total_epsilon := total_limit.epsilon - total.epsilon;
    total_delta := total_limit.delta - total.delta;
    renews_at := ledger.window_end(own.period, own.window_start);
END $$;

CREATE FUNCTION ledger.reserve(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, events jsonb,
    fingerprint text, policy_digest text,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz)
LANGUAGE sql AS $$
    SELECT * FROM ledger.reserve_at(source, who, cost_epsilon, cost_delta, events, fingerprint,
                                    policy_digest, transaction_timestamp())
$$;

-- An analyst's line and everybody's, without a lock: for display, never for a decision.
CREATE FUNCTION ledger.standing(of_source bigint, who text, at timestamptz)
RETURNS TABLE (kind text, period text, epsilon_limit numeric, epsilon_spent numeric,
               delta_limit numeric, delta_spent numeric, renews_at timestamptz)
LANGUAGE sql AS $$
    SELECT l.kind, a.period, a.epsilon, w.epsilon, a.delta, w.delta,
           ledger.window_end(w.period, w.window_start)
    FROM (VALUES ('analyst', who), ('total', '')) AS l(kind, analyst)
    CROSS JOIN LATERAL ledger.allowance_of(of_source, l.kind, l.analyst) a
    LEFT JOIN ledger.balance b
        ON b.source = of_source AND b.kind = l.kind AND b.analyst = l.analyst
    CROSS JOIN LATERAL ledger.in_window(
        coalesce(b, ROW(of_source, l.kind, l.analyst, NULL, '-infinity', 0, 0)::ledger.balance),
        a.period, standing.at
    ) w
$$;
