import { dearDocuments, type Hostile, hostileDocuments, hostileVariables } from "@petstore/harness/hostile-documents";
import { type Check, checkThat, demand, type Section } from "../section.js";
import type { Service } from "../service.js";

/** Of the event loop. Whoever else calls this process waits as long. */
const longestAllowedMs = 50;

/** A document that blocks the loop blocks it every time; a moment in which the machine was busy does not return. */
const attempts = 10;

const roomy = { perMinute: 1_000_000, perDay: 10_000_000 };

export const documents: Section = {
  name: "documents",
  about: `no document blocks the event loop of its process for ${longestAllowedMs} ms`,
  async run({ store, startServices }) {
    await using services = await startServices(["graphql"]);
    const [service] = services.all;
    if (service === undefined) throw new Error("the service was not started");
    await store.addPets(100, "🐈".repeat(255));
    const apiKey = await (await store.openAccount(roomy)).issueKey();
    const send = (body: string) => ask(service.origin, apiKey, body);
    for (let index = 0; index < 20; index += 1) await send(`{"query":"{ pets { id } } #${index}"}`);

    const worst = { name: "none", blockMs: 0 };
    const checks: Check[] = [];
    for (const hostile of [...hostileDocuments, ...hostileVariables, ...dearDocuments]) {
      const { figure: detail = "", ...check } = await checkThat(hostile.name, async () => {
        const { blockMs, answer } = await measure(hostile, service, send);
        if (blockMs > worst.blockMs) Object.assign(worst, { name: hostile.name, blockMs });
        demand(service.isAlive, "the process has ended");
        demand(/^(200|400|413)/.test(answer), `answered ${answer}`);
        demand(blockMs < longestAllowedMs, `blocks the event loop for ${blockMs.toFixed(0)} ms, answered ${answer}`);
        return `${answer}, ${blockMs.toFixed(1)} ms`;
      });
      checks.push({ ...check, detail });
    }
    const figure = `${worst.blockMs.toFixed(1)} ms, by: ${worst.name}`;
    return [...checks, { name: "the longest block of all", differences: [], figure }];
  },
};

/** The shortest of the longest blocks that it caused each time. */
async function measure(
  hostile: Hostile,
  service: Service,
  send: (body: string) => Promise<string>,
): Promise<{ readonly blockMs: number; readonly answer: string }> {
  let blockMs = Number.POSITIVE_INFINITY;
  let answer = "";
  for (let attempt = 0; attempt < attempts && blockMs >= longestAllowedMs / 2; attempt += 1) {
    await service.longestBlockMs();
    const body = hostile.write(`${attempt}`);
    answer = await send(body);
    // Once more: a document that was executed before may go another way.
    await send(body);
    blockMs = Math.min(blockMs, await service.longestBlockMs());
  }
  return { blockMs, answer };
}

/** The status, and the code of the first error. */
async function ask(origin: string, apiKey: string, body: string): Promise<string> {
  const response = await fetch(`${origin}/graphql`, {
    method: "POST",
    headers: { authorization: `Bearer ${apiKey}`, "content-type": "application/json" },
    body,
    signal: AbortSignal.timeout(5_000),
  });
  const text = await response.text();
  const code = /^\{"errors":.*?"code":"(\w+)"/.exec(text)?.[1];
  return code === undefined ? `${response.status}` : `${response.status} ${code}`;
}
