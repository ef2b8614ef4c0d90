-- Columns of the source by which a policy in force has told units apart, and which they were: oid and attnum in the
-- source's catalogue. NULL: the owner says that the columns are the same, or the data has moved since.
CREATE TABLE ledger.unit_column (
    source bigint NOT NULL REFERENCES ledger.source,
    schema_name text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    relation bigint,
    number integer,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (source, schema_name, table_name, column_name)
);
