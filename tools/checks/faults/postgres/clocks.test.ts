import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { graphql } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { count, isBanned, isSuccess, type Result } from "../environment/results.js";
import { quickBans, type Service } from "../environment/services.js";

const hourMs = 3_600_000;
const timeoutMs = 15_000;

it("clock-skew: keeps all times on PostgreSQL's clock, 25 h ahead and 1 h behind", async ({ environment, figures }) => {
  const { database, services } = environment;
  for (const clockOffsetMs of [0, 25 * hourMs, -hourMs]) {
    // Two at a time: a small machine is slow to start six.
    const instances = [{ clockOffsetMs }, { clockOffsetMs, api: graphql }];
    await environment.startServices({ ...quickBans, BAN_FIRST_MS: `${hourMs}` }, instances);
  }
  const timesOf = (apiKey: string, isMeant: (answer: Result) => boolean) =>
    Promise.all(services.map((service) => timeOf(environment, service, apiKey, isMeant)));
  const change = async (statement: string): Promise<number> => {
    const [row] = (await database.execute(statement)) as { readonly at: Date }[];
    return row?.at.getTime() ?? Number.NaN;
  };

  const creator = await environment.issueKey();
  const name = `skewed-${randomUUID()}`;
  const answers: Result[] = [];
  for (const service of [...services, ...services]) {
    answers.push(await environment.sendOne(service, creator, service.api.create(name, name)));
  }
  const created = count(answers, ({ status, text }) => status < 300 && !text.includes('"errors"'));
  figures.exactly(answers.length, "creates acknowledged", created);
  figures.exactly(1, "pets created by them", (await database.countByName([name])).get(name) ?? 0);

  const expiring = await database.issueKey();
  const expiry = `update api_keys set expires_at = now() + interval '8 s' where id = ${expiring.keyId}`;
  const expiresAtMs = await change(`${expiry} returning expires_at as at`);
  const served = await Promise.all(services.map((service) => environment.sendOne(service, expiring.key)));
  const refusedAtMs = await timesOf(expiring.key, ({ code }) => code === "API_KEY_EXPIRED");
  const [lateMs, earlyMs] = [Math.max(...refusedAtMs) - expiresAtMs, expiresAtMs - Math.min(...refusedAtMs)];
  figures.count(services.length, "instances that serve a key before its expiry", served, isSuccess);
  figures.atMost(1_000, "the last instance refuses it after its expiry by", lateMs, "ms");
  figures.atMost(1_000, "the first instance refuses it before its expiry by", earlyMs, "ms");

  const banned = await database.issueKey({ customLimits: { perMinute: 4, perDay: 1 } });
  await timesOf(banned.key, isBanned);
  const lifting = `update api_keys set ban_lifted_at = now() where id = ${banned.keyId}`;
  const liftedAtMs = await change(`${lifting} returning ban_lifted_at as at`);
  const endedAtMs = await timesOf(banned.key, (answer) => !isBanned(answer));
  figures.atMost(1_000, "a lifted ban has ended everywhere after", Math.max(...endedAtMs) - liftedAtMs, "ms");
});

/** When a service first gives this answer; infinite when it does not in time. */
async function timeOf(
  environment: Environment,
  service: Service,
  apiKey: string,
  isMeant: (answer: Result) => boolean,
): Promise<number> {
  const startMs = nowMs();
  while (nowMs() - startMs < timeoutMs) {
    if (isMeant(await environment.sendOne(service, apiKey))) return nowMs();
    await sleep(20);
  }
  return Number.POSITIVE_INFINITY;
}
