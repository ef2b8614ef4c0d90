-- Nothing of a statement stands here readable. A question is known by its digest under a key that is beside the ledger
-- (text_keys.py), and so is what rows an answer is of. What has to be read again, a drawn relation with the values of its
-- keys, what others are made of an answer, a published table and what it was drawn of, is encrypted under that key.

-- What was cached before is known by digests without the key. It is drawn again, and paid again, within its slot. TRUNCATE
-- and a change of a column's type make new files, so that the old texts are gone from them.
TRUNCATE ledger.cached, ledger.seen;
ALTER TABLE ledger.cached DROP COLUMN question, DROP COLUMN terms, ALTER COLUMN made TYPE text USING NULL;

-- Published tables that are there stay shown; as they are public, so do their texts, until the next release. Queries are
-- answered from them again after it.
TRUNCATE ledger.published_block;
ALTER TABLE ledger.published_block DROP COLUMN question, DROP COLUMN terms, DROP COLUMN relation,
    ADD COLUMN sealed text NOT NULL;
ALTER TABLE ledger.published ALTER COLUMN constants DROP DEFAULT, ALTER COLUMN constants DROP NOT NULL;
ALTER TABLE ledger.published ALTER COLUMN constants TYPE text USING NULL,
    ALTER COLUMN failure TYPE text USING CASE WHEN failure IS NOT NULL THEN 'an earlier version knew why' END;

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

DROP FUNCTION ledger.paid_about(bigint, text, integer, integer, bytea[]);
CREATE FUNCTION ledger.paid_about(
    of_source bigint, who text, slot_seconds integer, slot_offset integer, wanted bytea[])
RETURNS TABLE (id bigint, about bytea, made text) LANGUAGE sql STABLE AS $$
    SELECT k.id, k.about, k.made
    FROM ledger.cached k JOIN ledger.seen s ON s.cached = k.id
    WHERE k.source = of_source AND k.about = ANY (wanted) AND k.relation IS NOT NULL
      AND k.slot = ledger.slot_start(slot_seconds, slot_offset, transaction_timestamp())
      AND s.viewer = ledger.viewer_of(who)
    ORDER BY k.id DESC LIMIT 64
$$;

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
