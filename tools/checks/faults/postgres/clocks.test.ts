// @module-tag faketime
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { graphql } from "../environment/apis.js";
import type { Environment } from "../environment/environment.js";
import { it } from "../environment/it.js";
import { issueKey, petstore } from "../environment/petstore-command.js";
import { type Answer, count, isBanned, isSuccess } from "../environment/results.js";
import { quickBans, type Service } from "../environment/services.js";

const hourMs = 3_600_000;
const expirySeconds = 8;
const timeoutMs = 15_000;

it("clock-skew: keeps all times on PostgreSQL's clock, 25 h ahead and 1 h behind", async ({ environment, figures }) => {
  const { database, services } = environment;
  const installation = { databaseUrl: database.url };
  const bans = { ...quickBans, BAN_FIRST_MS: `${hourMs}` };
  for (const clockOffsetMs of [0, 25 * hourMs, -hourMs]) {
    // Two at a time: a small machine is slow to start six.
    await environment.startServices(bans, [{ clockOffsetMs }, { clockOffsetMs, api: graphql }]);
  }

  const creator = await issueKey(installation, "--per-minute 1000000 --per-day 1000000");
  const name = `skewed-${randomUUID()}`;
  const answers: Answer[] = [];
  for (const service of [...services, ...services]) {
    answers.push(await environment.sendOne(service, creator.apiKey, service.api.create(name, name)));
  }
  const created = count(answers, ({ status, text }) => status < 300 && !text.includes('"errors"'));
  figures.exactly(answers.length, "creates acknowledged", created);
  figures.exactly(1, "pets created by them", (await database.countByName([name])).get(name) ?? 0);

  const expiring = await issueKey(installation, "--per-minute 1000000 --per-day 1000000");
  const expiry = JSON.parse(await petstore(installation, `key expire ${expiring.id} --in ${expirySeconds}s --json`));
  const expiresAtMs = Date.parse(expiry.expiresAt);
  const served = await Promise.all(services.map((service) => environment.sendOne(service, expiring.apiKey)));
  const isExpired = ({ code }: Answer) => code === "API_KEY_EXPIRED";
  const refusedAtMs = await Promise.all(
    services.map((service) => timeOf(environment, service, expiring.apiKey, isExpired)),
  );
  figures.count(services.length, "instances that serve a key before its expiry", served, isSuccess);
  figures.atMost(
    1_000,
    "the last instance refuses it after its expiry by",
    Math.max(...refusedAtMs) - expiresAtMs,
    "ms",
  );
  figures.atMost(
    1_000,
    "the first instance refuses it before its expiry by",
    expiresAtMs - Math.min(...refusedAtMs),
    "ms",
  );

  const banned = await issueKey(installation, "--per-minute 4 --per-day 1");
  for (const service of services) await timeOf(environment, service, banned.apiKey, isBanned);
  const lift = JSON.parse(await petstore(installation, `ban lift ${banned.id} --json`));
  const liftedAtMs = Date.parse(lift.banLiftedAt);
  const isNotBanned = (answer: Answer) => !isBanned(answer);
  const endedAtMs = await Promise.all(
    services.map((service) => timeOf(environment, service, banned.apiKey, isNotBanned)),
  );
  figures.atMost(1_000, "a lifted ban has ended everywhere after", Math.max(...endedAtMs) - liftedAtMs, "ms");
});

/** When a service first gives this answer; infinite when it does not in time. */
async function timeOf(
  environment: Environment,
  service: Service,
  apiKey: string,
  isMeant: (answer: Answer) => boolean,
): Promise<number> {
  const startMs = nowMs();
  while (nowMs() - startMs < timeoutMs) {
    if (isMeant(await environment.sendOne(service, apiKey))) return nowMs();
    await sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}
