// Runs the two programs of the REST quickstart that read every page, also behind a proxy that refuses requests.
import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import type { IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { promisify } from "node:util";
import { describeWithProgram, shared } from "@petstore/harness";
import { openHttpServer } from "@petstore/harness/network";
import { searchPath, startStandaloneStore } from "@petstore/harness/processes";
import { openStoreDatabase } from "@petstore/test-store/store-database";
import { expect, it } from "vitest";
import { restQuickstart, standaloneMain } from "../programs.js";
import { storeThreePages } from "./three-pages.js";

const execute = promisify(execFile);
const guide = await readFile(restQuickstart, "utf8");

const store = await shared(startStandaloneStore(standaloneMain));
const database = await shared(openStoreDatabase(store.databaseUrl));
const allNames = await storeThreePages(database);

for (const [command, file, needed] of [
  ["sh", "pets.sh", ["curl"]],
  ["python3", "pets.py", ["python3"]],
] as const) {
  const [, code = ""] = new RegExp(`^\`\`\`\\w+\\n# ${file}\\n(.*?)^\`\`\`$`, "ms").exec(guide) ?? [];

  /** Runs the program with a key, and returns what it prints. */
  async function run(origin: string, key: string): Promise<string> {
    const env = { PATH: searchPath(), BASE_URL: `${origin}/v1`, API_KEY: key };
    return (await execute(command, ["-c", code], { env })).stdout;
  }

  describeWithProgram(needed, `${file} of the REST quickstart`, () => {
    it("adds one pet however often it runs, and prints every available pet once, in order", async () => {
      const { key } = await database.issueKey({ plan: "free" });
      const printed = [await run(store.origin, key), await run(store.origin, key)];
      for (const output of printed) expect(output.match(/pet \d+/g)).toEqual(allNames);
      const [created, repeated] = printed.map((output) => output.split("\n")[0]);
      expect(created).toContain("Ada");
      expect(repeated).toBe(created);
    });

    it("repeats refused requests after Retry-After, a create with the same Idempotency-Key", async () => {
      await using proxy = await openProxy({ 1: { status: 503, retryAfter: 1 }, 3: { status: 429, retryAfter: 1 } });
      const output = await run(proxy.url, (await database.issueKey()).key);
      expect(output.match(/pet \d+/g)).toEqual(allNames);
      expect(output).not.toContain("refused");
      const { received } = proxy;
      const create = { target: "POST /v1/pets", key: "order-4711", body: expect.stringContaining('"Ada"') };
      const page = { target: expect.stringMatching(/^GET \/v1\/pets\?.*limit=100/) };
      expect(received).toMatchObject([create, create, page, page, page, page]);
      expect(received[1]?.body).toBe(received[0]?.body);
      expect(received[3]?.target).toBe(received[2]?.target);
      for (const [refused, repeated] of [received.slice(0, 2), received.slice(2, 4)]) {
        expect((repeated?.atMs ?? 0) - (refused?.atMs ?? 0)).toBeGreaterThanOrEqual(1_000);
      }
    });

    it("fails at once, without another request, if the wait is long", async () => {
      await using proxy = await openProxy({ 2: { status: 429, retryAfter: 3_600 } });
      const ended = run(proxy.url, (await database.issueKey()).key);
      await expect(ended).rejects.toMatchObject({ code: expect.any(Number), stderr: expect.stringContaining("429") });
      expect(proxy.received).toHaveLength(2);
    });
  });
}

interface Refusal {
  readonly status: number;
  readonly retryAfter: number;
}

interface Received {
  readonly target: string;
  readonly key: string | undefined;
  readonly body: string;
  readonly atMs: number;
}

/** A proxy in front of the store. It refuses the requests with these numbers; the first is 1. Its links are absolute. */
async function openProxy(refusals: Readonly<Record<number, Refusal>>) {
  const received: Received[] = [];
  const server = await openHttpServer(async (request, response) => {
    const atMs = performance.now();
    const body = await text(request);
    const key = request.headers["idempotency-key"]?.toString();
    received.push({ target: `${request.method} ${request.url}`, key, body, atMs });
    const refused = refusals[received.length];
    if (refused === undefined) {
      const { status, headers, body: answer } = await forward(request, body);
      response.writeHead(status, headers).end(answer);
    } else {
      const { status, retryAfter } = refused;
      const headers = { "Content-Type": "application/json", "Retry-After": `${retryAfter}` };
      response.writeHead(status, headers).end(JSON.stringify({ code: "TEST", message: "refused", status }));
    }
  });
  return { received, url: server.url, [Symbol.asyncDispose]: () => server[Symbol.asyncDispose]() };
}

async function forward({ method = "GET", url = "", headers }: IncomingMessage, body: string) {
  const forwarded = ["authorization", "content-type", "idempotency-key"].flatMap((name): [string, string][] => {
    const value = headers[name];
    return value === undefined ? [] : [[name, value.toString()]];
  });
  const response = await fetch(`${store.origin}${url}`, {
    method,
    headers: forwarded,
    ...(method === "POST" && { body }),
  });
  const link = response.headers.get("Link")?.replace("</", `<http://${headers.host}/`);
  return {
    status: response.status,
    headers: { "Content-Type": "application/json", ...(link !== undefined && { Link: link }) },
    body: await response.text(),
  };
}
