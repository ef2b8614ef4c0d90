-- What a charge costs under zCDP, and the second way to fit a budget (docs/adr/0062, mechanisms/PROOFS.md 25).
-- A budget with a rho admits a charge where the epsilons fit or the rhos do; half of its delta is then for the
-- conversion of rho, and what is left pays for failures: of approximate mechanisms always, of Gaussian noise up to
-- a quarter of delta, beyond which the epsilons do not count any more. A budget without one is as it was.
-- All of it is exact: rho is rounded up in Python, the limit of rho down; here are sums and comparisons of decimals.

-- rho: what the rhos may add up to; NULL: basic composition alone.
ALTER TABLE ledger.allowance ADD COLUMN rho numeric(56, 30) CHECK (rho >= 0);

-- approx_delta: of mechanisms that may fail; gaussian_delta: of Gaussian noise, which rho covers, too.
-- NULL: charged before this was known.
ALTER TABLE ledger.receipt
    ADD COLUMN rho numeric(56, 30) CHECK (rho >= 0),
    ADD COLUMN approx_delta numeric(56, 30) CHECK (approx_delta BETWEEN 0 AND delta),
    ADD COLUMN gaussian_delta numeric(56, 30) CHECK (gaussian_delta BETWEEN 0 AND delta);
ALTER TABLE ledger.balance
    ADD COLUMN rho numeric(56, 30) NOT NULL DEFAULT 0,
    ADD COLUMN approx_delta numeric(56, 30) NOT NULL DEFAULT 0,
    ADD COLUMN gaussian_delta numeric(56, 30) NOT NULL DEFAULT 0;

CREATE TYPE ledger.price AS (rho numeric, approx_delta numeric, gaussian_delta numeric);

