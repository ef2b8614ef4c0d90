#!/bin/sh
# Build Citus for a PostgreSQL and install it there:
#   tests/citus/build_citus.sh FOLDER [PG_CONFIG]
# FOLDER has the source of Citus, 13.2 or later. Needs the headers of that PostgreSQL and of lz4, zstd, libpq, GSSAPI,
# SELinux, PAM and libxslt (Debian: postgresql-server-dev-15 liblz4-dev libzstd-dev libpq-dev libkrb5-dev
# libselinux1-dev libpam0g-dev libxslt1-dev), flex and bison. Takes about two minutes on two cores.
set -e
cd "$1"
PG_CONFIG=${2:-pg_config}
export PG_CONFIG
# 13.2.2 has a function of this name, and so have the headers of PostgreSQL 15.20.
sed -i 's/\bhave_createdb_privilege/citus_have_createdb_privilege/g' src/include/pg_version_compat.h \
  src/backend/distributed/commands/serialize_distributed_ddls.c
sed -i 's/#define citus_have_createdb_privilege() .*//' src/include/pg_version_compat.h
./configure --without-libcurl
make -j2 extension COPT=-O1 with_llvm=no
make install-all with_llvm=no
