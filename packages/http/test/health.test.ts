import { createServer } from "node:http";
import type { Health } from "@petstore/core";
import express from "express";
import { expect, it } from "vitest";
import { answerHealth, type HealthDetail } from "../src/observability/health.js";
import { listen } from "../src/server/listen.js";
import type { OverloadReason } from "../src/server/overload.js";

interface State extends Partial<Health> {
  readonly overload?: OverloadReason;
  readonly isDraining?: boolean;
}

async function openProbe({ overload, isDraining = false, ...health }: State, detail: HealthDetail = "causes") {
  const healthy: Health = { isDatabaseReachable: true, quotaMode: "local" };
  const deps = {
    core: { health: () => ({ ...healthy, ...health }) },
    overload: { reason: overload },
    isDraining: () => isDraining,
  };
  const server = createServer(express().use(answerHealth(deps, detail)));
  return listen({ server }, { host: "127.0.0.1", port: 0 });
}

it.each<[status: string, state: State, code: number, causes: object]>([
  ["ready", {}, 200, {}],
  ["ready", { quotaMode: "shared" }, 200, {}],
  ["degraded", { quotaMode: "fallback" }, 200, { degraded: ["redis"] }],
  // It stays ready, because the other instances would get its load.
  ["degraded", { overload: "event-loop" }, 200, { degraded: ["event-loop overload"] }],
  ["not ready", { isDatabaseReachable: false }, 503, { missing: ["database"] }],
  ["draining", { isDatabaseReachable: false, isDraining: true }, 503, {}],
])("/readyz says %s with %j, the causes to operators only, and /livez is 200", async (status, state, code, causes) => {
  for (const [detail, json] of [
    ["causes", { status, ...causes }],
    ["status", { status }],
  ] as const) {
    await using probe = await openProbe(state, detail);
    const answer = await fetch(`${probe.url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([code, json]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(await (await fetch(`${probe.url}/livez`)).json()).toEqual({ status: "live" });
  }
});

it("HEAD is answered like GET, and other methods and paths are left to the APIs", async () => {
  await using probe = await openProbe({});
  expect((await fetch(`${probe.url}/livez`, { method: "HEAD" })).status).toBe(200);
  expect((await fetch(`${probe.url}/livez`, { method: "POST" })).status).toBe(404);
  expect((await fetch(`${probe.url}/readyz/`)).status).toBe(404);
});
