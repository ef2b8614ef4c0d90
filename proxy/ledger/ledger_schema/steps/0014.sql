-- Which column it was: oid and attnum in the source's catalogue. A column that is dropped and added again under its name
-- has another number in the same relation. NULL: noted by an earlier version, or the data has moved since.
ALTER TABLE ledger.public_column ADD relation bigint, ADD number integer;
