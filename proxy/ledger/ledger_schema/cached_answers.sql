-- Cached answers: what one question drew in one slot of public time, so that the same question is not paid twice.
-- A draw is charged to the shared budget once, and to each analyst who is shown anything of it once, whole.
-- Nobody is shown a draw before it stands here: so what no one was shown may be drawn again under its charge.

-- Slots are of the ledger's clock: the same for all processes. They begin `offset_seconds` after midnight, UTC.
CREATE OR REPLACE FUNCTION ledger.slot_start(seconds integer, offset_seconds integer, at timestamptz)
RETURNS timestamptz LANGUAGE sql STABLE AS $$
    SELECT date_bin(make_interval(secs => seconds), at, timestamptz '2000-01-01 00:00:00+00'
                    + make_interval(secs => offset_seconds))
$$;

CREATE OR REPLACE FUNCTION ledger.viewer_of(who text) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT coalesce((SELECT 'number ' || a.id FROM ledger.analyst a WHERE a.name = who AND a.removed_at IS NULL),
                    'name ' || who)
$$;

-- One charge for several questions, each paid as it must be. Of each the state is given, in order:
--   ready    drawn, to be read; nothing for the shared budget
--   draw     to be drawn now, by this holder
--   wait     being drawn by another
--   apart    to be drawn now and not cached: nor is anything new beyond most_bytes
-- may_draw false: where anything were to be drawn, nothing is charged and states are NULL. Over budget states are
-- empty, and paid is what the analyst was to pay. Nothing to pay: no receipt, so that a question that is asked
-- again leaves nothing behind.
-- A draw that no one was shown is begun three times at most under its charge: how long it takes may tell something.
-- What an analyst has not seen has to fit all budgets as if it were drawn for them, though of a drawn one only the
-- analyst, and a group to which it is new, are charged. Else a shared budget that is nearly spent would tell what
-- others have asked: that would be answered, all else refused.
-- parts: [{"digest": hex or null, "about": hex, "made": sealed, "epsilon", "delta", "events", "tables"}, ...]
CREATE OR REPLACE FUNCTION ledger.claim_at(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint, fingerprint text, policy_digest text,
    at timestamptz, statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric,
    OUT lines jsonb)
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
    groups text[] := ledger.groups_of(who);
    paying text;
    is_new boolean[] := '{}';  -- to the analyst
    of_groups jsonb := '{}';
    of_tables jsonb := '{}';
    unseen_of_tables jsonb := '{}';
    fits boolean;
    place integer;
    new_cached bigint;
