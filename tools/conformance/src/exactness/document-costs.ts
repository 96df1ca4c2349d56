import { type Check, checkThat, demand } from "../section.js";
import { type Services, type Stage, withinOneMinute } from "../stage.js";

interface Asked {
  readonly status: number;
  readonly remaining: number;
  readonly code: string | undefined;
  readonly cost: number | undefined;
  readonly fields: number;
}

/** What documents of several root fields cost, all or nothing. */
export async function documentCosts({ store }: Stage, services: Services): Promise<Check[]> {
  const origin = services.originOf("graphql");
  await withinOneMinute(3_000);
  const account = async (perMinute: number) => {
    const key = await (await store.openAccount({ perMinute, perDay: 1_000_000 })).issueKey();
    return (fields: number) => ask(origin, key, fields);
  };
  return [
    await checkThat("a document with 10 aliased fields costs 10", async () => {
      const answer = await (await account(100))(10);
      demand(answer.fields === 10 && answer.cost === 10 && answer.remaining === 90, told(answer));
      return told(answer);
    }),
    await checkThat("a document with 11 aliased fields is refused, and executes none", async () => {
      const answer = await (await account(100))(11);
      const isRefused = answer.status === 400 && answer.code === "OPERATION_TOO_LARGE" && answer.fields === 0;
      demand(isRefused && answer.remaining >= 99, told(answer));
      return told(answer);
    }),
    await checkThat("a document with 3 when 2 remain is refused and consumes nothing", async () => {
      const send = await account(5);
      await send(3);
      const refused = await send(3);
      const isRefused = refused.status === 429 && refused.code === "RATE_LIMIT_EXCEEDED" && refused.fields === 0;
      demand(isRefused && refused.remaining === 2, told(refused));
      const fitting = await send(2);
      demand(fitting.fields === 2 && fitting.remaining === 0, `with 2 it is answered: ${told(fitting)}`);
      return `${told(refused)}; then with 2: ${told(fitting)}`;
    }),
  ];
}

async function ask(origin: string, apiKey: string, fields: number): Promise<Asked> {
  const aliases = Array.from({ length: fields }, (_, index) => `f${index}: pets(limit: 1) { id }`);
  const response = await fetch(`${origin}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body: JSON.stringify({ query: `{ ${aliases.join(" ")} }` }),
  });
  const { data, errors, extensions } = (await response.json()) as {
    readonly data?: Readonly<Record<string, unknown>>;
    readonly errors?: readonly { readonly extensions: { readonly code: string } }[];
    readonly extensions?: { readonly cost: number };
  };
  return {
    status: response.status,
    remaining: Number(response.headers.get("x-ratelimit-remaining")),
    code: errors?.[0]?.extensions.code,
    cost: extensions?.cost,
    fields: Object.keys(data ?? {}).length,
  };
}

function told({ status, code, fields, remaining, cost }: Asked): string {
  const said = code === undefined ? `${fields} fields, cost ${cost}` : code;
  return `${status} ${said}, ${remaining} remaining`;
}