-- Events that this version can price (accounting/events.py): no other is written, and none is served.
CREATE FUNCTION ledger.are_known(events jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
    SELECT NOT EXISTS (
        SELECT FROM jsonb_array_elements(events) e
        WHERE (concat(e ->> 'v', ' ', e ->> 'kind') = ANY (ARRAY[
            '1 dlaplace', '1 gaussian', '1 pure', '1 approx',
            '2 dlaplace', '2 gaussian', '2 pure', '2 approx', '2 adjust'])) IS NOT TRUE)
$$;
ALTER TABLE ledger.receipt ADD CONSTRAINT events_are_known CHECK (ledger.are_known(events));

-- Of epsilon alone: the lesser of epsilon^2/2 and epsilon, which epsilon tanh(epsilon/2) is never above.
CREATE FUNCTION ledger.rho_bound(epsilon numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ceil(least(epsilon * epsilon * 0.5, epsilon) * 1e30) * 1e-30;
END $$;

-- What events tell, where they tell all of the charge; else it counts as one approximate mechanism.
CREATE FUNCTION ledger.price_of(events jsonb, epsilon numeric, delta numeric) RETURNS ledger.price
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    event jsonb;
    told_epsilon numeric := 0;
    result ledger.price := ROW(0, 0, 0);
BEGIN
    FOR event IN SELECT e FROM jsonb_array_elements(events) e LOOP
        EXIT WHEN event ->> 'rho' IS NULL;
        result.rho := result.rho + (event ->> 'rho')::numeric;
        told_epsilon := told_epsilon + (event ->> 'epsilon')::numeric;
        IF event ->> 'kind' = 'gaussian' THEN
            result.gaussian_delta := result.gaussian_delta + (event ->> 'delta')::numeric;
        ELSE
            result.approx_delta := result.approx_delta + (event ->> 'delta')::numeric;
        END IF;
        event := NULL;
    END LOOP;
    IF event IS NOT NULL OR told_epsilon < epsilon OR result.approx_delta + result.gaussian_delta < delta THEN
        RETURN ROW(ledger.rho_bound(epsilon), delta, 0)::ledger.price;
    END IF;
    -- Each event is rounded up: together they may tell some last digits more than the charge.
    result.approx_delta := least(result.approx_delta, delta);
    result.gaussian_delta := least(result.gaussian_delta, delta);
    RETURN result;
END $$;

-- What the shared budget pays of a charge: what was drawn. Of a part the price is bounded.
CREATE FUNCTION ledger.drawn_price(
    whole ledger.price, epsilon numeric, delta numeric, drawn_epsilon numeric, drawn_delta numeric)
RETURNS ledger.price LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF drawn_epsilon >= epsilon AND drawn_delta >= delta THEN
        RETURN whole;
    ELSIF drawn_epsilon = 0 AND drawn_delta = 0 THEN
        RETURN ROW(0, 0, 0)::ledger.price;
    END IF;
    IF whole.gaussian_delta = 0 OR drawn_delta = 0 THEN
        whole.rho := least(whole.rho, ledger.rho_bound(drawn_epsilon));
    END IF;
    whole.approx_delta := least(whole.approx_delta, drawn_delta);
    whole.gaussian_delta := least(whole.gaussian_delta, drawn_delta);
    RETURN whole;
END $$;

-- What a balance pays of a receipt.
CREATE FUNCTION ledger.price_for(kind text, one ledger.receipt) RETURNS ledger.price LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN kind = 'total' AND one.drawn_epsilon IS NOT NULL
        THEN ledger.drawn_price(p, one.epsilon, one.delta, one.drawn_epsilon, one.drawn_delta) ELSE p END
    FROM (SELECT ROW(coalesce(one.rho, ledger.rho_bound(one.epsilon)), coalesce(one.approx_delta, one.delta),
                     coalesce(one.gaussian_delta, 0))::ledger.price AS p) priced
$$;

CREATE FUNCTION ledger.spent_since(of_source bigint, kind text, analyst text, since timestamptz)
RETURNS TABLE (epsilon numeric, delta numeric, rho numeric, approx_delta numeric, gaussian_delta numeric)
LANGUAGE sql VOLATILE AS $$
    SELECT coalesce(sum(coalesce(CASE kind WHEN 'total' THEN r.drawn_epsilon END, r.epsilon)), 0),
           coalesce(sum(coalesce(CASE kind WHEN 'total' THEN r.drawn_delta END, r.delta)), 0),
           coalesce(sum((p).rho), 0), coalesce(sum((p).approx_delta), 0), coalesce(sum((p).gaussian_delta), 0)
    FROM ledger.receipt r CROSS JOIN LATERAL ledger.price_for(kind, r) p
    WHERE r.source = of_source AND r.at >= since AND (kind = 'total' OR r.analyst = spent_since.analyst)
$$;

UPDATE ledger.balance b SET (rho, approx_delta, gaussian_delta)
     = (SELECT s.rho, s.approx_delta, s.gaussian_delta
        FROM ledger.spent_since(b.source, b.kind, b.analyst, b.window_start) s)
WHERE b.period IS NOT NULL;

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

CREATE FUNCTION ledger.after(known ledger.balance, epsilon numeric, delta numeric, price ledger.price)
RETURNS ledger.balance LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    known.epsilon := known.epsilon + after.epsilon;
    known.delta := known.delta + after.delta;
    known.rho := known.rho + price.rho;
    known.approx_delta := known.approx_delta + price.approx_delta;
    known.gaussian_delta := known.gaussian_delta + price.gaussian_delta;
    RETURN known;
END $$;

-- Four times what may go wrong but for the conversion. Both deltas are rounded up, so their sum may be some last
-- digits above all of delta, which they are within.
CREATE FUNCTION ledger.failures_by_four(spent ledger.balance, most ledger.allowance) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF 4 * spent.gaussian_delta <= most.delta THEN
        RETURN 4 * least(spent.approx_delta + spent.gaussian_delta, spent.delta);
    END IF;
    RETURN 4 * spent.approx_delta + most.delta;
END $$;

-- The rule (PROOFS.md 25), of what is spent with the charge. Quarters of delta are multiplied out: none is rounded.
CREATE FUNCTION ledger.fits(spent ledger.balance, most ledger.allowance) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF most.rho IS NULL THEN
        RETURN spent.epsilon <= most.epsilon AND spent.delta <= most.delta;
    END IF;
    RETURN ledger.failures_by_four(spent, most) <= 2 * most.delta
        AND (spent.rho <= most.rho
             OR (spent.epsilon <= most.epsilon AND 4 * spent.gaussian_delta <= most.delta));
END $$;

-- The largest epsilon of a pure mechanism within rho, for display: found in floats, a little below.
CREATE FUNCTION ledger.epsilon_of_rho(rho numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    r double precision := rho;
    x double precision;
    y double precision;
BEGIN
    IF rho <= 0 THEN
        RETURN 0;
    END IF;
    y := greatest(sqrt(2 * r), r);
    x := y;
    FOR step IN 1 .. 12 LOOP
        x := x + (r - x * tanh(x / 2)) / (tanh(x / 2) + x / 2 * (1 - tanh(x / 2) ^ 2));
    END LOOP;
    IF x > y AND x * tanh(x / 2) <= r * (1 + 1e-12) THEN
        y := x;
    END IF;
    RETURN trunc((y * (1 - 1e-9))::numeric, 18);
END $$;

-- What one more statement may cost, for display: a pure one, or one of the kind of this cost; at least the cost
-- itself, where that fits.
CREATE FUNCTION ledger.left_for(
    spent ledger.balance, most ledger.allowance, cost_epsilon numeric, cost_delta numeric, cost ledger.price,
    OUT epsilon numeric, OUT delta numeric)
LANGUAGE plpgsql IMMUTABLE AS $$
DECLARE
    rho numeric := greatest(most.rho - spent.rho, 0);
    spent_after ledger.balance := ledger.after(spent, cost_epsilon, cost_delta, cost);
BEGIN
    IF most.rho IS NULL THEN
        epsilon := most.epsilon - spent.epsilon;
        delta := most.delta - spent.delta;
        RETURN;
    END IF;
    epsilon := 0;
    IF 4 * (spent.gaussian_delta + cost.gaussian_delta) <= most.delta THEN
        epsilon := greatest(epsilon, most.epsilon - spent.epsilon);
    END IF;
    IF cost.gaussian_delta = 0 THEN
        epsilon := greatest(epsilon, ledger.epsilon_of_rho(rho));
    END IF;
    IF cost.rho > rho THEN  -- rho of each kind is convex in epsilon
        epsilon := greatest(epsilon, trunc(cost_epsilon * rho / cost.rho, 18));
    END IF;
    delta := trunc((2 * most.delta - ledger.failures_by_four(spent, most)) * 0.25, 30);
    IF ledger.fits(spent_after, most) THEN
        epsilon := greatest(epsilon, cost_epsilon);
        delta := greatest(delta, cost_delta);
    ELSIF epsilon >= cost_epsilon AND cost.rho > rho AND ledger.failures_by_four(spent_after, most) <= 2 * most.delta
    THEN  -- its events do not tell all of it, so it costs more than a pure one
        epsilon := trunc(cost_epsilon * rho / cost.rho, 18);
    END IF;
END $$;

-- As before, by the rule above. Over budget, what is left is of the kind of this charge.
CREATE OR REPLACE FUNCTION ledger.charge_at(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, drawn_epsilon numeric, drawn_delta numeric,
    events jsonb, fingerprint text, policy_digest text, at timestamptz,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz)
LANGUAGE plpgsql AS $$
DECLARE
    own_limit ledger.allowance;
    total_limit ledger.allowance;
    own ledger.balance;
    total ledger.balance;
    own_after ledger.balance;
    total_after ledger.balance;
    price ledger.price;
    drawn ledger.price;
BEGIN
    IF cost_epsilon < 0 OR cost_delta < 0 OR drawn_epsilon < 0 OR drawn_delta < 0
       OR cost_epsilon + cost_delta + drawn_epsilon + drawn_delta IS NULL THEN
        RAISE EXCEPTION 'a charge is not negative';
    END IF;
    price := ledger.price_of(charge_at.events, cost_epsilon, cost_delta);
    drawn := ledger.drawn_price(price, cost_epsilon, cost_delta, charge_at.drawn_epsilon, charge_at.drawn_delta);
    own := ledger.lock_balance(charge_at.source, 'analyst', who);
    total := ledger.lock_balance(charge_at.source, 'total', '');
    own_limit := ledger.allowance_of(charge_at.source, 'analyst', who);
    total_limit := ledger.allowance_of(charge_at.source, 'total', '');
    own := ledger.in_window(own, own_limit.period, charge_at.at);
    total := ledger.in_window(total, total_limit.period, charge_at.at);
    own_after := ledger.after(own, cost_epsilon, cost_delta, price);
    total_after := ledger.after(total, charge_at.drawn_epsilon, charge_at.drawn_delta, drawn);
    IF ledger.fits(own_after, own_limit) AND ledger.fits(total_after, total_limit) THEN
        INSERT INTO ledger.receipt AS r
            (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest, drawn_epsilon, drawn_delta,
             rho, approx_delta, gaussian_delta)
        VALUES (charge_at.source, charge_at.at, who, cost_epsilon, cost_delta, charge_at.events,
                charge_at.fingerprint, charge_at.policy_digest, charge_at.drawn_epsilon, charge_at.drawn_delta,
                price.rho, price.approx_delta, price.gaussian_delta)
        RETURNING r.id INTO charge_at.receipt;
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta, rho, approx_delta, gaussian_delta)
             = (own_after.period, own_after.window_start, own_after.epsilon, own_after.delta, own_after.rho,
                own_after.approx_delta, own_after.gaussian_delta)
        WHERE b.source = charge_at.source AND b.kind = 'analyst' AND b.analyst = who;
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta, rho, approx_delta, gaussian_delta)
             = (total_after.period, total_after.window_start, total_after.epsilon, total_after.delta,
                total_after.rho, total_after.approx_delta, total_after.gaussian_delta)
        WHERE b.source = charge_at.source AND b.kind = 'total';
        own := own_after;
        total := total_after;
        cost_epsilon := 0;
        cost_delta := 0;
        drawn_epsilon := 0;
        drawn_delta := 0;
        price := ROW(0, 0, 0);
        drawn := price;
    END IF;
    SELECT l.epsilon, l.delta INTO own_epsilon, own_delta
    FROM ledger.left_for(own, own_limit, cost_epsilon, cost_delta, price) l;
    SELECT l.epsilon, l.delta INTO total_epsilon, total_delta
    FROM ledger.left_for(total, total_limit, charge_at.drawn_epsilon, charge_at.drawn_delta, drawn) l;
    renews_at := ledger.window_end(own.period, own.window_start);
END $$;

-- An analyst's line and everybody's, without a lock: for display, never for a decision. left: of a pure statement.
-- fits: whether a charge of this cost would be admitted now.
DROP FUNCTION ledger.standing(bigint, text, timestamptz);
CREATE FUNCTION ledger.standing(
    of_source bigint, who text, at timestamptz,
    cost_epsilon numeric DEFAULT 0, cost_delta numeric DEFAULT 0, events jsonb DEFAULT '[]')
RETURNS TABLE (kind text, period text, epsilon_limit numeric, epsilon_spent numeric,
               delta_limit numeric, delta_spent numeric, renews_at timestamptz,
               rho_limit numeric, rho_spent numeric, epsilon_left numeric, delta_left numeric, fits boolean)
LANGUAGE sql AS $$
    SELECT l.kind, a.period, a.epsilon, w.epsilon, a.delta, w.delta,
           ledger.window_end(w.period, w.window_start), a.rho, w.rho,
           greatest(f.epsilon, 0), greatest(f.delta, 0),
           ledger.fits(ledger.after(w, cost_epsilon, cost_delta, c.price), a)
    FROM (VALUES ('analyst', who), ('total', '')) AS l(kind, analyst)
    CROSS JOIN LATERAL ledger.allowance_of(of_source, l.kind, l.analyst) a
    LEFT JOIN ledger.balance b
        ON b.source = of_source AND b.kind = l.kind AND b.analyst = l.analyst
    CROSS JOIN LATERAL ledger.in_window(
        coalesce(b, ROW(of_source, l.kind, l.analyst, NULL, '-infinity', 0, 0, 0, 0, 0)::ledger.balance),
        a.period, standing.at
    ) w
    CROSS JOIN LATERAL (SELECT ledger.price_of(standing.events, cost_epsilon, cost_delta) AS price) c
    CROSS JOIN LATERAL ledger.left_for(w, a, cost_epsilon, cost_delta, c.price) f
$$;

-- As before, but for what is left where nothing is charged: that is not the difference of limit and spent.
CREATE OR REPLACE FUNCTION ledger.claim(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint, fingerprint text, policy_digest text,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric)
LANGUAGE sql AS $$
    SELECT r.receipt, coalesce(l.own_epsilon, r.own_epsilon), coalesce(l.own_delta, r.own_delta),
           coalesce(l.total_epsilon, r.total_epsilon), coalesce(l.total_delta, r.total_delta), r.renews_at,
           r.states, r.cached, r.relations, r.paid_epsilon, r.paid_delta
    FROM ledger.claim_at(source, who, parts, holder, may_draw, lease_seconds, slot_seconds, slot_offset,
                         most_bytes, fingerprint, policy_digest, transaction_timestamp()) r
    LEFT JOIN LATERAL (
        SELECT max(s.epsilon_left) FILTER (WHERE s.kind = 'analyst') AS own_epsilon,
               max(s.delta_left) FILTER (WHERE s.kind = 'analyst') AS own_delta,
               max(s.epsilon_left) FILTER (WHERE s.kind = 'total') AS total_epsilon,
               max(s.delta_left) FILTER (WHERE s.kind = 'total') AS total_delta
        FROM ledger.standing(source, who, transaction_timestamp()) s
    ) l ON r.receipt IS NULL AND cardinality(r.states) > 0
$$;
