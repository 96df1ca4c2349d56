import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, openFaultProxy } from "@petstore/harness/network";
import { oneOfEach } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { checkFailures, failuresAfter } from "../environment/measures.js";
import { isCreate, isList } from "../environment/results.js";
import { millisecondsUntil } from "../environment/waits.js";

/** The defaults of the service, 100 ms for the answer of PostgreSQL, and what a busy machine may add. */
const readWithinMs = 1_000 + 100 + 300;
const writeWithinMs = 3_000 + 100 + 300;
const silentMs = 8_000;
/** The drain of requests in flight, the longest statement, and the end of its connection. */
const stopWithinMs = 2_500 + 3_100 + 500 + 400;

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
