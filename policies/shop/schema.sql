CREATE SCHEMA shop;

CREATE TABLE shop.customers (
    id integer PRIMARY KEY,
    name text,
    email text,
    state text NOT NULL,
    birth_date date,
    signed_up timestamptz NOT NULL
);

CREATE TABLE shop.products (
    id integer PRIMARY KEY,
    title text,
    category text,
    price numeric(8, 2)
);

CREATE TABLE shop.orders (
    id integer PRIMARY KEY,
    customer_id integer NOT NULL REFERENCES shop.customers,
    product_id integer NOT NULL REFERENCES shop.products,
    quantity integer NOT NULL,
    total numeric(8, 2) NOT NULL,
    status text NOT NULL,
    created_at timestamptz NOT NULL
);

-- The privacy unit comes first, then the usual GROUP BY column. INCLUDE holds the columns that are added up.
-- PostgreSQL then computes each sum per customer in one index-only scan.
CREATE INDEX orders_by_customer ON shop.orders (customer_id, status) INCLUDE (total, quantity);
