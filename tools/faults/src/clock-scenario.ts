import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { type Api, type Call, graphqlRouter } from "./api.js";
import { type Answer, nowMs } from "./ask.js";
import { issue } from "./change-scenarios.js";
import { isBanned, isGood } from "./exchange.js";
import { atMost, count, exactly } from "./measure.js";
import { petstore } from "./petstore.js";
import type { Check, Scenario } from "./scenario.js";
import type { Service } from "./service.js";
import type { Services, Stage } from "./stage.js";

const hourMs = 3_600_000;
const clocks = [0, 25 * hourMs, -hourMs];
const bans = { BAN_STRIKES: "1", BAN_GRACE_MS: "0", BAN_EARLY_MS: "0", BAN_FIRST_MS: `${hourMs}` };
const expirySeconds = 8;

export const clockScenario: Scenario = {
  group: "postgres",
  name: "clock-skew",
  cause: "the clock of one instance is 25 hours ahead, of another one hour behind; each counts for itself",
  expected: "idempotency keys, lifted bans and key expiry as with a true clock, by PostgreSQL's time",
  needs: ["faketime"],
  async run(stage) {
    const services: Service[] = [];
    for (const clockOffsetMs of clocks) {
      // Two at a time: six that start at once are slow on a small machine.
      services.push(...(await stage.startCold([{ clockOffsetMs }, { clockOffsetMs, api: graphqlRouter }], bans)));
    }
    return [
      ...(await checkIdempotency(stage, services)),
      ...(await checkExpiry(stage, services)),
      ...(await checkLiftedBan(stage, services)),
    ];
  },
};

async function checkIdempotency(stage: Stage, services: Services): Promise<Check[]> {
  const { apiKey } = await issue(stage.store, "--per-minute 1000000 --per-day 1000000");
  const name = `skewed-${randomUUID()}`;
  const answers: Answer[] = [];
  for (const service of [...services, ...services]) {
    answers.push(await askOne(stage, service, apiKey, ({ create }) => create(name, name)));
  }
  const created = count(answers, ({ status, text }) => status < 300 && !text.includes('"errors"'));
  return [
    exactly(answers.length, "creates acknowledged", created),
    exactly(1, "pets they have made", (await stage.store.countByName([name])).get(name) ?? 0),
  ];
}

async function checkExpiry(stage: Stage, services: Services): Promise<Check[]> {
  const { apiKey, id } = await issue(stage.store, "--per-minute 1000000 --per-day 1000000");
  const printed = await petstore(stage.store, `key expire ${id} --in ${expirySeconds}s --json`);
  const { expiresAt } = JSON.parse(printed.join("")) as { readonly expiresAt: string };
  const served = await Promise.all(services.map((service) => askOne(stage, service, apiKey)));
  const endedAfterMs = await Promise.all(
    services.map((service) => timeOf(stage, service, apiKey, ({ code }) => code === "API_KEY_EXPIRED")),
  );
  const late = endedAfterMs.map((atMs) => atMs - Date.parse(expiresAt));
  return [
    exactly(services.length, "instances that serve a key before its expiry", count(served, isGood)),
    atMost(1_000, "until the last one refuses it after its expiry", Math.max(...late), "ms"),
    atMost(1_000, "before its expiry, the first one", -Math.min(...late), "ms"),
  ];
}

async function checkLiftedBan(stage: Stage, services: Services): Promise<Check[]> {
  const { apiKey, id } = await issue(stage.store, "--per-minute 4 --per-day 1");
  for (const service of services) await timeOf(stage, service, apiKey, isBanned);
  const printed = await petstore(stage.store, `ban lift ${id} --json`);
  const { banLiftedAt } = JSON.parse(printed.join("")) as { readonly banLiftedAt: string };
  const liftedAtMs = await Promise.all(
    services.map((service) => timeOf(stage, service, apiKey, (answer) => !isBanned(answer))),
  );
  return [
    atMost(1_000, "until a lifted ban has ended everywhere", Math.max(...liftedAtMs) - Date.parse(banLiftedAt), "ms"),
  ];
}

const timeoutMs = 15_000;

/** When the answer of a service is as it should be; infinite when it never is. */
async function timeOf(
  stage: Stage,
  service: Service,
  apiKey: string,
  isSo: (answer: Answer) => boolean,
): Promise<number> {
  const startMs = nowMs();
  while (nowMs() - startMs < timeoutMs) {
    const answer = await askOne(stage, service, apiKey);
    if (isSo(answer)) return nowMs();
    await sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}

async function askOne(
  stage: Stage,
  service: Service,
  apiKey: string,
  call: (api: Api) => Call = ({ list }) => list,
): Promise<Answer> {
  const [answer] = await stage.burst({ requests: 1, callers: 1, apiKey: () => apiKey, call }, [service]);
  if (answer === undefined) throw new Error("the request was not answered");
  return answer;
}
