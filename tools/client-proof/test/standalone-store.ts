import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { serviceFlags } from "@petstore/harness/service-flags";

/** What `npm start` runs, started for the first time. Disposing ends it and removes its data. */
export interface StandaloneStore extends AsyncDisposable {
  readonly origin: string;
  /** The value of PETSTORE_DIR, by which the `petstore` command finds it. */
  readonly directory: string;
  readonly databaseUrl: string;
  /** Of the demo account, as it was printed. */
  readonly apiKey: string;
}

const main = new URL("../../../services/standalone/dist/main.js", import.meta.url).pathname;

export async function startStandalone(): Promise<StandaloneStore> {
  const directory = await mkdtemp(join(tmpdir(), "petstore-readme-"));
  const child = spawn(process.execPath, [...serviceFlags, main], {
    env: { PATH: process.env.PATH, PETSTORE_DIR: directory, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  const ended = once(child, "close");
  const [, origin = "", apiKey = ""] = await new Promise<RegExpExecArray>((resolve, reject) => {
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      output += chunk;
      const banner = /ready at (http:\S+)\/v1.*^ {2}(pets_test_\w+)$/ms.exec(output);
      if (banner !== null) resolve(banner);
    });
    ended.then(() => reject(new Error(`the store ended and printed: ${output}`)), reject);
  });
  return {
    origin,
    directory,
    databaseUrl: (await embeddedPostgresUrl(directory)) ?? "",
    apiKey,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await ended;
      await rm(directory, { recursive: true, force: true });
    },
  };
}
