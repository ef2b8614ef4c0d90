-- Charges that come together are charged in one transaction, one after another, each by itself: admitted or refused
-- as it would be alone in this order. All lines of all of them are locked first, in the order in which they are always
-- locked, so that no two transactions wait for each other; each line is read once and written once.
-- What raises undoes all of them.

-- As charge_at has it (0004).
CREATE TYPE ledger.charge AS (
    who text, cost_epsilon numeric, cost_delta numeric, drawn_epsilon numeric, drawn_delta numeric,
    events jsonb, fingerprint text, policy_digest text, of_groups jsonb, of_tables jsonb, statement bytea
);

-- As lines_of (0004), of several analysts: in the order in which they are always locked.
CREATE FUNCTION ledger.lines_of_all(analysts text[], groups text[], tables text[])
RETURNS TABLE (kind text, name text) LANGUAGE sql IMMUTABLE AS $$
    SELECT l.kind, l.name FROM (
        SELECT DISTINCT 1, 'analyst', a FROM unnest(analysts) a
        UNION ALL SELECT DISTINCT 2, 'group', g FROM unnest(groups) g
        UNION ALL SELECT DISTINCT 3, 'table', t FROM unnest(tables) t
        UNION ALL SELECT 4, 'total', ''
    ) l(n, kind, name) ORDER BY l.n, l.name COLLATE "C"
$$;

CREATE FUNCTION ledger.lock_lines_of_all(of_source bigint, analysts text[], groups text[], tables text[])
RETURNS ledger.balance[] LANGUAGE plpgsql AS $$
DECLARE
    of_kind text;
    of_name text;
    locked ledger.balance[] := '{}';
BEGIN
    FOR of_kind, of_name IN SELECT l.kind, l.name FROM ledger.lines_of_all(analysts, groups, tables) l LOOP
        locked := array_append(locked, ledger.lock_balance(of_source, of_kind, of_name));
    END LOOP;
    RETURN locked;
END $$;

-- As before (0004), in fewer steps.
CREATE OR REPLACE FUNCTION ledger.line_json(
    spent ledger.balance, allowed ledger.allowance, epsilon numeric, delta numeric, price ledger.price, at timestamptz)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    fresh ledger.balance := spent;
    remaining record := ledger.left_for(spent, allowed, epsilon, delta, price);
    ends timestamptz := ledger.window_end(spent.period, spent.window_start);
BEGIN
    fresh.epsilon := 0;
    fresh.delta := 0;
    fresh.rho := 0;
    fresh.approx_delta := 0;
    fresh.gaussian_delta := 0;
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

