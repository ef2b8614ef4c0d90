-- Orders as TPC-H has them, and lines of some of them: four to an order, ten orders to a customer. Rows of customers,
-- and the same as rows by themselves. random() is restricted to one process, so that the seed fixes the data.
CREATE SCHEMA w;
SELECT setseed(0.5);
CREATE TABLE w.orders AS
SELECT g AS o_orderkey, 1 + floor({orders} / 10 * random())::integer AS o_custkey,
       round((850 + 300000 * random() + 255000 * random() ^ 8)::numeric, 2)::numeric(15, 2) AS o_totalprice
FROM generate_series(1, {orders}) g;
CREATE TABLE w.ordered AS
SELECT o_orderkey, 1 + o_custkey % ({lines} / 40) AS o_custkey FROM w.orders WHERE o_orderkey <= {lines} / 4;
CREATE TABLE w.lines AS
SELECT o_orderkey AS l_orderkey, n AS l_linenumber, (1 + floor(50 * random()))::numeric(15, 2) AS l_quantity,
       round((900 + 104000 * random())::numeric, 2)::numeric(15, 2) AS l_extendedprice,
       (floor(11 * random()) / 100)::numeric(15, 2) AS l_discount, (floor(9 * random()) / 100)::numeric(15, 2) AS l_tax,
       (ARRAY['A', 'N', 'R', 'N'])[1 + floor(4 * random())::integer]::char(1) AS l_returnflag,
       (ARRAY['F', 'O'])[1 + floor(2 * random())::integer]::char(1) AS l_linestatus,
       ('N' || 1 + floor(20 * random())::integer)::varchar(3) AS l_nation,
       date '1992-01-02' + floor(2500 * random())::integer AS l_shipdate
FROM w.ordered, generate_series(1, 1 + o_orderkey % 7) n;
ALTER TABLE w.orders ADD PRIMARY KEY (o_orderkey), ALTER o_custkey SET NOT NULL, ALTER o_totalprice SET NOT NULL;
ALTER TABLE w.ordered ADD PRIMARY KEY (o_orderkey), ALTER o_custkey SET NOT NULL;
ALTER TABLE w.lines ADD PRIMARY KEY (l_orderkey, l_linenumber), ADD FOREIGN KEY (l_orderkey) REFERENCES w.ordered,
    ALTER l_quantity SET NOT NULL, ALTER l_extendedprice SET NOT NULL, ALTER l_discount SET NOT NULL,
    ALTER l_tax SET NOT NULL, ALTER l_returnflag SET NOT NULL, ALTER l_linestatus SET NOT NULL,
    ALTER l_shipdate SET NOT NULL;
CREATE INDEX ON w.orders (o_custkey) INCLUDE (o_totalprice);
CREATE TABLE w.order_rows AS SELECT * FROM w.orders;
CREATE TABLE w.line_rows AS SELECT * FROM w.lines;
ALTER TABLE w.order_rows ADD PRIMARY KEY (o_orderkey), ALTER o_totalprice SET NOT NULL;
ALTER TABLE w.line_rows ADD PRIMARY KEY (l_orderkey, l_linenumber);
