// @module-tag redis-server
import { setTimeout as sleep } from "node:timers/promises";
import { openPgBouncer } from "@petstore/harness/postgres";
import type { Figures } from "@petstore/harness/test-with-figures";
import { apis, twoOfEach } from "../environment/apis.js";
import type { Environment } from "../environment/environment.js";
import { it } from "../environment/it.js";
import { count, isAcknowledged, isFailure } from "../environment/results.js";
import { slowRedisAllowed } from "../environment/services.js";

const kills = 6;
const rushes = 5;
const simultaneousCreates = 500;

it("one-idempotency-key: creates 1 pet for 500 simultaneous creates with one key", async ({ environment, figures }) => {
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  await checkSimultaneousCreates(environment, figures, rushes);
});

it("instance-killed: fails only the creates in flight, and repeats create nothing", async ({
  environment,
  figures,
}) => {
  environment.allowFailures();
  await environment.startWithRedis(slowRedisAllowed, twoOfEach);
  const running = new Set(environment.services);
  const creates = await environment.startCreates({
    clients: 16,
    target: (client) => [...running][client % Math.max(1, running.size)],
  });
  let inFlight = 0;
  for (let kill = 0; kill < kills; kill += 1) {
    await sleep(700);
    const [victim] = [...running];
    if (victim === undefined) throw new Error("no service is left");
    running.delete(victim);
    inFlight += creates.inFlight(victim.origin);
    environment.markFault();
    await victim.kill();
    const [successor] = await environment.startMore([{ api: victim.api }]);
    if (successor !== undefined) running.add(successor);
  }
  await sleep(700);
  await creates.stop();
  const failures = count(creates.results, isFailure);
  figures.atLeast(kills, `requests in flight at ${kills} kills`, inFlight);
  figures.atMost(inFlight, "failures", failures);
  figures.atLeast(500, "pets created", count(creates.results, isAcknowledged));
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
  const sums = { pets: 0, acknowledged: 0, bodies: 0, ids: 0, conflicts: 0 };
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
    sums.conflicts += count(answers, ({ text, status }) => status === 409 || text.includes('"status":409'));
  }
  const processes = environment.services.length;
  figures.exactly(times, `pets of ${times} times one key`, sums.pets);
  figures.exactly(times * simultaneousCreates, "creates acknowledged", sums.acknowledged);
  figures.exactly(times * apis.length, `different bodies of ${processes} processes, one for each API`, sums.bodies);
  figures.exactly(times, "different ids in them", sums.ids);
  figures.exactly(0, "answers of 409", sums.conflicts);
}

function idIn(text: string): string | undefined {
  return /"id":"?(\d+)/.exec(text)?.[1];
}
