CREATE SCHEMA transit;

CREATE TABLE transit.stations (
    code text PRIMARY KEY,
    name text NOT NULL,
    zone integer NOT NULL
);

CREATE TABLE transit.trips (
    id integer PRIMARY KEY,
    card_id integer NOT NULL,
    station text NOT NULL REFERENCES transit.stations,
    began timestamptz NOT NULL,
    minutes integer NOT NULL,
    fare numeric(5, 2) NOT NULL
);

CREATE INDEX trips_by_card ON transit.trips (card_id, station) INCLUDE (began, minutes, fare);
