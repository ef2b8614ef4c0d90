-- The role with which dpproxy reads the protected database. Run as a superuser, with psql:
--   psql -v role=dpproxy_reader -v password="'...'" -v schema=shop -f protected_role.sql DATABASE
-- It can read the tables of one schema and nothing else; dpproxy's sessions are read-only besides.
CREATE ROLE :"role" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT 20 PASSWORD :password;
ALTER ROLE :"role" SET default_transaction_read_only = on;
ALTER ROLE :"role" SET search_path = '';
-- Whether a question fills the disk must not depend on one person; dpproxy does not start without a limit.
ALTER ROLE :"role" SET temp_file_limit = '10GB';
-- What analysts compare people's values with does not belong into the log.
ALTER ROLE :"role" SET log_parameter_max_length = 0;
ALTER ROLE :"role" SET log_parameter_max_length_on_error = 0;
-- As PostgreSQL 15 and later have it from the start; what others may read or use stays as it is.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA :"schema" TO :"role";
GRANT SELECT ON ALL TABLES IN SCHEMA :"schema" TO :"role";
