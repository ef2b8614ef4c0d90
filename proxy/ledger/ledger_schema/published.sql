-- Published tables: statements that the policy releases on a schedule, for everybody. The shared budget pays for a
-- release when it is reserved, and nobody else for reading it.
-- A release is reserved and charged in one transaction, drawn, and stored in another; what is shown is what stands
-- here, never an own draw. So whoever finds a release that is charged and not stored draws it again under its charge:
-- no one was shown the first draw. That is so only where the charge pays for what is drawn now, in each currency
-- (`covers`). Not rows of ledger.cached: those are charged anew where a crash may have lost what
-- was shown, after three draws, and go after two months.

-- Who pays: an account that no analyst can have. Its limit is that of everybody together.
CREATE OR REPLACE FUNCTION ledger.published_account() RETURNS text LANGUAGE sql IMMUTABLE AS $$ SELECT '(published)' $$;

-- Whether a charge has paid the budgets of tables for what is to be drawn now: which they are may have changed. Nor is one
-- to blocks of time, which the total has not paid, for what has none.
CREATE OR REPLACE FUNCTION ledger.paid_of_tables(of_receipt bigint, tables jsonb) RETURNS boolean LANGUAGE sql STABLE AS $$
    WITH paid AS (
        SELECT s ->> 'name' AS name, (s ->> 'epsilon')::numeric AS epsilon, (s ->> 'delta')::numeric AS delta
        FROM ledger.receipt r CROSS JOIN LATERAL jsonb_array_elements(r.shares) s
        WHERE r.id = of_receipt AND s ->> 'kind' = 'table')
    SELECT NOT EXISTS (
        SELECT FROM jsonb_each(tables) AS t(name, cost)
        WHERE NOT EXISTS (
            SELECT FROM paid p
            WHERE p.name = t.name
              AND p.epsilon >= (t.cost ->> 'epsilon')::numeric AND p.delta >= (t.cost ->> 'delta')::numeric))
       AND ledger.is_of_blocks(ledger.names_in(tables)) = ledger.is_of_blocks(ARRAY(SELECT p.name FROM paid p))
$$;

-- Whether this holder is to draw a release now, and tables: what is drawn of each, as of_tables of a charge. state:
--   draw      it is charged: now, or earlier and nobody finished it
--   wait      another is drawing it
--   done      that of the latest time due stands
--   unfunded  the shared budget, or that of a table, does not cover it: nothing is charged, and the schedule is marked stale
--   changed   it is a step of a series, and its plan is not that of the steps before: nothing is charged, likewise
-- A time that was missed is not made up for: the latest counts. A release that was charged for an earlier time and
-- never finished is drawn for this one, under its charge. is_now: one more, whatever the schedule.
-- series: the digest of the plan, where the statement is a series (`continual`). Its first release is charged for all;
-- later ones have a receipt of nothing, so that the high-water mark knows of each step (ledger.series_step). The steps
-- are those of the receipt paid_by. Another plan is charged anew by is_now alone, and begins with the first step.
CREATE OR REPLACE FUNCTION ledger.publish_at(
    source bigint, named text, of_version text, cost_epsilon numeric, cost_delta numeric, events jsonb,
    holder uuid, lease_seconds integer, slot_seconds integer, slot_offset integer, is_now boolean,
    policy_digest text, at timestamptz, tables jsonb DEFAULT '{}', series text DEFAULT NULL,
    OUT state text, OUT published bigint, OUT due timestamptz, OUT receipt bigint,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT lines jsonb, OUT paid_by bigint)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    account text := ledger.published_account();
    lease timestamptz := publish_at.at + make_interval(secs => lease_seconds);
    one ledger.published;
    charged record;
    is_paid boolean;
