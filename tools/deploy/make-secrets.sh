#!/bin/sh
# Makes the passwords and certificates of the compose files in the folder `secrets`, once.
# Only this user can enter the folder. The files in it can be read by everybody, because the containers, where each is
# mounted by itself, run as other users.
set -eu
umask 022
if [ -e secrets ]; then
  echo 'The folder `secrets` exists already, and nothing was changed. The running store needs the secrets in it. To replace' \
    'them, see "Rotating secrets" in operations.md. For a new store, move the folder to another place first.' >&2
  exit 1
fi
mkdir -m 700 secrets
cd secrets
# Unless everything succeeds, nothing stays.
trap 'cd .. && rm -r secrets' EXIT
# Not every shell runs that when a signal ends it.
trap 'exit 1' HUP INT TERM

random() { text=$(openssl rand -hex 24) && printf %s "$text"; }
for role in superuser owner service redis replication rewind patroni sentinel; do random > "$role-password"; done

database='@postgres:5432/petstore?sslmode=verify-full'
printf 'postgres://petstore:%s%s' "$(cat owner-password)" "$database" > database-owner-url
printf 'postgres://petstore_service:%s%s' "$(cat service-password)" "$database" > database-url
printf 'rediss://:%s@redis:6379' "$(cat redis-password)" > redis-url
printf 'requirepass %s\nmasterauth %s\n' "$(cat redis-password)" "$(cat redis-password)" > redis.conf
# For compose.ha.yaml, whose Sentinels call the Redis `petstore`.
sentinels='sentinel1:26379,sentinel2:26379,sentinel3:26379'
printf 'rediss+sentinel://:%s@%s/petstore' "$(cat redis-password)" "$sentinels" > redis-sentinel-url
printf 'requirepass %s\nsentinel sentinel-pass %s\nsentinel auth-pass petstore %s\n' \
  "$(cat sentinel-password)" "$(cat sentinel-password)" "$(cat redis-password)" > sentinel.conf
# For redis_exporter.
address='"rediss://sentinel%s:26379": "%s"'
printf "{$address, $address, $address}" 1 "$(cat sentinel-password)" 2 "$(cat sentinel-password)" 3 "$(cat sentinel-password)" \
  > sentinel-passwords.json

# A certificate authority of the store's own: the services believe it, and it signs for PostgreSQL and Redis alone.
certificate() {
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 "$@" 2> log || { cat log >&2; exit 1; }
}
certificate -subj '/CN=petstore' -keyout authority.key -out authority.crt
for host in postgres redis; do
  names="DNS:$host"
  if [ "$host" = redis ]; then for number in 1 2 3; do names="$names,DNS:redis$number,DNS:sentinel$number"; done; fi
  certificate -CA authority.crt -CAkey authority.key -subj "/CN=$host" -addext "subjectAltName=$names" \
    -addext 'basicConstraints=critical,CA:FALSE' -keyout "$host.key" -out "$host.crt"
  chmod 644 "$host.key"
done
# Nothing else is ever to be signed.
rm authority.key log
trap - EXIT
echo "Made passwords, addresses and certificates for PostgreSQL and Redis in $PWD. Only this user can enter the folder."
