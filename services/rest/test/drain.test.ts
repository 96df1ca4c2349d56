// The shutdown of a service process, as its balancer and its supervisor see it.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { connect, createServer } from "node:net";
import { fileURLToPath } from "node:url";
import { migrate } from "@petstore/core";
import { createTestDatabase, type TestDatabase } from "@petstore/harness";
import { serviceFlags } from "@petstore/harness/service-flags";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
  await migrate(database.url);
});
afterAll(() => database[Symbol.asyncDispose]());

const main = fileURLToPath(new URL("../dist/main.js", import.meta.url));

interface RestProcess extends Disposable {
  readonly process: ChildProcess;
  readonly output: () => string;
  /** The exit code, or the signal that ended it. */
  readonly ended: Promise<number | NodeJS.Signals>;
}

function start(environment: Readonly<Record<string, string>>): RestProcess {
  const child = spawn(process.execPath, [...serviceFlags, main], {
    env: { DATABASE_URL: database.url, PORT: "0", ...environment },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
  }
  return {
    process: child,
    output: () => output,
    ended: once(child, "close").then(([code, signal]) => code ?? signal),
    [Symbol.dispose]: () => void child.kill("SIGKILL"),
  };
}

async function originOf({ output }: RestProcess): Promise<string> {
  await expect.poll(output).toMatch(/"url":"[^"]+"/);
  return /"url":"([^"]+)"/.exec(output())?.[1] ?? "";
}

describe("SIGTERM", () => {
  it("makes the service not ready at once; it serves requests during the grace period, then exits with 0", async () => {
    using rest = start({ SHUTDOWN_GRACE_MS: "1500", METRICS_PORT: "0" });
    const origin = await originOf(rest);
    await expect.poll(async () => (await fetch(`${origin}/readyz`)).status).toBe(200);
    const startedAtMs = performance.now();
    rest.process.kill("SIGTERM");
    await expect.poll(async () => (await fetch(`${origin}/readyz`)).status, { interval: 5 }).toBe(503);
    expect(await (await fetch(`${origin}/readyz`)).json()).toEqual({ status: "draining" });
    expect((await fetch(`${origin}/livez`)).status).toBe(200);
    const answer = await fetch(`${origin}/v1/pets`);
    expect([answer.status, answer.headers.get("connection")]).toEqual([401, "close"]);
    expect(answer.headers.get("x-ratelimit-limit")).toBe("300");
    expect(await rest.ended).toBe(0);
    expect(performance.now() - startedAtMs).toBeGreaterThan(1_490);
    expect(rest.output()).toContain('"graceMs":1500,"msg":"draining"');
  });

  it("ends the service at once without a grace period, also with an open connection to the metrics port", async () => {
    using rest = start({ METRICS_PORT: "0" });
    await originOf(rest);
    const metricsPort = Number(/"metricsUrl":"http:[^"]+:(\d+)\/metrics"/.exec(rest.output())?.[1]);
    const unused = connect(metricsPort, "127.0.0.1").on("error", () => {});
    await once(unused, "connect");
    const startedAtMs = performance.now();
    rest.process.kill("SIGTERM");
    expect(await rest.ended).toBe(0);
    // The requests of a connection in use would get 2.5 s.
    expect(performance.now() - startedAtMs).toBeLessThan(2_400);
  });

  it("ends the service at once if it is sent twice", async () => {
    using rest = start({ SHUTDOWN_GRACE_MS: "60000" });
    await originOf(rest);
    rest.process.kill("SIGTERM");
    // Within half a second the service ignores a repeated signal.
    await new Promise((resolve) => setTimeout(resolve, 700));
    rest.process.kill("SIGTERM");
    expect(await rest.ended).toBe(143);
  });
});

it("a failed start leaves nothing open, prints one line and exits with 1", async () => {
  await using taken = createServer().listen(0, "127.0.0.1");
  await once(taken, "listening");
  const { port } = taken.address() as { port: number };
  using rest = start({ PORT: `${port}`, METRICS_PORT: "0", LOG_LEVEL: "error" });
  expect(await rest.ended).toBe(1);
  expect(rest.output().trim().split("\n")).toEqual([
    `Cannot listen on 127.0.0.1 port ${port}: another program listens there. Stop it, or choose another port.`,
  ]);
});
