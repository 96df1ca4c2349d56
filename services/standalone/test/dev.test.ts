// `npm run dev` on a copy of the product, whose sources the test may change.
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdtemp, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import { afterAll, beforeAll, expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
/** Slow enough for the limit of requests without a key. */
const polling = { interval: 1_000 };
let copy: string;

beforeAll(async () => {
  copy = await mkdtemp(join(tmpdir(), "petstore-dev-"));
  for (const folder of ["packages", "services"]) {
    // With its time stamps, or the compiler would compile everything again.
    const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
    await cp(join(repository, folder), join(copy, folder), options);
  }
  await cp(join(repository, "tsconfig.base.json"), join(copy, "tsconfig.base.json"));
  await cp(join(repository, "package.json"), join(copy, "package.json"));
  await symlink(join(repository, "node_modules"), join(copy, "node_modules"));
});
afterAll(() => rm(copy, { recursive: true, force: true }));

it("serves a change in core without a restart by hand, and stops at SIGTERM", async () => {
  const port = await choosePort(undefined);
  const program = spawn(process.execPath, [join(copy, "services/standalone/dev.mjs")], {
    env: { PATH: process.env.PATH, PETSTORE_DIR: join(copy, "data"), PORT: `${port}` },
    stdio: ["ignore", "pipe", "inherit"],
  });
  let output = "";
  program.stdout.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const ended = once(program, "exit");
  try {
    const message = async () => {
      const response = await fetch(`http://127.0.0.1:${port}/v1/pets`).catch(() => undefined);
      return response && ((await response.json()) as { message: string }).message;
    };
    await expect.poll(() => output).toContain("Watching for file changes");
    await expect.poll(message, polling).toBe("No API key was sent as a bearer token.");
    const source = join(copy, "packages/core/src/problem.ts");
    const text = await readFile(source, "utf8");
    expect(text).toContain("No API key was sent as a bearer token.");
    const changed = text.replace("No API key was sent as a bearer token.", "Send an API key as a bearer token.");
    const saveAndAsk = async () => {
      // Saved each time: the compiler says that it watches a moment before it does.
      await writeFile(source, changed);
      return message();
    };
    await expect.poll(saveAndAsk, polling).toBe("Send an API key as a bearer token.");
  } finally {
    program.kill();
    await ended;
  }
});
