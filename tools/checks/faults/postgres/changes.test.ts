// @module-tag redis-server
import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, openFaultProxy } from "@petstore/harness/network";
import { serviceFlags, startProgram } from "@petstore/harness/processes";
import type { Figures } from "@petstore/harness/test-with-figures";
import { twoOfEach } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { count, endOf, isBanned, type Result } from "../environment/results.js";
import { quickBans, type Settings, slowRedisAllowed } from "../environment/services.js";

const petstoreMain = new URL("../../../admin/dist/main.js", import.meta.url);

interface IssuedKey {
  readonly account: string;
  readonly id: string;
  readonly key: string;
}

interface Change {
  readonly what: string;
  readonly limits: string;
  command(issued: IssuedKey): string;
  /** True for an answer from before the change. */
  isOld(result: Result): boolean;
  /** True for an answer from after the change. */
  isNew(result: Result): boolean;
}

const isServed = ({ status }: Result) => status < 300;

const changes: readonly Change[] = [
  {
    what: "key revoked",
    limits: "--per-minute 1000000 --per-day 1000000",
    command: ({ id }) => `key revoke ${id}`,
    isOld: isServed,
    isNew: ({ code }) => code === "API_KEY_REVOKED",
  },
  {
    what: "plan changed",
    // With this minute limit the load is not banned.
    limits: "--per-minute 1000000 --per-day 1",
    command: ({ account }) => `account set-plan ${account} business`,
    isOld: ({ code }) => code === "DAILY_QUOTA_EXCEEDED",
    isNew: isServed,
  },
  {
    what: "ban lifted",
    limits: "--per-minute 1000 --per-day 1",
    command: ({ id }) => `ban lift ${id}`,
    isOld: isBanned,
    isNew: (result) => result.status === 429 && !isBanned(result),
  },
];

it("changes: applies a revoked key, a changed plan and a lifted ban within 1 s", ({ environment, figures }) =>
  checkChanges(environment, figures, { isNotified: true, withinMs: 1_000 }));

it("changes-unheard: applies them within 5 s when every notification is lost", ({ environment, figures }) =>
  checkChanges(environment, figures, { isNotified: false, withinMs: 5_000 }));

async function checkChanges(
  environment: Environment,
  figures: Figures,
  { isNotified, withinMs }: { readonly isNotified: boolean; readonly withinMs: number },
): Promise<void> {
  const databaseUrl = environment.database.url;
  const proxy = environment.use(await openFaultProxy({ url: databaseUrl }));
  const settings = { DATABASE_DIRECT_URL: proxy.url, ...slowRedisAllowed, ...quickBans };
  const redis = await environment.startWithRedis(settings, twoOfEach);
  const installation = { DATABASE_URL: databaseUrl, REDIS_URL: redis.url };
  const changed = await Promise.all(
    changes.map(async (change) => ({ change, issued: await issueKey(installation, change.limits) })),
  );
  for (const { change, issued } of changed) {
    for (let burst = 0; burst < 20; burst += 1) {
      const answers = await environment.sendBurst({ requests: 1_000, clients: 32, apiKey: issued.key });
      if (answers.slice(-100).every(change.isOld)) break;
    }
  }
  if (!isNotified) await proxy.refuse();
  await Promise.all(
    changed.map(async ({ change, issued }) => {
      // The load is small enough for a Business account.
      const load = await environment.startLoad({ apiKey: issued.key, clients: 4, pauseMs: 60 });
      await sleep(1_000);
      const changedAtMs = changeTimeIn(await petstore(installation, `${change.command(issued)} --json`));
      await sleep(withinMs + 1_000);
      await load.stop();
      const { what, isOld, isNew } = change;
      const [before, after] = [true, false].map((isBefore) =>
        load.results.filter(({ sentAtMs }) => sentAtMs < changedAtMs === isBefore),
      ) as [Result[], Result[]];
      const lastOldMs = Math.max(changedAtMs, ...after.filter(isOld).map(endOf)) - changedAtMs;
      figures.atLeast(10, `${what}: old answers before`, count(before, isOld));
      figures.atMost(withinMs, `${what}: last old answer after`, lastOldMs, "ms");
      figures.atLeast(10, `${what}: new answers since`, count(after, isNew));
    }),
  );
}

/** The time of the change in the output of the command, which ends a moment later; else now. */
function changeTimeIn(output: string): number {
  const { revokedAt, banLiftedAt } = JSON.parse(output) as {
    readonly revokedAt?: string;
    readonly banLiftedAt?: string;
  };
  const time = revokedAt ?? banLiftedAt;
  return time === undefined ? nowMs() : Date.parse(time);
}

/** Runs a command of an operator. Resolves with its output. */
async function petstore(environment: Settings, command: string): Promise<string> {
  await using program = startProgram({
    name: "petstore",
    args: [...serviceFlags, petstoreMain.pathname, ...command.split(" ")],
    environment,
  });
  const exitCode = await program.ended;
  if (exitCode !== 0) throw new Error(`petstore ${command}: exit code ${exitCode}: ${program.output.join(" ")}`);
  return program.output.join("");
}

async function issueKey(environment: Settings, limits: string): Promise<IssuedKey> {
  const account = `changing-${randomBytes(4).toString("hex")}`;
  await petstore(environment, `account create ${account} --plan enterprise ${limits}`);
  return { account, ...JSON.parse(await petstore(environment, `key issue ${account} --json`)) };
}
