import { setTimeout as sleep } from "node:timers/promises";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { openSession, type Session } from "@petstore/harness/postgres";
import { isCreated } from "./exchange.js";
import { atLeast, atMost, count, exactly } from "./measure.js";
import type { Scenario } from "./scenario.js";
import { createKeeper, openDirectory, type RunningStore, until } from "./standalone-store.js";
import { openWorstDisk } from "./worst-disk.js";

const sequentialCreates = 300;
const losses = 3;
/** At least. */
const createsBetween = 100;

/**
 * What is shown: PostgreSQL has asked the kernel to flush before each 201, and what it says is flushed is enough to find
 * every acknowledged pet again. That the kernel and the disk keep what they confirm is not.
 */
export const powerLoss: Scenario = {
  group: "standalone",
  name: "power-loss",
  cause: `everything is killed at one moment, ${losses} times under creates, and the disk has only what was flushed until then`,
  expected: "the log is flushed before every 201: one flush at least for each; lost 0",
  mayFail: true,
  async run(stage) {
    const directory = stage.use(await openDirectory());
    const keeper = stage.use(createKeeper(directory.path, stage.hear));
    let store = await keeper.start();
    const url = (await embeddedPostgresUrl(directory.path)) ?? "";
    await stage.adopt(url);
    const flushed = await countFlushes(url, async () => {
      const one = await stage.create({ callers: 1, target: () => store });
      await until(() => one.exchanges.length >= sequentialCreates);
      await one.stop();
      return count(one.exchanges, isCreated);
    });

    let target: RunningStore | undefined;
    const creates = await stage.create({ callers: 16, target: () => target });
    const starts: number[] = [];
    for (let loss = 1; loss <= losses; loss += 1) {
      await using session = await openSession(url);
      const disk = await openWorstDisk(directory.path, session);
      target = store;
      const enough = count(creates.exchanges, isCreated) + createsBetween;
      await until(() => count(creates.exchanges, isCreated) >= enough);
      await sleep(Math.random() * 500);
      target = undefined;
      // From now on nothing is acknowledged any more; what was until now has to be flushed by now.
      store.program.signal("SIGSTOP");
      stage.mark();
      await disk.losePower();
      store.program.signal("SIGKILL");
      await store.program.ended;
      await disk.restore();
      const startMs = performance.now();
      store = await keeper.start();
      starts.push(performance.now() - startMs);
    }
    target = store;
    await creates.stop();
    return [
      exactly(3, "of fsync, synchronous_commit and full_page_writes are on", await countSettings(url)),
      atLeast(flushed.creates, `flushes of the log in ${flushed.creates} creates, one by one`, flushed.flushes),
      exactly(losses, "starts on what was flushed", starts.length),
      atMost(10_000, "slowest of them", Math.max(...starts), "ms"),
      atLeast(createsBetween * losses, "pets acknowledged before", count(creates.exchanges, isCreated)),
      exactly(0, "creates given up", creates.givenUp()),
    ];
  },
};

/** How often the log was flushed to the disk meanwhile. */
async function countFlushes(url: string, meanwhile: () => Promise<number>) {
  await using session = await openSession(url);
  await settleStatistics(session);
  const before = await numberFrom(session, flushes);
  const creates = await meanwhile();
  await settleStatistics(session);
  return { creates, flushes: (await numberFrom(session, flushes)) - before };
}

/** Without these a flush would promise nothing. As the store's own sessions have them. */
async function countSettings(url: string): Promise<number> {
  await using session = await openSession(url);
  const settings = "select count(*) as number from pg_settings where setting = 'on'";
  return await numberFrom(session, `${settings} and name in ('fsync', 'synchronous_commit', 'full_page_writes')`);
}

const flushes = "select sum(fsyncs) as number from pg_stat_io where object = 'wal' and context = 'normal'";

/** A session tells what it has done when it ends, at the latest; the store opens new ones. */
async function settleStatistics(session: Session): Promise<void> {
  const others = "from pg_stat_activity where usename = current_user and application_name <> 'beside'";
  await session.query(`select pg_terminate_backend(pid, 5000) ${others}`);
}

async function numberFrom(session: Session, query: string): Promise<number> {
  const [row] = await session.query(query);
  return Number(row?.number);
}
