#!/bin/sh
# Runs once, in the database container, after the sample data was loaded: the role that dpproxy reads with.
set -eu
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --quiet \
    -v role=dpproxy_reader -v password="'$READER_PASSWORD'" -v schema=shop \
    -f /etc/dpproxy/protected_role.sql
# Index-only scans need the visibility map.
psql -v ON_ERROR_STOP=1 --username "$POSTGRES_USER" --dbname "$POSTGRES_DB" --quiet -c 'VACUUM (ANALYZE)'
