-- Texts of policies that were served or reported, by their digests, without connection strings and comments
-- (shown_text.py): so that a report says what has changed since the one before.
CREATE TABLE ledger.policy_text (
    digest text PRIMARY KEY,
    text text NOT NULL
);
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.policy_text
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
