-- The role with which dpproxy reads the protected database. Run as an owner, with psql:
--   psql -v role=dpproxy_reader -v password="'...'" -v schema=shop -f protected_role.sql DATABASE
-- It can read the tables of one schema and nothing else; dpproxy's sessions are read-only besides.
CREATE ROLE :"role" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT 20 PASSWORD :password;
ALTER ROLE :"role" SET default_transaction_read_only = on;
ALTER ROLE :"role" SET search_path = '';
REVOKE ALL ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA :"schema" TO :"role";
GRANT SELECT ON ALL TABLES IN SCHEMA :"schema" TO :"role";
