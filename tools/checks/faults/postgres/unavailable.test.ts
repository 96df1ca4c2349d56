import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, openFaultProxy } from "@petstore/harness/network";
import { openSession, type PostgresServer, sparedName } from "@petstore/harness/postgres";
import { oneOfEach } from "../environment/apis.js";
import { type Environment, it } from "../environment/environment.js";
import { checkFailures, failuresAfter, millisecondsUntil } from "../environment/measures.js";
import { count, endOf, isCreate, isFailure, isList, isSuccess, isUnavailable } from "../environment/results.js";

/** The defaults of the service, and what a busy machine may add. */
const readTimeoutMs = 1_000;
const writeTimeoutMs = 3_000;
const acquireTimeoutMs = 1_000;
const slackMs = 100;
const silentMs = 8_000;
/** The drain of requests in flight, the longest statement, and the end of its connection. */
const stopWithinMs = 2_500 + 3_100 + 500 + 400;
const terminations = { perSecond: 20, seconds: 60 };

it("postgres-killed: answers 503 for 3 s, and recovers when PostgreSQL returns", async ({ environment, figures }) => {
  const { server, load } = await startUnderLoad(environment);
  const killedAtMs = environment.markFault();
  await server.kill();
  await sleep(3_000);
  const restartedAtMs = nowMs();
  await server.restart();
  const runningAtMs = environment.markFault();
  await sleep(5_000);
  await load.stop();
  const successes = load.results.filter((one) => one.sentAtMs > restartedAtMs && isSuccess(one));
  figures.count(0, "failures before", load.results, (one) => isFailure(one) && endOf(one) < killedAtMs);
  checkFailures(figures, "requests", load.results, acquireTimeoutMs + slackMs);
  figures.atMost(1_000, "first success after the return", Math.min(...successes.map(endOf)) - runningAtMs, "ms");
  figures.exactly(0, "failures more than 3 s after the return", failuresAfter(load.results, runningAtMs + 3_000));
});

it("postgres-vanished: answers 503, ends after SIGTERM, and recovers after 8 s", async ({ environment, figures }) => {
  environment.allowFailures();
  const server = await environment.openPostgres();
  const proxy = environment.use(await openFaultProxy({ url: server.url }));
  const services = await environment.startServices({ DATABASE_URL: proxy.url });
  const stopped = await environment.startMore(oneOfEach);
  const load = await environment.startLoad({ targets: services });
  const loadOfStopped = await environment.startLoad({ targets: stopped, clients: 16 });
  await sleep(2_000);
  const silentAtMs = environment.markFault();
  await proxy.blackHole();
  figures.atMost(3_000, "/readyz 503 after", await millisecondsUntil(services, "not ready"), "ms");
  await Promise.all(
    stopped.map(async (service) => {
      const startMs = performance.now();
      await service.stop();
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
  checkFailures(figures, "creates", load.results.filter(isCreate), writeTimeoutMs + 100 + 3 * slackMs);
  checkFailures(figures, "lists", load.results.filter(isList), readTimeoutMs + 100 + 3 * slackMs);
  figures.exactly(0, "failures more than 2 s after the return", failuresAfter(load.results, restoredAtMs + 2_000));
});

it("terminated: fails no more requests than backends are terminated", async ({ environment, figures }) => {
  const { server, load } = await startUnderLoad(environment);
  environment.markFault();
  const kills = terminations.perSecond * terminations.seconds;
  const startMs = performance.now();
  await terminateBackends(server, kills);
  const seconds = (performance.now() - startMs) / 1_000;
  environment.markFault();
  await load.stop();
  const others = count(load.results, (one) => isFailure(one) && !isUnavailable(one));
  figures.atLeast(terminations.seconds, `duration of ${kills} terminations`, seconds, "s");
  figures.atMost(kills, "failures", count(load.results, isFailure));
  figures.exactly(0, "failures other than 503 with Retry-After", others);
});

/** Starts services on a PostgreSQL of the test, and their load. */
async function startUnderLoad(environment: Environment) {
  environment.allowFailures();
  const server = await environment.openPostgres();
  await environment.startServices();
  const load = await environment.startLoad();
  await sleep(2_000);
  return { server, load };
}

/** Ends a random session of a client this number of times. */
async function terminateBackends({ url }: PostgresServer, kills: number): Promise<void> {
  await using session = await openSession(url);
  for (let killed = 0; killed < kills; ) {
    const ended = await session.query(terminateOne);
    killed += ended.length;
    // Waits for a client when none is connected, so that each kill ends one session.
    await sleep(ended.length > 0 ? 1_000 / terminations.perSecond : 5);
  }
}

const terminateOne = `
  select pg_terminate_backend(pid) from (
    select pid from pg_stat_activity
    where usename = current_user and application_name <> '${sparedName}' order by random() limit 1
  ) as victim`;
