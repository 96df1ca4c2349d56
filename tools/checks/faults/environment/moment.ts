import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "@petstore/core";
import { bytesOf, nowMs, sendAtOneMoment } from "@petstore/harness/network";
import type { Figures } from "@petstore/harness/test-with-figures";
import { type Api, authorization } from "./apis.js";
import type { Environment } from "./environment.js";
import { endOf, resultOf, slowestMs } from "./results.js";
import { mebibytesOf, type Service } from "./services.js";

/** Many requests of one key, on connections of their own, that arrive at one moment. */
export interface Attack {
  readonly what: string;
  /** The server that is attacked: one of the services, or a balancer in front of them. */
  readonly target: { readonly api: Api; readonly origin: string; readonly port: number };
  /** The services behind it. */
  readonly services: readonly Service[];
  readonly limits: Limits;
  readonly scope?: "read";
  readonly requests: number;
  /** The body of each request. */
  bodyOf(index: number): string;
  /** Holds the last byte of each body back for this time. */
  readonly heldMs: number;
}

const memoryLimitMebibytes = 256;
const waitAtMostMs = 1_000;
/** On a busy machine. */
const timesControl = 3;
const settledAfterMs = 300;

/** The record of a key that an instance has read is fresh for 5 s. After that, all requests wait for one look-up. */
export const heldUntilKeyIsStaleMs = 6_000;

/** One key cannot make others wait, fill the memory, or make a service unready. */
export async function checkMoment(environment: Environment, figures: Figures, attack: Attack): Promise<void> {
  const { what, target, services, requests, heldMs, limits, scope } = attack;
  const { api } = target;
  const other = await environment.startLoad({ clients: 1, pauseMs: 5, targets: [target] });
  const readiness = watchReadiness(services);

  /** The longest wait of the other client, from the moment until it has settled. */
  const waitBeside = async (bodyOf: (index: number) => string) => {
    const lines = authorization(await environment.issueKey(limits, scope));
    const call = api.create("", "");
    const bytes = Array.from({ length: requests }, (_, index) => bytesOf({ ...call, body: bodyOf(index) }, lines));
    const startedAtMs = nowMs();
    const answers = await sendAtOneMoment({ port: target.port, requests: bytes, heldMs });
    await sleep(settledAfterMs);
    // The bodies wait for each other, for as long as they like.
    environment.keep(answers.map((answer) => ({ ...resultOf(answer), durationMs: 0 })));
    return { answers, waitedMs: slowestMs(other.results.filter((result) => endOf(result) >= startedAtMs)) };
  };

  const control = await waitBeside((index) => api.create(`pet ${index}`, "").body ?? "");
  const attacked = await waitBeside(attack.bodyOf);
  await other.stop();
  const limitMs = Math.max(waitAtMostMs, timesControl * control.waitedMs);
  const name = `${what}: another client's longest wait (beside small creates ${Math.round(control.waitedMs)} ms)`;
  figures.atMost(limitMs, name, attacked.waitedMs, "ms");
  figures.exactly(requests, `${what}: answers`, attacked.answers.length);
  figures.count(0, `${what}: answers other than 200, 400 and 403`, attacked.answers, ({ status }) => {
    return ![200, 400, 403].includes(status);
  });
  figures.exactly(0, `${what}: answers of /readyz other than 200`, await readiness.stop());
  for (const service of services) {
    figures.atMost(memoryLimitMebibytes, `${what}: largest RSS`, await mebibytesOf(service, "VmHWM"), "MiB");
  }
}

/** Asks every service, as a balancer does, and counts the answers that would take it out. */
function watchReadiness(services: readonly Service[]) {
  let isStopped = false;
  let unready = 0;
  const watch = async ({ origin }: Service): Promise<void> => {
    while (!isStopped) {
      const response = await fetch(`${origin}/readyz`).catch(() => undefined);
      await response?.arrayBuffer();
      if (response?.status !== 200) unready += 1;
      await sleep(100);
    }
  };
  const done = Promise.all(services.map(watch));
  return {
    async stop(): Promise<number> {
      isStopped = true;
      await done;
      return unready;
    },
  };
}
