// `npm run dev` on a copy of the product, whose sources the tests may change.
import { appendFile, cp, mkdir, readdir, readFile, rename, symlink, utimes, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { choosePort, embeddedPostgresUrl } from "@petstore/embedded-postgres";
import { shared } from "@petstore/harness";
import { openTemporaryDirectory, repository, startProgram } from "@petstore/harness/processes";
import { expect, it, vi } from "vitest";

vi.setConfig({ testTimeout: 300_000, hookTimeout: 300_000 });
const original = fileURLToPath(repository);
/** Slow enough for the limit of requests without a key. */
const polling = { interval: 1_000, timeout: 150_000 };

const { path: copy } = await shared(openTemporaryDirectory());
const data = join(copy, "data");
for (const name of ["packages", "services", "tsconfig.base.json", "package.json", "run.mjs"]) {
  // With its time stamps, or the compiler would compile everything again.
  const options = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true };
  await cp(join(original, name), join(copy, name), options);
}
// Without programs: pnpm and turbo must not install and build in this copy, which is installed and built.
await mkdir(join(copy, "node_modules"));
for (const name of await readdir(join(original, "node_modules"))) {
  if (name !== ".bin" && name !== "pnpm") {
    await symlink(join(original, "node_modules", name), join(copy, "node_modules", name));
  }
}
await mkdir(join(copy, "bin"));
for (const name of ["npx", "turbo"]) await writeFile(join(copy, "bin", name), "#!/bin/sh\n", { mode: 0o755 });

const startDev = (command: string, args: readonly string[]) =>
  startProgram({
    name: "The development server",
    command,
    args,
    directory: copy,
    environment: { PATH: `${join(copy, "bin")}:${process.env.PATH}`, PETSTORE_DIR: data },
  });

it("serves each saved change, and stops with its PostgreSQL at SIGTERM", async () => {
  const port = await choosePort(undefined);
  await using program = startDev(process.execPath, ["services/standalone/dev.mjs", "--port", `${port}`]);
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
  await appendFile(join(copy, "services/rest/docs/limits.md"), "A changed guide.\n");
  await appendFile(join(copy, "services/graphql/docs/quickstart.md"), "A changed guide.\n");
  await expect.poll(() => read("/v1/pets"), polling).toContain(after);
  await expect.poll(() => read("/pages/usage.js"), polling).toContain('console.log("changed")');
  await expect.poll(() => read("/docs/limits"), polling).toContain("A changed guide.");
  await expect.poll(() => read("/docs/graphql/quickstart"), polling).toContain("A changed guide.");

  const stop = () => {
    program.signal("SIGTERM");
    return program.hasEnded();
  };
  await expect.poll(stop, { ...polling, interval: 10 }).toBe(true);
  expect(await program.ended).toBe(0);
  expect(await embeddedPostgresUrl(data)).toBeUndefined();
});

it("ends with the store and its PostgreSQL when npm alone gets SIGTERM", async () => {
  await using program = startDev("npm", ["run", "dev", "--", "--port", "0"]);
  await program.printed(/Watching for file changes/);
  await program.printed(/The pet store is ready/);
  expect(await embeddedPostgresUrl(data)).toBeDefined();
  program.signal("SIGTERM");
  // Now every process has ended that has the output of npm.
  await program.ended;
  expect(await embeddedPostgresUrl(data)).toBeUndefined();
});
