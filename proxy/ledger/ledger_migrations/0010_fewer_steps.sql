-- The same rule in fewer steps (docs/adr/0075): lines are locked by one statement, limits read by one and balances
-- written by one; what a receipt must be is two checks, as the server reads each of them anew with each statement.

-- As before (0003): events that this version can price.
CREATE OR REPLACE FUNCTION ledger.are_known(events jsonb) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN jsonb_array_length(events) = jsonb_array_length(jsonb_path_query_array(events, 'strict $[*] ? (
        ((@.v == 1 || @.v == 2) && (@.kind == "dlaplace" || @.kind == "gaussian" || @.kind == "pure" || @.kind == "approx"))
        || (@.v == 2 && @.kind == "adjust"))'));
END $$;

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
DO $$
DECLARE
    known text;
BEGIN
    FOR known IN SELECT conname FROM pg_constraint
        WHERE conrelid = 'ledger.receipt'::regclass AND contype = 'c' AND conname <> 'events_are_known' LOOP
        EXECUTE format('ALTER TABLE ledger.receipt DROP CONSTRAINT %I', known);
    END LOOP;
END $$;
-- A receipt is of a source that is there all the same: its chain (join_chain) has a row that refers to it. A reference of
-- each receipt would lock the source's row, and write to it, with each charge.
ALTER TABLE ledger.receipt
    DROP CONSTRAINT receipt_source_fkey,
    ADD CONSTRAINT receipt_is_sound CHECK (ledger.is_sound(
        analyst, epsilon, delta, drawn_epsilon, drawn_delta, rho, approx_delta, gaussian_delta, events, shares));

-- As before (0009), by one statement: rows are locked in the order in which they are found, each as it is then. None is
-- locked before all are there: who makes a new one holds no other, so that no two transactions wait for each other.
CREATE OR REPLACE FUNCTION ledger.lock_lines_of_all(
    of_source bigint, analysts text[], groups text[], tables text[])
RETURNS ledger.balance[] LANGUAGE plpgsql AS $$
DECLARE
    locked ledger.balance[];
BEGIN
    LOOP
        SELECT array_agg(l.line) INTO locked FROM (
            SELECT b AS line FROM ledger.balance b
            WHERE b.source = of_source AND (b.kind = 'analyst' AND b.analyst = ANY (analysts)
                OR b.kind = 'group' AND b.analyst = ANY (groups)
                OR b.kind = 'table' AND b.analyst = ANY (tables)
                OR b.kind = 'total' AND b.analyst = '')
              AND (SELECT count(*) FROM ledger.balance c
                   WHERE c.source = of_source AND (c.kind = 'analyst' AND c.analyst = ANY (analysts)
                       OR c.kind = 'group' AND c.analyst = ANY (groups)
                       OR c.kind = 'table' AND c.analyst = ANY (tables)
                       OR c.kind = 'total' AND c.analyst = ''))
                  = cardinality(analysts) + cardinality(groups) + cardinality(tables) + 1
            ORDER BY b.kind COLLATE "C", b.analyst COLLATE "C" FOR UPDATE OF b) l;
        EXIT WHEN locked IS NOT NULL;
        -- Some are not there yet, or are named twice.
        analysts := ARRAY(SELECT DISTINCT unnest(analysts));
        groups := ARRAY(SELECT DISTINCT unnest(groups));
        tables := ARRAY(SELECT DISTINCT unnest(tables));
        INSERT INTO ledger.balance (source, kind, analyst)
        SELECT of_source, l.kind, l.name FROM ledger.lines_of_all(analysts, groups, tables) l ON CONFLICT DO NOTHING;
    END LOOP;
    RETURN locked;
END $$;

CREATE OR REPLACE FUNCTION ledger.lock_lines(of_source bigint, who text, groups text[], tables text[])
RETURNS ledger.balance[] LANGUAGE plpgsql AS $$
BEGIN
    RETURN ledger.lock_lines_of_all(of_source, ARRAY[who], groups, tables);
END $$;

-- Of each of these lines, as allowance_of (0004).
CREATE FUNCTION ledger.allowances_of(of_source bigint, lines ledger.balance[]) RETURNS ledger.allowance[]
LANGUAGE plpgsql STABLE AS $$
DECLARE
    found ledger.allowance[];
BEGIN
    SELECT array_agg(CASE WHEN own.source IS NULL THEN usual ELSE own END ORDER BY l.n) INTO found
    FROM unnest(lines) WITH ORDINALITY l(source, kind, analyst, period, window_start, epsilon, delta, rho,
                                         approx_delta, gaussian_delta, n)
    LEFT JOIN ledger.allowance own
        ON own.source = of_source AND own.kind = l.kind AND own.analyst = l.analyst
    LEFT JOIN ledger.allowance usual
        ON usual.source = of_source AND usual.kind = 'default' AND usual.analyst = '' AND l.kind = 'analyst';
    RETURN found;
END $$;

-- As before (0009), without the arithmetic of zCDP where there is no limit of rho.
CREATE OR REPLACE FUNCTION ledger.line_json(
    spent ledger.balance, allowed ledger.allowance, epsilon numeric, delta numeric, price ledger.price, at timestamptz)
RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
    is_pure CONSTANT boolean := allowed.rho IS NULL;
    ends CONSTANT timestamptz := ledger.window_end(spent.period, spent.window_start);
    epsilon_left numeric := allowed.epsilon - spent.epsilon;
    delta_left numeric := allowed.delta - spent.delta;
    fits boolean := epsilon <= epsilon_left AND delta <= delta_left;
    fits_fresh boolean := epsilon <= allowed.epsilon AND delta <= allowed.delta;
    fresh ledger.balance;
BEGIN
    IF NOT is_pure THEN
        SELECT l.epsilon, l.delta INTO epsilon_left, delta_left
        FROM ledger.left_for(spent, allowed, line_json.epsilon, line_json.delta, price) l;
        fits := ledger.fits(ledger.after(spent, line_json.epsilon, line_json.delta, price), allowed);
        fresh := spent;
        fresh.epsilon := 0;
        fresh.delta := 0;
        fresh.rho := 0;
        fresh.approx_delta := 0;
        fresh.gaussian_delta := 0;
        fits_fresh := ledger.fits(ledger.after(fresh, line_json.epsilon, line_json.delta, price), allowed);
    END IF;
    RETURN jsonb_build_object(
        'kind', spent.kind, 'name', spent.analyst, 'period', allowed.period,
        'epsilon_limit', allowed.epsilon::text, 'epsilon_spent', spent.epsilon::text, 'epsilon', epsilon::text,
        'delta_limit', allowed.delta::text, 'delta_spent', spent.delta::text, 'delta', delta::text,
        'rho_limit', allowed.rho::text, 'rho_spent', spent.rho::text,
        'epsilon_left', epsilon_left::text, 'delta_left', delta_left::text,
        'fits', fits, 'fits_fresh', fits_fresh,
        'window', extract(epoch FROM nullif(spent.window_start, '-infinity'))::bigint,
        'renews', extract(epoch FROM ends)::bigint, 'renews_in', ceil(extract(epoch FROM ends - at))::bigint);
END $$;

-- As before (0003).
CREATE OR REPLACE FUNCTION ledger.price_of(events jsonb, epsilon numeric, delta numeric) RETURNS ledger.price
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    event jsonb;
    of_event numeric;
    told_epsilon numeric := 0;
    result ledger.price := ROW(0, 0, 0);
BEGIN
    FOR n IN 0 .. jsonb_array_length(events) - 1 LOOP
        event := events -> n;
        of_event := event ->> 'rho';
        IF of_event IS NULL THEN
            RETURN ROW(ledger.rho_bound(epsilon), delta, 0)::ledger.price;
        END IF;
        result.rho := result.rho + of_event;
        told_epsilon := told_epsilon + (event ->> 'epsilon')::numeric;
        of_event := event ->> 'delta';
        IF event ->> 'kind' = 'gaussian' THEN
            result.gaussian_delta := result.gaussian_delta + of_event;
        ELSE
            result.approx_delta := result.approx_delta + of_event;
        END IF;
    END LOOP;
    IF told_epsilon < epsilon OR result.approx_delta + result.gaussian_delta < delta THEN
        RETURN ROW(ledger.rho_bound(epsilon), delta, 0)::ledger.price;
    END IF;
    -- Each event is rounded up: together they may tell some last digits more than the charge.
    result.approx_delta := least(result.approx_delta, delta);
    result.gaussian_delta := least(result.gaussian_delta, delta);
    RETURN result;
END $$;

CREATE FUNCTION ledger.names_in(named jsonb) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF named = '{}' THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT jsonb_object_keys(named));
END $$;

