import type { Health } from "@petstore/core";
import express from "express";
import { describe, expect, it } from "vitest";
import { answerHealth } from "../src/health.js";
import { listen } from "../src/listen.js";
import { openMetrics } from "../src/metrics.js";
import { createHttpServer } from "../src/server.js";

const loopback = { host: "127.0.0.1", port: 0 };

describe("health", () => {
  it.each<[string, Health, number, object]>([
    ["ready", { isDatabaseReachable: true, quotaMode: "local" }, 200, { status: "ready" }],
    ["ready", { isDatabaseReachable: true, quotaMode: "shared" }, 200, { status: "ready" }],
    [
      "degraded, and stays ready, while Redis is away",
      { isDatabaseReachable: true, quotaMode: "standby" },
      200,
      { status: "degraded", degraded: ["redis"] },
    ],
    [
      "not ready while the database is away",
      { isDatabaseReachable: false, quotaMode: "shared" },
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

  it("/livez answers without a look at anything", async () => {
    await using probe = await openProbe(() => {
      throw new Error("looked");
    });
    expect(await (await fetch(`${probe.url}/livez`)).json()).toEqual({ status: "live" });
    expect((await fetch(`${probe.url}/livez`, { method: "HEAD" })).status).toBe(200);
  });

  it("leaves every other method and path to the doors", async () => {
    await using probe = await openProbe(() => ({ isDatabaseReachable: true, quotaMode: "local" }));
    expect((await fetch(`${probe.url}/livez`, { method: "POST" })).status).toBe(404);
    expect((await fetch(`${probe.url}/readyz/`)).status).toBe(404);
  });
});

describe("metrics", () => {
  it("tell which mode quotas are decided in, on a port of their own", async () => {
    const health: Health = { isDatabaseReachable: true, quotaMode: "standby" };
    await using metrics = await openMetrics({
      core: { health: () => health },
      config: { ...loopback, metricsPort: 0 },
    });
    const answer = await fetch(`${metrics?.url}/metrics`);
    expect(answer.headers.get("content-type")).toMatch(/^text\/plain; version=0\.0\.4/);
    expect(await answer.text()).toMatch(
      /petstore_quota_mode\{mode="local"\} 0\n.*\{mode="shared"\} 0\n.*\{mode="standby"\} 1\n/,
    );
    expect((await fetch(`${metrics?.url}/`)).status).toBe(404);
  });

  it("are served nowhere unless a port is configured", async () => {
    const config = { ...loopback, metricsPort: undefined };
    expect(
      await openMetrics({ core: { health: () => ({ isDatabaseReachable: true, quotaMode: "local" }) }, config }),
    ).toBe(undefined);
  });
});

async function openProbe(health: () => Health) {
  const app = express().use(answerHealth({ health }));
  const answerUnparsed = () => Promise.reject(new Error("nothing here is unparsed"));
  return listen(createHttpServer({ app, answerUnparsed, onFault: () => {} }), loopback);
}
