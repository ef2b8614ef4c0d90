-- Kept answers: what one question drew in one slot of public time, so that the same question is not paid twice.
-- A draw is charged to the shared budget once, and to each analyst who is shown anything of it once, whole.
-- Nobody is shown a draw before it stands here: so what no one was shown may be drawn again under its charge.

-- What of a receipt the shared budget paid: less than the analyst did where another had paid for the draw.
ALTER TABLE ledger.receipt
    ADD COLUMN drawn_epsilon numeric(56, 18) CHECK (drawn_epsilon BETWEEN 0 AND epsilon),
    ADD COLUMN drawn_delta numeric(56, 30) CHECK (drawn_delta BETWEEN 0 AND delta);

-- digest finds a question, question and terms are compared whole. relation: NULL until it is drawn.
-- started: of the server's process. A relation is stored without waiting for the disk; where the server went
-- down since, it may have been shown and lost, and then the question is drawn anew and paid anew.
CREATE TABLE ledger.cached (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    slot timestamptz NOT NULL,
    digest bytea NOT NULL CHECK (length(digest) = 32),
    question text NOT NULL,
    terms text NOT NULL,
    epsilon numeric(56, 18) NOT NULL CHECK (epsilon >= 0),
    delta numeric(56, 30) NOT NULL CHECK (delta >= 0),
    receipt bigint NOT NULL REFERENCES ledger.receipt,
    started timestamptz NOT NULL,
    holder uuid NOT NULL,
    lease_until timestamptz NOT NULL,
    relation text,
    UNIQUE (source, slot, digest)
);

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
    SELECT coalesce((SELECT '#' || a.id FROM ledger.analyst a WHERE a.name = who AND a.removed_at IS NULL), who)
$$;

