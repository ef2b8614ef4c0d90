-- Receipts and adjustments of a source form a chain of digests: each is of the one before and of the row, as it is
-- without them. NULLs are left out, so that a column that is added later, and empty, changes no digest: a step that
-- fills one anew makes the chain anew.

CREATE OR REPLACE FUNCTION ledger.append_only() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION USING
        ERRCODE = '42501',
        MESSAGE = format('the ledger is append-only: %s of ledger.%s', lower(TG_OP), TG_TABLE_NAME);
END $$;

CREATE OR REPLACE FUNCTION ledger.chain_start(of_source bigint) RETURNS bytea LANGUAGE sql STABLE AS $$
    SELECT sha256(convert_to(format('dpproxy %s %s', i.id, of_source), 'UTF8')) FROM ledger.identity i
$$;

-- content: to_jsonb of a row, made with timezone UTC and bytea_output hex.
CREATE OR REPLACE FUNCTION ledger.content_digest(what text, content jsonb) RETURNS bytea LANGUAGE sql IMMUTABLE AS $$
    SELECT sha256(convert_to(what || ' ' || jsonb_strip_nulls(content - 'place' - 'digest')::text, 'UTF8'))
$$;

-- The row is there but for the first of a source, so it is looked for first.
CREATE OR REPLACE FUNCTION ledger.join_chain() RETURNS trigger LANGUAGE plpgsql SET timezone = 'UTC' SET bytea_output = 'hex'
AS $$
DECLARE
    content bytea := ledger.content_digest(TG_TABLE_NAME, to_jsonb(NEW));
BEGIN
    -- The row of the chain is locked by this and until the end, after all balances.
    UPDATE ledger.chain c SET (place, digest) = (c.place + 1, sha256(c.digest || content))
    WHERE c.source = NEW.source RETURNING c.place, c.digest INTO NEW.place, NEW.digest;
    IF NOT FOUND THEN
        INSERT INTO ledger.chain AS c (source, place, digest)
        VALUES (NEW.source, 1, sha256(ledger.chain_start(NEW.source) || content))
        ON CONFLICT (source) DO UPDATE SET (place, digest) = (c.place + 1, sha256(c.digest || content))
        RETURNING c.place, c.digest INTO NEW.place, NEW.digest;
    END IF;
    RETURN NEW;
END $$;

-- What of a chain does not fit. Whoever may write all of this can make it fit: the mark beside the ledger cannot.
CREATE OR REPLACE FUNCTION ledger.chain_faults(of_source bigint) RETURNS TABLE (fault text)
LANGUAGE sql STABLE SET timezone = 'UTC' SET bytea_output = 'hex' AS $$
    WITH each AS (
        SELECT 'receipt' AS what, r.id, r.place, r.digest, ledger.content_digest('receipt', to_jsonb(r)) AS content
        FROM ledger.receipt r WHERE r.source = of_source
        UNION ALL
        SELECT 'adjustment', a.id, a.place, a.digest, ledger.content_digest('adjustment', to_jsonb(a))
        FROM ledger.adjustment a WHERE a.source = of_source
    ), linked AS (
        SELECT e.*, lag(e.place, 1, 0::bigint) OVER w AS place_before,
               lag(e.digest, 1, ledger.chain_start(of_source)) OVER w AS digest_before
        FROM each e WINDOW w AS (ORDER BY e.place, e.what, e.id)
    ), last AS (
        SELECT coalesce(max(e.place), 0) AS place,
               coalesce((array_agg(e.digest ORDER BY e.place DESC))[1], ledger.chain_start(of_source)) AS digest
        FROM each e
    ), head AS (
        SELECT coalesce(max(c.place), 0) AS place, (array_agg(c.digest))[1] AS digest
        FROM ledger.chain c WHERE c.source = of_source
    )
    SELECT CASE
        WHEN l.place > l.place_before + 1 THEN
            format('missing from the chain: %s before %s %s', l.place - l.place_before - 1, l.what, l.id)
        WHEN l.place < l.place_before + 1 THEN format('%s %s was put into the chain', l.what, l.id)
        ELSE format('%s %s, or what stands before it, is not what was written', l.what, l.id) END
    FROM linked l
    WHERE l.place <> l.place_before + 1 OR l.digest <> sha256(l.digest_before || l.content)
    UNION ALL
    SELECT CASE WHEN h.place > t.place THEN format('missing from the end of the chain: %s', h.place - t.place)
                ELSE 'the end of the chain is not what was written' END
    FROM head h, last t
    WHERE h.place <> t.place OR coalesce(h.digest, ledger.chain_start(of_source)) <> t.digest
$$;
