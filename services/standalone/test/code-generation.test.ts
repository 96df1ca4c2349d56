// Text from a client cannot become code: the start scripts make Node refuse it.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { serviceFlags } from "@petstore/harness/service-flags";
import { describe, expect, it } from "vitest";
import { openDirectory } from "./store-process.js";

const root = new URL("../../../", import.meta.url);

/** Loaded before the service. At SIGUSR2 it tries to make code from text, and prints the outcome. */
const probe = `process.on("SIGUSR2", () => {
  let outcome = "allowed";
  try { new Function("return 1")(); } catch (error) { outcome = error.name; }
  process.stderr.write("new Function: " + outcome + ";");
});`;

describe.each([
  ["REST", "services/rest/", '"msg":"listening"'],
  ["GraphQL", "services/graphql/", '"msg":"listening"'],
  ["standalone", "services/standalone/", "The pet store is ready"],
])("the start script of %s", (_name, folder, readyText) => {
  it("starts a service in which `new Function` throws", { timeout: 120_000 }, async () => {
    await using directory = await openDirectory();
    const { scripts } = JSON.parse(await readFile(new URL(`${folder}package.json`, root), "utf8"));
    const child = spawn("sh", ["-c", `exec ${scripts.start}`], {
      cwd: fileURLToPath(new URL(folder, root)),
      env: {
        PATH: process.env.PATH,
        PORT: "0",
        DATABASE_URL: "postgres://127.0.0.1:1/none",
        PETSTORE_DIR: directory.path,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(probe)}`,
      },
    });
    const ended = once(child, "close");
    let output = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (chunk: string) => {
        output += chunk;
        if (output.includes(readyText)) child.kill("SIGUSR2");
        if (output.includes("new Function:")) child.kill("SIGTERM");
      });
    }
    await ended;
    expect(output).toContain("new Function: EvalError;");
  });
});

describe("every start script", () => {
  it.each(["", "services/rest/", "services/graphql/", "services/standalone/"])(
    "%spackage.json has the options of the services",
    async (folder) => {
      const { scripts } = JSON.parse(await readFile(new URL(`${folder}package.json`, root), "utf8"));
      expect(scripts.start).toMatch(new RegExp(`^node ${serviceFlags.join(" ")} `));
    },
  );
});
