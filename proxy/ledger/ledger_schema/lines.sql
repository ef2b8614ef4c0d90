-- Each budget is a line, with a kind and a name: what is spent of it, in which window, and what is left.
-- The rule is tests/ledger_machine/spent_lines.py too; the tests hold the two together.

-- Days begin at 00:00 UTC, weeks on Monday. 'none' is one window without beginning or end.
CREATE OR REPLACE FUNCTION ledger.window_start(period text, at timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period = 'none' THEN '-infinity'::timestamptz ELSE date_trunc(period, at, 'UTC') END
$$;

CREATE OR REPLACE FUNCTION ledger.window_end(period text, start timestamptz) RETURNS timestamptz
LANGUAGE sql STABLE AS $$
    SELECT CASE WHEN period <> 'none'
           THEN (start AT TIME ZONE 'UTC' + ('1 ' || period)::interval) AT TIME ZONE 'UTC' END
$$;

CREATE OR REPLACE FUNCTION ledger.groups_of(who text) RETURNS text[] LANGUAGE sql STABLE AS $$
    SELECT coalesce(array_agg(m.grp), '{}') FROM ledger.membership m
    JOIN ledger.analyst a ON a.id = m.analyst
    WHERE a.name = who AND a.removed_at IS NULL
$$;

CREATE OR REPLACE FUNCTION ledger.names_in(named jsonb) RETURNS text[] LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF named = '{}' THEN
        RETURN '{}';
    END IF;
    RETURN ARRAY(SELECT jsonb_object_keys(named));
END $$;

-- Of the lines that are called tables, those of blocks of time: no table is without a point in its name. A charge that
-- names one is to these instead of the total (mechanisms/PROOFS.md 34).
CREATE OR REPLACE FUNCTION ledger.is_of_blocks(names text[]) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM unnest(names) n WHERE strpos(n, '.') = 0);
END $$;

-- A line without a limit (a group or a table of which the policy says nothing) has NULLs. A block of time always has one.
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

-- Of each of these lines, as allowance_of.
CREATE OR REPLACE FUNCTION ledger.allowances_of(of_source bigint, lines ledger.balance[]) RETURNS ledger.allowance[]
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

-- All that a line was charged or adjusted by since then. What a group or a table pays is a part of the charge, so
-- its price is bounded as that of the shared budget is.
CREATE OR REPLACE FUNCTION ledger.payments(of_source bigint, of_kind text, of_name text, since timestamptz)
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

-- The balance as it is at a time, in its window. A window never begins earlier than the last one did,
-- so a clock that goes back does not open one twice. A new window, or a policy that changed the
-- period, adds the receipts up anew. VOLATILE: the sum is of a snapshot taken now, after the caller's lock
-- was waited for; a STABLE function would read the snapshot from before.
CREATE OR REPLACE FUNCTION ledger.in_window(known ledger.balance, new_period text, at timestamptz)
RETURNS ledger.balance LANGUAGE plpgsql VOLATILE AS $$
DECLARE
    start timestamptz := ledger.window_start(new_period, in_window.at);
    result ledger.balance := known;
BEGIN
    IF known.period = new_period AND start <= known.window_start THEN
        RETURN known;
    END IF;
    result.period := new_period;
    result.window_start := start;
    SELECT s.epsilon, s.delta, s.rho, s.approx_delta, s.gaussian_delta
    INTO result.epsilon, result.delta, result.rho, result.approx_delta, result.gaussian_delta
    FROM ledger.spent_since(known.source, known.kind, known.analyst, start) s;
    RETURN result;
END $$;

-- The lines of charges, in the order in which they are always locked.
CREATE OR REPLACE FUNCTION ledger.lines_of_all(analysts text[], groups text[], tables text[])
RETURNS TABLE (kind text, name text) LANGUAGE sql IMMUTABLE AS $$
    SELECT l.kind, l.name FROM (
        SELECT DISTINCT 1, 'analyst', a FROM unnest(analysts) a
        UNION ALL SELECT DISTINCT 2, 'group', g FROM unnest(groups) g
        UNION ALL SELECT DISTINCT 3, 'table', t FROM unnest(tables) t
        UNION ALL SELECT 4, 'total', ''
    ) l(n, kind, name) ORDER BY l.n, l.name COLLATE "C"
$$;

CREATE OR REPLACE FUNCTION ledger.lock_balance(of_source bigint, of_kind text, of_analyst text)
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

