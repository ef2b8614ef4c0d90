-- Budgets of groups of analysts and of tables, beside those of analysts and of everybody together: each budget is a
-- line, with a kind and a name. A charge is made to all of its lines or to none. What operators add to or take from
-- a line is an adjustment. Receipts and adjustments of a source form a chain of digests.
-- The decision rule is tests/ledger_model/lines.py too.

CREATE TABLE IF NOT EXISTS ledger.membership (
    analyst bigint REFERENCES ledger.analyst,
    grp text CHECK (grp <> ''),
    PRIMARY KEY (analyst, grp)
);

-- In both tables `analyst` is the name of the line: of an analyst, a group or a table; '' of the total.
ALTER TABLE ledger.allowance
    DROP CONSTRAINT allowance_kind_check,
    DROP CONSTRAINT allowance_check,
    ADD CHECK (kind IN ('total', 'default', 'analyst', 'group', 'table')),
    ADD CHECK ((kind IN ('total', 'default')) = (analyst = ''));
ALTER TABLE ledger.balance
    DROP CONSTRAINT balance_kind_check,
    DROP CONSTRAINT balance_check,
    ADD CHECK (kind IN ('total', 'analyst', 'group', 'table')),
    ADD CHECK ((kind = 'total') = (analyst = ''));

-- shares: what groups and tables paid of it: [{"kind", "name", "epsilon", "delta"}, ...], whether they have a budget
-- or not. statement: its text, encrypted (statement_texts.py). place, digest: in the chain of the source.
ALTER TABLE ledger.receipt
    ADD COLUMN shares jsonb CHECK (jsonb_typeof(shares) = 'array'),
    ADD COLUMN statement bytea,
    ADD COLUMN place bigint,
    ADD COLUMN digest bytea;

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
    digest bytea NOT NULL
);
CREATE INDEX adjustment_of_line ON ledger.adjustment (source, kind, name, at);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.adjustment
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();

-- Which keys texts were encrypted with, the newest last; the keys are not here.
CREATE TABLE ledger.text_key (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key text NOT NULL UNIQUE CHECK (key <> ''),
    at timestamptz NOT NULL DEFAULT transaction_timestamp()
);

-- The chain. Of each source the number and the digest of the last; each digest is of the one before and of the row,
-- as it is without them. NULLs are left out, so that a column that is added later, and empty, changes no digest:
-- a migration that fills one anew makes the chain anew.
CREATE TABLE ledger.chain (
    source bigint PRIMARY KEY REFERENCES ledger.source,
    place bigint NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32)
);

CREATE FUNCTION ledger.chain_start(of_source bigint) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(format('dpproxy %s %s', i.id, of_source), 'UTF8')) FROM ledger.identity i
$$;

