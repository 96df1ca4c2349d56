#!/bin/sh
# Runs a Redis with `redis.conf`, or a Sentinel with `sentinel.conf --sentinel`. Sentinel changes the configuration in a
# failover, so each container has a copy of its own. A copy that is not complete must not become the configuration: no later
# start would replace it.
set -eu
if ! test -e "$1"; then
  sed "s/HOSTNAME/$HOSTNAME/" "/etc/petstore/$1" > new.conf
  # The first primary.
  test "$HOSTNAME" != redis1 || sed -i '/^replicaof/d' new.conf
  mv new.conf "$1"
fi
exec redis-server "$@"
