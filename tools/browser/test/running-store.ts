import { spawn } from "node:child_process";
import { randomBytes, randomUUID } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { digestApiKey, type Limits, mintApiKey, openCore, readConfig } from "@petstore/core";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { serviceFlags } from "@petstore/harness/service-flags";

/** The service of `npm start`, as a process of its own over a database of its own. Disposing ends it. */
export interface RunningStore extends AsyncDisposable {
  readonly origin: string;
  readonly databaseUrl: string;
}

/** Issues API keys of the running store. */
export interface KeyIssuer extends AsyncDisposable {
  /** A key of a new account: on the plan Free, or with limits of its own. */
  issueKey(customLimits?: Limits): Promise<string>;
}

const main = fileURLToPath(new URL("../../../services/standalone/dist/main.js", import.meta.url));
const log = { info() {}, warn() {}, error() {} };

export async function startStore(): Promise<RunningStore> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-browser-"));
  const child = spawn(process.execPath, [...serviceFlags, main], {
    cwd: tmpdir(),
    env: {
      PATH: process.env.PATH,
      PETSTORE_DIR: directory,
      PORT: "0",
      BAN_STRIKES: "1",
      BAN_STRIKES_PER_UNIT: "0",
      BAN_GRACE_MS: "0",
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const ended = once(child, "close");
  let output = "";
  const origin = await new Promise<string>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
        const found = /ready at (http:\/\/[^/\s]+)\/v1/.exec(output)?.[1];
        if (found !== undefined) resolve(found);
      });
    }
    child.once("exit", () => reject(new Error(`the store ended and printed: ${output}`)));
  });
  const databaseUrl = await embeddedPostgresUrl(directory);
  if (databaseUrl === undefined) throw new Error("the store is ready, and its database is not");
  return {
    origin,
    databaseUrl,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}

export async function openKeyIssuer(databaseUrl: string): Promise<KeyIssuer> {
  const core = await openCore(readConfig({ DATABASE_URL: databaseUrl }), { log, now: Date.now });
  return {
    async issueKey(customLimits) {
      const name = `browser ${randomUUID()}`;
      const plan = customLimits === undefined ? "free" : "enterprise";
      const account = await core.accounts.create({ name, plan, ...(customLimits && { customLimits }) });
      if (account === undefined) throw new Error("the name of a new account is taken");
      const key = mintApiKey("test", randomBytes);
      await core.keys.add({ accountId: account.id, digest: digestApiKey(key) });
      return key;
    },
    [Symbol.asyncDispose]: () => core[Symbol.asyncDispose](),
  };
}
