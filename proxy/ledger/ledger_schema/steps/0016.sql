-- What nothing calls any more.
DROP FUNCTION IF EXISTS ledger.standing(bigint, text, timestamptz, numeric, numeric, jsonb);
DROP FUNCTION IF EXISTS ledger.lines_of(text, text[], text[]);