-- One charge for several questions, each paid as it must be. parts: [{"digest": hex or null, "question", "terms",
-- "epsilon", "delta", "events"}, ...]; without a digest it is never cached. Of each the state is given, in order:
--   ready    drawn, to be read; nothing for the shared budget
--   draw     to be drawn now, by this holder
--   wait     being drawn by another
--   apart    to be drawn now and not cached
-- may_draw false: where anything were to be drawn, nothing is charged, receipt and states are NULL. Over budget
-- the receipt is NULL, too, and states are empty; paid is what the analyst was to pay.
CREATE FUNCTION ledger.claim_at(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, fingerprint text, policy_digest text, at timestamptz,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric)
LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
    own_limit ledger.allowance;
    total_limit ledger.allowance;
    own ledger.balance;
    total ledger.balance;
    part jsonb;
    one ledger.cached;
    viewer text;
    slot timestamptz := ledger.slot_start(slot_seconds, slot_offset, claim_at.at);
    started timestamptz := pg_postmaster_start_time();
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
    own := ledger.lock_balance(claim_at.source, 'analyst', who);
    total := ledger.lock_balance(claim_at.source, 'total', '');
    own_limit := ledger.allowance_of(claim_at.source, 'analyst', who);
    total_limit := ledger.allowance_of(claim_at.source, 'total', '');
    own := ledger.in_window(own, own_limit.period, claim_at.at);
    total := ledger.in_window(total, total_limit.period, claim_at.at);
    viewer := ledger.viewer_of(who);
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
                state := 'draw';
            ELSIF one.question <> part ->> 'question' OR one.terms <> part ->> 'terms' THEN
                state := 'apart';
                one := NULL;
            ELSIF one.relation IS NOT NULL THEN
                state := 'ready';
            ELSIF one.started <> started THEN
                state := 'again';
            ELSIF one.lease_until > claim_at.at AND one.holder <> claim_at.holder THEN
                state := 'wait';
            ELSE
                state := 'take';
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
    IF may_draw OR NOT found_states && ARRAY['draw', 'again', 'take', 'apart'] THEN
        IF own.epsilon + paid_epsilon <= own_limit.epsilon AND own.delta + paid_delta <= own_limit.delta
           AND total.epsilon + drawn_epsilon <= total_limit.epsilon
           AND total.delta + drawn_delta <= total_limit.delta THEN
            IF paid_epsilon = 0 AND paid_delta = 0 THEN
                -- A note for the analyst: nothing is charged, so nothing has to reach the disk first.
                PERFORM set_config('synchronous_commit', 'off', true);
            END IF;
            own.epsilon := own.epsilon + paid_epsilon;
            own.delta := own.delta + paid_delta;
            total.epsilon := total.epsilon + drawn_epsilon;
            total.delta := total.delta + drawn_delta;
            INSERT INTO ledger.receipt AS r
                (source, at, analyst, epsilon, delta, events, fingerprint, policy_digest, drawn_epsilon, drawn_delta)
            VALUES (claim_at.source, claim_at.at, who, paid_epsilon, paid_delta, charged_events,
                    claim_at.fingerprint, claim_at.policy_digest, drawn_epsilon, drawn_delta)
            RETURNING r.id INTO claim_at.receipt;
            UPDATE ledger.balance b SET (period, window_start, epsilon, delta)
                 = (own.period, own.window_start, own.epsilon, own.delta)
            WHERE b.source = claim_at.source AND b.kind = 'analyst' AND b.analyst = who;
            UPDATE ledger.balance b SET (period, window_start, epsilon, delta)
                 = (total.period, total.window_start, total.epsilon, total.delta)
            WHERE b.source = claim_at.source AND b.kind = 'total';
            FOR place IN 1 .. cardinality(found_states) LOOP
                part := parts -> (place - 1);
                state := found_states[place];
                IF state = 'again' THEN
                    DELETE FROM ledger.cached k WHERE k.id = found_cached[place];
                END IF;
                IF state IN ('draw', 'again') THEN
                    new_cached := NULL;
                    INSERT INTO ledger.cached AS k (source, slot, digest, question, terms, epsilon, delta, receipt,
                                                  started, holder, lease_until)
                    VALUES (claim_at.source, slot, decode(part ->> 'digest', 'hex'), part ->> 'question',
                            part ->> 'terms', (part ->> 'epsilon')::numeric, (part ->> 'delta')::numeric,
                            claim_at.receipt, started, claim_at.holder,
                            claim_at.at + make_interval(secs => lease_seconds))
                    ON CONFLICT DO NOTHING
                    RETURNING k.id INTO new_cached;
                    found_cached[place] := new_cached;
                ELSIF state = 'take' THEN
                    UPDATE ledger.cached k SET (holder, lease_until)
                        = (claim_at.holder, claim_at.at + make_interval(secs => lease_seconds))
                    WHERE k.id = found_cached[place];
                END IF;
                IF state IN ('draw', 'again', 'take') THEN
                    found_states[place] := 'draw';
                END IF;
                IF found_cached[place] IS NULL THEN
                    found_states[place] := 'apart';  -- twice in one statement: each is drawn, each was charged
                ELSE
                    INSERT INTO ledger.seen (cached, viewer, at) VALUES (found_cached[place], viewer, claim_at.at)
                    ON CONFLICT DO NOTHING;
                END IF;
            END LOOP;
            states := found_states;
            cached := found_cached;
            relations := found_relations;
        ELSE
            states := '{}';  -- over budget
        END IF;
    END IF;
    own_epsilon := own_limit.epsilon - own.epsilon;
    own_delta := own_limit.delta - own.delta;
    total_epsilon := total_limit.epsilon - total.epsilon;
    total_delta := total_limit.delta - total.delta;
    renews_at := ledger.window_end(own.period, own.window_start);
END $$;

CREATE FUNCTION ledger.claim(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, fingerprint text, policy_digest text,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric)
LANGUAGE sql AS $$
    SELECT * FROM ledger.claim_at(source, who, parts, holder, may_draw, lease_seconds, slot_seconds, slot_offset,
                                  fingerprint, policy_digest, transaction_timestamp())
$$;

-- The relation that all are shown: the first that came, whoever drew it. Does not wait for the disk (see `started`).
CREATE FUNCTION ledger.keep(of_cached bigint, drawn text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    standing text;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE ledger.cached k SET relation = coalesce(k.relation, drawn) WHERE k.id = of_cached
    RETURNING k.relation INTO standing;
    RETURN standing;
END $$;

-- Whoever cannot finish a draw: the next to ask takes it over, under the same charge.
CREATE FUNCTION ledger.let_go(of_cached bigint, of_holder uuid) RETURNS void LANGUAGE sql AS $$
    UPDATE ledger.cached SET lease_until = '-infinity' WHERE id = of_cached AND holder = of_holder AND relation IS NULL
$$;

-- What is not served any more, and can be forgotten: the receipts stay.
CREATE FUNCTION ledger.forget_slots(of_source bigint, before timestamptz) RETURNS bigint LANGUAGE sql AS $$
    WITH gone AS (
        DELETE FROM ledger.cached k WHERE k.source = of_source AND k.slot < before RETURNING k.id
    ) SELECT count(*) FROM gone
$$;
