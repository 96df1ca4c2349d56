import { setTimeout as sleep } from "node:timers/promises";
import { openRedisServer } from "@petstore/harness/redis";
import { apis, fourProcesses } from "./api.js";
import { patient } from "./environment.js";
import { isFailure } from "./exchange.js";
import { atLeast, atMost, count, exactly } from "./measure.js";
import type { Check, Scenario } from "./scenario.js";
import { roomy, type Services, type Stage } from "./stage.js";

const kills = 6;
const storms = 5;
const createsAtOnce = 500;

export const createScenarios: readonly Scenario[] = [
  {
    group: "postgres",
    name: "one-idempotency-key",
    cause: `${createsAtOnce} creates with one idempotency key at once, over 2 REST and 2 GraphQL processes, ${storms} times`,
    expected: `1 pet, ${createsAtOnce} equal bodies, no 409`,
    needs: ["redis-server"],
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      const services = await stage.startServices([redis.url], patient, fourProcesses);
      return checkStorms(stage, services, storms);
    },
  },
  {
    group: "postgres",
    name: "instance-killed",
    cause: `SIGKILL to one of 2 REST and 2 GraphQL processes under creates, ${kills} times; each is replaced`,
    expected: "failures <= its requests in flight; retries with the same key create nothing twice",
    needs: ["redis-server"],
    mayFail: true,
    async run(stage) {
      const redis = stage.use(await openRedisServer());
      const running = [...(await stage.startServices([redis.url], patient, fourProcesses))];
      const alive = new Set(running);
      const creates = await stage.create({
        callers: 16,
        target: (caller) => [...alive][caller % Math.max(1, alive.size)],
      });
      let inFlight = 0;
      for (let kill = 0; kill < kills; kill += 1) {
        await sleep(700);
        const [victim] = [...alive];
        if (victim === undefined) throw new Error("nobody is left");
        alive.delete(victim);
        inFlight += creates.inFlight(victim.origin);
        stage.mark();
        await victim.kill();
        const [successor] = await stage.startMore([{ api: victim.api }]);
        if (successor === undefined) throw new Error("nobody took its place");
        alive.add(successor);
      }
      await sleep(700);
      await creates.stop();
      const failures = count(creates.exchanges, isFailure);
      return [
        atLeast(kills, `requests in flight at ${kills} kills`, inFlight),
        atMost(inFlight, "failures", failures),
        exactly(failures, "retries, each with its key", creates.retried.length),
        exactly(0, "creates that were given up", creates.givenUp()),
        atLeast(
          500,
          "pets made",
          count(creates.exchanges, ({ created }) => created !== undefined),
        ),
      ];
    },
  },
];

/** Storms of creates, each on one idempotency key; summed up. */
export async function checkStorms(stage: Stage, services: Services, storms: number): Promise<Check[]> {
  const { apiKey } = await stage.store.issueKey(roomy);
  const sums = { pets: 0, acknowledged: 0, bodies: 0, ids: 0, conflicts: 0 };
  for (let storm = 0; storm < storms; storm += 1) {
    const name = `Storm ${storm} of ${apiKey.slice(-6)}`;
    const answers = await stage.burst({
      requests: createsAtOnce,
      callers: createsAtOnce,
      apiKey: () => apiKey,
      call: (api) => api.create(name, name),
    });
    sums.pets += (await stage.store.countByName([name])).get(name) ?? 0;
    sums.acknowledged += count(answers, ({ status, text }) => [200, 201].includes(status) && idIn(text) !== undefined);
    // Each API has its own shape for the same pet.
    sums.bodies += new Set(answers.map(({ text }) => text)).size;
    sums.ids += new Set(answers.map(({ text }) => idIn(text))).size;
    sums.conflicts += count(answers, ({ text, status }) => status === 409 || text.includes('"status":409'));
  }
  return [
    exactly(storms, `pets of ${storms} storms`, sums.pets),
    exactly(storms * createsAtOnce, "creates acknowledged", sums.acknowledged),
    exactly(storms * apis.length, `different bodies from ${services.length} processes, one for each API`, sums.bodies),
    exactly(storms, "different ids in them", sums.ids),
    exactly(0, "answers of 409", sums.conflicts),
  ];
}

function idIn(text: string): string | undefined {
  return /"id":"?(\d+)/.exec(text)?.[1];
}
