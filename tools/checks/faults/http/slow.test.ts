import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { nowMs } from "@petstore/harness/network";
import { type Api, authorization, type Call, host, rest, startOfCreate } from "../environment/apis.js";
import { it } from "../environment/it.js";
import { ownP99 } from "../environment/measures.js";
import { isSuccess } from "../environment/results.js";
import { unthrottled } from "../environment/services.js";

/** The limits of the service, and the interval at which it checks them. */
const headersWithinMs = 10_000 + 5_000;
const bodyWithinMs = 30_000 + 5_000;
const responseWithinMs = 30_000 + 2 * 5_000;
const toleranceMs = 3_000;
/** The noise of a timer and the scheduler in a p99 of few milliseconds, twice. */
const noiseMs = 2;
const batches = 200;
const batchPauseMs = 50;

interface SlowGroup {
  readonly what: string;
  readonly connections: number;
  readonly withinMs: number;
  readonly opening: string;
  /** The client sends this every second. */
  readonly drip?: string;
  /** The bytes to read each second; all of them by default. */
  readonly bytesPerSecond?: number;
}

interface SlowClient extends Disposable {
  /** Absent while the connection is open. */
  readonly cutAfterMs: number | undefined;
  /** Reads everything. A client that does not read does not notice that its connection was cut. */
  readAll(): void;
}

it("slow-clients: cuts 2,000 slow connections and serves others as before", async ({ environment, figures }) => {
  const service = await environment.startService(unthrottled);
  await environment.warmUp();
  const load = await environment.startLoad({ clients: 16, pauseMs: 20, targets: [service] });
  const { apiKey } = load;
  const created = await environment.sendBurst({ requests: 100, clients: 1, apiKey, call: longName }, [service]);
  figures.count(100, "pets with long names", created, isSuccess);
  await sleep(5_000);
  const floodAtMs = nowMs();
  const groups = slowGroups(apiKey).map((group) => ({ group, clients: [] as SlowClient[] }));
  // In batches: the service charges the clients for their lists, whose work is not part of this test.
  for (let batch = 1; batch <= batches; batch += 1) {
    for (const { group, clients } of groups) {
      const due = Math.floor((group.connections * batch) / batches);
      while (clients.length < due) clients.push(openSlowClient(service.port, group));
    }
    await sleep(batchPauseMs);
  }
  const openedAtMs = nowMs();
  await sleep(responseWithinMs + toleranceMs);
  await load.stop();
  const allClients = groups.flatMap(({ clients }) => clients);
  for (const client of allClients) client.readAll();
  await sleep(2_000);
  figures.exactly(2_000, "slow connections", allClients.length);
  for (const { group, clients } of groups) {
    const cut = clients.flatMap(({ cutAfterMs }) => cutAfterMs ?? []);
    figures.exactly(0, `${group.what}: connections still open`, clients.length - cut.length);
    // A client that does not read notices the cut only at the end of the test.
    if (group.bytesPerSecond !== undefined) continue;
    figures.atMost(group.withinMs + toleranceMs, `${group.what}: the longest`, Math.max(...cut, 0), "ms");
  }
  for (const client of allClients) client[Symbol.dispose]();
  const beforeMs = ownP99(load, ({ sentAtMs }) => sentAtMs < floodAtMs);
  const duringMs = ownP99(load, ({ sentAtMs }) => sentAtMs > openedAtMs);
  figures.atMost(2 * beforeMs + noiseMs, "other clients, p99 of the median second", duringMs, "ms");
});

function slowGroups(apiKey: string): readonly SlowGroup[] {
  const lists = `GET /v1/pets?status=sold&limit=100 HTTP/1.1\r\n${host}${authorization(apiKey)}\r\n`.repeat(100);
  const slowHeaders = `GET /v1/pets HTTP/1.1\r\n${host}`;
  const bodyHeaders = "Content-Type: application/json\r\nContent-Length: 1000\r\n";
  const slowBody = startOfCreate(rest, authorization(apiKey) + bodyHeaders);
  return [
    { what: "silent", connections: 660, withinMs: headersWithinMs, opening: "" },
    { what: "slow headers", connections: 660, withinMs: headersWithinMs, opening: slowHeaders, drip: "X-Slow: 1\r\n" },
    { what: "slow body", connections: 660, withinMs: bodyWithinMs, opening: slowBody, drip: " " },
    // More than the buffers of the machine hold, so that the service holds the rest.
    { what: "slow reading", connections: 20, withinMs: responseWithinMs, opening: lists, bytesPerSecond: 100 },
  ];
}

/** A list of these pets has more than 100 KB. */
function longName({ create }: Api, pet: number): Call {
  return {
    ...create("", `long name ${pet}`),
    body: JSON.stringify({ name: "\u{1f407}".repeat(255), categoryId: 1, status: "sold" }),
  };
}

function openSlowClient(port: number, { opening, drip, bytesPerSecond }: SlowGroup): SlowClient {
  const startMs = performance.now();
  let cutAfterMs: number | undefined;
  const socket = connect({ host: "127.0.0.1", port }, () => socket.write(opening));
  if (bytesPerSecond === undefined) socket.resume();
  else socket.pause();
  const timer = setInterval(() => {
    if (drip !== undefined && socket.writable) socket.write(drip);
    if (bytesPerSecond !== undefined) socket.read(bytesPerSecond);
  }, 1_000);
  const end = () => {
    cutAfterMs ??= performance.now() - startMs;
    clearInterval(timer);
    socket.destroy();
  };
  // The server cuts with FIN, or with RST while the client sends.
  socket.on("error", () => {});
  socket.once("end", end);
  socket.once("close", end);
  return {
    get cutAfterMs() {
      return cutAfterMs;
    },
    readAll: () => void socket.resume(),
    [Symbol.dispose]: end,
  };
}
