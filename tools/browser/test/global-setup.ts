/** Starts one store and one browser for all test files. vitest finds `setup` by its name. */
import { existsSync } from "node:fs";
import { startStandaloneStore } from "@petstore/harness/processes";
import { chromium } from "playwright-core";
import type { TestProject } from "vitest/node";

declare module "vitest" {
  interface ProvidedContext {
    /** Undefined where there is no Chromium. */
    readonly browser:
      | { readonly wsEndpoint: string; readonly origin: string; readonly databaseUrl: string }
      | undefined;
  }
}

/** Debian's, or the one CHROMIUM names. Nothing is downloaded. */
const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

export async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!existsSync(executablePath)) return;
  const [store, server] = await Promise.all([
    startStandaloneStore({ BAN_STRIKES: "1", BAN_STRIKES_PER_UNIT: "0", BAN_GRACE_MS: "0" }),
    chromium.launchServer({ executablePath, args: ["--no-sandbox", "--disable-gpu"] }),
  ]);
  project.provide("browser", {
    wsEndpoint: server.wsEndpoint(),
    origin: store.origin,
    databaseUrl: store.databaseUrl,
  });
  return async () => {
    await server.close();
    await store[Symbol.asyncDispose]();
  };
}