-- The rule of charge_at, for several. All lines are locked, all limits read after that; then one charge after another
-- is checked against what is spent with those before it; then all receipts are appended, in the order of the charges.
-- Each step is a statement of its own, so that each sees what was committed before its lock. What it gives of each,
-- in their order: see charge_at.
CREATE FUNCTION ledger.charge_each(of_source bigint, charges ledger.charge[], at timestamptz)
RETURNS TABLE (place integer, receipt bigint, lines jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    -- Of each line, in the order of the locks:
    spent ledger.balance[];
    limits ledger.allowance[] := '{}';
    is_charged boolean[] := '{}';
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
    receipts bigint[];
    asked ledger.charge;
    one ledger.balance;
    after ledger.balance;
    allowed ledger.allowance;
    whole ledger.price;
    price ledger.price;
    nothing CONSTANT ledger.price := ROW(0, 0, 0);
    share jsonb;
    moment timestamptz;
    paid jsonb;
    line jsonb;
    fits boolean;
    epsilon numeric;
    delta numeric;
    admitted integer := 0;
BEGIN
    FOREACH asked IN ARRAY charges LOOP
        IF asked.cost_epsilon < 0 OR asked.cost_delta < 0 OR asked.drawn_epsilon < 0 OR asked.drawn_delta < 0
           OR asked.cost_epsilon + asked.cost_delta + asked.drawn_epsilon + asked.drawn_delta IS NULL THEN
            RAISE EXCEPTION 'a charge is not negative';
        END IF;
    END LOOP;
    spent := ledger.lock_lines_of_all(
        of_source, ARRAY(SELECT c.who FROM unnest(charges) c),
        ARRAY(SELECT g FROM unnest(charges) c, jsonb_object_keys(c.of_groups) g),
        ARRAY(SELECT t FROM unnest(charges) c, jsonb_object_keys(c.of_tables) t));
    FOR n IN 1 .. cardinality(spent) LOOP
        one := spent[n];
        allowed := ledger.allowance_of(of_source, one.kind, one.analyst);
        spent[n] := ledger.in_window(one, allowed.period, at);
        limits := array_append(limits, allowed);
        is_charged := array_append(is_charged, false);
    END LOOP;
    FOREACH asked IN ARRAY charges LOOP
        whole := ledger.price_of(asked.events, asked.cost_epsilon, asked.cost_delta);
        mine := '{}';
        epsilons := '{}';
        deltas := '{}';
        prices := '{}';
        afters := '{}';
        paid := '[]';
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
                paid := paid || jsonb_build_object(
                    'kind', one.kind, 'name', one.analyst, 'epsilon', epsilon, 'delta', delta);
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
        lines := '[]';
        FOR i IN 1 .. cardinality(mine) LOOP
            allowed := limits[mine[i]];
            IF fits THEN
                one := afters[i];
                spent[mine[i]] := one;
                is_charged[mine[i]] := true;
                CONTINUE WHEN allowed.source IS NULL;
                line := ledger.line_json(one, allowed, 0, 0, nothing, at);
            ELSE
                CONTINUE WHEN allowed.source IS NULL;
                line := ledger.line_json(spent[mine[i]], allowed, epsilons[i], deltas[i], prices[i], at);
            END IF;
            lines := lines || line;
        END LOOP;
        is_admitted := array_append(is_admitted, fits);
        wholes := array_append(wholes, whole);
        shares := array_append(shares, paid);
        moments := array_append(moments, moment);
        found_lines := array_append(found_lines, lines);
    END LOOP;
    IF true = ANY (is_admitted) THEN
        WITH appended AS (
            INSERT INTO ledger.receipt AS r
                (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest, drawn_epsilon, drawn_delta,
                 rho, approx_delta, gaussian_delta, shares, statement)
            SELECT of_source, moments[n], (c).who, (c).cost_epsilon, (c).cost_delta, (c).events, (c).fingerprint,
                   (c).policy_digest, (c).drawn_epsilon, (c).drawn_delta,
                   (wholes[n]).rho, (wholes[n]).approx_delta, (wholes[n]).gaussian_delta, shares[n], (c).statement
            FROM (SELECT charges[n] AS c, n FROM generate_subscripts(charges, 1) n) numbered
            WHERE is_admitted[n] ORDER BY n
            RETURNING r.id
        )
        SELECT array_agg(a.id ORDER BY a.id) INTO receipts FROM appended a;
    END IF;
    FOR n IN 1 .. cardinality(spent) LOOP
        CONTINUE WHEN NOT is_charged[n];
        one := spent[n];
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta, rho, approx_delta, gaussian_delta)
             = (one.period, one.window_start, one.epsilon, one.delta, one.rho,
                one.approx_delta, one.gaussian_delta)
        WHERE b.source = of_source AND b.kind = one.kind AND b.analyst = one.analyst;
    END LOOP;
    FOR n IN 1 .. cardinality(charges) LOOP
        place := n;
        receipt := NULL;
        IF is_admitted[n] THEN
            admitted := admitted + 1;
            receipt := receipts[admitted];
        END IF;
        lines := found_lines[n];
        RETURN NEXT;
    END LOOP;
END $$;

-- Instead of the trigger of 0007, which goes by the windows of before the charge.
DROP TRIGGER in_window ON ledger.receipt;
DROP FUNCTION ledger.keep_in_window();

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

