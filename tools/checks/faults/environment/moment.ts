import { setTimeout as sleep } from "node:timers/promises";
import type { Limits } from "@petstore/core";
import { bytesOf, sendAtOneMoment } from "@petstore/harness/network";
import type { Figures } from "@petstore/harness/test-with-figures";
import { type Api, authorization } from "./apis.js";
import type { Environment } from "./environment.js";
import { startLoad } from "./load.js";
import { watchReadiness } from "./readiness.js";
import { count, isFailure, resultOf, slowestMs } from "./results.js";
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
/** What one key does to others, it does every time. A busy moment of the machine does not return. Each has its own control. */
const attempts = 3;

/** The record of a key that an instance has read is fresh for 5 s. After that, all requests wait for one look-up. */
export const heldUntilKeyIsStaleMs = 6_000;

/** One key cannot make others wait, fill the memory, or make a service unready. */
export async function checkMoment(environment: Environment, figures: Figures, attack: Attack): Promise<void> {
  const { what, target, services, requests, heldMs, limits, scope } = attack;
  const { api } = target;

  const send = async (bodyOf: (index: number) => string) => {
    const lines = authorization(await environment.issueKey(limits, scope));
    const call = api.create("", "");
    const bytes = Array.from({ length: requests }, (_, index) => bytesOf({ ...call, body: bodyOf(index) }, lines));
    // Not a load of the environment: HAProxy refuses in its own way what no instance can answer.
    const apiKey = await environment.issueKey();
    const other = startLoad({ targets: [target], apiKey, clients: 1, pauseMs: 5 });
    const readiness = watchReadiness(services);
    const answers = await sendAtOneMoment({ port: target.port, requests: bytes, heldMs });
    await sleep(settledAfterMs);
    await other.stop();
    const [waitedMs, failures] = [slowestMs(other.results), count(other.results, isFailure)];
    return { answers, waitedMs, failures, unready: await readiness.stop() };
  };

  const sendPair = async () => {
    const control = await send((index) => api.create(`pet ${index}`, "").body ?? "");
    const attacked = await send(attack.bodyOf);
    const limitMs = Math.max(waitAtMostMs, timesControl * control.waitedMs);
    const isHarmed = attacked.waitedMs > limitMs || attacked.failures > control.failures || attacked.unready > 0;
    return { control, attacked, limitMs, isHarmed };
  };

  let pair = await sendPair();
  for (let attempt = 1; attempt < attempts && pair.isHarmed; attempt += 1) pair = await sendPair();

  const { control, attacked, limitMs } = pair;
  const { answers, waitedMs, failures, unready } = attacked;
  // The requests may wait for each other, for as long as they like.
  environment.keep(answers.map((answer) => ({ ...resultOf(answer), durationMs: 0 })));
  const wait = `another client's longest wait (beside small creates ${Math.round(control.waitedMs)} ms)`;
  figures.atMost(limitMs, `${what}: ${wait}`, waitedMs, "ms");
  figures.atMost(control.failures, `${what}: failures of the other client`, failures);
  figures.exactly(0, `${what}: answers of /readyz other than 200`, unready);
  figures.exactly(requests, `${what}: answers`, answers.length);
  figures.count(0, `${what}: answers other than 200, 400 and 403`, answers, ({ status }) => {
    return ![200, 400, 403].includes(status);
  });
  for (const service of services) {
    figures.atMost(memoryLimitMebibytes, `${what}: largest RSS`, await mebibytesOf(service, "VmHWM"), "MiB");
  }
}