-- content: to_jsonb of a row, made with timezone UTC and bytea_output hex.
CREATE FUNCTION ledger.content_digest(what text, content jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(convert_to(what || ' ' || jsonb_strip_nulls(content - 'place' - 'digest')::text, 'UTF8'))
$$;

CREATE FUNCTION ledger.join_chain() RETURNS trigger LANGUAGE plpgsql SET timezone = 'UTC' SET bytea_output = 'hex'
AS $$
DECLARE
    content bytea;
BEGIN
    content := ledger.content_digest(TG_TABLE_NAME, to_jsonb(NEW));
    -- The row of the chain is locked by this and until the end, after all balances.
    INSERT INTO ledger.chain AS c (source, place, digest)
    VALUES (NEW.source, 1, sha256(ledger.chain_start(NEW.source) || content))
    ON CONFLICT (source) DO UPDATE SET (place, digest) = (c.place + 1, sha256(c.digest || content))
    RETURNING c.place, c.digest INTO NEW.place, NEW.digest;
    RETURN NEW;
END $$;

-- Receipts of earlier versions, as they stand: in the order of their numbers.
DO $$
DECLARE
    one ledger.receipt;
    content bytea;
    new_place bigint;
    new_digest bytea;
BEGIN
    PERFORM set_config('timezone', 'UTC', true), set_config('bytea_output', 'hex', true);
    ALTER TABLE ledger.receipt DISABLE TRIGGER append_only;
    FOR one IN SELECT * FROM ledger.receipt ORDER BY id LOOP
        content := ledger.content_digest('receipt', to_jsonb(one));
        INSERT INTO ledger.chain AS c (source, place, digest)
        VALUES (one.source, 1, sha256(ledger.chain_start(one.source) || content))
        ON CONFLICT (source) DO UPDATE SET (place, digest) = (c.place + 1, sha256(c.digest || content))
        RETURNING c.place, c.digest INTO new_place, new_digest;
        UPDATE ledger.receipt r SET (place, digest) = (new_place, new_digest) WHERE r.id = one.id;
    END LOOP;
    ALTER TABLE ledger.receipt ENABLE TRIGGER append_only;
END $$;
ALTER TABLE ledger.receipt ALTER COLUMN place SET NOT NULL, ALTER COLUMN digest SET NOT NULL;
CREATE TRIGGER join_chain BEFORE INSERT ON ledger.receipt FOR EACH ROW EXECUTE FUNCTION ledger.join_chain();
CREATE TRIGGER join_chain BEFORE INSERT ON ledger.adjustment FOR EACH ROW EXECUTE FUNCTION ledger.join_chain();

-- What of a chain does not fit. Whoever may write all of this can make it fit: the mark beside the ledger cannot.
CREATE FUNCTION ledger.chain_faults(of_source bigint) RETURNS TABLE (fault text)
LANGUAGE sql STABLE SET timezone = 'UTC' SET bytea_output = 'hex' AS $$
    WITH each AS (
        SELECT 'receipt' AS what, r.id, r.place, r.digest, ledger.content_digest('receipt', to_jsonb(r)) AS content
        FROM ledger.receipt r WHERE r.source = of_source
        UNION ALL
        SELECT 'adjustment', a.id, a.place, a.digest, ledger.content_digest('adjustment', to_jsonb(a))
        FROM ledger.adjustment a WHERE a.source = of_source
    ), linked AS (
        SELECT e.*, lag(e.place, 1, 0::bigint) OVER w AS place_before,
               lag(e.digest, 1, ledger.chain_start(of_source)) OVER w AS digest_before
        FROM each e WINDOW w AS (ORDER BY e.place, e.what, e.id)
    ), last AS (
        SELECT coalesce(max(e.place), 0) AS place,
               coalesce((array_agg(e.digest ORDER BY e.place DESC))[1], ledger.chain_start(of_source)) AS digest
        FROM each e
    ), head AS (
        SELECT coalesce(max(c.place), 0) AS place, (array_agg(c.digest))[1] AS digest
        FROM ledger.chain c WHERE c.source = of_source
    )
    SELECT CASE
        WHEN l.place > l.place_before + 1 THEN
            format('missing from the chain: %s before %s %s', l.place - l.place_before - 1, l.what, l.id)
        WHEN l.place < l.place_before + 1 THEN format('%s %s was put into the chain', l.what, l.id)
        ELSE format('%s %s, or what stands before it, is not what was written', l.what, l.id) END
    FROM linked l
    WHERE l.place <> l.place_before + 1 OR l.digest <> sha256(l.digest_before || l.content)
    UNION ALL
    SELECT CASE WHEN h.place > t.place THEN format('missing from the end of the chain: %s', h.place - t.place)
                ELSE 'the end of the chain is not what was written' END
    FROM head h, last t
    WHERE h.place <> t.place OR coalesce(h.digest, ledger.chain_start(of_source)) <> t.digest
$$;

-- A line without a limit (a group or a table of which the policy says nothing) has NULLs.
CREATE OR REPLACE FUNCTION ledger.allowance_of(of_source bigint, of_kind text, of_analyst text)
RETURNS ledger.allowance LANGUAGE plpgsql STABLE AS $$
DECLARE
    one ledger.allowance;
BEGIN
    SELECT * INTO one FROM ledger.allowance a
    WHERE a.source = of_source
      AND CASE of_kind WHEN 'analyst' THEN a.kind = 'default' OR (a.kind = 'analyst' AND a.analyst = of_analyst)
          ELSE a.kind = of_kind AND a.analyst = of_analyst END
    ORDER BY a.kind LIMIT 1;  -- 'analyst' before 'default'
    IF one.source IS NULL THEN
        IF of_kind NOT IN ('group', 'table') THEN
            RAISE EXCEPTION 'the ledger has no limit for this %', of_kind;
        END IF;
        one.period := 'none';
    END IF;
    RETURN one;
END $$;

-- All that a line was charged or adjusted by since then. What a group or a table pays is a part of the charge, so
-- its price is bounded as that of the shared budget is.
CREATE FUNCTION ledger.payments(of_source bigint, of_kind text, of_name text, since timestamptz)
RETURNS TABLE (place bigint, epsilon numeric, delta numeric, rho numeric, approx_delta numeric,
               gaussian_delta numeric)
LANGUAGE sql STABLE AS $$
    SELECT r.place, r.epsilon, r.delta, p.rho, p.approx_delta, p.gaussian_delta
    FROM ledger.receipt r CROSS JOIN LATERAL ledger.price_for('analyst', r) p
    WHERE of_kind = 'analyst' AND r.source = of_source AND r.analyst = of_name AND r.at >= since
    UNION ALL
    SELECT r.place, coalesce(r.drawn_epsilon, r.epsilon), coalesce(r.drawn_delta, r.delta),
           p.rho, p.approx_delta, p.gaussian_delta
    FROM ledger.receipt r CROSS JOIN LATERAL ledger.price_for('total', r) p
    WHERE of_kind = 'total' AND r.source = of_source AND r.at >= since
    UNION ALL
    SELECT r.place, x.epsilon, x.delta, p.rho, p.approx_delta, p.gaussian_delta
    FROM ledger.receipt r CROSS JOIN LATERAL jsonb_array_elements(r.shares) s
    CROSS JOIN LATERAL (SELECT (s ->> 'epsilon')::numeric AS epsilon, (s ->> 'delta')::numeric AS delta) x
    CROSS JOIN LATERAL ledger.drawn_price(ledger.price_for('analyst', r), r.epsilon, r.delta, x.epsilon, x.delta) p
    WHERE of_kind IN ('group', 'table') AND r.source = of_source AND r.at >= since
      AND s ->> 'kind' = of_kind AND s ->> 'name' = of_name
    UNION ALL
    SELECT a.place, a.epsilon, a.delta, a.rho, a.approx_delta, 0 FROM ledger.adjustment a
    WHERE a.source = of_source AND a.kind = of_kind AND a.name = of_name AND a.at >= since
$$;

-- Their sum, never below 0 on the way: what was taken back in a window is not credit beyond what it had spent.
CREATE OR REPLACE FUNCTION ledger.spent_since(of_source bigint, kind text, analyst text, since timestamptz)
RETURNS TABLE (epsilon numeric, delta numeric, rho numeric, approx_delta numeric, gaussian_delta numeric)
LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
BEGIN
    IF EXISTS (SELECT FROM ledger.adjustment a
               WHERE a.source = of_source AND a.kind = spent_since.kind AND a.name = spent_since.analyst
                 AND a.at >= since AND (a.epsilon < 0 OR a.delta < 0 OR a.rho < 0)) THEN
        RETURN QUERY
        SELECT coalesce(sum(p.epsilon) - least(min(p.epsilon_until), 0), 0),
               coalesce(sum(p.delta) - least(min(p.delta_until), 0), 0),
               coalesce(sum(p.rho) - least(min(p.rho_until), 0), 0),
               coalesce(sum(p.approx_delta), 0), coalesce(sum(p.gaussian_delta), 0)
        FROM (SELECT x.*, sum(x.epsilon) OVER w AS epsilon_until, sum(x.delta) OVER w AS delta_until,
                     sum(x.rho) OVER w AS rho_until
              FROM ledger.payments(of_source, spent_since.kind, spent_since.analyst, since) x
              WINDOW w AS (ORDER BY x.place)) p;
    ELSE
        RETURN QUERY
        SELECT coalesce(sum(p.epsilon), 0), coalesce(sum(p.delta), 0), coalesce(sum(p.rho), 0),
               coalesce(sum(p.approx_delta), 0), coalesce(sum(p.gaussian_delta), 0)
        FROM ledger.payments(of_source, spent_since.kind, spent_since.analyst, since) p;
    END IF;
END $$;

CREATE FUNCTION ledger.groups_of(who text) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(m.grp), '{}') FROM ledger.membership m
    JOIN ledger.analyst a ON a.id = m.analyst
    WHERE a.name = who AND a.removed_at IS NULL
