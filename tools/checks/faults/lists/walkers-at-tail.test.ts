import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { apis } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { count, endOf, isAcknowledged, isFailure, slowestMs } from "../environment/results.js";
import { faultless, mebibytesOf } from "../environment/services.js";
import { checkWalks, startWalkers } from "./walkers.js";

/** Of each kind: half over REST, half over GraphQL. */
const walkersOfEachKind = 256;
const writers = 8;
/**
 * Between two creates of a writer: 100 creates a second. All new pets are read by each walker, so this decides how many pages
 * are read. With writers that do not pause, two processors that also run the walkers have no time left for the creates.
 */
const writerPauseMs = 75;
const phaseMs = 15_000;
/** Between two walks of a walker, on average. The same load for every machine. */
const pauseMs = 3_000;
const createsAtLeast = 0.9;
const memoryLimitMebibytes = 384;
const grownAtMost = 1.3;
const waitAtMostMs = 1_000;
const timesControl = 3;

it("walkers-at-tail: 512 walkers get each pet once, slow 100 creates a second by a tenth at most, in flat memory", async ({
  environment,
  figures,
}) => {
  // A machine without free processors may refuse some while all walkers begin.
  environment.allowFailures();
  const services = await environment.startServices(faultless);
  const creates = await Promise.all(
    services.map((service) =>
      environment.startCreates({ clients: writers / apis.length, pauseMs: writerPauseMs, target: () => service }),
    ),
  );
  // A few walkers are the control of the slowest list.
  const few = await startWalkers(environment, { walkers: 1, limit: 100, kinds: ["tail", "follower"], pauseMs: 100 });
  const perSecond = async (milliseconds: number) => {
    const startedAtMs = nowMs();
    const done = () => creates.reduce((sum, { results }) => sum + count(results, isAcknowledged), 0);
    const before = done();
    await sleep(milliseconds);
    return ((done() - before) / (nowMs() - startedAtMs)) * 1_000;
  };
  const without = await perSecond(phaseMs);
  const slowestOfControl = Math.round(slowestMs(few.results));
  const walkers = await startWalkers(environment, {
    walkers: walkersOfEachKind,
    limit: 100,
    kinds: ["tail", "follower"],
    pauseMs,
  });
  // They catch up with the tail first.
  await sleep(phaseMs);
  const caughtUpAtMs = nowMs();
  const memoryBefore = await Promise.all(services.map((service) => mebibytesOf(service, "VmRSS")));
  const beside = await perSecond(phaseMs);
  const memoryAfter = await Promise.all(services.map((service) => mebibytesOf(service, "VmRSS")));
  const stoppedAtMs = nowMs();
  await Promise.all(creates.map((one) => one.stop()));
  await Promise.all([few.stop(), walkers.stop()]);

  const atTail = walkers.results.filter((one) => one.sentAtMs > caughtUpAtMs && endOf(one) < stoppedAtMs);
  const ratio = `creates per second, times those without walkers (${Math.round(without)})`;
  figures.atLeast(createsAtLeast, ratio, beside / without);
  figures.atLeast(
    (2 * walkersOfEachKind * 1_000) / (4 * pauseMs),
    "pages per second",
    (atTail.length / (stoppedAtMs - caughtUpAtMs)) * 1_000,
  );
  const name = `the slowest list at the tail (beside 2 walkers ${slowestOfControl} ms)`;
  figures.atMost(waitAtMostMs + timesControl * slowestOfControl, name, slowestMs(atTail), "ms");
  for (const [index, { api }] of services.entries()) {
    const [before = 0, after = 0] = [memoryBefore[index], memoryAfter[index]];
    const what = `${api.name}: RSS at the end`;
    figures.atMost(memoryLimitMebibytes, what, after, "MiB");
    figures.atMost(
      grownAtMost,
      `${what}, times the one ${phaseMs / 1_000} s before (${Math.round(before)} MiB)`,
      after / before,
    );
  }
  figures.count(0, "lists at the tail that failed", atTail, isFailure);
  checkWalks(figures, walkers, 2 * walkersOfEachKind);
});
