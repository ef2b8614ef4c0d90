-- What a charge costs under zCDP, and the second way to fit a budget (docs/adr/0062, mechanisms/PROOFS.md 25).
-- A budget with a rho admits a charge where the epsilons fit or the rhos do; half of its delta is then for the
-- conversion of rho, and what is left pays for failures: of approximate mechanisms always, of Gaussian noise up to
-- a quarter of delta, beyond which the epsilons do not count any more. A budget without one adds epsilons and deltas.
-- All of it is exact: rho is rounded up in Python, the limit of rho down; here are sums and comparisons of decimals.
-- The rule is tests/ledger_model/two_ways.py too; the tests hold the two together.

-- Of epsilon alone: the lesser of epsilon^2/2 and epsilon, which epsilon tanh(epsilon/2) is never above.
CREATE OR REPLACE FUNCTION ledger.rho_bound(epsilon numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    RETURN ceil(least(epsilon * epsilon * 0.5, epsilon) * 1e30) * 1e-30;
END $$;

-- What events tell, where they tell all of the charge; else it counts as one approximate mechanism.
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

-- What the shared budget pays of a charge: what was drawn. Of a part the price is bounded.
CREATE OR REPLACE FUNCTION ledger.drawn_price(
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
CREATE OR REPLACE FUNCTION ledger.price_for(kind text, one ledger.receipt) RETURNS ledger.price LANGUAGE sql IMMUTABLE AS $$
    SELECT CASE WHEN kind = 'total' AND one.drawn_epsilon IS NOT NULL
        THEN ledger.drawn_price(p, one.epsilon, one.delta, one.drawn_epsilon, one.drawn_delta) ELSE p END
    FROM (SELECT ROW(coalesce(one.rho, ledger.rho_bound(one.epsilon)), coalesce(one.approx_delta, one.delta),
                     coalesce(one.gaussian_delta, 0))::ledger.price AS p) priced
$$;

-- A release that was charged and not finished is drawn under its charge only where that pays for what is drawn now, in
-- each currency. Epsilon and delta alone were compared before: a charge of Gaussian noise has less rho than Laplace
-- noise of the same epsilon, and its delta is counted by another rule (PROOFS.md 25).

-- Whether a receipt pays for these events. What a receipt without a rho costs is bounded as its balances have it.
CREATE OR REPLACE FUNCTION ledger.covers(of_receipt bigint, epsilon numeric, delta numeric, events jsonb) RETURNS boolean
LANGUAGE plpgsql STABLE AS $$
#variable_conflict use_variable
DECLARE
    wanted ledger.price := ledger.price_of(events, epsilon, delta);
    paid ledger.price;
    one ledger.receipt;
BEGIN
    SELECT r.* INTO one FROM ledger.receipt r WHERE r.id = of_receipt;
    paid := ledger.price_for('analyst', one);
    RETURN coalesce(
        one.epsilon >= epsilon AND one.delta >= delta
        AND paid.rho >= wanted.rho
        AND paid.approx_delta >= wanted.approx_delta
        AND paid.gaussian_delta >= wanted.gaussian_delta, false);
END $$;

CREATE OR REPLACE FUNCTION ledger.after(known ledger.balance, epsilon numeric, delta numeric, price ledger.price)
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
CREATE OR REPLACE FUNCTION ledger.failures_by_four(spent ledger.balance, most ledger.allowance) RETURNS numeric
LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF 4 * spent.gaussian_delta <= most.delta THEN
        RETURN 4 * least(spent.approx_delta + spent.gaussian_delta, spent.delta);
    END IF;
    RETURN 4 * spent.approx_delta + most.delta;
END $$;

-- The rule (PROOFS.md 25), of what is spent with the charge. Quarters of delta are multiplied out: none is rounded.
CREATE OR REPLACE FUNCTION ledger.fits(spent ledger.balance, most ledger.allowance) RETURNS boolean LANGUAGE plpgsql IMMUTABLE AS $$
BEGIN
    IF most.rho IS NULL THEN
        RETURN spent.epsilon <= most.epsilon AND spent.delta <= most.delta;
    END IF;
    RETURN ledger.failures_by_four(spent, most) <= 2 * most.delta
        AND (spent.rho <= most.rho
             OR (spent.epsilon <= most.epsilon AND 4 * spent.gaussian_delta <= most.delta));
END $$;

-- The largest epsilon of a pure mechanism within rho, for display: found in floats, a little below.
CREATE OR REPLACE FUNCTION ledger.epsilon_of_rho(rho numeric) RETURNS numeric LANGUAGE plpgsql IMMUTABLE AS $$
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
CREATE OR REPLACE FUNCTION ledger.left_for(
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

-- What analysts are told of a budget that others spend from, where answers are cached (accounting.budget_lines.as_reported):
-- in so many steps of its limit. steps NULL: exactly.
CREATE OR REPLACE FUNCTION ledger.in_steps(amount numeric, of_limit numeric, steps integer, is_up boolean) RETURNS numeric
LANGUAGE sql IMMUTABLE AS $$
    SELECT trim_scale(CASE
        WHEN steps IS NULL OR coalesce(of_limit, 0) = 0 THEN amount
        WHEN is_up THEN ceil(amount * steps / of_limit) * of_limit / steps
        ELSE floor(amount * steps / of_limit) * of_limit / steps END)
$$;
