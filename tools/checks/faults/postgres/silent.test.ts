import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, openFaultProxy } from "@petstore/harness/network";
import { oneOfEach } from "../environment/apis.js";
import { it } from "../environment/it.js";
import { checkFailures, failuresAfter, ownP99 } from "../environment/measures.js";
import { isCreate, isFailure, isList, isSuccess, isUnavailable } from "../environment/results.js";
import type { Service } from "../environment/services.js";
import { millisecondsUntil, type Readiness, readinessOf } from "../environment/waits.js";

/** The defaults of the service, 100 ms for the answer of PostgreSQL, and what a busy machine may add. */
const readWithinMs = 1_000 + 100 + 300;
const writeWithinMs = 3_000 + 100 + 300;
/** A create may first wait for a connection that another create holds. */
const lockedWriteWithinMs = 1_000 + writeWithinMs;
const lockedSeconds = 10;
const silentMs = 8_000;
/** The drain of requests in flight, the longest statement, and the end of its connection. */
const stopWithinMs = 2_500 + 3_100 + 500 + 400;

it("writes-locked: answers creates 503 and lists as before while writes are locked", async ({
  environment,
  figures,
}) => {
  environment.allowFailures();
  const server = await environment.openPostgres();
  const services = await environment.startServices();
  await environment.warmUp();
  const load = await environment.startLoad({ clients: 32, pauseMs: 50 });
  await sleep(4_000);
  const lockedAtMs = environment.markFault();
  const lock = server.query(`begin; lock table pets in share mode; select pg_sleep(${lockedSeconds}); commit`);
  const states = await readinessDuring(services, lock);
  const freeAtMs = environment.markFault();
  await sleep(3_000);
  await load.stop();
  const creates = load.results.filter(isCreate);
  const lists = load.results.filter(isList);
  const listLoad = { ...load, results: lists };
  const beforeMs = ownP99(listLoad, ({ sentAtMs }) => sentAtMs < lockedAtMs);
  const duringMs = ownP99(listLoad, ({ sentAtMs }) => sentAtMs > lockedAtMs && sentAtMs < freeAtMs);
  checkFailures(figures, "creates", creates, lockedWriteWithinMs);
  figures.count(0, "creates answered neither 2xx nor 503", creates, (one) => !isSuccess(one) && !isUnavailable(one));
  figures.count(0, "lists that failed", lists, isFailure);
  figures.atMost(Math.max(beforeMs, 0) + 25, "lists under the lock, p99 of the median second", duringMs, "ms");
  figures.atLeast(20, "requests for /readyz under the lock", states.length);
  figures.count(0, "answers of /readyz other than 200", states, (state) => state === "not ready");
  figures.exactly(0, "failures more than 1 s after the lock", failuresAfter(load.results, freeAtMs + 1_000));
  environment.checkAlive();
});

it("postgres-vanished: answers 503, ends after SIGTERM, and recovers after 8 s", async ({ environment, figures }) => {
  environment.allowFailures();
  const server = await environment.openPostgres();
  const proxy = environment.use(await openFaultProxy({ url: server.url }));
  const services = await environment.startServices({ DATABASE_URL: proxy.url });
  const stopped = await environment.startMore(oneOfEach);
  await environment.warmUp();
  const load = await environment.startLoad({ targets: services });
  const loadOfStopped = await environment.startLoad({ targets: stopped, clients: 16 });
  await sleep(2_000);
  const silentAtMs = environment.markFault();
  await proxy.blackHole();
  figures.atMost(3_000, "/readyz 503 after", await millisecondsUntil(services, "not ready"), "ms");
  await Promise.all(
    stopped.map(async (service) => {
      const startMs = performance.now();
      figures.exactly(0, `${service.api.name}: exit code after SIGTERM`, Number(await service.stop()));
      figures.atMost(stopWithinMs, `${service.api.name}: ended after`, performance.now() - startMs, "ms");
    }),
  );
  await loadOfStopped.stop();
  await sleep(Math.max(0, silentAtMs + silentMs - nowMs()));
  const restoredAtMs = environment.markFault();
  await proxy.restore();
  figures.atMost(2_000, "/readyz 200 after the return", await millisecondsUntil(services, "ready", "degraded"), "ms");
  await sleep(4_000);
  await load.stop();
  checkFailures(figures, "creates", load.results.filter(isCreate), writeWithinMs);
  checkFailures(figures, "lists", load.results.filter(isList), readWithinMs);
  figures.exactly(0, "failures more than 2 s after the return", failuresAfter(load.results, restoredAtMs + 2_000));
  figures.count(0, "services that ended without SIGTERM", services, (service) => service.hasEnded());
});

/** The states of the services until the work is done. */
async function readinessDuring(services: readonly Service[], work: Promise<unknown>): Promise<Readiness[]> {
  const states: Readiness[] = [];
  let isDone = false;
  const done = work.then(() => {
    isDone = true;
  });
  while (!isDone) {
    states.push(...(await Promise.all(services.map(readinessOf))));
    await sleep(200);
  }
  await done;
  return states;
}
