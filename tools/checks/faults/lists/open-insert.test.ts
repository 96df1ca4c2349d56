import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { openSession } from "@petstore/harness/postgres";
import { inject } from "vitest";
import { graphql, rest } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { median } from "../environment/measures.js";
import { readMetrics } from "../environment/metrics.js";
import { endOf, isAcknowledged, isFailure, type Result, slowestMs } from "../environment/results.js";
import { faultless, type Service } from "../environment/services.js";
import { checkWalks, startWalkers } from "./walkers.js";

const { held = "15" } = inject("projectOptions") ?? {};
const heldMs = Number(held) * 1_000;
const controlMs = 8_000;
/** The default of the service. An insert that is older than 5 s, and than a second more than this, is ignored. */
const writeTimeoutMs = 3_000;
const ignoredAfterMs = 5_000;
/** It is seen first up to a second late, and then looked at once a second. */
const noticedWithinMs = 1_000 + 1_000;
const waitAtMostMs = 1_000;
/** On a busy machine. */
const timesControl = 3;

it("open-insert: delays no list for more than a second, is ignored and named after 5 s, and slows no create", async ({
  environment,
  figures,
}) => {
  const { database } = environment;
  const settings = { ...faultless, DATABASE_WRITE_TIMEOUT_MS: `${writeTimeoutMs}`, METRICS_PORT: "0" };
  const services = await environment.startServices(settings, [{ api: rest }, { api: rest }, { api: graphql }]);
  const creates = await Promise.all(
    services.map((service) => environment.startCreates({ clients: 1, target: () => service })),
  );
  const walkers = await startWalkers(environment, { walkers: 1, limit: 100, pauseMs: 300 });
  const startedAtMs = nowMs();
  await sleep(controlMs);

  const openedAtMs = nowMs();
  await using session = await openSession(database.url);
  await session.query("begin");
  const [row] = await session.query(`
    insert into pets (name, category_id, status) values ('forgotten', 1, 'sold') returning id::int8`);
  const forgotten = Number(row?.id);
  const namedAfterMs = await Promise.all(services.map((service) => untilNamed(service, openedAtMs)));
  const fullAtMs = nowMs();
  await sleep(Math.max(0, openedAtMs + heldMs - nowMs()));
  const faultsWhileHeld = [...walkers.faults];
  const forgottenMetrics = await Promise.all(
    services.map(async (service) => (await readMetrics(service)).get("petstore_forgotten_inserts") ?? Number.NaN),
  );
  const shortened = walkers.shortened();
  const committedAtMs = nowMs();
  await session.query("commit");
  // A page that was kept before lacks the pet for as long as it is kept.
  await sleep(controlMs);
  const endedAtMs = nowMs();
  await Promise.all(creates.map((one) => one.stop()));
  await walkers.stop();

  const lists = walkers.results;
  const created = creates.flatMap(({ results }) => results.filter(isAcknowledged));
  const between = (from: number, to: number) => ({
    lists: sentIn(lists, from, to),
    creates: sentIn(created, from, to),
  });
  const young = between(openedAtMs, fullAtMs);
  const old = between(fullAtMs, committedAtMs);
  // Before and after the fault, because the load of the machine changes.
  const [before, after] = [between(startedAtMs, openedAtMs), between(committedAtMs, endedAtMs)];
  const control = { lists: [...before.lists, ...after.lists], creates: [...before.creates, ...after.creates] };

  figures.exactly(0, "faults of walks while it is open", faultsWhileHeld.length);
  figures.atLeast(1, "walks that ended early, because it was open", shortened);
  const slowestOfControl = Math.round(slowestMs(control.lists));
  const limitMs = Math.max(waitAtMostMs, waitAtMostMs - 100 + slowestOfControl);
  const name = `the slowest list while it is younger (without it ${slowestOfControl} ms)`;
  figures.atMost(limitMs, name, slowestMs(young.lists), "ms");
  figures.atMost(
    Math.max(waitAtMostMs, timesControl * slowestOfControl),
    `the slowest list while it is ignored (without it ${slowestOfControl} ms)`,
    slowestMs(old.lists),
    "ms",
  );
  figures.atMost(
    ignoredAfterMs + noticedWithinMs + timesControl * slowestOfControl,
    "named by each instance, and ignored, after",
    Math.max(...namedAfterMs),
    "ms",
  );
  for (const [index, value] of forgottenMetrics.entries()) {
    figures.exactly(1, `petstore_forgotten_inserts of instance ${index + 1}`, value);
  }
  for (const [what, phase] of Object.entries({ younger: young, ignored: old })) {
    figures.atMost(
      timesControl,
      `median create while it is ${what}, times the median without it`,
      median(phase.creates.map(({ durationMs }) => durationMs)) /
        median(control.creates.map(({ durationMs }) => durationMs)),
    );
  }
  figures.count(0, "lists that failed", lists, isFailure);
  // Walks that had passed its id do not return it, and nothing else is missing.
  checkWalks(figures, { ...walkers, faults: walkers.faults.filter(({ id }) => id !== forgotten) });
});

function sentIn(results: readonly Result[], fromMs: number, toMs: number): readonly Result[] {
  return results.filter((one) => one.sentAtMs >= fromMs && endOf(one) < toMs);
}

async function untilNamed({ output }: Service, openedAtMs: number): Promise<number> {
  while (!output.some((line) => line.includes("keeps an insert of pets open"))) await sleep(20);
  return nowMs() - openedAtMs;
}