-- As before (0009). All lines are locked, all limits read after that; then one charge after another
-- is checked against what is spent with those before it; then all receipts are appended, in the order of the charges.
-- Each step is a statement of its own, so that each sees what was committed before its lock. What it gives of each,
-- in their order: see charge_at.
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
    paid jsonb;
    line jsonb;
    fits boolean;
    epsilon numeric;
    delta numeric;
    all_analysts jsonb := '{}';
    all_groups jsonb := '{}';
    all_tables jsonb := '{}';
    written ledger.balance[] := '{}';
BEGIN
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

-- A group pays what its member does.
CREATE FUNCTION ledger.shares_of_groups(groups text[], epsilon numeric, delta numeric) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF groups = '{}' THEN
        RETURN '{}';
    END IF;
    RETURN (SELECT jsonb_object_agg(g, jsonb_build_object('epsilon', epsilon, 'delta', delta)) FROM unnest(groups) g);
END $$;

-- Which groups pay for who charges: may_charge (0005) and groups_of (0004), in one statement for most. NULL of who may
-- not charge.
CREATE FUNCTION ledger.groups_that_pay(of_source bigint, who text) RETURNS text[] LANGUAGE plpgsql STABLE AS $$
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

-- One charge of who may query the data by then, through a token or without one. Of who may not nothing is charged.
-- Instead of reserve (0004), which left that to its caller.
DROP FUNCTION ledger.reserve(bigint, text, numeric, numeric, jsonb, text, text, jsonb, bytea);
CREATE FUNCTION ledger.reserve_one(
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
