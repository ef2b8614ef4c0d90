-- Series: statements that are released step by step, under one charge.
ALTER TABLE ledger.published ADD series text, ADD paid_by bigint REFERENCES ledger.receipt;
DROP FUNCTION IF EXISTS ledger.publish_at(bigint, text, text, numeric, numeric, jsonb, uuid, integer, integer, integer,
                                          boolean, text, timestamptz, jsonb);
-- Steps of series that are published, by the receipt that paid for all of them. noise: what was drawn for the step, before
-- it was read, sealed; NULL after the last step. drawn: what is shown of it, sealed; NULL until it was read. In no backup:
-- whoever has the noise and the key has the exact numbers, and where a backup is restored, a series begins anew.
CREATE TABLE ledger.series_step (
    receipt bigint NOT NULL REFERENCES ledger.receipt,
    number integer NOT NULL CHECK (number >= 0),
    noise text,
    drawn text,
    PRIMARY KEY (receipt, number),
    CHECK (noise IS NOT NULL OR drawn IS NOT NULL)
);
