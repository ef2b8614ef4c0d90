CREATE SCHEMA census;

-- One row is one person.
CREATE TABLE census.adult (
    id integer PRIMARY KEY,
    age integer NOT NULL,
    sex text NOT NULL,
    education text NOT NULL,
    occupation text,
    region text NOT NULL,
    hours_per_week integer,
    income numeric(10, 2),
    married boolean NOT NULL,
    zip text NOT NULL
);
