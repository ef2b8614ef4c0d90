-- Cached answers: what one question drew in one slot of public time, so that the same question is not paid twice.
-- A draw is charged to the shared budget once, and to each analyst who is shown anything of it once, whole.
-- Nobody is shown a draw before it stands here: so what no one was shown may be drawn again under its charge.

-- What of a receipt the shared budget paid: less than the analyst did where another had paid for the draw.
ALTER TABLE ledger.receipt
    ADD COLUMN drawn_epsilon numeric(56, 18) CHECK (drawn_epsilon BETWEEN 0 AND epsilon),
    ADD COLUMN drawn_delta numeric(56, 30) CHECK (drawn_delta BETWEEN 0 AND delta);

-- digest finds a question, question and terms are compared whole. about: of what rows it is; made: of what others
-- are made of it (NULL: none are). relation: NULL until it is drawn.
-- started: of the server's process. A relation is stored without waiting for the disk; where the server went
-- down since, it may have been shown and lost, and then the question is drawn anew and paid anew.
CREATE TABLE ledger.cached (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    slot timestamptz NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    question text NOT NULL,
    terms text NOT NULL,
    about bytea CHECK (length(about) = 32),
    made jsonb,
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    receipt bigint NOT NULL REFERENCES ledger.receipt,
    started timestamptz NOT NULL,
    holder uuid NOT NULL,
    lease_until timestamptz NOT NULL,
    draws integer NOT NULL DEFAULT 1,  -- that were begun
    relation text,
    UNIQUE (source, slot, digest),
    CHECK ((about IS NULL) = (made IS NULL))
);
CREATE INDEX ON ledger.cached (source, slot, about);

-- Who has been shown it, or paid to be. viewer: an analyst's number, which a name that is given again has not.
CREATE TABLE ledger.seen (
    cached bigint NOT NULL REFERENCES ledger.cached ON DELETE CASCADE,
    viewer text NOT NULL,
    at timestamptz NOT NULL,
    PRIMARY KEY (cached, viewer)
);

CREATE OR REPLACE FUNCTION ledger.in_window(known ledger.balance, new_period text, at timestamptz)
RETURNS ledger.balance LANGUAGE plpgsql VOLATILE AS $$
#variable_conflict use_column
DECLARE
    start timestamptz := ledger.window_start(new_period, in_window.at);
    result ledger.balance := known;
BEGIN
    IF known.period = new_period AND start <= known.window_start THEN
        RETURN known;
    END IF;
    result.period := new_period;
    result.window_start := start;
    SELECT coalesce(sum(coalesce(CASE known.kind WHEN 'total' THEN r.drawn_epsilon END, r.epsilon)), 0),
           coalesce(sum(coalesce(CASE known.kind WHEN 'total' THEN r.drawn_delta END, r.delta)), 0)
    INTO result.epsilon, result.delta
    FROM ledger.receipt r
    WHERE r.source = known.source AND r.at >= start
      AND (known.kind = 'total' OR r.analyst = known.analyst);
    RETURN result;
END $$;

-- Slots are of the ledger's clock: the same for all processes. They begin `offset_seconds` after midnight, UTC.
CREATE FUNCTION ledger.slot_start(seconds integer, offset_seconds integer, at timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT date_bin(make_interval(secs => seconds), at, timestamptz '2000-01-01 00:00:00+00'
                    + make_interval(secs => offset_seconds))
$$;

CREATE FUNCTION ledger.viewer_of(who text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT 'number ' || a.id FROM ledger.analyst a WHERE a.name = who AND a.removed_at IS NULL),
                    'name ' || who)
$$;