$$;

-- The lines of a charge, in the order in which they are always locked.
CREATE FUNCTION ledger.lines_of(who text, groups text[], tables text[])
RETURNS TABLE (kind text, name text) LANGUAGE sql IMMUTABLE AS $$
    SELECT l.kind, l.name FROM (
        SELECT 1, 'analyst', who
        UNION ALL SELECT DISTINCT 2, 'group', g FROM unnest(groups) g
        UNION ALL SELECT DISTINCT 3, 'table', t FROM unnest(tables) t
        UNION ALL SELECT 4, 'total', ''
    ) l(n, kind, name) ORDER BY l.n, l.name COLLATE "C"
$$;

CREATE FUNCTION ledger.lock_lines(of_source bigint, who text, groups text[], tables text[])
RETURNS ledger.balance[] LANGUAGE plpgsql AS $$
DECLARE
    one record;
    locked ledger.balance[] := '{}';
BEGIN
    FOR one IN SELECT l.kind, l.name FROM ledger.lines_of(who, groups, tables) l LOOP
        locked := array_append(locked, ledger.lock_balance(of_source, one.kind, one.name));
    END LOOP;
    RETURN locked;
END $$;

-- What a line is, for a message, and whether it admits a charge: exact numbers as texts.
CREATE FUNCTION ledger.line_json(spent ledger.balance, allowed ledger.allowance, epsilon numeric, delta numeric,
                                 price ledger.price, at timestamptz)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    fresh ledger.balance := spent;
    remaining record;
    ends timestamptz := ledger.window_end(spent.period, spent.window_start);
