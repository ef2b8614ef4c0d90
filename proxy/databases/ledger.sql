-- The ledger of one protected database. Run again at each build of its shadow: never drops anything.
-- Numbers are exact: epsilon with 18 decimals, delta with 30, charges rounded up, limits rounded down
-- (proxy/ledger/balance.py). The decision rule is that module's; the tests hold the two together.

CREATE TABLE IF NOT EXISTS dp.allowance (
    kind text NOT NULL CHECK (kind IN ('total', 'default', 'analyst')),
    analyst text NOT NULL DEFAULT '' CHECK ((kind = 'analyst') = (analyst <> '')),
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    period text NOT NULL CHECK (period IN ('day', 'week', 'month', 'none')),
    PRIMARY KEY (kind, analyst)
);

CREATE TABLE IF NOT EXISTS dp.receipt (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at timestamptz NOT NULL,
    analyst text NOT NULL CHECK (analyst <> ''),
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    reused boolean NOT NULL,
    fingerprint text NOT NULL,
    policy_digest text NOT NULL,
    CHECK (NOT reused OR (epsilon = 0 AND delta = 0))
);
CREATE INDEX IF NOT EXISTS receipt_of_analyst ON dp.receipt (analyst, at);

CREATE TABLE IF NOT EXISTS dp.settlement (
    receipt bigint PRIMARY KEY REFERENCES dp.receipt,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    outcome text NOT NULL CHECK (outcome IN ('answered', 'failed'))
);

-- What the receipts of the current window add up to; the row is also the lock. period NULL: not opened.
CREATE TABLE IF NOT EXISTS dp.balance (
    kind text NOT NULL CHECK (kind IN ('total', 'analyst')),
    analyst text NOT NULL CHECK ((kind = 'analyst') = (analyst <> '')),
    period text,
    window_start timestamptz NOT NULL DEFAULT '-infinity',
    epsilon numeric(56, 18) NOT NULL DEFAULT 0,
    delta numeric(56, 30) NOT NULL DEFAULT 0,
    PRIMARY KEY (kind, analyst)
);

CREATE OR REPLACE FUNCTION dp.append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '42501',
        MESSAGE = format('the ledger is append-only: %s of dp.%s', lower(TG_OP), TG_TABLE_NAME);
END $$;
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dp.receipt
    FOR EACH STATEMENT EXECUTE FUNCTION dp.append_only();
CREATE OR REPLACE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON dp.settlement
    FOR EACH STATEMENT EXECUTE FUNCTION dp.append_only();

