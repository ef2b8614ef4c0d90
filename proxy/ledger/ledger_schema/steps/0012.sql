-- Nothing of a statement stands readable in the ledger from now on (tables.sql).

-- What was cached before is known by digests without the key. It is drawn again, and paid again, within its slot. TRUNCATE
-- and a change of a column's type make new files, so that the old texts are gone from them.
TRUNCATE ledger.cached, ledger.seen;
ALTER TABLE ledger.cached DROP COLUMN question, DROP COLUMN terms, ALTER COLUMN made TYPE text USING NULL;
DROP FUNCTION ledger.paid_about(bigint, text, integer, integer, bytea[]);

-- Published tables that are there stay shown; as they are public, so do their texts, until the next release. Queries are
-- answered from them again after it.
TRUNCATE ledger.published_block;
ALTER TABLE ledger.published_block DROP COLUMN question, DROP COLUMN terms, DROP COLUMN relation,
    ADD COLUMN sealed text NOT NULL;
ALTER TABLE ledger.published ALTER COLUMN constants DROP DEFAULT, ALTER COLUMN constants DROP NOT NULL;
ALTER TABLE ledger.published ALTER COLUMN constants TYPE text USING NULL,
    ALTER COLUMN failure TYPE text USING CASE WHEN failure IS NOT NULL THEN 'an earlier version knew why' END;
