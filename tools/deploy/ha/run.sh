#!/bin/sh
# Runs a program of Patroni with the address of its container and the passwords of the secrets, such as `patronictl list`.
set -eu
secret() { cat "/run/secrets/$1"; }
# PostgreSQL takes a key that belongs to its user and that nobody else can read.
test -e /tmp/postgres.key || install -m 600 /run/secrets/postgres-key /tmp/postgres.key
set -a # Patroni reads these from its environment.
PATRONI_NAME=$HOSTNAME
PATRONI_RESTAPI_CONNECT_ADDRESS=$HOSTNAME:8008
PATRONI_POSTGRESQL_CONNECT_ADDRESS=$HOSTNAME:5432
PATRONI_SUPERUSER_PASSWORD=$(secret superuser-password)
PATRONI_REPLICATION_PASSWORD=$(secret replication-password)
PATRONI_REWIND_PASSWORD=$(secret rewind-password)
PATRONI_RESTAPI_USERNAME=patroni
PATRONI_RESTAPI_PASSWORD=$(secret patroni-password)
PATRONICTL_CONFIG_FILE=/etc/petstore/patroni.yaml
PATH=/opt/patroni/bin:$PATH
exec "$@"
