-- Who may be charged, and the decision of a charge (tests/ledger_model has it too).

-- The decision, at each charge and at each connection. A charge to an account that is no analyst's, which only
-- commands of the operator make, is nobody's query.
CREATE OR REPLACE FUNCTION ledger.may_query(of_source bigint, who text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT NOT EXISTS (SELECT FROM ledger.restricted r WHERE r.source = of_source)
        OR (who LIKE '(%)' AND NOT EXISTS (SELECT FROM ledger.analyst a WHERE a.name = who))
        OR EXISTS (
            SELECT FROM ledger.analyst a JOIN ledger.access c ON c.source = of_source
            WHERE a.name = who AND a.removed_at IS NULL
              AND (c.analyst = a.id OR EXISTS (SELECT FROM ledger.membership m
                                               WHERE m.analyst = a.id AND m.grp = c.grp)))
$$;

-- Whoever was removed charges nothing, nor who may not query this data. Names that were never an analyst's may.
CREATE OR REPLACE FUNCTION ledger.may_charge(of_source bigint, who text) RETURNS boolean LANGUAGE sql STABLE AS $$
    SELECT (NOT EXISTS (SELECT FROM ledger.analyst a WHERE a.name = who)
            OR EXISTS (SELECT FROM ledger.analyst a WHERE a.name = who AND a.removed_at IS NULL))
       AND ledger.may_query(of_source, who)
$$;

-- In the statement of the charge, after it: what raises here undoes the charge with it. Gives what is left of the
-- token; NULL where it has no limit of its own, or nothing was charged. The token's row is locked after the balances.
-- A window begins with the first charge in it, and none begins again when a clock goes back.
CREATE OR REPLACE FUNCTION ledger.spend_token(of_token bigint, of_source bigint, who text, of_receipt bigint, cost numeric)
RETURNS numeric LANGUAGE plpgsql AS $$
DECLARE
    one ledger.token;
    at timestamptz := transaction_timestamp();
    remaining numeric;
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
    at := greatest(at, one.window_start);
    IF ledger.window_start(one.period, at) > one.window_start THEN
        one.window_start := ledger.window_start(one.period, at);
        one.spent_before := one.spent;
    END IF;
    remaining := one.epsilon - (one.spent - one.spent_before) - cost;
    IF remaining < 0 THEN
        RAISE EXCEPTION USING
            ERRCODE = 'DPT02', MESSAGE = 'the token''s epsilon is spent',
            DETAIL = jsonb_build_object(
                'left', trim_scale(remaining + cost)::text, 'fits_fresh', cost <= one.epsilon,
                'renews_at', ledger.window_end(one.period, one.window_start),
                'renews_in', ceil(extract(epoch FROM ledger.window_end(one.period, one.window_start) - at))::bigint);
    END IF;
    UPDATE ledger.token t
    SET spent = t.spent + cost, spent_before = one.spent_before, window_start = one.window_start
    WHERE t.id = of_token;
    INSERT INTO ledger.token_charge (receipt, token, epsilon, at) VALUES (of_receipt, of_token, cost, at);
    RETURN remaining;
END $$;

-- Amounts by name, with one more.
CREATE OR REPLACE FUNCTION ledger.plus(known jsonb, name text, epsilon numeric, delta numeric) RETURNS jsonb
LANGUAGE sql IMMUTABLE AS $$
    SELECT known || jsonb_build_object(name, jsonb_build_object(
        'epsilon', coalesce((known -> name ->> 'epsilon')::numeric, 0) + epsilon,
        'delta', coalesce((known -> name ->> 'delta')::numeric, 0) + delta))
$$;

-- A group pays what its member does.
CREATE OR REPLACE FUNCTION ledger.shares_of_groups(groups text[], epsilon numeric, delta numeric) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF groups = '{}' THEN
        RETURN '{}';
    END IF;
    RETURN (SELECT jsonb_object_agg(g, jsonb_build_object('epsilon', epsilon, 'delta', delta)) FROM unnest(groups) g);
END $$;

-- Which groups pay for who charges: may_charge and groups_of, in one statement for most. NULL of who may not charge.
CREATE OR REPLACE FUNCTION ledger.groups_that_pay(of_source bigint, who text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
DECLARE
    groups text[];
    is_restricted boolean;
BEGIN
    SELECT ARRAY(SELECT m.grp FROM ledger.membership m WHERE m.analyst = a.id),
           EXISTS (SELECT FROM ledger.restricted r WHERE r.source = of_source)
    INTO groups, is_restricted
    FROM ledger.analyst a WHERE a.name = who AND a.removed_at IS NULL;
    IF is_restricted IS DISTINCT FROM false AND ledger.may_charge(of_source, who) IS NOT TRUE THEN
        RETURN NULL;
    END IF;
    RETURN coalesce(groups, '{}');
END $$;

-- Charges that come together are charged in one transaction, one after another, each by itself: admitted or refused
-- as it would be alone in this order. All lines of all of them are locked first, in the order in which they are always
-- locked, so that no two transactions wait for each other; each line is read once and written once. What raises undoes
-- all of them. All lines are locked, all limits read after that; then one charge after another
-- is checked against what is spent with those before it; then all receipts are appended, in the order of the charges.
-- Each step is a statement of its own, so that each sees what was committed before its lock. What it gives of each,
-- in their order: receipt, NULL when refused; lines: as line_json, of all that have a limit, with what it costs them
-- where it was refused, and as it is after the charge where not.
CREATE OR REPLACE FUNCTION ledger.charge_each(of_source bigint, charges ledger.charge[], at timestamptz)
RETURNS TABLE (place integer, receipt bigint, lines jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    -- Of each line, in the order of the locks:
    spent ledger.balance[];
    limits ledger.allowance[];
    is_charged boolean[];
    -- Of each line of one charge:
    mine integer[];
    epsilons numeric[];
    deltas numeric[];
    prices ledger.price[];
    afters ledger.balance[];
    -- Of each charge:
    is_admitted boolean[] := '{}';
    wholes ledger.price[] := '{}';
    shares jsonb[] := '{}';
    moments timestamptz[] := '{}';
    found_lines jsonb[] := '{}';
    asked ledger.charge;
    one ledger.balance;
    after ledger.balance;
    allowed ledger.allowance;
    whole ledger.price;
    price ledger.price;
    nothing CONSTANT ledger.price := ROW(0, 0, 0);
    share jsonb;
    moment timestamptz;
    paid jsonb[];
    told jsonb[];
    fits boolean;
    epsilon numeric;
    delta numeric;
    all_analysts jsonb := '{}';
    all_groups jsonb := '{}';
    all_tables jsonb := '{}';
    written ledger.balance[] := '{}';
BEGIN
    FOR n IN 1 .. cardinality(charges) LOOP
        IF ledger.is_of_blocks(ledger.names_in(charges[n].of_tables)) THEN
            charges[n].drawn_epsilon := 0;
            charges[n].drawn_delta := 0;
        END IF;
    END LOOP;
    FOREACH asked IN ARRAY charges LOOP
        all_analysts := all_analysts || jsonb_build_object(asked.who, NULL);
        all_groups := all_groups || asked.of_groups;
        all_tables := all_tables || asked.of_tables;
        IF asked.cost_epsilon < 0 OR asked.cost_delta < 0 OR asked.drawn_epsilon < 0 OR asked.drawn_delta < 0
           OR asked.cost_epsilon + asked.cost_delta + asked.drawn_epsilon + asked.drawn_delta IS NULL THEN
            RAISE EXCEPTION 'a charge is not negative';
        END IF;
    END LOOP;
    spent := ledger.lock_lines_of_all(
        of_source, ledger.names_in(all_analysts), ledger.names_in(all_groups), ledger.names_in(all_tables));
    limits := ledger.allowances_of(of_source, spent);
    is_charged := array_fill(false, ARRAY[cardinality(spent)]);
    FOR n IN 1 .. cardinality(spent) LOOP
        allowed := limits[n];
        one := spent[n];
        IF allowed.source IS NULL THEN
            -- Of a block of time there must be one. It has none any more where a policy names other blocks.
            IF one.kind = 'table' AND ledger.is_of_blocks(ARRAY[one.analyst]) THEN
                RAISE EXCEPTION 'the ledger has no limit for this block';
            END IF;
            allowed := ledger.allowance_of(of_source, one.kind, one.analyst);  -- of this line there must be one, or none
            limits[n] := allowed;
        END IF;
        IF one.period IS DISTINCT FROM allowed.period
           OR ledger.window_start(allowed.period, at) > one.window_start THEN
            spent[n] := ledger.in_window(one, allowed.period, at);
        END IF;
    END LOOP;
    FOREACH asked IN ARRAY charges LOOP
        whole := ledger.price_of(asked.events, asked.cost_epsilon, asked.cost_delta);
        mine := '{}';
        epsilons := '{}';
        deltas := '{}';
        prices := '{}';
        afters := '{}';
        paid := '{}';
        moment := at;
        fits := true;
        FOR n IN 1 .. cardinality(spent) LOOP
            one := spent[n];
            price := whole;
            IF one.kind = 'analyst' THEN
                CONTINUE WHEN one.analyst <> asked.who;
                epsilon := asked.cost_epsilon;
                delta := asked.cost_delta;
            ELSIF one.kind = 'total' THEN
                epsilon := asked.drawn_epsilon;
                delta := asked.drawn_delta;
                price := ledger.drawn_price(whole, asked.cost_epsilon, asked.cost_delta, epsilon, delta);
            ELSE
                share := CASE one.kind WHEN 'group' THEN asked.of_groups ELSE asked.of_tables END -> one.analyst;
                CONTINUE WHEN share IS NULL;
                epsilon := share ->> 'epsilon';
                delta := share ->> 'delta';
                IF epsilon < 0 OR delta < 0 OR epsilon + delta IS NULL THEN
                    RAISE EXCEPTION 'a charge is not negative';
                END IF;
                price := ledger.drawn_price(whole, asked.cost_epsilon, asked.cost_delta, epsilon, delta);
                paid := array_append(paid, jsonb_build_object(
                    'kind', one.kind, 'name', one.analyst, 'epsilon', epsilon, 'delta', delta));
            END IF;
            allowed := limits[n];
            after := ledger.after(one, epsilon, delta, price);
            fits := fits AND (allowed.source IS NULL OR ledger.fits(after, allowed));
            -- A clock that goes back opens no window anew: what is charged in one is not of before it.
            moment := greatest(moment, after.window_start);
            mine := array_append(mine, n);
            epsilons := array_append(epsilons, epsilon);
            deltas := array_append(deltas, delta);
            prices := array_append(prices, price);
            afters := array_append(afters, after);
        END LOOP;
        told := '{}';
        FOR i IN 1 .. cardinality(mine) LOOP
            allowed := limits[mine[i]];
            IF fits THEN
                one := afters[i];
                spent[mine[i]] := one;
                is_charged[mine[i]] := true;
                CONTINUE WHEN allowed.source IS NULL;
                told := array_append(told, ledger.line_json(one, allowed, 0, 0, nothing, at));
            ELSE
                CONTINUE WHEN allowed.source IS NULL;
                told := array_append(
                    told, ledger.line_json(spent[mine[i]], allowed, epsilons[i], deltas[i], prices[i], at));
            END IF;
        END LOOP;
        is_admitted := array_append(is_admitted, fits);
        wholes := array_append(wholes, whole);
        shares := array_append(shares, to_jsonb(paid));
        moments := array_append(moments, moment);
        found_lines := array_append(found_lines, to_jsonb(told));
    END LOOP;
    FOR n IN 1 .. cardinality(spent) LOOP
        IF is_charged[n] THEN
            written := array_append(written, spent[n]);
        END IF;
    END LOOP;
    UPDATE ledger.balance b SET (period, window_start, epsilon, delta, rho, approx_delta, gaussian_delta)
         = (w.period, w.window_start, w.epsilon, w.delta, w.rho, w.approx_delta, w.gaussian_delta)
    FROM unnest(written) w
    WHERE b.source = of_source AND b.kind = w.kind AND b.analyst = w.analyst;
    FOR n IN 1 .. cardinality(charges) LOOP
        place := n;
        receipt := NULL;
        IF is_admitted[n] THEN
            asked := charges[n];
            whole := wholes[n];
            INSERT INTO ledger.receipt AS r
                (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest, drawn_epsilon, drawn_delta,
                 rho, approx_delta, gaussian_delta, shares, statement)
            VALUES (of_source, moments[n], asked.who, asked.cost_epsilon, asked.cost_delta, asked.events,
                    asked.fingerprint, asked.policy_digest, asked.drawn_epsilon, asked.drawn_delta,
                    whole.rho, whole.approx_delta, whole.gaussian_delta, shares[n], asked.statement)
            RETURNING r.id INTO receipt;
        END IF;
        lines := found_lines[n];
        RETURN NEXT;
    END LOOP;
END $$;

-- A charge alone: by the same rule.
CREATE OR REPLACE FUNCTION ledger.charge_at(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, drawn_epsilon numeric, drawn_delta numeric,
    events jsonb, fingerprint text, policy_digest text, at timestamptz,
    of_groups jsonb DEFAULT '{}', of_tables jsonb DEFAULT '{}', statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz, OUT lines jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    line jsonb;
BEGIN
    SELECT c.receipt, c.lines INTO receipt, lines
    FROM ledger.charge_each(charge_at.source, ARRAY[ROW(
        who, cost_epsilon, cost_delta, charge_at.drawn_epsilon, charge_at.drawn_delta, charge_at.events,
        charge_at.fingerprint, charge_at.policy_digest, of_groups, of_tables, charge_at.statement
    )::ledger.charge], charge_at.at) c;
    line := lines -> 0;  -- of the analyst; both have a limit
    own_epsilon := line ->> 'epsilon_left';
    own_delta := line ->> 'delta_left';
    renews_at := to_timestamp((line ->> 'renews')::bigint);
    line := lines -> -1;  -- of everybody together
    total_epsilon := line ->> 'epsilon_left';
    total_delta := line ->> 'delta_left';
END $$;

-- Where nothing is cached, all is drawn, and each group pays what the analyst does. tables: as of_tables of charge_at.
CREATE OR REPLACE FUNCTION ledger.reserve_at(
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

-- One charge of who may query the data by then, through a token or without one. Of who may not nothing is charged.
CREATE OR REPLACE FUNCTION ledger.reserve_one(
    of_source bigint, who text, through bigint, epsilon numeric, delta numeric, events jsonb,
    fingerprint text, policy_digest text, tables jsonb, statement bytea,
    OUT may_ask boolean, OUT receipt bigint, OUT lines jsonb)
LANGUAGE plpgsql AS $$
DECLARE
    groups text[] := ledger.groups_that_pay(of_source, who);
BEGIN
    may_ask := groups IS NOT NULL;
    IF NOT may_ask THEN
        RETURN;
    END IF;
    SELECT c.receipt, c.lines INTO receipt, lines
    FROM ledger.charge_each(of_source, ARRAY[ROW(
        who, epsilon, delta, epsilon, delta, events, fingerprint, policy_digest,
        ledger.shares_of_groups(groups, epsilon, delta), tables, statement)::ledger.charge],
        transaction_timestamp()) c;
    PERFORM ledger.spend_token(through, of_source, who, receipt, epsilon);  -- it may raise, which undoes the charge
END $$;

-- Several charges, each of who may query the data by then. charges: [{"who", "epsilon", "delta", "events",
-- "fingerprint", "policy", "tables"}, ...]; statements: of each, in the same order. Of who may not nothing is charged.
CREATE OR REPLACE FUNCTION ledger.reserve_each(of_source bigint, charges jsonb, statements bytea[])
RETURNS TABLE (place integer, who text, may_ask boolean, receipt bigint, lines jsonb) LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    askers text[];
    paying jsonb;
    places integer[];
    made ledger.charge[];
BEGIN
    SELECT array_agg(a.who), jsonb_object_agg(a.who, ledger.groups_of(a.who)) INTO askers, paying
    FROM (SELECT DISTINCT c ->> 'who' AS who FROM jsonb_array_elements(charges) c) a
    WHERE ledger.may_charge(of_source, a.who);
    SELECT array_agg(c.n ORDER BY c.n), array_agg(ROW(
        c.one ->> 'who', (c.one ->> 'epsilon')::numeric, (c.one ->> 'delta')::numeric,
        (c.one ->> 'epsilon')::numeric, (c.one ->> 'delta')::numeric, c.one -> 'events',
        c.one ->> 'fingerprint', c.one ->> 'policy',
        coalesce((SELECT jsonb_object_agg(g, jsonb_build_object('epsilon', c.one -> 'epsilon', 'delta', c.one -> 'delta'))
                  FROM jsonb_array_elements_text(paying -> (c.one ->> 'who')) g), '{}'),
        c.one -> 'tables', statements[c.n])::ledger.charge ORDER BY c.n)
    INTO places, made
    FROM jsonb_array_elements(charges) WITH ORDINALITY AS c(one, n) WHERE c.one ->> 'who' = ANY (askers);
    RETURN QUERY
    SELECT g.n::integer, g.one ->> 'who', false, NULL::bigint, NULL::jsonb
    FROM jsonb_array_elements(charges) WITH ORDINALITY AS g(one, n) WHERE g.n <> ALL (coalesce(places, '{}'));
    IF made IS NOT NULL THEN
        RETURN QUERY
        SELECT places[e.place], made[e.place].who, true, e.receipt, e.lines
        FROM ledger.charge_each(of_source, made, transaction_timestamp()) e;
    END IF;
END $$;
