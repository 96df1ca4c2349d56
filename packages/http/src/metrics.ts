import { createServer } from "node:http";
import type { Core, HttpConfig } from "@petstore/core";
import { Gauge, Registry } from "prom-client";
import { type Listener, listen } from "./listen.js";

export interface MetricsDeps {
  readonly core: Pick<Core, "health">;
  readonly config: Pick<HttpConfig, "host" | "metricsPort">;
}

/** Serves `/metrics` in Prometheus's text format, on a port of its own; nothing where none is configured. */
export async function openMetrics({ core, config }: MetricsDeps): Promise<Listener | undefined> {
  if (config.metricsPort === undefined) return undefined;
  const registry = new Registry();
  new Gauge({
    name: "petstore_quota_mode",
    help: "1 for the mode quotas are decided in: local by design, shared through Redis, or standby while Redis is away.",
    labelNames: ["mode"],
    registers: [registry],
    collect() {
      const { quotaMode } = core.health();
      for (const mode of ["local", "shared", "standby"] as const) this.set({ mode }, mode === quotaMode ? 1 : 0);
    },
  });
  const server = createServer(async (req, res) => {
    const isFound = req.url === "/metrics" && req.method === "GET";
    res.writeHead(isFound ? 200 : 404, { "Content-Type": isFound ? registry.contentType : "text/plain" });
    res.end(isFound ? await registry.metrics() : "");
  });
  return listen(server, { host: config.host, port: config.metricsPort });
}