BEGIN
    -- The shared one among them, so all claims of a source come one after another.
    PERFORM ledger.lock_lines(claim_at.source, who, groups,
                              ARRAY(SELECT jsonb_array_elements_text(p -> 'tables') FROM jsonb_array_elements(parts) p));
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
            FOR paying IN SELECT jsonb_array_elements_text(part -> 'tables') LOOP
                unseen_of_tables := ledger.plus(unseen_of_tables, paying, cost_epsilon, cost_delta);
            END LOOP;
            FOREACH paying IN ARRAY groups LOOP
                IF one.id IS NULL OR state = 'again' OR NOT EXISTS (
                    SELECT FROM ledger.seen s WHERE s.cached = one.id AND s.viewer = 'group ' || paying) THEN
                    of_groups := ledger.plus(of_groups, paying, cost_epsilon, cost_delta);
                END IF;
            END LOOP;
        END IF;
        IF state IN ('draw', 'again', 'apart') THEN
            drawn_epsilon := drawn_epsilon + cost_epsilon;
            drawn_delta := drawn_delta + cost_delta;
            FOR paying IN SELECT jsonb_array_elements_text(part -> 'tables') LOOP
                of_tables := ledger.plus(of_tables, paying, cost_epsilon, cost_delta);
            END LOOP;
        END IF;
        is_new := is_new || NOT is_seen;
        found_states := found_states || state;
        found_cached := found_cached || one.id;
        found_relations := found_relations || CASE WHEN state = 'ready' THEN one.relation END;
    END LOOP;
    IF NOT may_draw AND found_states && ARRAY['draw', 'again', 'take', 'apart'] THEN
        RETURN;
    END IF;
    IF (paid_epsilon, paid_delta) <> (drawn_epsilon, drawn_delta) THEN
        -- Something was drawn for others. What a fresh run would be refused for is refused here, too.
        SELECT coalesce(jsonb_agg(l.line), '[]'), coalesce(bool_and((l.line ->> 'fits')::boolean), true)
        INTO lines, fits
        FROM ledger.lines_at(claim_at.source, who, unseen_of_tables, claim_at.at, paid_epsilon, paid_delta,
                             charged_events) l;
        IF NOT fits THEN
            states := '{}';
            RETURN;
        END IF;
    END IF;
    IF paid_epsilon > 0 OR paid_delta > 0 THEN
        SELECT * INTO charged FROM ledger.charge_at(
            claim_at.source, who, paid_epsilon, paid_delta, drawn_epsilon, drawn_delta,
            charged_events, claim_at.fingerprint, claim_at.policy_digest, claim_at.at, of_groups, of_tables,
            claim_at.statement);
        receipt := charged.receipt;
        own_epsilon := charged.own_epsilon;
        own_delta := charged.own_delta;
        total_epsilon := charged.total_epsilon;
        total_delta := charged.total_delta;
        renews_at := charged.renews_at;
        lines := charged.lines;
        IF receipt IS NULL THEN
            states := '{}';
            RETURN;
        END IF;
    ELSE
        -- Nothing is charged, so nothing has to reach the disk first.
        PERFORM set_config('synchronous_commit', 'off', true);
        SELECT coalesce(jsonb_agg(l.line), '[]') INTO lines
        FROM ledger.lines_at(claim_at.source, who, '{}', claim_at.at) l;
    END IF;
    FOR place IN 1 .. cardinality(found_states) LOOP
        part := parts -> (place - 1);
        state := found_states[place];
        IF state = 'again' THEN
            DELETE FROM ledger.cached k WHERE k.id = found_cached[place];
        END IF;
        IF state IN ('draw', 'again') THEN
            new_cached := NULL;
            INSERT INTO ledger.cached AS k (source, slot, digest, about, made, epsilon, delta,
                                            receipt, started, holder, lease_until)
            VALUES (claim_at.source, slot, decode(part ->> 'digest', 'hex'), decode(part ->> 'about', 'hex'),
                    part ->> 'made', (part ->> 'epsilon')::numeric, (part ->> 'delta')::numeric,
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
            IF is_new[place] THEN  -- what a member brought into a group is not the group's
                INSERT INTO ledger.seen (cached, viewer, at)
                SELECT found_cached[place], 'group ' || g, claim_at.at FROM unnest(groups) g
                ON CONFLICT DO NOTHING;
            END IF;
        END IF;
    END LOOP;
    states := found_states;
    cached := found_cached;
    relations := found_relations;
END $$;

CREATE OR REPLACE FUNCTION ledger.claim(
    source bigint, who text, parts jsonb, holder uuid, may_draw boolean, lease_seconds integer,
    slot_seconds integer, slot_offset integer, most_bytes bigint, fingerprint text, policy_digest text,
    statement bytea DEFAULT NULL,
    OUT receipt bigint, OUT own_epsilon numeric, OUT own_delta numeric,
    OUT total_epsilon numeric, OUT total_delta numeric, OUT renews_at timestamptz,
    OUT states text[], OUT cached bigint[], OUT relations text[], OUT paid_epsilon numeric, OUT paid_delta numeric,
    OUT lines jsonb)
LANGUAGE sql AS $$
    SELECT * FROM ledger.claim_at(source, who, parts, holder, may_draw, lease_seconds, slot_seconds, slot_offset,
                                  most_bytes, fingerprint, policy_digest, transaction_timestamp(), statement)
$$;

-- Several of claim, as charge_each. claims: [{"who", "parts", "holder", "may_draw", "fingerprint", "policy"}, ...]
CREATE OR REPLACE FUNCTION ledger.claim_each(
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

-- The relation that all are shown: the first that came, whoever drew it. Does not wait for the disk (see `started`).
-- What is older than two of the longest slots is served no more, and goes; its receipts stay.
CREATE OR REPLACE FUNCTION ledger.store(of_cached bigint, drawn text) RETURNS text LANGUAGE plpgsql AS $$
DECLARE
    one ledger.cached;
BEGIN
    PERFORM set_config('synchronous_commit', 'off', true);
    UPDATE ledger.cached k SET relation = coalesce(k.relation, drawn) WHERE k.id = of_cached RETURNING k.* INTO one;
    DELETE FROM ledger.cached k WHERE k.source = one.source AND k.slot < one.slot - interval '62 days';
    RETURN one.relation;
END $$;

-- Whoever cannot finish a draw: the next to ask takes it over, under the same charge.
CREATE OR REPLACE FUNCTION ledger.let_go(of_cached bigint, of_holder uuid) RETURNS void LANGUAGE sql AS $$
    UPDATE ledger.cached SET lease_until = '-infinity' WHERE id = of_cached AND holder = of_holder AND relation IS NULL
$$;

-- A relation that is too large to be cached: the question is paid anew where it is asked again.
CREATE OR REPLACE FUNCTION ledger.forget(of_cached bigint) RETURNS void LANGUAGE sql AS $$
    DELETE FROM ledger.cached WHERE id = of_cached AND relation IS NULL
$$;

-- What an analyst has been shown in this slot, and can have others made of.
CREATE OR REPLACE FUNCTION ledger.paid_about(
    of_source bigint, who text, slot_seconds integer, slot_offset integer, wanted bytea[])
RETURNS TABLE (id bigint, about bytea, made text) LANGUAGE sql STABLE AS $$
    SELECT k.id, k.about, k.made
    FROM ledger.cached k JOIN ledger.seen s ON s.cached = k.id
    WHERE k.source = of_source AND k.about = ANY (wanted) AND k.relation IS NOT NULL
      AND k.slot = ledger.slot_start(slot_seconds, slot_offset, transaction_timestamp())
      AND s.viewer = ledger.viewer_of(who)
    ORDER BY k.id DESC LIMIT 64
$$;
