// @module-tag redis-server
import { openPgBouncer } from "@petstore/harness/postgres";
import type { Figures } from "@petstore/harness/test-with-figures";
import { apis, twoOfEach } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { count, isFailure } from "../environment/results.js";
import { slowRedisAllowed } from "../environment/services.js";

const rushes = 5;
const simultaneousCreates = 500;

it("one-idempotency-key: creates 1 pet for 500 simultaneous creates with one key", async ({ environment, figures }) => {
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  await checkSimultaneousCreates(environment, figures, rushes);
});

it("pgbouncer: serves both APIs in transaction mode", { tags: ["pgbouncer"] }, async ({ environment, figures }) => {
  const server = await environment.openPostgres();
  const pgbouncer = environment.use(await openPgBouncer(server.url));
  const urls = { DATABASE_URL: pgbouncer.url, DATABASE_DIRECT_URL: server.url };
  await environment.startWithRedis({ ...slowRedisAllowed, ...urls }, twoOfEach);
  const load = await environment.startLoad({ clients: 64, pauseMs: 5, requests: 10_000 });
  await checkSimultaneousCreates(environment, figures, 1);
  const [row] = await server.query(
    "select count(*)::int as sessions from pg_stat_activity where usename = current_user and application_name = 'petstore'",
  );
  figures.atLeast(10_000, "requests", load.results.length);
  figures.count(0, "failures", load.results, isFailure);
  figures.atLeast(1, "sessions of PostgreSQL that served them", Number(row?.sessions));
  figures.atMost(8, "sessions, with 40 allowed to the processes", Number(row?.sessions));
  environment.checkAlive();
});

/** Sends simultaneous creates with one idempotency key, several times, and sums up the answers. */
async function checkSimultaneousCreates(environment: Environment, figures: Figures, times: number): Promise<void> {
  const apiKey = await environment.issueKey();
  const sums = { pets: 0, acknowledged: 0, bodies: 0, ids: 0 };
  for (let time = 0; time < times; time += 1) {
    const name = `Pet ${time} of ${apiKey.slice(-6)}`;
    const answers = await environment.sendBurst({
      requests: simultaneousCreates,
      clients: simultaneousCreates,
      apiKey,
      call: (api) => api.create(name, name),
    });
    sums.pets += (await environment.database.countByName([name])).get(name) ?? 0;
    sums.acknowledged += count(answers, ({ status, text }) => status < 300 && idIn(text) !== undefined);
    sums.bodies += new Set(answers.map(({ text }) => text)).size;
    sums.ids += new Set(answers.map(({ text }) => idIn(text))).size;
  }
  figures.exactly(times, `pets of ${times} times one key`, sums.pets);
  figures.exactly(times * simultaneousCreates, "creates acknowledged", sums.acknowledged);
  figures.exactly(times * apis.length, "different bodies, one for each API", sums.bodies);
  figures.exactly(times, "different ids in them", sums.ids);
}

function idIn(text: string): string | undefined {
  return /"id":"?(\d+)/.exec(text)?.[1];
}
