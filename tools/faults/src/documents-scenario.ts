import { dearDocuments, type Hostile, hostileDocuments, hostileVariables } from "@petstore/harness/hostile-documents";
import { graphqlRouter } from "./api.js";
import { atMost, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import { countStatements, openCounting } from "./statement-count.js";

const blockedAtMostMs = 50;
/** A document that blocks the loop blocks it every time; a moment of the garbage collector does not return. */
const attempts = 4;
/** Limited by their day, whose window ends in no row: Remaining then tells what has been charged. */
const limits = { perMinute: 10_000_000, perDay: 1_000_000 };
/** So many, with such names, make the largest answers there are. */
const pets = { count: 100, name: "🐈".repeat(255) };
const plain: Hostile = { name: "a plain list", write: (mark) => JSON.stringify({ query: `{pets{id}} #${mark}` }) };
const documents = [plain, ...hostileDocuments, ...hostileVariables, ...dearDocuments];

interface Outcome {
  readonly name: string;
  readonly statuses: readonly number[];
  /** The shortest of the longest blocks that it caused each time. */
  readonly blockMs: number;
  readonly charged: number;
  /** Those that name the table of the pets. */
  readonly statements: number;
}

export const documentsScenario: Scenario = {
  group: "http",
  name: "documents",
  cause: `${documents.length} GraphQL documents, one by one, that are cheap to write and dear to parse, validate or execute`,
  expected: `event loop blocked <= ${blockedAtMostMs} ms; at most one unit of work for each unit charged`,
  async run(stage) {
    const server = await openCounting(stage);
    const [service] = await stage.startCold([{ api: graphqlRouter, isProbed: true }]);
    if (service === undefined) throw new Error("there is no service");
    await stage.warmUp();
    const { apiKey } = await stage.store.issueKey(limits);
    const asking = { callers: 1, apiKey: () => apiKey };
    const { count, name } = pets;
    await stage.burst({ ...asking, requests: count, call: (api, index) => api.create(name, `pet ${index}`) });

    /** Twice: a document that was executed before may go another way. */
    const send = (body: string) =>
      stage.burst({ ...asking, requests: 2, call: () => ({ ...graphqlRouter.list, body }) });
    const spentBy = async () => {
      const [answer] = await stage.burst({ ...asking, requests: 1, call: ({ list }) => ({ ...list, body: "{" }) });
      const { limit = 0, remaining = 0 } = answer?.rateLimit ?? {};
      return limit - remaining;
    };

    async function play({ name, write }: Hostile): Promise<Outcome> {
      const before = { spent: await spentBy(), statements: await countStatements(server, "pets") };
      const statuses: number[] = [];
      let blockMs = Number.POSITIVE_INFINITY;
      for (let attempt = 0; attempt < attempts && blockMs >= blockedAtMostMs / 2; attempt += 1) {
        await service?.longestBlockMs();
        statuses.push(...(await send(write(`${attempt}`))).map(({ status }) => status));
        blockMs = Math.min(blockMs, (await service?.longestBlockMs()) ?? Number.NaN);
      }
      return {
        name,
        statuses,
        blockMs,
        // But for the question itself.
        charged: (await spentBy()) - before.spent - 1,
        statements: (await countStatements(server, "pets")) - before.statements,
      };
    }

    const outcomes: Outcome[] = [];
    for (const document of documents) outcomes.push(await play(document));
    const worst = outcomes.reduce((one, other) => (other.blockMs > one.blockMs ? other : one));
    const unpaid = outcomes.filter(({ statements, charged }) => statements > charged);
    const strange = outcomes.filter(({ statuses }) => statuses.some((status) => ![200, 400, 413].includes(status)));
    const [list] = outcomes;
    return [
      atMost(blockedAtMostMs, `event loop blocked, the longest, by ${worst.name}`, worst.blockMs, "ms"),
      exactly(list?.charged ?? Number.NaN, "statements of a plain list, a unit each", list?.statements ?? Number.NaN),
      exactly(0, naming("documents of more statements than units charged", unpaid), unpaid.length),
      exactly(0, naming("documents answered otherwise than 200, 400 and 413", strange), strange.length),
      exactly(0, "processes that ended", Number(service.hasEnded())),
    ];
  },
};

function naming(what: string, outcomes: readonly Outcome[]): string {
  return [what, ...outcomes.map(({ name }) => name)].join(", ");
}
