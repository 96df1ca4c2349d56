/** The source files that one request executes, found by coverage of a running service. */
import { existsSync, readFileSync } from "node:fs";
import { openHttpClient } from "@petstore/harness/network";
import { openRunningStore, type ServiceName } from "../conformance/running-store.js";

export interface MeasuredRequest {
  readonly service: ServiceName;
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly body?: unknown;
}

export interface ExecutedFile {
  /** From the root of the repository. */
  readonly path: string;
  readonly lines: number;
  /** The names of the functions that the request calls. Some have none. */
  readonly functions: readonly string[];
}

/** 21 pets: a page of 20 then links to the next page. */
const addPetsForTwoPages =
  "insert into pets (name, category_id, status) select 'Rex', n, 'available' from generate_series(1, 21) n";
/** These fill the caches and open the connections to PostgreSQL and Redis. */
const warmUpRequests = 20;
/** A function counts if every run calls it. A timer of the service does not run in each of them. */
const runs = 12;
/** As an operator would start a service, except for limits that a slow machine could reach. */
const environment = { LOG_LEVEL: "info", TRUST_PROXY: "", SHED_EVENT_LOOP_DELAY_MS: "60000" };
const root = new URL("../../../", import.meta.url);

/** Sends the request several times, each on a connection of its own. The files are sorted by path. */
export async function executedFiles(request: MeasuredRequest): Promise<ExecutedFile[]> {
  await using store = await openRunningStore({ services: [request.service], environment, isProbed: true });
  await store.database.execute(addPetsForTwoPages);
  const { key } = await store.database.issueKey();
  const body = request.body === undefined ? {} : { body: JSON.stringify(request.body) };
  const service = store.serviceOf(request.service);
  const send = async (): Promise<Disposable> => {
    const client = openHttpClient(service.origin);
    const { status, code, text } = await client.send(request.method, request.path, { key, ...body });
    if (status !== 200 || code !== undefined) throw new Error(`${request.path}: ${status} ${text}`);
    return client;
  };

  for (let sent = 0; sent < warmUpRequests; sent += 1) (await send())[Symbol.dispose]();
  await service.calledFunctions();
  const counts = new Map<string, number>();
  for (let run = 0; run < runs; run += 1) {
    await service.calledFunctions();
    const client = await send();
    const called = new Set((await service.calledFunctions()).map((one) => `${sourceOf(one.url)} ${one.name}`));
    for (const one of called) counts.set(one, (counts.get(one) ?? 0) + 1);
    // Closed only now, because the end of a connection is no part of a request.
    client[Symbol.dispose]();
  }
  const names = new Map<string, string[]>();
  for (const [called, count] of counts) {
    const [path = "", name = ""] = called.split(" ");
    if (count === runs && existsSync(new URL(path, root))) names.set(path, [...(names.get(path) ?? []), name]);
  }
  return [...names].sort().map(([path, functions]) => ({
    path,
    lines: readFileSync(new URL(path, root), "utf8").split("\n").length - 1,
    functions: functions.filter((name) => name !== ""),
  }));
}

/** The source of one of our compiled modules, as a path from the root. Other modules have a path that does not exist. */
function sourceOf(url: string): string {
  const module = /^((?:packages|services)\/[^/]+)\/dist\/(.+)\.js$/.exec(url.slice(root.href.length));
  return module === null ? "foreign" : `${module[1]}/src/${module[2]}.ts`;
}
