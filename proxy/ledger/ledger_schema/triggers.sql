-- Run once, for a new ledger, after chain.sql.
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.receipt
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.settlement
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.operation
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.adjustment
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.admin_event
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.token_charge
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.policy_text
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON ledger.adjustment_request
    FOR EACH STATEMENT EXECUTE FUNCTION ledger.append_only();
CREATE TRIGGER join_chain BEFORE INSERT ON ledger.receipt FOR EACH ROW EXECUTE FUNCTION ledger.join_chain();
CREATE TRIGGER join_chain BEFORE INSERT ON ledger.adjustment FOR EACH ROW EXECUTE FUNCTION ledger.join_chain();