-- Rows are locked by one statement in the order in which they are found, each as it is then. None is locked before all
-- are there: who makes a new one holds no other, so that no two transactions wait for each other.
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

-- What a line is, for a message, and whether it admits a charge: exact numbers as texts. No arithmetic of zCDP where
-- there is no limit of rho.
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

-- Without a lock: for display, never for a decision; with what a statement would cost it.
CREATE OR REPLACE FUNCTION ledger.line_at(
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
CREATE OR REPLACE FUNCTION ledger.lines_at(
    of_source bigint, who text, tables jsonb, at timestamptz,
    cost_epsilon numeric DEFAULT 0, cost_delta numeric DEFAULT 0, events jsonb DEFAULT '[]')
RETURNS TABLE (kind text, name text, period text, epsilon_limit numeric, epsilon_spent numeric,
               delta_limit numeric, delta_spent numeric, rho_limit numeric, rho_spent numeric,
               epsilon_left numeric, delta_left numeric, renews_at timestamptz, line jsonb)
LANGUAGE sql AS $$
    SELECT x.* FROM ledger.price_of(events, cost_epsilon, cost_delta) whole
    CROSS JOIN LATERAL ledger.lines_of_all(ARRAY[who], ledger.groups_of(who), CASE WHEN tables IS NULL THEN ARRAY(
        SELECT a.analyst FROM ledger.allowance a WHERE a.source = of_source AND a.kind = 'table')
        ELSE ARRAY(SELECT jsonb_object_keys(tables)) END) l
    CROSS JOIN LATERAL (
        SELECT CASE WHEN l.kind = 'table' THEN coalesce((tables -> l.name ->> 'epsilon')::numeric, 0)
               WHEN l.kind = 'total' AND ledger.is_of_blocks(ledger.names_in(tables)) THEN 0
               ELSE cost_epsilon END AS epsilon,
               CASE WHEN l.kind = 'table' THEN coalesce((tables -> l.name ->> 'delta')::numeric, 0)
               WHEN l.kind = 'total' AND ledger.is_of_blocks(ledger.names_in(tables)) THEN 0
               ELSE cost_delta END AS delta) c
    CROSS JOIN LATERAL ledger.line_at(
        of_source, l.kind, l.name, lines_at.at, c.epsilon, c.delta,
        ledger.drawn_price(whole, cost_epsilon, cost_delta, c.epsilon, c.delta)) x
    WHERE x.epsilon_limit IS NOT NULL
$$;

-- What an operator adds to a line, or takes from it: an event with a reason. It never takes more than is spent. What
-- is added counts under zCDP as a mechanism that may fail; of what is taken nobody knows the rho: none is, if none is
-- given.
CREATE OR REPLACE FUNCTION ledger.adjust_at(
    source bigint, of_kind text, of_name text, by_epsilon numeric, by_delta numeric, reason text, made_by text,
    at timestamptz, by_rho numeric DEFAULT NULL, request bigint DEFAULT NULL, confirmed_by text DEFAULT NULL,
    OUT adjustment bigint, OUT epsilon numeric, OUT delta numeric)
LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
    one ledger.balance;
    more ledger.balance;
    price ledger.price := ROW(coalesce(by_rho, ledger.rho_bound(greatest(by_epsilon, 0))), greatest(by_delta, 0), 0);
BEGIN
    IF least(by_epsilon, by_delta, price.rho) < 0 AND (adjust_at.request IS NULL OR adjust_at.confirmed_by IS NULL) THEN
        RAISE EXCEPTION USING ERRCODE = '42501', MESSAGE = 'nothing is taken without a request that another confirms';
    END IF;
    one := ledger.lock_balance(adjust_at.source, of_kind, of_name);
    one := ledger.in_window(one, (ledger.allowance_of(adjust_at.source, of_kind, of_name)).period, adjust_at.at);
    more := ledger.after(one, by_epsilon, by_delta, price);
    IF more.epsilon >= 0 AND more.delta >= 0 AND more.rho >= 0 THEN
        INSERT INTO ledger.adjustment AS a
            (source, at, kind, name, epsilon, delta, rho, approx_delta, reason, made_by, request, confirmed_by)
        VALUES (adjust_at.source, greatest(adjust_at.at, one.window_start), of_kind, of_name, by_epsilon, by_delta,
                price.rho, price.approx_delta, adjust_at.reason, adjust_at.made_by,
                adjust_at.request, adjust_at.confirmed_by)
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
