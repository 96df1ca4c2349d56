import type { HttpRequest } from "@petstore/harness/network";
import type { Usage } from "@petstore/harness/processes";
import type { Figures } from "@petstore/harness/test-with-figures";
import type { Environment } from "./environment.js";
import type { Service } from "./services.js";

/** Bytes are cheap to send, so no unit may buy more than this. */
const timesUnauthorizedAtMost = 40;
/** The first requests run code that V8 has not compiled yet. */
const warmUps = 60;
/** The cheap one is measured longer. */
const sent = { unauthorized: 1_000, admitted: 100 };

/**
 * No unit costs more than 40 times the CPU time of a 401. The price includes all work: reading, parsing, validating, and
 * executing or refusing. The service must be probed, and must not limit addresses (`unthrottled`).
 *
 * @param units what each call takes from the quota
 */
export async function checkPrices(
  environment: Environment,
  figures: Figures,
  service: Service,
  calls: Readonly<Record<string, HttpRequest>>,
  units = 1,
): Promise<void> {
  const apiKey = await environment.issueKey();
  const send = (call: HttpRequest, key: string, requests: number) =>
    environment.sendBurst({ requests, clients: 1, apiKey: key, targets: [service], call: () => call });

  const cpuMilliseconds = async (call: HttpRequest, key: string, requests: number) => {
    await send(call, key, warmUps);
    const before = await usedMicroseconds(service);
    await send(call, key, requests);
    return ((await usedMicroseconds(service)) - before) / requests / 1_000;
  };

  const unauthorizedMs = await cpuMilliseconds(service.api.list, "no key", sent.unauthorized);
  for (const [name, call] of Object.entries(calls)) {
    const perUnitMs = (await cpuMilliseconds(call, apiKey, sent.admitted)) / units;
    const what = `${service.api.name}, ${name}: CPU per unit, times a 401 (${unauthorizedMs.toFixed(3)} ms)`;
    figures.atMost(timesUnauthorizedAtMost, what, perUnitMs / unauthorizedMs);
  }
}

async function usedMicroseconds(service: Service): Promise<number> {
  return ((await service.ask("usage")) as Usage).cpuMicroseconds;
}