BEGIN
    -- In the order of all charges; the shared one among them, so releases of a source are reserved one by one.
    PERFORM ledger.lock_lines(publish_at.source, account, '{}', ARRAY(SELECT jsonb_object_keys(tables)));
    due := ledger.slot_start(slot_seconds, slot_offset, publish_at.at);
    SELECT p.* INTO one FROM ledger.published p
    WHERE p.source = publish_at.source AND p.name = named AND p.version = of_version
    ORDER BY p.due DESC LIMIT 1;
    is_paid := one.id IS NOT NULL AND one.series IS NOT DISTINCT FROM publish_at.series
        AND ledger.covers(coalesce(one.paid_by, one.receipt), cost_epsilon, cost_delta, publish_at.events)
        AND ledger.paid_of_tables(coalesce(one.paid_by, one.receipt), tables);
    IF one.id IS NOT NULL AND one.released_at IS NULL THEN
        published := one.id;
        receipt := one.receipt;
        IF one.lease_until > publish_at.at THEN
            state := 'wait';
            due := one.due;
            RETURN;
        END IF;
        IF is_paid THEN
            state := 'draw';
            paid_by := one.paid_by;
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
    IF one.series IS NOT NULL AND NOT is_paid AND NOT is_now THEN
        state := 'changed';
        published := NULL;
        due := NULL;
        receipt := NULL;
        INSERT INTO ledger.stale AS s (source, name, version, since, reason)
        VALUES (publish_at.source, named, of_version, publish_at.at,
                'its plan is not that of the steps before; dpproxy publish --now charges a new series')
        ON CONFLICT ON CONSTRAINT stale_pkey DO UPDATE SET reason = EXCLUDED.reason;
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
    IF one.series IS NOT NULL AND is_paid THEN
        paid_by := one.paid_by;
        SELECT * INTO charged FROM ledger.charge_at(
            publish_at.source, account, 0, 0, 0, 0, '[]',
            'published ' || named, publish_at.policy_digest, publish_at.at);
    ELSE
        SELECT * INTO charged FROM ledger.charge_at(
            publish_at.source, account, cost_epsilon, cost_delta, cost_epsilon, cost_delta, publish_at.events,
            'published ' || named, publish_at.policy_digest, publish_at.at, of_tables => publish_at.tables);
    END IF;
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
    IF series IS NOT NULL THEN
        paid_by := coalesce(paid_by, receipt);
    END IF;
    INSERT INTO ledger.published AS p (source, name, version, due, epsilon, delta, receipt, policy_digest, holder,
                                       lease_until, series, paid_by)
    VALUES (publish_at.source, named, of_version, publish_at.due, cost_epsilon, cost_delta, publish_at.receipt,
            publish_at.policy_digest, publish_at.holder, lease, publish_at.series, publish_at.paid_by)
    RETURNING p.id INTO published;
    DELETE FROM ledger.stale s
    WHERE s.source = publish_at.source AND s.name = named AND s.version = of_version;
END $$;

