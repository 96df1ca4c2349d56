import { type Check, checkThat, demand, type Section } from "../section.js";
import { type Services, type Stage, withinOneMinute } from "../stage.js";
import { documentCosts } from "./document-costs.js";
import { type StormCount, storm, type Target } from "./storm.js";

const limit = 1_000;
const requests = 10_000;
const concurrency = 200;

/** Of a minute, left for the storm: several times what it needs on a busy machine of two cores. */
const stormMs = 25_000;

const processes = ["rest", "rest", "graphql", "graphql"] as const;

export const exactness: Section = {
  minuteMs: stormMs,
  name: "exactness",
  about: `${processes.length} processes and both APIs spend one account's units, each exactly once`,
  asksRest: true,
  async run(stage) {
    // The storm ignores refusals on purpose.
    await using services = await stage.startServices(processes, { BAN_STRIKES: "0" });
    return [
      ...(await exactlyTheLimit(stage, services)),
      ...(await scriptCalls(stage, services)),
      ...(await documentCosts(stage, services)),
    ];
  },
};

async function exactlyTheLimit({ store, redis, described }: Stage, services: Services): Promise<Check[]> {
  const targets = services.all.map(({ origin }, index) => targetOf(origin, processes[index] ?? "rest"));
  // Every process connects to everything and has the script loaded.
  const warm = await (await store.openAccount({ perMinute: 1_000_000, perDay: 1_000_000 })).issueKey();
  await storm({ targets, apiKey: warm, requests: 400, concurrency: 40 });

  let count: StormCount;
  let decisions: number;
  let attempts = 0;
  do {
    attempts += 1;
    await withinOneMinute(stormMs);
    const apiKey = await (await store.openAccount({ perMinute: limit, perDay: 1_000_000 })).issueKey();
    await redis.command("CONFIG", "RESETSTAT");
    count = await storm({
      targets,
      apiKey,
      requests,
      concurrency,
      hear(target, answer) {
        if (target.path !== graphqlPath) described.hear(target.origin, target, answer);
      },
    });
    decisions = callsOf("evalsha", String(await redis.command("INFO", "commandstats")));
    // A storm that outlasted its minute has spent two minutes' units, and is repeated in one.
  } while (count.resets.size > 1 && attempts < 3);

  const told = [...count.byAnswer].map(([answer, times]) => `${answer} ${times}`).join(", ");
  return [
    await checkThat(`${requests} requests at concurrency ${concurrency}, limit ${limit}`, async () => {
      demand(count.byAnswer.get("200") === limit, `answered: ${told}; not exactly ${limit} were admitted`);
      const refused = count.byAnswer.get("RATE_LIMIT_EXCEEDED");
      demand(refused === requests - limit, `answered: ${told}; not all others were refused`);
      return `${told}, in ${count.seconds.toFixed(1)} s`;
    }),
    await checkThat("a request is at most one EVALSHA, whichever API", async () => {
      demand(decisions > 0 && decisions <= requests, `${decisions} EVALSHA for ${requests} requests`);
      return `${decisions} EVALSHA for ${requests} requests`;
    }),
  ];
}

/** One script call reserves the first unit, and one extends the reservation where an operation costs more. */
async function scriptCalls({ store, redis }: Stage, services: Services): Promise<Check[]> {
  const apiKey = await (await store.openAccount({ perMinute: 1_000_000, perDay: 1_000_000 })).issueKey();
  const graphql = (query: string) => ({ path: graphqlPath, method: "POST", body: JSON.stringify({ query }) }) as const;
  const cases = [
    { what: "a REST list", service: "rest", request: { path: "/v1/pets", method: "GET" }, calls: 1 },
    {
      what: "a GraphQL operation of one root field",
      service: "graphql",
      request: graphql("{ pets { id } }"),
      calls: 1,
    },
    {
      what: "a GraphQL operation of three root fields",
      service: "graphql",
      request: graphql("{ a: pets { id } b: pets { id } c: pets { id } }"),
      calls: 2,
    },
  ] as const;
  const checks: Check[] = [];
  for (const { what, service, request, calls } of cases) {
    const check = checkThat(`${what} makes exactly ${calls} EVALSHA`, async () => {
      const origin = services.all[processes.indexOf(service)]?.origin ?? "";
      await redis.command("CONFIG", "RESETSTAT");
      const count = 10;
      await storm({ targets: [{ origin, ...request }], apiKey, requests: count, concurrency: 1 });
      const decisions = callsOf("evalsha", String(await redis.command("INFO", "commandstats")));
      demand(decisions === count * calls, `${decisions} EVALSHA for ${count} requests`);
      return `${decisions} EVALSHA for ${count} requests`;
    });
    checks.push(await check);
  }
  return checks;
}

const graphqlPath = "/graphql";

function targetOf(origin: string, service: "rest" | "graphql"): Target {
  if (service === "rest") return { origin, path: "/v1/pets?limit=1", method: "GET" };
  return { origin, path: graphqlPath, method: "POST", body: '{"query":"{ pets(limit: 1) { id name } }"}' };
}

/** As `INFO commandstats` has it: `cmdstat_evalsha:calls=10000,usec=...`. */
function callsOf(command: string, commandStats: string): number {
  return Number(new RegExp(`^cmdstat_${command}:calls=(\\d+)`, "m").exec(commandStats)?.[1] ?? 0);
}
