-- The covering indexes that ENGINES B and `dpproxy doctor` advise: privacy unit, then keys, then measures.
CREATE INDEX IF NOT EXISTS events_of_user ON bench.events (user_id) INCLUDE (amount, seconds);
CREATE INDEX IF NOT EXISTS events_of_user_country ON bench.events (user_id, country) INCLUDE (amount, seconds);