-- While a draw goes on; false: another has taken it over.
CREATE OR REPLACE FUNCTION ledger.hold_published_at(of_published bigint, of_holder uuid, lease_seconds integer, at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
    UPDATE ledger.published SET lease_until = at + make_interval(secs => lease_seconds)
    WHERE id = of_published AND holder = of_holder AND released_at IS NULL;
    RETURN FOUND;
END $$;

-- Whoever cannot finish a draw: it is begun again after a pause, by whoever comes first, under the same charge.
CREATE OR REPLACE FUNCTION ledger.let_go_published_at(of_published bigint, of_holder uuid, seconds integer, at timestamptz)
RETURNS void LANGUAGE sql AS $$
    UPDATE ledger.published SET lease_until = at + make_interval(secs => seconds)
    WHERE id = of_published AND holder = of_holder AND released_at IS NULL
$$;

-- What was drawn, once: whoever comes later shows this. Older releases of the statement are shown no more, but for the
-- case that this one is no table; those of another version stay a while, as a policy may go back to it.
-- blocks: texts, each sealed.
CREATE OR REPLACE FUNCTION ledger.store_published_at(
    of_published bigint, constants text, shown text, failure text, blocks jsonb, at timestamptz)
RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    one ledger.published;
BEGIN
    UPDATE ledger.published p
    SET (released_at, constants, shown, failure)
      = (store_published_at.at, store_published_at.constants, store_published_at.shown, store_published_at.failure)
    WHERE p.id = of_published AND p.released_at IS NULL RETURNING p.* INTO one;
    IF one.id IS NULL THEN
        RETURN false;
    END IF;
    INSERT INTO ledger.published_block (published, number, sealed)
    SELECT one.id, b.n, b.block
    FROM jsonb_array_elements_text(blocks) WITH ORDINALITY AS b(block, n);
    INSERT INTO ledger.settlement (receipt, at, outcome) VALUES (one.receipt, store_published_at.at, 'answered')
    ON CONFLICT (receipt) DO NOTHING;
    IF one.shown IS NOT NULL THEN
        DELETE FROM ledger.published_block b USING ledger.published p
        WHERE b.published = p.id AND p.source = one.source AND p.name = one.name AND p.due < one.due
          AND (p.version = one.version OR p.due < one.due - interval '62 days');
        UPDATE ledger.published p SET shown = NULL
        WHERE p.source = one.source AND p.name = one.name AND p.due < one.due AND p.shown IS NOT NULL
          AND (p.version = one.version OR p.due < one.due - interval '62 days');
    END IF;
    RETURN true;
END $$;

-- The steps of a series that have noise by now: that of the first who drew it, whoever draws later. given: what was
-- drawn for steps from `begin` on, sealed. What steps were read as is stored by ledger/published_releases.py.
CREATE OR REPLACE FUNCTION ledger.begin_steps(of_receipt bigint, begin integer, given jsonb)
RETURNS void LANGUAGE sql AS $$
    INSERT INTO ledger.series_step (receipt, number, noise)
    SELECT of_receipt, begin + g.place - 1, g.noise
    FROM jsonb_array_elements_text(given) WITH ORDINALITY AS g(noise, place)
    ON CONFLICT (receipt, number) DO NOTHING
$$;

-- After the last step nobody needs the noise.
CREATE OR REPLACE FUNCTION ledger.end_steps(of_receipt bigint, steps integer)
RETURNS void LANGUAGE sql AS $$
    UPDATE ledger.series_step s SET noise = NULL
    WHERE s.receipt = of_receipt AND s.noise IS NOT NULL
      AND (SELECT count(*) FROM ledger.series_step d WHERE d.receipt = of_receipt AND d.drawn IS NOT NULL) >= steps
$$;

-- How each of some statements stands, in their order. wanted: [{"name", "version", "seconds", "offset"}, ...]
-- id and what follows: of the latest release that is a table; failure: of a later one that is none.
CREATE OR REPLACE FUNCTION ledger.published_standing_at(of_source bigint, wanted jsonb, at timestamptz)
RETURNS TABLE (name text, id bigint, due timestamptz, released_at timestamptz, epsilon numeric, delta numeric,
               receipt bigint, policy_digest text, next_due timestamptz, is_due boolean, stale_since timestamptz,
               stale text, failure text)
LANGUAGE sql STABLE AS $$
    SELECT w.name, t.id, t.due, t.released_at, t.epsilon, t.delta, t.receipt, t.policy_digest,
           s.slot + make_interval(secs => w.seconds), last.id IS NULL OR last.released_at IS NULL OR last.due < s.slot,
           stale.since, stale.reason,
           CASE WHEN last.id IS DISTINCT FROM t.id THEN last.failure END
    FROM jsonb_array_elements(wanted) WITH ORDINALITY AS given(one, place)
    CROSS JOIN LATERAL jsonb_to_record(given.one) AS w(name text, version text, seconds integer, "offset" integer)
    CROSS JOIN LATERAL (SELECT ledger.slot_start(w.seconds, w."offset", at) AS slot) s
    LEFT JOIN LATERAL (
        SELECT p.* FROM ledger.published p
        WHERE p.source = of_source AND p.name = w.name AND p.version = w.version AND p.shown IS NOT NULL
        ORDER BY p.due DESC LIMIT 1) t ON true
    LEFT JOIN LATERAL (
        SELECT p.* FROM ledger.published p
        WHERE p.source = of_source AND p.name = w.name AND p.version = w.version
        ORDER BY p.due DESC LIMIT 1) last ON true
    LEFT JOIN ledger.stale stale ON stale.source = of_source AND stale.name = w.name AND stale.version = w.version
    ORDER BY given.place
$$;
