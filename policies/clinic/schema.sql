CREATE SCHEMA clinic;

CREATE TABLE clinic.wards (
    code text PRIMARY KEY,
    name text NOT NULL
);

CREATE TABLE clinic.patients (
    id integer PRIMARY KEY,
    name text NOT NULL,
    postcode text NOT NULL,
    birth_date date NOT NULL,
    sex text NOT NULL CHECK (sex IN ('f', 'm', 'x')),
    smoker boolean
);

CREATE TABLE clinic.visits (
    id integer PRIMARY KEY,
    patient_id integer NOT NULL REFERENCES clinic.patients,
    ward text NOT NULL REFERENCES clinic.wards,
    day date NOT NULL,
    minutes integer NOT NULL,
    diagnosis text NOT NULL
);

CREATE TABLE clinic.results (
    id integer PRIMARY KEY,
    visit_id integer NOT NULL REFERENCES clinic.visits,
    test text NOT NULL,
    value numeric(6, 1) NOT NULL
);

-- Work per patient reads one index, in the order of the privacy unit.
CREATE INDEX visits_by_patient ON clinic.visits (patient_id) INCLUDE (id, ward, day, minutes, diagnosis);
CREATE INDEX results_by_visit ON clinic.results (visit_id) INCLUDE (test, value);