BEGIN
    fresh.epsilon := 0;
    fresh.delta := 0;
    fresh.rho := 0;
    fresh.approx_delta := 0;
    fresh.gaussian_delta := 0;
    SELECT * INTO remaining FROM ledger.left_for(spent, allowed, epsilon, delta, price);
    RETURN jsonb_build_object(
        'kind', spent.kind, 'name', spent.analyst, 'period', allowed.period,
        'epsilon_limit', allowed.epsilon::text, 'epsilon_spent', spent.epsilon::text, 'epsilon', epsilon::text,
        'delta_limit', allowed.delta::text, 'delta_spent', spent.delta::text, 'delta', delta::text,
        'rho_limit', allowed.rho::text, 'rho_spent', spent.rho::text,
        'epsilon_left', remaining.epsilon::text, 'delta_left', remaining.delta::text,
        'fits', ledger.fits(ledger.after(spent, epsilon, delta, price), allowed),
        'fits_fresh', ledger.fits(ledger.after(fresh, epsilon, delta, price), allowed),
        'window', extract(epoch FROM nullif(spent.window_start, '-infinity'))::bigint,
        'renews', extract(epoch FROM ends)::bigint, 'renews_in', ceil(extract(epoch FROM ends - at))::bigint);
END $$;

DROP FUNCTION ledger.reserve(bigint, text, numeric, numeric, jsonb, text, text);
DROP FUNCTION ledger.reserve_at(bigint, text, numeric, numeric, jsonb, text, text, timestamptz);
DROP FUNCTION ledger.charge_at(bigint, text, numeric, numeric, numeric, numeric, jsonb, text, text, timestamptz);

