-- A release that was charged and not finished is drawn under its charge only where that pays for what is drawn now, in
-- each currency. Epsilon and delta alone were compared before: a charge of Gaussian noise has less rho than Laplace
-- noise of the same epsilon, and its delta is counted by another rule (0003, PROOFS.md 25).

-- Whether a receipt pays for these events. What a receipt of before 0003 costs is bounded as its balances have it.
CREATE FUNCTION ledger.covers(of_receipt bigint, epsilon numeric, delta numeric, events jsonb) RETURNS boolean
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

-- As before (0006), but for that.
CREATE OR REPLACE FUNCTION ledger.publish_at(
    source bigint, named text, of_version text, cost_epsilon numeric, cost_delta numeric, events jsonb,
    holder uuid, lease_seconds integer, slot_seconds integer, slot_offset integer, is_now boolean,
    policy_digest text, at timestamptz, tables jsonb DEFAULT '{}',
    OUT state text, OUT published bigint, OUT due timestamptz, OUT receipt bigint,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT lines jsonb)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    account text := ledger.published_account();
    lease timestamptz := publish_at.at + make_interval(secs => lease_seconds);
    one ledger.published;
    charged record;
BEGIN
    -- In the order of all charges; the shared one among them, so releases of a source are reserved one by one.
    PERFORM ledger.lock_lines(publish_at.source, account, '{}', ARRAY(SELECT jsonb_object_keys(tables)));
    due := ledger.slot_start(slot_seconds, slot_offset, publish_at.at);
    SELECT p.* INTO one FROM ledger.published p
    WHERE p.source = publish_at.source AND p.name = named AND p.version = of_version
    ORDER BY p.due DESC LIMIT 1;
    IF one.id IS NOT NULL AND one.released_at IS NULL THEN
        published := one.id;
        receipt := one.receipt;
        IF one.lease_until > publish_at.at THEN
            state := 'wait';
            due := one.due;
            RETURN;
        END IF;
        IF ledger.covers(one.receipt, cost_epsilon, cost_delta, publish_at.events)
           AND ledger.paid_of_tables(one.receipt, tables) THEN
            state := 'draw';
            due := greatest(due, one.due);
            UPDATE ledger.published p
            SET (due, holder, lease_until, draws, policy_digest)
              = (publish_at.due, publish_at.holder, lease, p.draws + 1, publish_at.policy_digest)
            WHERE p.id = one.id;
            RETURN;
        END IF;
        -- The policy has changed meanwhile, and what is to be drawn now costs more than was charged.
        due := greatest(due, one.due + interval '1 microsecond');
    ELSIF one.id IS NOT NULL AND one.due >= due AND NOT is_now THEN
        state := 'done';
        published := one.id;
        due := one.due;
        receipt := one.receipt;
        RETURN;
    END IF;
    IF is_now THEN
        due := greatest(publish_at.at, one.due + interval '1 microsecond');
    END IF;
    published := NULL;
    receipt := NULL;
    INSERT INTO ledger.allowance (source, kind, analyst, epsilon, delta, period, rho)
    SELECT a.source, 'analyst', account, a.epsilon, a.delta, a.period, a.rho FROM ledger.allowance a
    WHERE a.source = publish_at.source AND a.kind = 'total'
    ON CONFLICT ON CONSTRAINT allowance_pkey DO UPDATE
    SET (epsilon, delta, period, rho) = (EXCLUDED.epsilon, EXCLUDED.delta, EXCLUDED.period, EXCLUDED.rho);
    SELECT * INTO charged FROM ledger.charge_at(
        publish_at.source, account, cost_epsilon, cost_delta, cost_epsilon, cost_delta, publish_at.events,
        'published ' || named, publish_at.policy_digest, publish_at.at, of_tables => publish_at.tables);
    lines := charged.lines;
    total_epsilon := charged.total_epsilon;
    total_delta := charged.total_delta;
    IF charged.receipt IS NULL THEN
        state := 'unfunded';
        due := NULL;
        INSERT INTO ledger.stale AS s (source, name, version, since, reason)
        SELECT publish_at.source, named, of_version, publish_at.at,
               format('the %s does not cover its next release', coalesce(
                   string_agg(format('budget of the table %s', l ->> 'name'), ' and the ' ORDER BY l ->> 'name'),
                   'shared budget (total)'))
        FROM jsonb_array_elements(charged.lines) l
        WHERE l ->> 'kind' = 'table' AND NOT (l ->> 'fits')::boolean
        ON CONFLICT ON CONSTRAINT stale_pkey DO UPDATE SET reason = EXCLUDED.reason;
        RETURN;
    END IF;
    state := 'draw';
    receipt := charged.receipt;
    INSERT INTO ledger.published AS p (source, name, version, due, epsilon, delta, receipt, policy_digest, holder,
                                       lease_until)
    VALUES (publish_at.source, named, of_version, publish_at.due, cost_epsilon, cost_delta, publish_at.receipt,
            publish_at.policy_digest, publish_at.holder, lease)
    RETURNING p.id INTO published;
    DELETE FROM ledger.stale s
    WHERE s.source = publish_at.source AND s.name = named AND s.version = of_version;
END $$;
