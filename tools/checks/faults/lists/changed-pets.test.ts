import { setTimeout as sleep } from "node:timers/promises";
import { type HttpRequest, nowMs, openHttpClient } from "@petstore/harness/network";
import { openPgBouncer } from "@petstore/harness/postgres";
import type { Figures } from "@petstore/harness/test-with-figures";
import { type Api, graphql, graphqlCall, rest } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import type { Load } from "../environment/load.js";
import { isList, slowestMs } from "../environment/results.js";
import { faultless, type Service } from "../environment/services.js";

const instances = [{ api: rest }, { api: rest }, { api: graphql }];
const seenWithinMs = 1_000;
/** An instance uses a page for 5 s at most. */
const seenWithoutMessageMs = 5_000;
/** On a machine that is not busy. */
const slackMs = 500;
const rounds = 3;
const giveUpMs = 20_000;

/** Each statement of an operator, and whether the first page shows what it has done. */
const changes: Readonly<
  Record<string, readonly [sql: (round: number) => string, isSeen: (round: number) => (text: string) => boolean]>
> = {
  update: [
    (round) => `update pets set name = 'changed ${round}' where id = (select min(id) from pets)`,
    (round) => (text) => text.includes(`"changed ${round}"`),
  ],
  delete: [
    () => "delete from pets where id = (select min(id) from pets)",
    (round) => (text) => !text.includes(`"changed ${round}"`),
  ],
};

it("changed-pets: an update, a delete and a truncate are seen by every instance within a second", async ({
  environment,
  figures,
}) => {
  await fill(environment);
  const services = await environment.startServices(faultless, instances);
  const load = await environment.startLoad({ clients: 12, pauseMs: 50, call: listOrCreate });
  const seen = await changePets(environment, services);
  await load.stop();
  checkSeenWithin(figures, seenWithinMs, seen, load);
});

it("changed-pets-unheard: behind PgBouncer, without messages, they are seen within 5 s", {
  tags: ["pgbouncer"],
}, async ({ environment, figures }) => {
  await fill(environment);
  const pooler = environment.use(await openPgBouncer(environment.database.url));
  const services = await environment.startServices({ ...faultless, DATABASE_URL: pooler.url }, instances);
  const load = await environment.startLoad({ clients: 12, pauseMs: 50, call: listOrCreate });
  const seen = await changePets(environment, services);
  await load.stop();
  checkSeenWithin(figures, seenWithoutMessageMs, seen, load);
});

/** The oracles do not look for these pets, because the truncate deletes them. */
function listOrCreate(api: Api, request: number): HttpRequest {
  return request % 5 > 0 ? api.list : api.create("beside", `${request}`);
}

/** The first page must be one that is kept. */
async function fill({ database }: Environment): Promise<void> {
  await database.execute(
    "insert into pets (name, category_id, status) select 'first', 1, 'sold' from generate_series(1, 100)",
  );
}

/** How long each change was not seen by every service, at most. */
async function changePets(
  environment: Environment,
  services: readonly Service[],
): Promise<Readonly<Record<string, number>>> {
  const { database } = environment;
  const apiKey = await environment.issueKey();
  const slowestOf = async (sql: string, isSeen: (text: string) => boolean) => {
    const seen = services.map((service) => untilSeen(service, apiKey, isSeen));
    // The clients read the old page again and again, so it is kept.
    await sleep(300);
    await database.execute(sql);
    const changedAtMs = nowMs();
    return Math.max(...(await Promise.all(seen))) - changedAtMs;
  };
  const slowest: Record<string, number> = { update: 0, delete: 0 };
  for (let round = 0; round < rounds; round += 1) {
    for (const [what, [sql, isSeen]] of Object.entries(changes)) {
      slowest[what] = Math.max(slowest[what] ?? 0, await slowestOf(sql(round), isSeen(round)));
    }
  }
  await database.execute("create table saved as table pets");
  slowest.truncate = await slowestOf("truncate pets cascade", (text) => !text.includes('"first"'));
  // The oracles look for the pets of acknowledged creates.
  await database.execute("insert into pets overriding system value table saved");
  return slowest;
}

/** A read that began before the change may end after it, so the slowest list of the same time is added. */
function checkSeenWithin(
  figures: Figures,
  withinMs: number,
  seen: Readonly<Record<string, number>>,
  { results }: Load,
): void {
  const addedMs = Math.max(slackMs, slowestMs(results.filter(isList)));
  for (const [what, ms] of Object.entries(seen)) {
    figures.atMost(
      withinMs + addedMs,
      `seen by every instance: ${what} (the slowest list: ${Math.round(addedMs)} ms)`,
      ms,
      "ms",
    );
  }
}

/** When the first page of the service shows the change. Infinite after the timeout. */
async function untilSeen(service: Service, apiKey: string, isSeen: (text: string) => boolean): Promise<number> {
  using client = openHttpClient(service.origin);
  const { method, path, body } = service.api === rest ? firstPage : firstPageOverGraphql;
  const startedAtMs = nowMs();
  while (nowMs() - startedAtMs < giveUpMs) {
    const { text } = await client.send(method, path, { key: apiKey, ...(body !== undefined && { body }) });
    if (isSeen(text)) return nowMs();
    await sleep(5);
  }
  return Number.POSITIVE_INFINITY;
}

const firstPage = { method: "GET", path: "/v1/pets?limit=2", body: undefined };
const firstPageOverGraphql = graphqlCall(JSON.stringify({ query: "{ pets(limit: 2) { name } }" }));
