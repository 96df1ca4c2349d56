// V8 must reach its heap limit before the kernel ends the container, in every place that names one of the two.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { repository, serviceFlags } from "@petstore/harness/processes";
import { expect, it } from "vitest";
import { folder, read } from "./commands.js";

/** Measured: code, stacks, buffers of sockets, and the libraries of Node.js. */
const besideHeapMebibytes = 64;
/** V8's young generation has three semi-spaces. */
const semiSpaces = 3;

const entries = await readdir(folder, { recursive: true, withFileTypes: true });
const deployed = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
const ours = deployed
  .map((path) => path.slice(folder.length))
  .filter((path) => !/^\/?(node_modules|test)\//.test(path));
const packages = ["", "services/rest/", "services/graphql/"].map((path) => `${path}package.json`);
const texts = await Promise.all([
  ...ours.map(async (path) => [path, await read(path)] as const),
  ...packages.map(async (path) => [path, await readFile(new URL(path, repository), "utf8")] as const),
]);
const found = (pattern: RegExp) =>
  texts.flatMap(([path, text]) =>
    [...text.matchAll(pattern)].map(([, number]) => ({ path, mebibytes: Number(number) })),
  );

const flag = (name: string) => Number(serviceFlags.join(" ").match(new RegExp(`--${name}=(\\d+)`))?.[1]);
const heapMebibytes = flag("max-old-space-size");
const limits = [
  ...found(/mem_limit: (\d+)m$/gm),
  ...found(/limits: .*memory: (\d+)Mi/g),
  ...found(/MemoryMax=(\d+)M$/gm),
];
const alerts = found(/process_resident_memory_bytes\{.*\} > (\d+) \* 1024 \* 1024/g);

it("every image, guide and start script has the same limit of the heap, the one of all tests", () => {
  const heaps = found(/--max-old-space-size=(\d+)/g);
  expect(heaps.map(({ path }) => path)).toEqual(expect.arrayContaining(["Dockerfile", "operations.md", ...packages]));
  for (const { path, mebibytes } of heaps) expect(mebibytes, path).toBe(heapMebibytes);
});

it("the limit of every container and unit has room for the whole heap, and for what a process needs beside it", () => {
  const needed = heapMebibytes + semiSpaces * flag("max-semi-space-size") + besideHeapMebibytes;
  expect(limits.map(({ path }) => path)).toEqual(
    expect.arrayContaining([
      "compose.yaml",
      "kubernetes/base/api/api.yaml",
      "kubernetes/base/migrate.yaml",
      "systemd/petstore-api@.service",
    ]),
  );
  for (const { path, mebibytes } of limits) expect(mebibytes, path).toBeGreaterThanOrEqual(needed);
});

it("the alert comes before a limit, and not under an attack, which leaves a service below 256 MiB", () => {
  expect(alerts).toHaveLength(1);
  for (const { mebibytes } of alerts) {
    expect(mebibytes).toBeGreaterThan(256);
    expect(mebibytes).toBeLessThan(heapMebibytes + besideHeapMebibytes);
    for (const limit of limits) expect(mebibytes, limit.path).toBeLessThan(limit.mebibytes);
  }
});
