-- What an operator asks to take from a line: nothing is taken until another one confirms it. rho NULL: none is taken.
CREATE TABLE ledger.adjustment_request (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    source bigint NOT NULL REFERENCES ledger.source,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    kind text NOT NULL CHECK (kind IN ('total', 'analyst', 'group', 'table')),
    name text NOT NULL CHECK ((kind = 'total') = (name = '')),
    epsilon numeric(56, 18) NOT NULL,
    delta numeric(56, 30) NOT NULL,
    rho numeric(56, 30),
    reason text NOT NULL CHECK (reason <> ''),
    made_by text NOT NULL CHECK (made_by <> '')
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.adjustment_request
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
-- Adjustments of before have neither. What they took stays taken.
ALTER TABLE ledger.adjustment
    ADD COLUMN request bigint UNIQUE REFERENCES ledger.adjustment_request,
    ADD COLUMN confirmed_by text,
    ADD CHECK ((request IS NULL) = (confirmed_by IS NULL));
DROP FUNCTION IF EXISTS ledger.adjust_at(bigint, text, text, numeric, numeric, text, text, timestamptz, numeric);
