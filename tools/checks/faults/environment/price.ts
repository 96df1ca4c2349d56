import type { HttpRequest } from "@petstore/harness/network";
import type { Usage } from "@petstore/harness/processes";
import type { Figures } from "@petstore/harness/test-with-figures";
import type { Environment } from "./environment.js";
import type { Result } from "./results.js";
import type { Service } from "./services.js";

export interface PricedCall {
  readonly name: string;
  /** The call with this number. A document with another number is in no cache. */
  call(index: number): HttpRequest;
}

/** Bytes are cheap to send, so no unit may buy more than this. */
const timesUnauthorizedAtMost = 40;
/** Requests of each call. V8 compiles during the first ones. */
const sent = { warmUps: 10, measured: 30, unauthorized: 200 };

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
    return { milliseconds: ((await usedMicroseconds(service)) - before) / requests / 1_000, units: unitsOf(answers) };
  };
  const priceOf401 = async () => (await priceOf("no key", sent.unauthorized, () => service.api.list)).milliseconds;

  await priceOf401();
  const prices = [];
  for (const { name, call } of calls) {
    await priceOf(apiKey, sent.warmUps, call);
    const { milliseconds, units } = await priceOf(apiKey, sent.measured, (index) => call(sent.warmUps + index));
    prices.push({ name, perUnit: milliseconds / units, unauthorized: await priceOf401() });
  }
  const unauthorized = prices.reduce((sum, price) => sum + price.unauthorized, 0) / prices.length;
  for (const { name, perUnit } of prices) {
    const what = `${service.api.name}, ${name}: CPU per unit, times a 401 (${unauthorized.toFixed(3)} ms)`;
    figures.atMost(timesUnauthorizedAtMost, what, perUnit / unauthorized);
  }
}

/** What an operation cost. A request that is refused costs one unit. */
function unitsOf(answers: readonly Result[]): number {
  return Number(/"cost":(\d+)/.exec(answers[0]?.text ?? "")?.[1]) || 1;
}

async function usedMicroseconds(service: Service): Promise<number> {
  return ((await service.ask("usage")) as Usage).cpuMicroseconds;
}
