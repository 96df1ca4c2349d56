import { setTimeout as sleep } from "node:timers/promises";
import { openFaultProxy } from "@petstore/harness/network";
import { type Environment, it } from "../environment/environment.js";
import { checkFailures, failuresAfter } from "../environment/measures.js";
import { endOf, isList, isSuccess, type Result, slowestMs } from "../environment/results.js";
import { checkWalks, startWalkers } from "./walkers.js";

/** The defaults of the service, and what a busy machine may add. */
const readTimeoutMs = 1_000;
const acquireTimeoutMs = 1_000;
const answerGraceMs = 100;
const slackMs = 400;
const usedForMs = 5_000;
const faultMs = 8_000;
/** A failed health check, and a list that was sent just before. */
const settlesWithinMs = 3_000;

it("kept-pages-killed: are not served after PostgreSQL was killed, and walks continue when it returns", async ({
  environment,
  figures,
}) => {
  const server = await environment.openPostgres();
  const { load, walkers } = await startReaders(environment);
  const beforeMs = slowestMs(load.results.filter(isList));
  environment.markFault();
  await server.kill();
  const killedAtMs = environment.markFault();
  await sleep(faultMs);
  const restartedAtMs = environment.markFault();
  await server.restart();
  const runningAtMs = environment.markFault();
  await sleep(settlesWithinMs);
  await load.stop();
  await walkers.stop();
  const lists = load.results.filter(isList);
  const served = lists.filter((one) => isSuccess(one) && one.sentAtMs > killedAtMs && endOf(one) < restartedAtMs);
  // The session for messages ends with the server, so the pages are dropped at once.
  const limitMs = slackMs + beforeMs;
  const name = `lists served after the kill for (the slowest before: ${Math.round(beforeMs)} ms)`;
  figures.atMost(limitMs, name, lastEnd(served, killedAtMs) - killedAtMs, "ms");
  checkFailures(figures, "lists", lists, acquireTimeoutMs + readTimeoutMs + answerGraceMs + slackMs);
  figures.exactly(0, "failures more than 3 s after the return", failuresAfter(load.results, runningAtMs + 3_000));
  figures.atMost(5_000, "the slowest page of a walk", slowestMs(walkers.results), "ms");
  checkWalks(figures, walkers);
});

it("kept-pages-silent: are served for 5 s at most while PostgreSQL is silent", async ({ environment, figures }) => {
  const server = await environment.openPostgres();
  const proxy = environment.use(await openFaultProxy({ url: server.url }));
  const { load, walkers } = await startReaders(environment, { DATABASE_URL: proxy.url });
  const beforeMs = slowestMs(load.results.filter(isList));
  const silentAtMs = environment.markFault();
  await proxy.blackHole();
  await sleep(faultMs);
  const restoredAtMs = environment.markFault();
  await proxy.restore();
  await sleep(settlesWithinMs);
  await load.stop();
  await walkers.stop();
  const lists = load.results.filter(isList);
  const served = lists.filter((one) => isSuccess(one) && one.sentAtMs > silentAtMs && endOf(one) < restoredAtMs);
  figures.atMost(
    usedForMs + slackMs,
    "lists served while it is silent for",
    lastEnd(served, silentAtMs) - silentAtMs,
    "ms",
  );
  checkFailures(figures, "lists", lists, acquireTimeoutMs + readTimeoutMs + answerGraceMs + slackMs + beforeMs);
  figures.exactly(0, "failures more than 3 s after the return", failuresAfter(load.results, restoredAtMs + 3_000));
  figures.atMost(5_000, "the slowest page of a walk", slowestMs(walkers.results), "ms");
  checkWalks(figures, walkers);
});

/** Clients that list and create, and walkers. */
async function startReaders(environment: Environment, settings = {}) {
  environment.allowFailures();
  await environment.startServices(settings);
  const load = await environment.startLoad({ clients: 24, pauseMs: 100 });
  const walkers = await startWalkers(environment, { walkers: 1, limit: 50, pauseMs: 100 });
  await sleep(4_000);
  return { load, walkers };
}

function lastEnd(results: readonly Result[], atMs: number): number {
  return results.reduce((last, one) => Math.max(last, endOf(one)), atMs);
}
