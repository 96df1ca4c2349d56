// Text from a client cannot become code: the start scripts make Node refuse it.
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { openTemporaryDirectory, serviceFlags, startProgram } from "@petstore/harness/processes";
import { describe, expect, it } from "vitest";

const root = new URL("../../../", import.meta.url);

/** A module that loads before the service. At SIGUSR2 it tries to make code from text, and prints the outcome. */
const probe = `process.on("SIGUSR2", () => {
  let outcome = "allowed";
  try { new Function("return 1")(); } catch (error) { outcome = error.name; }
  process.stderr.write("new Function: " + outcome + "\\n");
});`;

describe.each([
  ["REST", "services/rest/", /"msg":"listening"/],
  ["GraphQL", "services/graphql/", /"msg":"listening"/],
  ["standalone", "services/standalone/", /The pet store is ready/],
])("the start script of %s", (_name, folder, ready) => {
  it("starts a service in which `new Function` throws", { timeout: 120_000 }, async () => {
    await using directory = await openTemporaryDirectory();
    const { scripts } = JSON.parse(await readFile(new URL(`${folder}package.json`, root), "utf8"));
    await using service = startProgram({
      name: "The start script",
      command: "sh",
      args: ["-c", `exec ${scripts.start}`],
      directory: fileURLToPath(new URL(folder, root)),
      environment: {
        PATH: process.env.PATH,
        PORT: "0",
        DATABASE_URL: "postgres://127.0.0.1:1/none",
        PETSTORE_DIR: directory.path,
        NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(probe)}`,
      },
    });
    await service.printed(ready);
    service.signal("SIGUSR2");
    expect((await service.printed(/new Function: (.*)/))[1]).toBe("EvalError");
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
