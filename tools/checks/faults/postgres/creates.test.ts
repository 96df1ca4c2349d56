// @module-tag redis-server
import { openPgBouncer } from "@petstore/harness/postgres";
import type { Figures } from "@petstore/harness/test-with-figures";
import { apis, twoOfEach } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { isFailure, type Result } from "../environment/results.js";
import { slowRedisAllowed } from "../environment/services.js";

const simultaneousCreates = 500;

it("pgbouncer: serves both APIs in transaction mode", { tags: ["pgbouncer"] }, async ({ environment, figures }) => {
  const server = await environment.openPostgres();
  const pgbouncer = environment.use(await openPgBouncer(server.url));
  const urls = { DATABASE_URL: pgbouncer.url, DATABASE_DIRECT_URL: server.url };
  await environment.startWithRedis({ ...slowRedisAllowed, ...urls }, twoOfEach);
  const load = await environment.startLoad({ clients: 64, pauseMs: 5, requests: 10_000 });
  await checkSimultaneousCreates(environment, figures);
  const [row] = await server.query(
    "select count(*)::int as sessions from pg_stat_activity where usename = current_user and application_name = 'petstore'",
  );
  figures.atLeast(10_000, "requests", load.results.length);
  figures.count(0, "failures", load.results, isFailure);
  figures.atLeast(1, "sessions of PostgreSQL that served them", Number(row?.sessions));
  figures.atMost(8, "sessions, with 40 allowed to the processes", Number(row?.sessions));
  environment.checkAlive();
});

/** Sends simultaneous creates with one idempotency key, which must create one pet. */
async function checkSimultaneousCreates(environment: Environment, figures: Figures): Promise<void> {
  const apiKey = await environment.issueKey();
  const name = `Pet of ${apiKey.slice(-6)}`;
  const answers = await environment.sendBurst({
    requests: simultaneousCreates,
    clients: simultaneousCreates,
    apiKey,
    call: (api) => api.create(name, name),
  });
  const acknowledged = ({ status, text }: Result) => status < 300 && idIn(text) !== undefined;
  figures.exactly(1, "pets of one key", (await environment.database.countByName([name])).get(name) ?? 0);
  figures.count(simultaneousCreates, "creates acknowledged", answers, acknowledged);
  figures.exactly(apis.length, "different bodies, one for each API", new Set(answers.map(({ text }) => text)).size);
  figures.exactly(1, "different ids in them", new Set(answers.map(({ text }) => idIn(text))).size);
}

function idIn(text: string): string | undefined {
  return /"id":"?(\d+)/.exec(text)?.[1];
}
