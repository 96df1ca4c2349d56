import { setTimeout as sleep } from "node:timers/promises";
import { hostileDocuments } from "@petstore/harness/hostile-documents";
import { graphqlRouter } from "./api.js";
import { isBanned } from "./exchange.js";
import { atMost, checkAlive, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import { roomy } from "./stage.js";

const floodConnections = 64;
const floodMs = 6_000;
/** Requests of the other customer before the flood is at its full speed. */
const settleMs = 1_000;
const slowdownAtMost = 3;
const expensive = ["100 duplicate fields with selections", "fragments in a circle", "300 unknown fields"];

/** One banned key sends the most expensive documents, and a customer with another key sends small ones meanwhile. */
export const bannedFloodScenario: Scenario = {
  group: "http",
  name: "banned-key-flood",
  cause: `a banned key sends expensive documents over ${floodConnections} connections`,
  expected: `another customer's p50 at most ${slowdownAtMost} times that under a flood of \`{__typename}\` with the same key`,
  async run(stage) {
    const bans = { BAN_STRIKES: "1", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0", BAN_FIRST_MS: "3600000" };
    const [service] = await stage.startCold([{ api: graphqlRouter }], bans);
    if (service === undefined) throw new Error("there is no service");
    await stage.warmUp();
    const { apiKey: bannedKey } = await stage.store.issueKey({ perMinute: 1, perDay: 1_000_000 });
    const { apiKey: customerKey } = await stage.store.issueKey(roomy);
    const flood = (body: string, requests: number) =>
      stage.burst({
        callers: floodConnections,
        requests,
        apiKey: () => bannedKey,
        call: ({ list }) => ({ ...list, body }),
      });

    /** The median of the customer's requests while the flood goes on. */
    async function customerMsUnder(body: string): Promise<{ readonly medianMs: number; readonly notRefused: number }> {
      let isOver = false;
      let notRefused = 0;
      const flooding = (async () => {
        while (!isOver) {
          const answers = await flood(body, 4 * floodConnections);
          notRefused += answers.filter(({ status }) => status !== 429).length;
        }
      })();
      await sleep(settleMs);
      const durations: number[] = [];
      const endMs = performance.now() + floodMs;
      while (performance.now() < endMs) {
        const [answer] = await stage.burst({
          callers: 1,
          requests: 1,
          apiKey: () => customerKey,
          call: ({ list }) => list,
        });
        if (answer?.status !== 200) throw new Error(`the customer was answered ${answer?.status}`);
        durations.push(answer.durationMs);
      }
      isOver = true;
      await flooding;
      durations.sort((one, other) => one - other);
      return { medianMs: durations[Math.floor(durations.length / 2)] ?? Number.NaN, notRefused };
    }

    const answers = await flood(plainBody, 20_000);
    if (!answers.some(isBanned)) throw new Error("the key was not banned");
    const plain = await customerMsUnder(plainBody);
    const checks = [];
    for (const name of expensive) {
      const document = hostileDocuments.find((one) => one.name === name);
      if (document === undefined) throw new Error(`there is no document "${name}"`);
      const under = await customerMsUnder(document.write(""));
      checks.push(
        atMost(
          slowdownAtMost,
          `${name}: the customer's p50, times that under plain documents`,
          under.medianMs / plain.medianMs,
        ),
        exactly(0, `${name}: answers to the banned key other than 429`, under.notRefused),
      );
    }
    return [...checks, ...checkAlive([service])];
  },
};

const plainBody = JSON.stringify({ query: "{__typename}" });
