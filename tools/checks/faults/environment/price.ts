import type { HttpRequest } from "@petstore/harness/network";
import type { Usage } from "@petstore/harness/processes";
import type { Figures } from "@petstore/harness/test-with-figures";
import type { Environment } from "./environment.js";
import type { Result } from "./results.js";
import type { Service } from "./services.js";

export interface PricedCall {
  readonly name: string;
  /** The request with this index. The index is part of a document, so that no cache has it. */
  call(index: number): HttpRequest;
}

/** Bytes are cheap to send, so no unit may buy more than this. */
const timesUnauthorizedAtMost = 40;
/** Requests. V8 compiles during the first ones of each call. */
const sent = { warmUps: 10, measured: 30 };
const unauthorized = { warmUps: 500, measured: 2_000 };

/**
 * No unit costs more than 40 times the CPU time of a 401. The price includes all work: reading, parsing, validating, and
 * executing or refusing. The service must be probed, and must not limit addresses (`unthrottled`).
 */
export async function checkPrices(
  environment: Environment,
  figures: Figures,
  service: Service,
  calls: readonly PricedCall[],
): Promise<void> {
  const apiKey = await environment.issueKey();

  /** CPU time of a request. Its client waits for each answer, so that other requests have no part in it. */
  const priceOf = async (key: string, requests: number, call: PricedCall["call"]) => {
    const before = await usedMicroseconds(service);
    const answers = await environment.sendBurst({
      requests,
      clients: 1,
      apiKey: key,
      targets: [service],
      call: (_api, index) => call(index),
    });
    return { milliseconds: ((await usedMicroseconds(service)) - before) / requests / 1_000, answers };
  };

  const prices = [];
  for (const { name, call } of calls) {
    await priceOf(apiKey, sent.warmUps, call);
    const { milliseconds, answers } = await priceOf(apiKey, sent.measured, (index) => call(sent.warmUps + index));
    figures.count(0, `${name}: answers that were not paid or not given`, answers, isUnpaidOrFailed);
    prices.push({ name, perUnit: milliseconds / unitsOf(answers) });
  }
  // The 401 is measured last: its code is compiled by then, and its warm-up lets V8 collect the garbage of the calls.
  const rejected = () => service.api.list;
  await priceOf("no key", unauthorized.warmUps, rejected);
  const { milliseconds: perUnauthorized, answers } = await priceOf("no key", unauthorized.measured, rejected);
  figures.count(unauthorized.measured, "answers with 401", answers, ({ status }) => status === 401);
  for (const { name, perUnit } of prices) {
    const what = `${service.api.name}, ${name}: CPU per unit, times a 401 (${perUnauthorized.toFixed(3)} ms)`;
    figures.atMost(timesUnauthorizedAtMost, what, perUnit / perUnauthorized);
  }
}

function isUnpaidOrFailed({ status }: Result): boolean {
  return status === 401 || status === 429 || status >= 500;
}

/** What an operation cost. A request that is refused costs one unit. */
function unitsOf(answers: readonly Result[]): number {
  return Number(/"cost":(\d+)/.exec(answers[0]?.text ?? "")?.[1]) || 1;
}

async function usedMicroseconds(service: Service): Promise<number> {
  return ((await service.ask("usage")) as Usage).cpuMicroseconds;
}