-- Days begin at 00:00 UTC, weeks on Monday. 'none' is one window without beginning or end.
CREATE OR REPLACE FUNCTION dp.window_start(period text, at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period = 'none' THEN '-infinity'::timestamptz ELSE date_trunc(period, at, 'UTC') END
$$;

CREATE OR REPLACE FUNCTION dp.window_end(period text, start timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period <> 'none'
           THEN (start AT TIME ZONE 'UTC' + ('1 ' || period)::interval) AT TIME ZONE 'UTC' END
$$;

CREATE OR REPLACE FUNCTION dp.allowance_of(of_kind text, of_analyst text) RETURNS dp.allowance
LANGUAGE plpgsql STABLE AS $$
DECLARE
    one dp.allowance;
BEGIN
    SELECT * INTO one FROM dp.allowance a
    WHERE CASE of_kind WHEN 'total' THEN a.kind = 'total'
          ELSE a.kind = 'default' OR (a.kind = 'analyst' AND a.analyst = of_analyst) END
    ORDER BY a.kind LIMIT 1;  -- 'analyst' before 'default'
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the ledger has no limit for this %', of_kind;
    END IF;
    RETURN one;
END $$;

-- The balance as it is at a time, in its window. A window never begins earlier than the last one did,
-- so a clock that goes back does not open one twice. A new window, or a policy that changed the
-- period, adds the receipts up anew.
CREATE OR REPLACE FUNCTION dp.in_window(known dp.balance, new_period text, at timestamptz)
RETURNS dp.balance LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_column
DECLARE
    start timestamptz := dp.window_start(new_period, in_window.at);
    result dp.balance := known;
BEGIN
    IF known.period = new_period AND start <= known.window_start THEN
        RETURN known;
    END IF;
    result.period := new_period;
    result.window_start := start;
    SELECT coalesce(sum(r.epsilon), 0), coalesce(sum(r.delta), 0)
    INTO result.epsilon, result.delta
    FROM dp.receipt r
    WHERE r.at >= start AND (known.kind = 'total' OR r.analyst = known.analyst);
    RETURN result;
END $$;

CREATE OR REPLACE FUNCTION dp.lock_balance(of_kind text, of_analyst text) RETURNS dp.balance
LANGUAGE plpgsql AS $$
DECLARE
    one dp.balance;
BEGIN
    LOOP
        SELECT * INTO one FROM dp.balance b
        WHERE b.kind = of_kind AND b.analyst = of_analyst FOR UPDATE;
        IF FOUND THEN
            RETURN one;
        END IF;
        INSERT INTO dp.balance (kind, analyst) VALUES (of_kind, of_analyst) ON CONFLICT DO NOTHING;
    END LOOP;
END $$;

-- One charge: both balances locked (the analyst's, then everybody's: always in this order), all limits
-- checked, the receipt appended. receipt is NULL when refused; what is left is then before the charge.
CREATE OR REPLACE FUNCTION dp.reserve_at(
    who text, cost_epsilon numeric, cost_delta numeric, fingerprint text, policy_digest text,
    at timestamptz,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    own_limit dp.allowance := dp.allowance_of('analyst', who);
    total_limit dp.allowance := dp.allowance_of('total', '');
    own dp.balance;
    total dp.balance;
BEGIN
    IF cost_epsilon < 0 OR cost_delta < 0 OR cost_epsilon IS NULL OR cost_delta IS NULL THEN
        RAISE EXCEPTION 'a charge is not negative';
    END IF;
    own := dp.in_window(dp.lock_balance('analyst', who), own_limit.period, reserve_at.at);
    total := dp.in_window(dp.lock_balance('total', ''), total_limit.period, reserve_at.at);
    IF own.epsilon + cost_epsilon <= own_limit.epsilon AND own.delta + cost_delta <= own_limit.delta
       AND total.epsilon + cost_epsilon <= total_limit.epsilon
       AND total.delta + cost_delta <= total_limit.delta THEN
        own.epsilon := own.epsilon + cost_epsilon;
        own.delta := own.delta + cost_delta;
        total.epsilon := total.epsilon + cost_epsilon;
        total.delta := total.delta + cost_delta;
        INSERT INTO dp.receipt AS r (at, analyst, epsilon, delta, reused, fingerprint, policy_digest)
        VALUES (reserve_at.at, who, cost_epsilon, cost_delta, false,
                reserve_at.fingerprint, reserve_at.policy_digest)
        RETURNING r.id INTO reserve_at.receipt;
        UPDATE dp.balance b SET (period, window_start, epsilon, delta)
             = (own.period, own.window_start, own.epsilon, own.delta)
        WHERE b.kind = 'analyst' AND b.analyst = who;
        UPDATE dp.balance b SET (period, window_start, epsilon, delta)
             = (total.period, total.window_start, total.epsilon, total.delta)
        WHERE b.kind = 'total';
    END IF;
    own_epsilon := own_limit.epsilon - own.epsilon;
    own_delta := own_limit.delta - own.delta;
    total_epsilon := total_limit.epsilon - total.epsilon;
    total_delta := total_limit.delta - total.delta;
    renews_at := dp.window_end(own.period, own.window_start);
END $$;

CREATE OR REPLACE FUNCTION dp.reserve(
    who text, cost_epsilon numeric, cost_delta numeric, fingerprint text, policy_digest text,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz)
LANGUAGE sql AS $$
    SELECT * FROM dp.reserve_at(who, cost_epsilon, cost_delta, fingerprint, policy_digest,
                                transaction_timestamp())
$$;

DROP VIEW IF EXISTS dp.budget, dp.history;

-- An analyst's line and everybody's, without a lock: for display, never for a decision.
CREATE OR REPLACE FUNCTION dp.standing(who text, at timestamptz)
RETURNS TABLE (kind text, period text, epsilon_limit numeric, epsilon_spent numeric,
               delta_limit numeric, delta_spent numeric, renews_at timestamptz)
LANGUAGE sql STABLE AS $$
    SELECT l.kind, a.period, a.epsilon, w.epsilon, a.delta, w.delta,
           dp.window_end(w.period, w.window_start)
    FROM (VALUES ('analyst', who), ('total', '')) AS l(kind, analyst)
    CROSS JOIN LATERAL dp.allowance_of(l.kind, l.analyst) a
    LEFT JOIN dp.balance b ON b.kind = l.kind AND b.analyst = l.analyst
    CROSS JOIN LATERAL dp.in_window(
        coalesce(b, ROW(l.kind, l.analyst, NULL, '-infinity', 0, 0)::dp.balance), a.period, standing.at
    ) w
$$;

-- session_user, not current_user: SET ROLE and SECURITY DEFINER do not change it.
CREATE OR REPLACE FUNCTION dp.my_standing()
RETURNS TABLE (kind text, period text, epsilon_limit numeric, epsilon_spent numeric,
               delta_limit numeric, delta_spent numeric, renews_at timestamptz)
LANGUAGE sql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    SELECT * FROM dp.standing(session_user::text, transaction_timestamp())
$$;

CREATE VIEW dp.budget WITH (security_barrier) AS
SELECT CASE kind WHEN 'total' THEN '(everybody together)' ELSE session_user::text END AS analyst,
       trim_scale(epsilon_limit) AS epsilon_limit,
       trim_scale(epsilon_spent) AS epsilon_spent,
       trim_scale(greatest(epsilon_limit - epsilon_spent, 0)) AS epsilon_remaining,
       trim_scale(delta_limit) AS delta_limit,
       trim_scale(delta_spent) AS delta_spent,
       trim_scale(greatest(delta_limit - delta_spent, 0)) AS delta_remaining,
       period, renews_at
FROM dp.my_standing()
ORDER BY kind;

CREATE VIEW dp.history WITH (security_barrier) AS
SELECT r.id AS receipt, r.at, trim_scale(r.epsilon) AS epsilon, trim_scale(r.delta) AS delta,
       r.reused, coalesce(s.outcome, 'reserved') AS outcome,
       r.fingerprint AS statement, r.policy_digest AS policy
FROM dp.receipt r
LEFT JOIN dp.settlement s ON s.receipt = r.id
WHERE r.analyst = session_user::text
ORDER BY r.id;
