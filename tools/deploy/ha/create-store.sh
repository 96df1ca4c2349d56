#!/bin/sh
# Creates the database and its roles. Patroni runs this on the first primary, with the address of the server.
set -eu
psql --no-psqlrc --set=ON_ERROR_STOP=1 "$1" << 'SQL'
create database petstore;
\connect petstore
\include /etc/roles/roles.sql
SQL