-- Several of reserve (0004), each of who may query the data by then. charges: [{"who", "epsilon", "delta", "events",
-- "fingerprint", "policy", "tables"}, ...]; statements: of each, in the same order. Of who may not nothing is charged.
CREATE FUNCTION ledger.reserve_each(of_source bigint, charges jsonb, statements bytea[])
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

-- Several of claim (0004), as above. claims: [{"who", "parts", "holder", "may_draw", "fingerprint", "policy"}, ...]
CREATE FUNCTION ledger.claim_each(
    of_source bigint, claims jsonb, statements bytea[], lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint)
RETURNS TABLE (place integer, who text, may_ask boolean, receipt bigint, states text[], cached bigint[],
               relations text[], paid_epsilon numeric, paid_delta numeric, lines jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    is_durable CONSTANT text := current_setting('synchronous_commit');
    is_charged boolean := false;
    askers text[];
    one jsonb;
    n integer := 0;
    name text;
BEGIN
    SELECT array_agg(a.who) INTO askers
    FROM (SELECT DISTINCT c ->> 'who' AS who FROM jsonb_array_elements(claims) c) a
    WHERE ledger.may_charge(of_source, a.who);
    IF askers IS NOT NULL THEN
        PERFORM ledger.lock_lines_of_all(
            of_source, askers,
            ARRAY(SELECT g FROM unnest(askers) a, unnest(ledger.groups_of(a)) g),
            ARRAY(SELECT t FROM jsonb_array_elements(claims) c, jsonb_array_elements(c -> 'parts') p,
                                jsonb_array_elements_text(p -> 'tables') t
                  WHERE c ->> 'who' = ANY (askers)));
    END IF;
    FOR one IN SELECT c.one FROM jsonb_array_elements(claims) WITH ORDINALITY AS c(one, n) ORDER BY c.n LOOP
        n := n + 1;
        name := one ->> 'who';
        IF (name = ANY (askers)) IS NOT TRUE THEN
            RETURN QUERY SELECT n, name, false, NULL::bigint, NULL::text[], NULL::bigint[], NULL::text[],
                                NULL::numeric, NULL::numeric, NULL::jsonb;
            CONTINUE;
        END IF;
        RETURN QUERY
        SELECT n, name, true, c.receipt, c.states, c.cached, c.relations, c.paid_epsilon, c.paid_delta, c.lines
        FROM ledger.claim_at(
            of_source, name, one -> 'parts', (one ->> 'holder')::uuid, (one ->> 'may_draw')::boolean, lease_seconds,
            slot_seconds, slot_offset, most_bytes, one ->> 'fingerprint', one ->> 'policy', transaction_timestamp(),
            statements[n]) c;
        -- One that charges nothing says that nothing has to reach the disk first: that is not so where another does.
        is_charged := is_charged OR current_setting('synchronous_commit') = is_durable;
        PERFORM set_config('synchronous_commit', is_durable, true);
    END LOOP;
    IF NOT is_charged THEN
        PERFORM set_config('synchronous_commit', 'off', true);
    END IF;
END $$;

-- As before (0004): the row is there but for the first of a source, so it is looked for first.
CREATE OR REPLACE FUNCTION ledger.join_chain() RETURNS trigger LANGUAGE plpgsql SET timezone = 'UTC' SET bytea_output = 'hex'
AS $$
DECLARE
    content bytea := ledger.content_digest(TG_TABLE_NAME, to_jsonb(NEW));
BEGIN
    -- The row of the chain is locked by this and until the end, after all balances.
    UPDATE ledger.chain c SET (place, digest) = (c.place + 1, sha256(c.digest || content))
    WHERE c.source = NEW.source RETURNING c.place, c.digest INTO NEW.place, NEW.digest;
    IF NOT FOUND THEN
        INSERT INTO ledger.chain AS c (source, place, digest)
        VALUES (NEW.source, 1, sha256(ledger.chain_start(NEW.source) || content))
        ON CONFLICT (source) DO UPDATE SET (place, digest) = (c.place + 1, sha256(c.digest || content))
        RETURNING c.place, c.digest INTO NEW.place, NEW.digest;
    END IF;
    RETURN NEW;
END $$;
