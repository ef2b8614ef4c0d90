-- A charge is made in the windows that are open, which a clock that goes back does not open anew. Its receipt is not
-- of before them: else the windows would not be the sum of their receipts, for `ledger verify` and for a policy that
-- changes the period and back, which adds the receipts up anew.
CREATE FUNCTION ledger.keep_in_window() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    SELECT greatest(NEW.at, max(b.window_start)) INTO NEW.at
    FROM (SELECT 'analyst' AS kind, NEW.analyst AS name
          UNION ALL SELECT 'total', ''
          UNION ALL SELECT s ->> 'kind', s ->> 'name' FROM jsonb_array_elements(NEW.shares) s) line
    JOIN ledger.balance b ON b.source = NEW.source AND b.kind = line.kind AND b.analyst = line.name
    WHERE b.period IS NOT NULL;
    RETURN NEW;
END $$;
-- Before join_chain, by its name.
CREATE TRIGGER in_window BEFORE INSERT ON ledger.receipt FOR EACH ROW EXECUTE FUNCTION ledger.keep_in_window();
