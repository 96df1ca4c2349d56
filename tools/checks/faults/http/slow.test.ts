import { setTimeout as sleep } from "node:timers/promises";
import { nowMs, openRawClient } from "@petstore/harness/network";
import { authorization, host, rest, startOfCreate } from "../environment/apis.js";
import { it } from "../environment/environment.js";
import { medianP99 } from "../environment/measures.js";
import { unthrottled } from "../environment/services.js";

/** The limits of the service, and the interval at which it checks them. */
const headersWithinMs = 10_000 + 5_000;
const bodyWithinMs = 30_000 + 5_000;
const toleranceMs = 3_000;
/** The noise of a timer and the scheduler in a p99 of few milliseconds, twice. */
const noiseMs = 2;

it("slow-clients: cuts 2,000 slow connections and serves others as before", async ({ environment, figures }) => {
  const service = await environment.startService(unthrottled);
  const load = await environment.startLoad({ clients: 16, pauseMs: 20, targets: [service] });
  await sleep(5_000);
  const floodAtMs = nowMs();
  const groups = slowGroups(load.apiKey).map((group) => ({
    ...group,
    clients: Array.from({ length: group.connections }, () => openSlowClient(service.port, group)),
  }));
  await sleep(1_000);
  const openedAtMs = nowMs();
  await sleep(bodyWithinMs + toleranceMs);
  await load.stop();
  for (const { what, connections, withinMs, clients } of groups) {
    const cut = clients.filter(({ client }) => client.isClosed());
    figures.exactly(connections, `${what}: connections cut`, cut.length);
    const longestMs = Math.max(0, ...(await Promise.all(cut.map(({ cutAfterMs }) => cutAfterMs))));
    figures.atMost(withinMs + toleranceMs, `${what}: the longest`, longestMs, "ms");
    for (const { client } of clients) client[Symbol.dispose]();
  }
  const beforeMs = medianP99(load.results.filter(({ sentAtMs }) => sentAtMs < floodAtMs));
  const duringMs = medianP99(load.results.filter(({ sentAtMs }) => sentAtMs > openedAtMs));
  figures.atMost(2 * beforeMs + noiseMs, "other clients, p99 of the median second", duringMs, "ms");
});

/** The client sends the drip every second. The tests of packages/http have clients that read slowly. */
function slowGroups(apiKey: string) {
  const slowHeaders = `GET /v1/pets HTTP/1.1\r\n${host}`;
  const bodyHeaders = "Content-Type: application/json\r\nContent-Length: 1000\r\n";
  const slowBody = startOfCreate(rest, authorization(apiKey) + bodyHeaders);
  return [
    { what: "silent", connections: 600, withinMs: headersWithinMs, opening: "", drip: "" },
    { what: "slow headers", connections: 700, withinMs: headersWithinMs, opening: slowHeaders, drip: "X-Slow: 1\r\n" },
    { what: "slow body", connections: 700, withinMs: bodyWithinMs, opening: slowBody, drip: " " },
  ];
}

function openSlowClient(port: number, { opening, drip }: { readonly opening: string; readonly drip: string }) {
  const startMs = performance.now();
  const client = openRawClient(port);
  client.write(opening);
  const timer = setInterval(() => client.write(drip), 1_000);
  const cutAfterMs = client.closed.then(() => {
    clearInterval(timer);
    client[Symbol.dispose]();
    return performance.now() - startMs;
  });
  return { client, cutAfterMs };
}
