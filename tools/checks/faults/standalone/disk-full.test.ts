import { setTimeout as sleep } from "node:timers/promises";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { nowMs } from "@petstore/harness/network";
import { administratorUrl, query } from "@petstore/harness/postgres";
import { openTemporaryDirectory, until } from "@petstore/harness/processes";
import { type Environment, it } from "../environment/environment.js";
import { failuresAfter } from "../environment/measures.js";
import { count, endOf, isAcknowledged, isFailure, isUnavailable, type Result } from "../environment/results.js";
import { mountSmallDisk } from "./disks.js";

/** For the database, the reserve of the store, and some pets. */
const megabytes = 192;
const fullMs = 6_000;
const createsBefore = 100;
const readsAtOnce = 50;
/** The recovery of PostgreSQL on a busy machine. */
const recoveryMs = 3_000;
/** PostgreSQL's own recovery fails in a tenth of this. */
const recoveryFailsMs = 1_000;

it("disk-full: refuses creates, serves reads, and recovers without a restart", async ({
  environment,
  figures,
  skip,
}) => {
  environment.allowFailures();
  const { disk, store, creates, read } = await startOnSmallDisk(environment, skip);
  const filledAtMs = environment.markFault();
  await disk.fill();
  const reads: Result[] = [];
  while (nowMs() - filledAtMs < fullMs) reads.push(...(await read()));
  const refused = creates.results.filter(isFailure);

  const freedAtMs = environment.markFault();
  await disk.free();
  await sleep(2_000);
  reads.push(...(await read()));
  await creates.stop();
  const acknowledged = creates.results.filter(isAcknowledged);
  const firstAfter = Math.min(...acknowledged.filter(({ sentAtMs }) => sentAtMs > freedAtMs).map(endOf));
  figures.atLeast(100, "creates refused on the full disk", refused.length);
  figures.count(0, "refusals other than 503 with Retry-After", refused, (one) => !isUnavailable(one));
  figures.count(0, "reads not answered 200", reads, ({ status }) => status !== 200);
  figures.atMost(1_000, "first pet acknowledged after the disk was freed", firstAfter - freedAtMs, "ms");
  figures.exactly(0, "creates refused more than 1 s after that", failuresAfter(creates.results, freedAtMs + 1_000));
  figures.exactly(0, "stores that ended", Number(store.hasEnded()));
});

/**
 * A checkpoint that cannot write ends PostgreSQL. Its recovery ends with another checkpoint, which needs the reserve of
 * the store. PostgreSQL does not wait for the reserve, so this test stops the store until that recovery has failed too.
 */
it("disk-full-checkpoint: starts PostgreSQL again within 3 s", async ({ environment, figures, skip }) => {
  environment.allowFailures();
  const { disk, store, creates, read } = await startOnSmallDisk(environment, skip);
  await disk.fill();
  await until("creates are refused", async () => count(creates.results, isFailure) >= createsBefore);

  store.signal("SIGSTOP");
  const checkpoint = query(await administratorUrl(store.directory, store.databaseUrl), "checkpoint");
  const isEnded = await checkpoint.then(
    () => false,
    () => true,
  );
  await until("PostgreSQL has ended", async () => (await embeddedPostgresUrl(store.directory)) === undefined);
  await sleep(recoveryFailsMs);
  const endedAtMs = environment.markFault();
  store.signal("SIGCONT");
  const reads: Result[] = [];
  while (nowMs() < endedAtMs + 2 * recoveryMs) reads.push(...(await read()));
  await disk.free();
  await creates.stop();
  const failed = reads.filter(({ status }) => status !== 200);
  const lastFailedMs = Math.max(endedAtMs, ...failed.map(endOf)) - endedAtMs;
  figures.exactly(1, "the checkpoint ends PostgreSQL", Number(isEnded));
  figures.count(0, "reads neither 200 nor 503 with Retry-After", failed, (one) => !isUnavailable(one));
  figures.atMost(recoveryMs, "the last read not answered 200", lastFailedMs, "ms");
  figures.exactly(0, "stores that ended", Number(store.hasEnded()));
});

/** Starts a store and its creates. Skips the test where this process may not mount a disk. */
async function startOnSmallDisk(environment: Environment, skip: (reason: string) => never) {
  const directory = environment.use(await openTemporaryDirectory());
  const disk = await mountSmallDisk(directory.path, megabytes);
  if (disk === undefined) skip("this process may not mount a disk");
  environment.use(disk);
  const store = await environment.startStore(directory.path);
  await environment.useDatabase(store.databaseUrl);
  const apiKey = await environment.issueKey();
  const creates = await environment.startCreates({ clients: 8, target: () => store });
  await until("the store has pets", async () => count(creates.results, isAcknowledged) >= createsBefore);
  const reads = { requests: readsAtOnce, clients: 4, apiKey, targets: [store] };
  return { disk, store, creates, read: () => environment.sendBurst(reads) };
}