-- One charge, of which the shared budget pays what was drawn: both balances locked (the analyst's, then the shared
-- one: always in this order), all limits read after that, checked, the receipt appended. receipt is NULL when
-- refused; what is left is then before the charge. Each step is a statement of its own, so that each sees what was
-- committed before its lock.
CREATE FUNCTION ledger.charge_at(
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
BEGIN
    IF cost_epsilon < 0 OR cost_delta < 0 OR drawn_epsilon < 0 OR drawn_delta < 0
       OR cost_epsilon + cost_delta + drawn_epsilon + drawn_delta IS NULL THEN
        RAISE EXCEPTION 'a charge is not negative';
    END IF;
    own := ledger.lock_balance(charge_at.source, 'analyst', who);
    total := ledger.lock_balance(charge_at.source, 'total', '');
    own_limit := ledger.allowance_of(charge_at.source, 'analyst', who);
    total_limit := ledger.allowance_of(charge_at.source, 'total', '');
    own := ledger.in_window(own, own_limit.period, charge_at.at);
    total := ledger.in_window(total, total_limit.period, charge_at.at);
    IF own.epsilon + cost_epsilon <= own_limit.epsilon AND own.delta + cost_delta <= own_limit.delta
       AND total.epsilon + charge_at.drawn_epsilon <= total_limit.epsilon
       AND total.delta + charge_at.drawn_delta <= total_limit.delta THEN
        own.epsilon := own.epsilon + cost_epsilon;
        own.delta := own.delta + cost_delta;
        total.epsilon := total.epsilon + charge_at.drawn_epsilon;
        total.delta := total.delta + charge_at.drawn_delta;
        INSERT INTO ledger.receipt AS r
            (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest, drawn_epsilon, drawn_delta)
        VALUES (charge_at.source, charge_at.at, who, cost_epsilon, cost_delta, charge_at.events,
                charge_at.fingerprint, charge_at.policy_digest, charge_at.drawn_epsilon, charge_at.drawn_delta)
        RETURNING r.id INTO charge_at.receipt;
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta)
             = (own.period, own.window_start, own.epsilon, own.delta)
        WHERE b.source = charge_at.source AND b.kind = 'analyst' AND b.analyst = who;
        UPDATE ledger.balance b SET (period, window_start, epsilon, delta)
             = (total.period, total.window_start, total.epsilon, total.delta)
        WHERE b.source = charge_at.source AND b.kind = 'total';
    END IF;
    own_epsilon := own_limit.epsilon - own.epsilon;
    own_delta := own_limit.delta - own.delta;
    total_epsilon := total_limit.epsilon - total.epsilon;
    total_delta := total_limit.delta - total.delta;
    renews_at := ledger.window_end(own.period, own.window_start);
END $$;

-- Where nothing is cached, all is drawn.
CREATE OR REPLACE FUNCTION ledger.reserve_at(
    source bigint, who text, cost_epsilon numeric, cost_delta numeric, events jsonb,
    fingerprint text, policy_digest text, at timestamptz,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz)
LANGUAGE sql AS $$
    SELECT * FROM ledger.charge_at(source, who, cost_epsilon, cost_delta, cost_epsilon, cost_delta, events,
                                   fingerprint, policy_digest, at)
$$;

-- One charge for several questions, each paid as it must be. parts: [{"digest": hex or null, "question", "terms",
-- "epsilon", "delta", "events"}, ...]; without a digest it is never cached. Of each the state is given, in order:
--   ready    drawn, to be read; nothing for the shared budget
--   draw     to be drawn now, by this holder
--   wait     being drawn by another
--   apart    to be drawn now and not cached: nor is anything new beyond most_bytes
-- may_draw false: where anything were to be drawn, nothing is charged and states are NULL. Over budget states are
-- empty, and paid is what the analyst was to pay. Nothing to pay: no receipt, so that a question that is asked
-- again leaves nothing behind.
-- A draw that no one was shown is begun three times at most under its charge: how long it takes may tell something.
CREATE FUNCTION ledger.claim_at(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint, fingerprint text, policy_digest text,
    at timestamptz,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric)
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
    place integer;
    new_cached bigint;
