import type { Health } from "@petstore/core";
import express from "express";
import { describe, expect, it } from "vitest";
import { answerHealth, type HealthDetail } from "../src/observability/health.js";
import { listen } from "../src/server/listen.js";
import type { OverloadReason } from "../src/server/overload.js";
import { createHttpServer } from "../src/server/server.js";

const loopback = { host: "127.0.0.1", port: 0 };

describe("health", () => {
  it.each<[string, Health, number, object]>([
    ["ready", { isDatabaseReachable: true, isDatabaseBusy: false, quotaMode: "local" }, 200, { status: "ready" }],
    ["ready", { isDatabaseReachable: true, isDatabaseBusy: false, quotaMode: "shared" }, 200, { status: "ready" }],
    [
      "degraded, and stays ready, while Redis is unavailable",
      { isDatabaseReachable: true, isDatabaseBusy: false, quotaMode: "fallback" },
      200,
      { status: "degraded", degraded: ["redis"] },
    ],
    [
      "not ready while the database is unavailable",
      { isDatabaseReachable: false, isDatabaseBusy: false, quotaMode: "shared" },
      503,
      { status: "not ready", missing: ["database"] },
    ],
  ])("/readyz says %s", async (_title, health, status, body) => {
    await using probe = await openProbe(() => health);
    const answer = await fetch(`${probe.url}/readyz`);
    expect(answer.status).toBe(status);
    expect(await answer.json()).toEqual(body);
    expect(answer.headers.get("cache-control")).toBe("no-store");
  });

  it.each<[Health, OverloadReason | undefined, number, string]>([
    [{ isDatabaseReachable: true, isDatabaseBusy: false, quotaMode: "fallback" }, undefined, 200, "degraded"],
    [{ isDatabaseReachable: true, isDatabaseBusy: false, quotaMode: "shared" }, "database", 200, "degraded"],
    [{ isDatabaseReachable: false, isDatabaseBusy: false, quotaMode: "shared" }, undefined, 503, "not ready"],
  ])("/readyz tells clients only the status: %j, overload %s", async (health, overload, code, status) => {
    await using probe = await openProbe(() => health, { overload, detail: "status" });
    const answer = await fetch(`${probe.url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([code, { status }]);
  });

  it("/livez answers without any check", async () => {
    await using probe = await openProbe(() => {
      throw new Error("checked");
    });
    expect(await (await fetch(`${probe.url}/livez`)).json()).toEqual({ status: "live" });
    expect((await fetch(`${probe.url}/livez`, { method: "HEAD" })).status).toBe(200);
  });

  it("/readyz names an overload and stays ready, because the other instances would get the load", async () => {
    await using probe = await openProbe(
      () => ({ isDatabaseReachable: true, isDatabaseBusy: false, quotaMode: "fallback" }),
      {
        overload: "event-loop",
      },
    );
    const answer = await fetch(`${probe.url}/readyz`);
    expect(answer.status).toBe(200);
    expect(await answer.json()).toEqual({ status: "degraded", degraded: ["redis", "event-loop overload"] });
  });

  it("/readyz says draining once the service was told to stop, and /livez stays 200", async () => {
    await using probe = await openProbe(
      () => ({ isDatabaseReachable: false, isDatabaseBusy: false, quotaMode: "local" }),
      {
        isDraining: true,
      },
    );
    const answer = await fetch(`${probe.url}/readyz`);
    expect([answer.status, await answer.json()]).toEqual([503, { status: "draining" }]);
    expect((await fetch(`${probe.url}/livez`)).status).toBe(200);
  });

  it("leaves other methods and paths to the APIs", async () => {
    await using probe = await openProbe(() => ({
      isDatabaseReachable: true,
      isDatabaseBusy: false,
      quotaMode: "local",
    }));
    expect((await fetch(`${probe.url}/livez`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`${probe.url}/readyz/`)).status).toBe(404);
  });
});

async function openProbe(health: () => Health, { overload, isDraining = false, detail = "causes" }: ProbeOptions = {}) {
  const deps = { core: { health }, overload: { reason: overload }, isDraining: () => isDraining };
  const app = express().use(answerHealth(deps, detail));
  const answerMalformedRequest = () => Promise.reject(new Error("no request is malformed here"));
  return listen(createHttpServer({ app, answerMalformedRequest, onError: () => {} }), loopback);
}

interface ProbeOptions {
  readonly overload?: OverloadReason | undefined;
  readonly detail?: HealthDetail;
  readonly isDraining?: boolean;
}
