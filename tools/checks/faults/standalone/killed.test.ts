import { setTimeout as sleep } from "node:timers/promises";
import { openSession, type Session, sparedName } from "@petstore/harness/postgres";
import { openTemporaryDirectory } from "@petstore/harness/processes";
import { it } from "../environment/environment.js";
import type { Target } from "../environment/load.js";
import { count, isAcknowledged } from "../environment/results.js";
import { until } from "../environment/waits.js";
import { openPowerLossDisk } from "./disks.js";

const startWithinMs = 10_000;

const sequentialCreates = 300;
const losses = 3;
const createsBetween = 100;

/**
 * Shows that PostgreSQL asks the kernel to flush before each 201, and that the flushed part is enough to find every
 * acknowledged pet. Does not show that the kernel and the disk keep what they confirm.
 */
it("power-loss: flushes before every 201, and finds every acknowledged pet", async ({ environment, figures }) => {
  environment.allowFailures();
  const { path } = environment.use(await openTemporaryDirectory());
  let store = await environment.startStore(path);
  const { databaseUrl } = store;
  await environment.useDatabase(databaseUrl);
  let sequential = 0;
  const flushes = await countFlushes(databaseUrl, async () => {
    const creates = await environment.startCreates({ clients: 1, target: () => store });
    await until(() => creates.results.length >= sequentialCreates);
    await creates.stop();
    sequential = count(creates.results, isAcknowledged);
  });

  let target: Target | undefined;
  const creates = await environment.startCreates({ clients: 16, target: () => target });
  const starts: number[] = [];
  for (let loss = 1; loss <= losses; loss += 1) {
    await using session = await openSession(databaseUrl);
    const disk = await openPowerLossDisk(path, session);
    target = store;
    const enough = count(creates.results, isAcknowledged) + createsBetween;
    await until(() => count(creates.results, isAcknowledged) >= enough);
    await sleep(Math.random() * 500);
    target = undefined;
    // The stopped store acknowledges nothing more. Everything that it has acknowledged must be flushed now.
    store.signal("SIGSTOP");
    environment.markFault();
    await disk.losePower();
    await store.kill();
    await disk.restore();
    const startMs = performance.now();
    store = await environment.startStore(path);
    starts.push(performance.now() - startMs);
  }
  target = store;
  await creates.stop();
  figures.atLeast(sequential, `flushes of the log in ${sequential} sequential creates`, flushes);
  figures.atMost(startWithinMs, "the slowest start", Math.max(...starts), "ms");
});

/** How often PostgreSQL flushed its log during the work. */
async function countFlushes(url: string, work: () => Promise<void>): Promise<number> {
  await using session = await openSession(url);
  const query = "select sum(fsyncs) as number from pg_stat_io where object = 'wal' and context = 'normal'";
  await reportStatistics(session);
  const before = await numberFrom(session, query);
  await work();
  await reportStatistics(session);
  return (await numberFrom(session, query)) - before;
}

/** A session reports its statistics at its end. The store opens new sessions. */
async function reportStatistics(session: Session): Promise<void> {
  const others = `usename = current_user and application_name <> '${sparedName}'`;
  await session.query(`select pg_terminate_backend(pid, 5000) from pg_stat_activity where ${others}`);
}

async function numberFrom(session: Session, query: string): Promise<number> {
  const [row] = await session.query(query);
  return Number(row?.number);
}
