-- The role with which dpproxy reads the protected database. Run as a superuser, with psql:
--   dpproxy policy role | psql -v ON_ERROR_STOP=1 -v role=dpproxy_reader -v password="'...'" -v schema=shop DATABASE
-- It can read the tables of one schema and nothing else; dpproxy's sessions are read-only besides.
--
-- It can be run again, for another schema or another database of the server: a role is of the whole server, so the
-- first run makes it, and each run grants what is of one database and one schema. A role that is there already keeps
-- its attributes, settings and password (-v password may be left out then): take a name that nobody else uses, or look
-- at what `dpproxy doctor` finds about it.
--
-- Before you run it on a server that others use:
-- * REVOKE CREATE ON SCHEMA public takes from every role of this database the right to make tables in `public`.
--   PostgreSQL 15 and later start that way. On 14, and on a database that was upgraded from it, an application that
--   makes tables there as a role that owns neither schema nor database stops being able to: grant it the right by
--   name first (GRANT CREATE ON SCHEMA public TO application).
-- * A server with log_statement = ddl or all writes the line with the password to its log: set the password
--   afterwards with psql's \password, which sends a verifier.
-- * The settings below are of the role and hold from its next login on. temp_file_limit and log_parameter_max_length
--   need a superuser.
SELECT NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = :'role') AS is_new \gset
\if :is_new
CREATE ROLE :"role" LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOINHERIT CONNECTION LIMIT 20 PASSWORD :password;
-- The same ones are set at each session. On a server that computes on several nodes (Citus) a session's settings stay
-- with the node that it is connected to; these reach all of them.
ALTER ROLE :"role" SET default_transaction_read_only = on;
ALTER ROLE :"role" SET search_path = '';
ALTER ROLE :"role" SET TimeZone = 'UTC';
ALTER ROLE :"role" SET DateStyle = 'ISO, YMD';
ALTER ROLE :"role" SET standard_conforming_strings = on;
ALTER ROLE :"role" SET jit = off;
ALTER ROLE :"role" SET random_page_cost = 1.1;
ALTER ROLE :"role" SET work_mem = '64MB';
ALTER ROLE :"role" SET parallel_tuple_cost = 0.005;
ALTER ROLE :"role" SET parallel_leader_participation = off;
ALTER ROLE :"role" SET plan_cache_mode = force_custom_plan;
ALTER ROLE :"role" SET extra_float_digits = 1;
ALTER ROLE :"role" SET hash_mem_multiplier = 2;
ALTER ROLE :"role" SET cursor_tuple_fraction = 1;
ALTER ROLE :"role" SET enable_nestloop = off;
ALTER ROLE :"role" SET application_name = 'dpproxy';
ALTER ROLE :"role" SET idle_in_transaction_session_timeout = '5min';
-- Whether a question fills the disk must not depend on one person; dpproxy does not start without a limit.
ALTER ROLE :"role" SET temp_file_limit = '10GB';
-- What analysts compare people's values with does not belong into the log.
ALTER ROLE :"role" SET log_parameter_max_length = 0;
ALTER ROLE :"role" SET log_parameter_max_length_on_error = 0;
\else
\echo :role 'is there already: it is kept as it is, and granted what follows'
\endif
-- As PostgreSQL 15 and later have it from the start; what others may read or use stays as it is.
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
GRANT USAGE ON SCHEMA :"schema" TO :"role";
-- The tables that are there now.
GRANT SELECT ON ALL TABLES IN SCHEMA :"schema" TO :"role";
-- Tables that are made later are not readable (`dpproxy doctor`: UNREADABLE) until each is granted:
-- GRANT SELECT ON shop.orders TO dpproxy_reader. That is the safer way. Where tables are dropped and made again
-- every night, let their maker grant it as they are made:
--   ALTER DEFAULT PRIVILEGES FOR ROLE maker IN SCHEMA shop GRANT SELECT ON TABLES TO dpproxy_reader;
-- It holds for tables that `maker` creates in that schema from then on, not for those of other roles, and for all of
-- them, whatever they hold. What no policy names stays out of analysts' reach (`dpproxy doctor`: NOT_IN_THE_POLICY).
--
-- To take the role away, in each database where it has rights, and then once:
--   DROP OWNED BY dpproxy_reader;      -- its rights, default privileges too; it owns nothing
--   DROP ROLE dpproxy_reader;
