-- Columns of public tables that a policy in force has shown, by source. A column of such a table that is not here came
-- later: nobody has said that it is public.
CREATE TABLE ledger.public_column (
    source bigint NOT NULL REFERENCES ledger.source,
    schema_name text NOT NULL,
    table_name text NOT NULL,
    column_name text NOT NULL,
    at timestamptz NOT NULL DEFAULT transaction_timestamp(),
    PRIMARY KEY (source, schema_name, table_name, column_name)
);
