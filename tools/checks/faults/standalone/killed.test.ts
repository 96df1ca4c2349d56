import { setTimeout as sleep } from "node:timers/promises";
import { openSession } from "@petstore/harness/postgres";
import { openTemporaryDirectory, until } from "@petstore/harness/processes";
import { it } from "../environment/environment.js";
import type { Target } from "../environment/load.js";
import { count, isAcknowledged } from "../environment/results.js";
import { openPowerLossDisk } from "./disks.js";

const startWithinMs = 10_000;
const losses = 3;
const createsBetween = 100;

/**
 * Shows that the part of PostgreSQL's log that was flushed is enough to find every acknowledged pet. The tests of
 * packages/embedded-postgres show that PostgreSQL waits for the disk.
 */
it("power-loss: flushes before every 201, and finds every acknowledged pet", async ({ environment, figures }) => {
  environment.allowFailures();
  const { path } = environment.use(await openTemporaryDirectory());
  let store = await environment.startStore(path);
  const { databaseUrl } = store;
  await environment.useDatabase(databaseUrl);
  let target: Target | undefined;
  const creates = await environment.startCreates({ clients: 16, target: () => target });
  const starts: number[] = [];
  for (let loss = 1; loss <= losses; loss += 1) {
    await using session = await openSession(databaseUrl);
    const disk = await openPowerLossDisk(path, session);
    target = store;
    const enough = count(creates.results, isAcknowledged) + createsBetween;
    await until("there are more pets", async () => count(creates.results, isAcknowledged) >= enough);
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
  figures.atMost(startWithinMs, "the slowest start", Math.max(...starts), "ms");
});
