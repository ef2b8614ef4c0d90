CREATE SCHEMA event_log;

-- Rows are added and never changed.
CREATE TABLE event_log.events (
    id bigint PRIMARY KEY,
    account_id integer NOT NULL,
    at timestamptz NOT NULL,
    kind text NOT NULL,
    duration_ms integer NOT NULL
);

CREATE INDEX events_by_account ON event_log.events (account_id) INCLUDE (at, kind, duration_ms);