-- One charge: cost of the analyst, drawn of the shared budget; of_groups, of_tables: what each pays of it, by name:
-- {name: {"epsilon", "delta"}}. All lines are locked (the analyst's, groups, tables, the shared one: always in this
-- order), all limits read after that, checked, the receipt appended. receipt is NULL when refused; what is left is
-- then before the charge. Each step is a statement of its own, so that each sees what was committed before its lock.
-- lines: as line_json, of all that have a limit; with what it costs them where it was refused.
CREATE FUNCTION ledger.charge_at(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, drawn_epsilon numeric, drawn_delta numeric,
    events jsonb, fingerprint text, policy_digest text, at timestamptz,
    of_groups jsonb DEFAULT '{}', of_tables jsonb DEFAULT '{}', statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz, OUT lines jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    locked ledger.balance[];
    limits ledger.allowance[] := '{}';
    epsilons numeric[] := '{}';
    deltas numeric[] := '{}';
    prices ledger.price[] := '{}';
    price ledger.price;
    shares jsonb := '[]';
    one ledger.balance;
    allowed ledger.allowance;
    share jsonb;
    line jsonb;
    fits boolean := true;
    n integer;
BEGIN
    IF cost_epsilon < 0 OR cost_delta < 0 OR drawn_epsilon < 0 OR drawn_delta < 0
       OR cost_epsilon + cost_delta + drawn_epsilon + drawn_delta IS NULL THEN
        RAISE EXCEPTION 'a charge is not negative';
    END IF;
    price := ledger.price_of(charge_at.events, cost_epsilon, cost_delta);
    locked := ledger.lock_lines(
        charge_at.source, who, ARRAY(SELECT jsonb_object_keys(of_groups)), ARRAY(SELECT jsonb_object_keys(of_tables)));
    FOR n IN 1 .. cardinality(locked) LOOP
        one := locked[n];
        allowed := ledger.allowance_of(charge_at.source, one.kind, one.analyst);
        one := ledger.in_window(one, allowed.period, charge_at.at);
        locked[n] := one;
        limits := array_append(limits, allowed);
        IF one.kind = 'analyst' THEN
            epsilons := array_append(epsilons, cost_epsilon);
            deltas := array_append(deltas, cost_delta);
        ELSIF one.kind = 'total' THEN
            epsilons := array_append(epsilons, charge_at.drawn_epsilon);
            deltas := array_append(deltas, charge_at.drawn_delta);
        ELSE
            share := CASE one.kind WHEN 'group' THEN of_groups ELSE of_tables END -> one.analyst;
            epsilons := array_append(epsilons, (share ->> 'epsilon')::numeric);
            deltas := array_append(deltas, (share ->> 'delta')::numeric);
            IF epsilons[n] < 0 OR deltas[n] < 0 OR epsilons[n] + deltas[n] IS NULL THEN
                RAISE EXCEPTION 'a charge is not negative';
            END IF;
            shares := shares || jsonb_build_object(
                'kind', one.kind, 'name', one.analyst, 'epsilon', epsilons[n], 'delta', deltas[n]);
        END IF;
        prices := array_append(prices, CASE one.kind WHEN 'analyst' THEN price
            ELSE ledger.drawn_price(price, cost_epsilon, cost_delta, epsilons[n], deltas[n]) END);
        fits := fits AND (allowed.source IS NULL
            OR ledger.fits(ledger.after(one, epsilons[n], deltas[n], prices[n]), allowed));
    END LOOP;
    IF fits THEN
        INSERT INTO ledger.receipt AS r
            (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest, drawn_epsilon, drawn_delta,
             rho, approx_delta, gaussian_delta, shares, statement)
        VALUES (charge_at.source, charge_at.at, who, cost_epsilon, cost_delta, charge_at.events,
                charge_at.fingerprint, charge_at.policy_digest, charge_at.drawn_epsilon, charge_at.drawn_delta,
                price.rho, price.approx_delta, price.gaussian_delta, shares, charge_at.statement)
        RETURNING r.id INTO charge_at.receipt;
    END IF;
    lines := '[]';
    FOR n IN 1 .. cardinality(locked) LOOP
        one := locked[n];
        allowed := limits[n];
        IF fits THEN
            one := ledger.after(one, epsilons[n], deltas[n], prices[n]);
            UPDATE ledger.balance b SET (period, window_start, epsilon, delta, rho, approx_delta, gaussian_delta)
                 = (one.period, one.window_start, one.epsilon, one.delta, one.rho, one.approx_delta,
                    one.gaussian_delta)
            WHERE b.source = charge_at.source AND b.kind = one.kind AND b.analyst = one.analyst;
            epsilons[n] := 0;
            deltas[n] := 0;
            prices[n] := ROW(0, 0, 0)::ledger.price;
        END IF;
        CONTINUE WHEN allowed.source IS NULL;
        line := ledger.line_json(one, allowed, epsilons[n], deltas[n], prices[n], charge_at.at);
        lines := lines || line;
        IF one.kind = 'analyst' THEN
            own_epsilon := (line ->> 'epsilon_left')::numeric;
            own_delta := (line ->> 'delta_left')::numeric;
            renews_at := ledger.window_end(one.period, one.window_start);
        ELSIF one.kind = 'total' THEN
            total_epsilon := (line ->> 'epsilon_left')::numeric;
            total_delta := (line ->> 'delta_left')::numeric;
        END IF;
    END LOOP;
END $$;

-- Where nothing is cached, all is drawn, and each group pays what the analyst does. tables: as of_tables of charge_at.
CREATE FUNCTION ledger.reserve_at(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, events jsonb,
    fingerprint text, policy_digest text, at timestamptz, tables jsonb DEFAULT '{}', statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz, OUT lines jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    of_groups jsonb;
BEGIN
    SELECT coalesce(jsonb_object_agg(g, jsonb_build_object('epsilon', cost_epsilon, 'delta', cost_delta)), '{}')
    INTO of_groups FROM unnest(ledger.groups_of(who)) g;
    SELECT c.* INTO receipt, own_epsilon, own_delta, total_epsilon, total_delta, renews_at, lines
    FROM ledger.charge_at(reserve_at.source, who, cost_epsilon, cost_delta, cost_epsilon, cost_delta,
                          reserve_at.events, reserve_at.fingerprint, reserve_at.policy_digest, reserve_at.at,
                          of_groups, tables, reserve_at.statement) c;
END $$;

CREATE FUNCTION ledger.reserve(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, events jsonb,
    fingerprint text, policy_digest text, tables jsonb DEFAULT '{}', statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz, OUT lines jsonb)
LANGUAGE sql AS $$
    SELECT * FROM ledger.reserve_at(source, who, cost_epsilon, cost_delta, events, fingerprint,
                                    policy_digest, transaction_timestamp(), tables, statement)
$$;

-- Without a lock: for display, never for a decision; with what a statement would cost it.
CREATE FUNCTION ledger.line_at(
    of_source bigint, of_kind text, of_name text, at timestamptz,
    cost_epsilon numeric DEFAULT 0, cost_delta numeric DEFAULT 0, price ledger.price DEFAULT ROW(0, 0, 0))
RETURNS TABLE (kind text, name text, period text, epsilon_limit numeric, epsilon_spent numeric,
               delta_limit numeric, delta_spent numeric, rho_limit numeric, rho_spent numeric,
               epsilon_left numeric, delta_left numeric, renews_at timestamptz, line jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    allowed ledger.allowance := ledger.allowance_of(of_source, of_kind, of_name);
    one ledger.balance;
    made jsonb;
BEGIN
    SELECT * INTO one FROM ledger.balance b
    WHERE b.source = of_source AND b.kind = of_kind AND b.analyst = of_name;
    one.source := of_source;
    one.kind := of_kind;
    one.analyst := of_name;
    one.window_start := coalesce(one.window_start, '-infinity');
    one := ledger.in_window(one, allowed.period, line_at.at);
    made := ledger.line_json(one, allowed, cost_epsilon, cost_delta, price, line_at.at);
    RETURN QUERY SELECT of_kind, of_name, allowed.period, allowed.epsilon, one.epsilon, allowed.delta, one.delta,
                        allowed.rho, one.rho, greatest((made ->> 'epsilon_left')::numeric, 0),
                        greatest((made ->> 'delta_left')::numeric, 0),
                        ledger.window_end(one.period, one.window_start), made;
END $$;

-- Those that an analyst's statements are charged to, and that have a limit. tables: as of_tables of charge_at; NULL:
-- all tables, for nothing.
CREATE FUNCTION ledger.lines_at(
    of_source bigint, who text, tables jsonb, at timestamptz,
    cost_epsilon numeric DEFAULT 0, cost_delta numeric DEFAULT 0, events jsonb DEFAULT '[]')
RETURNS TABLE (kind text, name text, period text, epsilon_limit numeric, epsilon_spent numeric,
               delta_limit numeric, delta_spent numeric, rho_limit numeric, rho_spent numeric,
               epsilon_left numeric, delta_left numeric, renews_at timestamptz, line jsonb)
LANGUAGE sql AS $$
    SELECT x.* FROM ledger.price_of(events, cost_epsilon, cost_delta) whole
    CROSS JOIN LATERAL ledger.lines_of(who, ledger.groups_of(who), CASE WHEN tables IS NULL THEN ARRAY(
        SELECT a.analyst FROM ledger.allowance a WHERE a.source = of_source AND a.kind = 'table')
        ELSE ARRAY(SELECT jsonb_object_keys(tables)) END) l
    CROSS JOIN LATERAL (
        SELECT CASE l.kind WHEN 'table' THEN coalesce((tables -> l.name ->> 'epsilon')::numeric, 0)
               ELSE cost_epsilon END AS epsilon,
               CASE l.kind WHEN 'table' THEN coalesce((tables -> l.name ->> 'delta')::numeric, 0)
               ELSE cost_delta END AS delta) c
    CROSS JOIN LATERAL ledger.line_at(
        of_source, l.kind, l.name, lines_at.at, c.epsilon, c.delta,
        ledger.drawn_price(whole, cost_epsilon, cost_delta, c.epsilon, c.delta)) x
    WHERE x.epsilon_limit IS NOT NULL
$$;

-- What an operator adds to a line, or takes from it: an event with a reason. It never takes more than is spent. What
-- is added counts under zCDP as a mechanism that may fail; of what is taken nobody knows the rho: none is, if none is
-- given.
CREATE FUNCTION ledger.adjust_at(
    source bigint, of_kind text, of_name text, by_epsilon numeric, by_delta numeric, reason text, made_by text,
    at timestamptz, by_rho numeric DEFAULT NULL, OUT adjustment bigint, OUT epsilon numeric, OUT delta numeric)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    one ledger.balance;
    more ledger.balance;
    price ledger.price := ROW(coalesce(by_rho, ledger.rho_bound(greatest(by_epsilon, 0))), greatest(by_delta, 0), 0);
BEGIN
    one := ledger.lock_balance(adjust_at.source, of_kind, of_name);
    one := ledger.in_window(one, (ledger.allowance_of(adjust_at.source, of_kind, of_name)).period, adjust_at.at);
    more := ledger.after(one, by_epsilon, by_delta, price);
    IF more.epsilon >= 0 AND more.delta >= 0 AND more.rho >= 0 THEN
        INSERT INTO ledger.adjustment AS a
            (source, at, kind, name, epsilon, delta, rho, approx_delta, reason, made_by)
        VALUES (adjust_at.source, greatest(adjust_at.at, one.window_start), of_kind, of_name, by_epsilon, by_delta,
                price.rho, price.approx_delta, adjust_at.reason, adjust_at.made_by)
        RETURNING a.id INTO adjust_at.adjustment;
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta, rho, approx_delta, gaussian_delta)
             = (more.period, more.window_start, more.epsilon, more.delta, more.rho, more.approx_delta,
                more.gaussian_delta)
        WHERE b.source = adjust_at.source AND b.kind = of_kind AND b.analyst = of_name;
        one := more;
    END IF;
    adjust_at.epsilon := one.epsilon;  -- where nothing is done, what is spent is told
    adjust_at.delta := one.delta;
END $$;

-- Amounts by name, with one more.
CREATE FUNCTION ledger.plus(known jsonb, name text, epsilon numeric, delta numeric) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT known || jsonb_build_object(name, jsonb_build_object(
        'epsilon', coalesce((known -> name ->> 'epsilon')::numeric, 0) + epsilon,
        'delta', coalesce((known -> name ->> 'delta')::numeric, 0) + delta))
$$;

-- As before (0002), with lines of groups and tables: a part has "tables" too, of which each pays what is drawn of it.
-- A group pays for what a member newly pays for, once for all of them.
DROP FUNCTION ledger.claim(bigint, text, jsonb, uuid, boolean, integer, integer, integer, bigint, text, text);
DROP FUNCTION ledger.claim_at(bigint, text, jsonb, uuid, boolean, integer, integer, integer, bigint, text, text,
                              timestamptz);
CREATE FUNCTION ledger.claim_at(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint, fingerprint text, policy_digest text,
    at timestamptz, statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric,
    OUT lines jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    part jsonb;
    one ledger.cached;
    charged record;
    viewer text := ledger.viewer_of(who);
    slot timestamptz := ledger.slot_start(slot_seconds, slot_offset, claim_at.at);
    started timestamptz := pg_postmaster_start_time();
    lease timestamptz := claim_at.at + make_interval(secs => lease_seconds);
    is_full boolean := pg_total_relation_size('ledger.cached') > most_bytes;
    found_states text[] := '{}';
    found_cached bigint[] := '{}';
    found_relations text[] := '{}';
    state text;
    is_seen boolean;
    cost_epsilon numeric;
    cost_delta numeric;
    drawn_epsilon numeric := 0;
    drawn_delta numeric := 0;
    charged_events jsonb := '[]';
    groups text[] := ledger.groups_of(who);
    paying text;
    is_new boolean[] := '{}';  -- to the analyst
    of_groups jsonb := '{}';
    of_tables jsonb := '{}';
    place integer;
    new_cached bigint;
BEGIN
    -- The shared one among them, so all claims of a source come one after another.
    PERFORM ledger.lock_lines(claim_at.source, who, groups,
                              ARRAY(SELECT jsonb_array_elements_text(p -> 'tables') FROM jsonb_array_elements(parts) p));
    paid_epsilon := 0;
    paid_delta := 0;
    FOR part IN SELECT p FROM jsonb_array_elements(parts) WITH ORDINALITY AS p(p, n) ORDER BY n LOOP
        cost_epsilon := (part ->> 'epsilon')::numeric;
        cost_delta := (part ->> 'delta')::numeric;
        IF cost_epsilon IS NULL OR cost_delta IS NULL OR cost_epsilon < 0 OR cost_delta < 0 THEN
            RAISE EXCEPTION 'a charge is not negative';
        END IF;
        one := NULL;
        is_seen := false;
        IF part ->> 'digest' IS NULL THEN
            state := 'apart';
        ELSE
            SELECT k.* INTO one FROM ledger.cached k
            WHERE k.source = claim_at.source AND k.slot = slot AND k.digest = decode(part ->> 'digest', 'hex');
            IF one.id IS NULL THEN
                state := CASE WHEN is_full THEN 'apart' ELSE 'draw' END;
            ELSIF one.question <> part ->> 'question' OR one.terms <> part ->> 'terms' THEN
                state := 'apart';
                one := NULL;
            ELSIF one.relation IS NOT NULL THEN
                state := 'ready';
            ELSIF one.started <> started THEN
                state := 'again';
            ELSIF one.lease_until > claim_at.at THEN
                state := 'wait';
            ELSE
                state := CASE WHEN one.draws < 3 THEN 'take' ELSE 'again' END;
            END IF;
            IF one.id IS NOT NULL AND state <> 'again' THEN
                is_seen := EXISTS (SELECT FROM ledger.seen s WHERE s.cached = one.id AND s.viewer = viewer);
            END IF;
        END IF;
        IF NOT is_seen THEN
            paid_epsilon := paid_epsilon + cost_epsilon;
            paid_delta := paid_delta + cost_delta;
            charged_events := charged_events || (part -> 'events');
            FOREACH paying IN ARRAY groups LOOP
                IF one.id IS NULL OR state = 'again' OR NOT EXISTS (
                    SELECT FROM ledger.seen s WHERE s.cached = one.id AND s.viewer = 'group ' || paying) THEN
                    of_groups := ledger.plus(of_groups, paying, cost_epsilon, cost_delta);
                END IF;
            END LOOP;
        END IF;
        IF state IN ('draw', 'again', 'apart') THEN
            drawn_epsilon := drawn_epsilon + cost_epsilon;
            drawn_delta := drawn_delta + cost_delta;
            FOR paying IN SELECT jsonb_array_elements_text(part -> 'tables') LOOP
                of_tables := ledger.plus(of_tables, paying, cost_epsilon, cost_delta);
            END LOOP;
        END IF;
        is_new := is_new || NOT is_seen;
        found_states := found_states || state;
        found_cached := found_cached || one.id;
        found_relations := found_relations || CASE WHEN state = 'ready' THEN one.relation END;
    END LOOP;
    IF NOT may_draw AND found_states && ARRAY['draw', 'again', 'take', 'apart'] THEN
        RETURN;
    END IF;
    IF paid_epsilon > 0 OR paid_delta > 0 THEN
        SELECT * INTO charged FROM ledger.charge_at(
            claim_at.source, who, paid_epsilon, paid_delta, drawn_epsilon, drawn_delta,
            charged_events, claim_at.fingerprint, claim_at.policy_digest, claim_at.at, of_groups, of_tables,
            claim_at.statement);
        receipt := charged.receipt;
        own_epsilon := charged.own_epsilon;
        own_delta := charged.own_delta;
        total_epsilon := charged.total_epsilon;
        total_delta := charged.total_delta;
        renews_at := charged.renews_at;
        lines := charged.lines;
        IF receipt IS NULL THEN
            states := '{}';
            RETURN;
        END IF;
    ELSE
        -- Nothing is charged, so nothing has to reach the disk first.
        PERFORM set_config('synchronous_commit', 'off', true);
        SELECT coalesce(jsonb_agg(l.line), '[]') INTO lines
        FROM ledger.lines_at(claim_at.source, who, '{}', claim_at.at) l;
    END IF;
    FOR place IN 1 .. cardinality(found_states) LOOP
        part := parts -> (place - 1);
        state := found_states[place];
        IF state = 'again' THEN
            DELETE FROM ledger.cached k WHERE k.id = found_cached[place];
        END IF;
        IF state IN ('draw', 'again') THEN
            new_cached := NULL;
            INSERT INTO ledger.cached AS k (source, slot, digest, question, terms, about, made, epsilon, delta,
                                            receipt, started, holder, lease_until)
            VALUES (claim_at.source, slot, decode(part ->> 'digest', 'hex'), part ->> 'question',
                    part ->> 'terms', decode(part ->> 'about', 'hex'), nullif(part -> 'made', 'null'),
                    (part ->> 'epsilon')::numeric, (part ->> 'delta')::numeric,
                    receipt, started, holder, lease)
            ON CONFLICT DO NOTHING
            RETURNING k.id INTO new_cached;
            found_cached[place] := new_cached;
        ELSIF state = 'take' THEN
            UPDATE ledger.cached k SET (holder, lease_until, draws) = (claim_at.holder, lease, k.draws + 1)
            WHERE k.id = found_cached[place];
        END IF;
        IF state IN ('draw', 'again', 'take') THEN
            found_states[place] := 'draw';
        END IF;
        IF found_cached[place] IS NULL THEN
            found_states[place] := 'apart';  -- also twice in one statement: each is drawn, each was charged
        ELSE
            INSERT INTO ledger.seen (cached, viewer, at) VALUES (found_cached[place], viewer, claim_at.at)
            ON CONFLICT DO NOTHING;
            IF is_new[place] THEN  -- what a member brought into a group is not the group's
                INSERT INTO ledger.seen (cached, viewer, at)
                SELECT found_cached[place], 'group ' || g, claim_at.at FROM unnest(groups) g
                ON CONFLICT DO NOTHING;
            END IF;
        END IF;
    END LOOP;
    states := found_states;
    cached := found_cached;
    relations := found_relations;
END $$;

CREATE FUNCTION ledger.claim(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint, fingerprint text, policy_digest text,
    statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric,
    OUT lines jsonb)
LANGUAGE sql AS $$
    SELECT * FROM ledger.claim_at(source, who, parts, holder, may_draw, lease_seconds, slot_seconds, slot_offset,
                                  most_bytes, fingerprint, policy_digest, transaction_timestamp(), statement)
$$;
