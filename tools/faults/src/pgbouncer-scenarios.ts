import { openPgBouncer } from "@petstore/harness/pgbouncer";
import { openRedisServer } from "@petstore/harness/redis";
import { fourProcesses } from "./api.js";
import { checkStorms } from "./create-scenarios.js";
import { patient } from "./environment.js";
import { isFailure } from "./exchange.js";
import { atLeast, atMost, checkAlive, count, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import { roomy } from "./stage.js";

export const pgbouncerScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "pgbouncer",
    cause: "2 REST and 2 GraphQL processes reach PostgreSQL through a PgBouncer in transaction mode, of 8 connections",
    expected:
      "lists, creates and a storm on one idempotency key as without it; `npm run test:pgbouncer` runs the suites",
    needs: ["pgbouncer", "redis-server"],
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      const server = await stage.openPostgres();
      const pgbouncer = stage.use(await openPgBouncer(server.url));
      const settings = { ...patient, DATABASE_URL: pgbouncer.url, DATABASE_DIRECT_URL: server.url };
      const services = await stage.startServices([redis.url], settings, fourProcesses);
      const load = await stage.load({ limits: roomy, callers: 64, pauseMs: 5, requests: 10_000 });
      await load.done;
      const storm = await checkStorms(stage, services, 1);
      const pooled = await server.query(
        "select count(*)::int as sessions from pg_stat_activity where usename = current_user and application_name = 'petstore'",
      );
      return [
        atLeast(10_000, "requests", load.exchanges.length),
        exactly(0, "failures", count(load.exchanges, isFailure)),
        atLeast(1, "sessions that served them", Number(pooled[0]?.sessions)),
        atMost(8, "of which the processes may have 40", Number(pooled[0]?.sessions)),
        ...storm,
        ...checkAlive(services),
      ];
    },
  },
];
