#!/bin/sh
# Makes the passwords and certificates of compose.yaml in the folder `secrets`, once.
# Only this user can enter the folder. The files in it can be read by everybody, because the containers, where each is
# mounted by itself, run as other users.
set -eu
umask 022
mkdir -m 700 secrets
cd secrets

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
for role in superuser owner service redis; do random > "$role-password"; done

database='@postgres:5432/petstore?sslmode=verify-full'
printf 'postgres://petstore:%s%s' "$(cat owner-password)" "$database" > database-owner-url
printf 'postgres://petstore_service:%s%s' "$(cat service-password)" "$database" > database-url
printf 'rediss://:%s@redis:6379' "$(cat redis-password)" > redis-url
printf 'requirepass %s\n' "$(cat redis-password)" > redis.conf

# A certificate authority of the store's own: the services believe it, and it signs for PostgreSQL and Redis alone.
certificate() { openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 "$@" 2> /dev/null; }
certificate -subj '/CN=petstore' -keyout authority.key -out authority.crt
for host in postgres redis; do
  certificate -CA authority.crt -CAkey authority.key -subj "/CN=$host" -addext "subjectAltName=DNS:$host" \
    -addext 'basicConstraints=critical,CA:FALSE' -keyout "$host.key" -out "$host.crt"
  chmod 644 "$host.key"
done
# Nothing else is ever to be signed.
rm authority.key
