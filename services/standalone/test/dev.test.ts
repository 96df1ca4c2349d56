// `npm run dev` on a copy of the product, whose sources the test may change.
import { appendFile, cp, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { choosePort, embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { openTemporaryDirectory, startProgram } from "@petstore/harness/processes";
import { expect, it } from "vitest";

const repository = fileURLToPath(new URL("../../../", import.meta.url));
/** Slow enough for the limit of requests without a key. */
const polling = { interval: 1_000, timeout: 150_000 };

it("serves each saved change, and stops with its PostgreSQL at SIGTERM", { timeout: 300_000 }, async () => {
  await using directory = await openTemporaryDirectory();
  const copy = directory.path;
  for (const name of ["packages", "services", "tsconfig.base.json", "package.json"]) {
    // With its time stamps, or the compiler would compile everything again.
    const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
    await cp(join(repository, name), join(copy, name), options);
  }
  await symlink(join(repository, "node_modules"), join(copy, "node_modules"));
  const port = await choosePort(undefined);
  const data = join(copy, "data");
  await using program = startProgram({
    name: "The development server",
    args: [join(copy, "services/standalone/dev.mjs")],
    environment: { PATH: process.env.PATH, PETSTORE_DIR: data, PORT: `${port}` },
  });
  const read = async (path: string) => {
    // The store stops and starts again during the test.
    const response = await fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined);
    return (await response?.text().catch(() => undefined)) ?? "";
  };
  await program.printed(/Watching for file changes/);

  const problems = join(copy, "packages/core/src/problem.ts");
  const text = await readFile(problems, "utf8");
  const before = "No API key was sent as a bearer token.";
  const after = "Send an API key as a bearer token.";
  expect(text).toContain(before);
  // Older than the last build, as a change that was saved while that build ran.
  const saved = join(copy, "problem.ts");
  await writeFile(saved, text.replace(before, after));
  await utimes(saved, 0, 0);
  await rename(saved, problems);
  await appendFile(join(copy, "packages/pages/browser/usage.ts"), 'console.log("changed");\n');
  await expect.poll(() => read("/v1/pets"), polling).toContain(after);
  await expect.poll(() => read("/pages/usage.js"), polling).toContain('console.log("changed")');

  const stop = () => {
    program.signal("SIGTERM");
    return program.hasEnded();
  };
  await expect.poll(stop, { ...polling, interval: 10 }).toBe(true);
  expect(await program.ended).toBe(0);
  expect(await embeddedPostgresUrl(data)).toBeUndefined();
});
