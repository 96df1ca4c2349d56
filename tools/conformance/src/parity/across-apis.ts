/** What one API begins and another one goes on with: rows of their own, played over every ordered pair of APIs. */
import type { Answer, Api, Operation, Success } from "../apis/api.js";
import { type Check, checkThat, demand } from "../section.js";
import { currentMinute } from "../stage.js";
import { newAddress, roomy, type Surroundings } from "./play.js";

type Send = (operation: Operation) => Promise<Answer | undefined>;

interface Row {
  readonly name: string;
  /** Both speak for the same account. Throws what does not hold; `false` where an API cannot take part. */
  play(first: Send, second: Send): Promise<boolean>;
}

const input = '{"name":"Rex","categoryId":9007199254740993}';

const rows: readonly Row[] = [
  {
    name: "one idempotency key makes one pet",
    async play(first, second) {
      const create = { kind: "create", input, idempotencyKey: "across" } as const;
      const [made, repeated] = [await first(create), await second(create)];
      if (made === undefined || repeated === undefined) return false;
      demand(idOf(made) === idOf(repeated), "two pets were made");
      demand(made.headers["idempotency-replayed"] === undefined, "the first create says it is a repetition");
      demand(repeated.headers["idempotency-replayed"] === "true", "the repetition does not say that it is one");
      return true;
    },
  },
  {
    name: "an idempotency key with another body is refused",
    async play(first, second) {
      const made = await first({ kind: "create", input, idempotencyKey: "across" });
      const other = '{"name":"Max","categoryId":1}';
      const refused = await second({ kind: "create", input: other, idempotencyKey: "across" });
      if (made === undefined || refused === undefined) return false;
      demand(codeOf(refused) === "IDEMPOTENCY_KEY_REUSED", `the second is answered ${codeOf(refused)}`);
      return true;
    },
  },
  {
    name: "a cursor of one continues the list of the other",
    async play(first, second) {
      const page = await first({ kind: "list", query: { limit: "4", status: '"available"' } });
      const cursor = page && successOf(page).nextCursor;
      if (page === undefined || typeof cursor !== "string") return false;
      const next = {
        kind: "list",
        query: { limit: "3", status: '"available"', cursor: JSON.stringify(cursor) },
      } as const;
      const [own, others] = [await first(next), await second(next)];
      if (own === undefined || others === undefined) return false;
      const [expected, said] = [own, others].map((answer) => JSON.stringify(successOf(answer).pets));
      demand(expected === said, `the first goes on with ${expected}, the second with ${said}`);
      demand(BigInt(idOf(others)) > BigInt(successOf(page).pets.at(-1)?.id ?? 0), "a pet is on both pages");
      return true;
    },
  },
  {
    name: "they spend the same quota",
    async play(first, second) {
      const list = { kind: "list", query: { limit: "1" } } as const;
      const answers = [await first(list), await second(list), await first(list)];
      const left = answers.map((answer) => Number(answer?.headers["x-ratelimit-remaining"]));
      const [most = 0] = left;
      demand(`${left}` === `${[most, most - 1, most - 2]}`, `X-RateLimit-Remaining is ${left}`);
      return true;
    },
  },
];

export async function playAcrossApis({ store, apis }: Surroundings): Promise<Check[]> {
  const checks: Check[] = [];
  for (const { name, play } of rows) {
    for (const first of apis) {
      for (const second of apis) {
        if (first === second) continue;
        let tookPart = true;
        const check = await checkThat(`across APIs: ${name}: ${first.name}, then ${second.name}`, async () => {
          // A minute that ends meanwhile counts from zero: then once more.
          for (let minute: number | undefined; minute !== currentMinute(); ) {
            minute = currentMinute();
            const account = await store.openAccount(roomy);
            tookPart = await play(through(first, await account.issueKey()), through(second, await account.issueKey()));
          }
          return undefined;
        });
        if (tookPart) checks.push(check);
      }
    }
  }
  return checks;
}

function through(api: Api, key: string): Send {
  return (operation) => api.send({ operation, authorization: [`Bearer ${key}`], address: newAddress() });
}

function successOf({ outcome }: Answer): Success {
  if (outcome.kind === "failure") throw new Error(`${outcome.code}: ${outcome.message}`);
  return outcome;
}

function idOf(answer: Answer): string {
  return successOf(answer).pets[0]?.id ?? "none";
}

function codeOf({ outcome }: Answer): string {
  return outcome.kind === "failure" ? outcome.code : "success";
}