BEGIN
    PERFORM ledger.lock_balance(claim_at.source, 'analyst', who);
    PERFORM ledger.lock_balance(claim_at.source, 'total', '');  -- so all claims of a source come one after another
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
        END IF;
        IF state IN ('draw', 'again', 'apart') THEN
            drawn_epsilon := drawn_epsilon + cost_epsilon;
            drawn_delta := drawn_delta + cost_delta;
        END IF;
        found_states := found_states || state;
        found_cached := found_cached || one.id;
        found_relations := found_relations || CASE WHEN state = 'ready' THEN one.relation END;
    END LOOP;
    IF NOT may_draw AND found_states && ARRAY['draw', 'again', 'take', 'apart'] THEN
        RETURN;
    END IF;
    IF paid_epsilon > 0 OR paid_delta > 0 THEN
        SELECT * INTO charged FROM ledger.charge_at(
            claim_at.source, who, paid_epsilon, paid_delta, drawn_epsilon, drawn_delta, charged_events,
            claim_at.fingerprint, claim_at.policy_digest, claim_at.at);
        receipt := charged.receipt;
        own_epsilon := charged.own_epsilon;
        own_delta := charged.own_delta;
        total_epsilon := charged.total_epsilon;
        total_delta := charged.total_delta;
        renews_at := charged.renews_at;
        IF receipt IS NULL THEN
            states := '{}';
            RETURN;
        END IF;
    ELSE
        -- Nothing is charged, so nothing has to reach the disk first.
        PERFORM set_config('synchronous_commit', 'off', true);
        SELECT l.epsilon_limit - l.epsilon_spent, l.delta_limit - l.delta_spent, l.renews_at
        INTO own_epsilon, own_delta, renews_at
        FROM ledger.standing(claim_at.source, who, claim_at.at) l WHERE l.kind = 'analyst';
        SELECT l.epsilon_limit - l.epsilon_spent, l.delta_limit - l.delta_spent INTO total_epsilon, total_delta
        FROM ledger.standing(claim_at.source, who, claim_at.at) l WHERE l.kind = 'total';
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
        END IF;
    END LOOP;
    states := found_states;
    cached := found_cached;
    relations := found_relations;
END $$;

CREATE FUNCTION ledger.claim(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint, fingerprint text, policy_digest text,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric)
LANGUAGE sql AS $$
    SELECT * FROM ledger.claim_at(source, who, parts, holder, may_draw, lease_seconds, slot_seconds, slot_offset,
                                  most_bytes, fingerprint, policy_digest, transaction_timestamp())
$$;

-- The relation that all are shown: the first that came, whoever drew it. Does not wait for the disk (see `started`).
-- What is older than two of the longest slots is served no more, and goes; its receipts stay.
CREATE FUNCTION ledger.store(of_cached bigint, drawn text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    one ledger.cached;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE ledger.cached k SET relation = coalesce(k.relation, drawn) WHERE k.id = of_cached RETURNING k.* INTO one;
    DELETE FROM ledger.cached k WHERE k.source = one.source AND k.slot < one.slot - interval '62 days';
    RETURN one.relation;
END $$;

-- Whoever cannot finish a draw: the next to ask takes it over, under the same charge.
CREATE FUNCTION ledger.let_go(of_cached bigint, of_holder uuid) RETURNS void LANGUAGE sql AS $$
    UPDATE ledger.cached SET lease_until = '-infinity' WHERE id = of_cached AND holder = of_holder AND relation IS NULL
$$;

-- What an analyst has been shown in this slot, and can have others made of.
CREATE FUNCTION ledger.paid_about(of_source bigint, who text, slot_seconds integer, slot_offset integer,
                                  wanted bytea[])
RETURNS TABLE (id bigint, about bytea, made jsonb) LANGUAGE sql STABLE AS $$
    SELECT k.id, k.about, k.made
    FROM ledger.cached k JOIN ledger.seen s ON s.cached = k.id
    WHERE k.source = of_source AND k.about = ANY (wanted) AND k.relation IS NOT NULL
      AND k.slot = ledger.slot_start(slot_seconds, slot_offset, transaction_timestamp())
      AND s.viewer = ledger.viewer_of(who)
    ORDER BY k.id DESC LIMIT 64
$$;

-- A relation that is too large to be cached: the question is paid anew where it is asked again.
CREATE FUNCTION ledger.forget(of_cached bigint) RETURNS void LANGUAGE sql AS $$
    DELETE FROM ledger.cached WHERE id = of_cached AND relation IS NULL
$$;
