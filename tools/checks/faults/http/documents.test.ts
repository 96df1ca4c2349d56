import { type PostgresServer, query } from "@petstore/harness/postgres";
import { dearDocuments, type Hostile, hostileDocuments, hostileVariables } from "@petstore/harness/responses";
import { graphql, graphqlCall } from "../environment/apis.js";
import { it } from "../environment/environment.js";

const blockedAtMostMs = 50;
/** A document that blocks the event loop does so every time. A garbage collection does not return. */
const attempts = 4;
/** Limited by the day, whose window does not end during the test: Remaining shows the charged units. */
const limits = { perMinute: 10_000_000, perDay: 1_000_000 };
/** The pets with the largest answers. */
const pets = { count: 100, name: "🐈".repeat(255) };
/** The last page of the list: a page with a next one could be answered from memory, without a statement. */
const plain: Hostile = {
  name: "a plain list",
  write: (mark) => JSON.stringify({ query: `{pets(status:sold){id}} #${mark}` }),
};
const documents = [...hostileDocuments, ...hostileVariables, ...dearDocuments];

it("documents: blocks the event loop for 50 ms at most, and charges all work", async ({ environment, figures }) => {
  const server = await environment.openPostgres();
  const executed = await countStatements(server);
  const service = await environment.startService({}, { api: graphql, isProbed: true });
  const client = { clients: 1, apiKey: await environment.issueKey(limits) };
  const { count: requests, name } = pets;
  await environment.sendBurst({ ...client, requests, call: (api, index) => api.create(name, `pet ${index}`) });

  const spentUnits = async () => {
    const [answer] = await environment.sendBurst({ ...client, requests: 1, call: () => graphqlCall("{") });
    return (answer?.rateLimit.limit ?? Number.NaN) - (answer?.rateLimit.remaining ?? Number.NaN);
  };

  const costOf = async ({ name, write }: Hostile) => {
    const before = { spent: await spentUnits(), statements: await executed() };
    const statuses: number[] = [];
    /** The shortest of the longest blocks of every attempt. */
    let blockMs = Number.POSITIVE_INFINITY;
    for (let attempt = 0; attempt < attempts && blockMs >= blockedAtMostMs / 2; attempt += 1) {
      await service.longestBlockMs();
      const body = write(`${attempt}`);
      // Twice: a document that was executed before may take another path.
      const answers = await environment.sendBurst({ ...client, requests: 2, call: () => graphqlCall(body) });
      statuses.push(...answers.map(({ status }) => status));
      blockMs = Math.min(blockMs, await service.longestBlockMs());
    }
    // The second request for the spent units is charged too.
    const charged = (await spentUnits()) - before.spent - 1;
    const statements = (await executed()) - before.statements;
    return { name, statuses, blockMs, charged, statements };
  };

  const list = await costOf(plain);
  const served: string[] = [];
  for (const document of documents) {
    const { name, statuses, blockMs, charged, statements } = await costOf(document);
    if (statuses.includes(200)) served.push(name);
    figures.atMost(blockedAtMostMs, `${name}: event loop blocked`, blockMs, "ms");
    figures.atMost(charged, `${name}: statements, a unit each`, statements);
    figures.count(0, `${name}: not 200, 400 or 413`, statuses, (status) => ![200, 400, 413].includes(status));
  }
  figures.exactly(list.charged, "statements of a plain list, a unit each", list.statements);
  figures.atLeast(1, "hostile documents with an answer of 200", served.length);
});

/** Restarts PostgreSQL, and counts from then on. The result tells how many statements have named the table of the pets. */
async function countStatements({ administratorUrl, restart }: PostgresServer): Promise<() => Promise<number>> {
  await query(administratorUrl, "alter system set shared_preload_libraries = 'pg_stat_statements'");
  await restart();
  await query(administratorUrl, "create extension pg_stat_statements");
  return async () => {
    const sum = "select coalesce(sum(calls), 0)::int as calls from pg_stat_statements";
    const [row] = await query(administratorUrl, `${sum} where query ~ '"pets"'`);
    return Number(row?.calls);
  };
}
