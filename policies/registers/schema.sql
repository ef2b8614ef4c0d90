CREATE SCHEMA registers;

-- `keep: 2` needs a primary key: which rows are kept is decided by a keyed hash of it.
CREATE TABLE registers.pupils (
    id integer PRIMARY KEY,
    email text,
    address text NOT NULL,
    grade integer NOT NULL,
    school text NOT NULL
);

CREATE TABLE registers.readers (
    id integer PRIMARY KEY,
    email text,
    address text NOT NULL,
    loans integer NOT NULL,
    branch text NOT NULL
);
