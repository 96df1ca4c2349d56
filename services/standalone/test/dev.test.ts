// `npm run dev` on a copy of the product, whose sources the test may change.
import { cp, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { choosePort } from "@petstore/embedded-postgres";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
/** Slow enough for the limit of requests without a key. */
const polling = { interval: 1_000, timeout: 150_000 };
const before = "No API key was sent as a bearer token.";
const after = "Send an API key as a bearer token.";

it("serves a change in core without a restart by hand, and stops at SIGTERM", { timeout: 300_000 }, async () => {
  await using directory = await openTemporaryDirectory();
  const copy = directory.path;
  for (const name of ["packages", "services", "tsconfig.base.json", "package.json"]) {
    // With its time stamps, or the compiler would compile everything again.
    const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
    await cp(join(repository, name), join(copy, name), options);
  }
  await symlink(join(repository, "node_modules"), join(copy, "node_modules"));
  const port = await choosePort(undefined);
  await using program = startProgram({
    name: "The development server",
    args: [join(copy, "services/standalone/dev.mjs")],
    environment: { PATH: process.env.PATH, PETSTORE_DIR: join(copy, "data"), PORT: `${port}` },
  });
  const message = async () => {
    const response = await fetch(`http://127.0.0.1:${port}/v1/pets`).catch(() => undefined);
    return response && ((await response.json()) as { message: string }).message;
  };
  await program.printed(/Watching for file changes/);
  await expect.poll(message, polling).toBe(before);
  const source = join(copy, "packages/core/src/problem.ts");
  const text = await readFile(source, "utf8");
  expect(text).toContain(before);
  let asked = 0;
  const saveAndAsk = async () => {
    // Saved again at times, because the compiler says that it watches a moment before it does. Not each time: a busy machine
    // would never finish to compile.
    if (asked % 20 === 0) await writeFile(source, text.replace(before, after));
    asked += 1;
    return message();
  };
  await expect.poll(saveAndAsk, polling).toBe(after);
  expect(await program.stop()).not.toBe("SIGKILL");
});
